"""Impacts: against dense algebra, enumerated active sets, textbook bodies, Pinocchio, and the laws of contact themselves."""

import itertools

import numpy as np
import pinocchio as pin
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import EPS, assert_close, gamma

import kinetree as kt
from kinetree.compiler.kernel import build_source
from kinetree.compiler.routines import Area, Block, Routines
from kinetree.compiler.threads import threads
from kinetree.contact.contacts import arranged
from kinetree.contact.moving import Looped, Straight
from kinetree.contact.space import Space

LAWS = "newton", "poisson", "energetic"
BALL = kt.Inertia(2.0, tensor=0.4 * 2.0 * 0.1**2 * np.eye(3))
UP = [0.0, 0.0, 1.0]


def touching(model, rng, count=3):
    """Contacts of the last body with the world, and of a body on another branch or further in with the last."""
    last = model.nbodies - 1
    found = [kt.Contact(last, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)) for _ in range(count)]
    return [*found, kt.Contact(model.nbodies // 2, [0.0, 0.1, 0.1], rng.normal(size=3), other=last)]


def dense(model, q, contacts):
    """Rows of the contacts' Jacobian (3m, nv), from the bodies' Jacobians."""
    R, p = kt.forward_kinematics(model, q)
    rows = []
    for contact, N in zip(contacts, arranged(model, contacts).frames, strict=True):
        b, o = contact.body, contact.other
        J = kt.jacobian(model, q, b, point=contact.point)[3:]
        if o is not None:
            J = J - kt.jacobian(model, q, o, point=R[o].T @ (p[b] + R[b] @ contact.point - p[o]))[3:]
        rows.append(N @ J)
    return np.concatenate(rows)


def sphere():
    return kt.Model([kt.Body("ball", None, kt.Free(), inertia=BALL)], gravity=(0, 0, 0))


def contact_space(model, q, v, contacts, kind, d=3):
    """u and A, as a kernel of their own."""
    m, routines = contacts.count, Routines()
    shapes = [(model.nq,), (model.nv,), (m, 3), (m, 3)]
    u, A = routines.area(d * m), routines.area(d * m, d * m)
    moves, at = kind(routines, model, contacts.bodies), model.nq + model.nv
    points, normals = Area("%in", at, (3,)), Area("%in", at + 3 * m, (3,))
    space = Space(routines, contacts.sides, d, moves.R, moves.p, moves.V, points, normals)
    delassus, copy = moves.delassus(space), routines.piece("copy", lambda x: x, [Block()], [Block()])
    with routines.procedure("body") as body:
        moves.begin(body)
        body.run(space.solve)
        body.run(delassus)
        for source, target, count in ((space.u, u, d * m), (space.A, A, (d * m) ** 2)):
            ends = [Area(area.base, area.slot, (1,)) for area in (source, target)]
            with body.loop(0, count) as k:
                body.call(copy, ends[0][k], ends[1][k])
    kernel = build_source("contact_space", "", routines.source(shapes, [(d * m,), (d * m, d * m)]))
    return kernel(q, v, contacts.points, contacts.normals)


@pytest.mark.parametrize("kind", [Straight, Looped])
@pytest.mark.parametrize("name", ["panda", "g1", "mixed chain", "forest"])
def test_contact_space_is_the_dense_one(name, kind):
    model, rng = zoo.model(name), np.random.default_rng(0)
    q, v = model.random(rng, 3), rng.normal(size=(3, model.nv))
    contacts = [*touching(model, rng), *(kt.Contact(k, rng.normal(size=3), rng.normal(size=3)) for k in range(2))]
    u, A = contact_space(model, q, v, arranged(model, contacts), kind)
    for n in range(3):
        J, M = dense(model, q[n], contacts), kt.mass_matrix(model, q[n])
        assert_close(u[n], J @ v[n], gamma(model))
        assert_close(A[n], J @ np.linalg.solve(M, J.T), gamma(model) * np.linalg.cond(M))
        assert np.array_equal(A[n], A[n].T)


@pytest.mark.parametrize("law", LAWS)
def test_one_contact(law):
    """u⁺ = −ε u⁻ and ΔT = −(1 − ε²)/2 u² / n*Ωn, whichever law."""
    model, rng = zoo.model("panda"), np.random.default_rng(1)
    q, v = model.random(rng, 9), rng.normal(size=(9, model.nv))
    for eps in (0.0, 0.3, 1.0):
        contact = kt.Contact(5, [0.1, 0.0, 0.2], [1.0, 2.0, -1.0])
        u = np.stack([dense(model, q[n], [contact])[0] @ v[n] for n in range(9)])
        hit = kt.impact(model, q, v, contact, eps, law=law)
        after = np.stack([dense(model, q[n], [contact])[0] @ hit.v[n] for n in range(9)])
        close = gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)).max()
        assert_close(after, np.where(u < 0, -eps * u, u), close, np.abs(u).max())
        loss = kt.kinetic_energy(model, q, hit.v) - kt.kinetic_energy(model, q, v)
        A = np.stack(
            [dense(model, x, [contact])[0] @ kt.inverse_mass_matrix(model, x) @ dense(model, x, [contact])[0] for x in q]
        )
        assert_close(loss, np.where(u < 0, -0.5 * (1 - eps**2) * u * u / A, 0.0), close, kt.kinetic_energy(model, q, v).max())
        assert_close(hit.residuals.energy, loss, close, kt.kinetic_energy(model, q, v).max())


@pytest.mark.parametrize("name", ["panda", "g1", "forest"])
def test_many_contacts_without_friction_by_enumeration(name):
    """The complementarity problem solved by trying all active sets."""
    model, rng = zoo.model(name), np.random.default_rng(2)
    contacts = touching(model, rng, 3)
    q, v = model.random(rng, 12), rng.normal(size=(12, model.nv))
    hit = kt.impact(model, q, v, contacts)
    for n in range(12):
        J, M = dense(model, q[n], contacts)[::3], kt.mass_matrix(model, q[n])
        A, u = J @ np.linalg.solve(M, J.T), J @ v[n]
        found = []
        for active in itertools.product([False, True], repeat=len(u)):
            x, on = np.zeros(len(u)), np.flatnonzero(active)
            x[on] = np.linalg.lstsq(A[np.ix_(on, on)], -u[on], rcond=None)[0]
            if (x >= -1e-9).all() and (A @ x + u >= -1e-9).all():
                found.append(v[n] + np.linalg.solve(M, J.T @ x))
        assert found
        assert min(np.abs(w - hit.v[n]).max() for w in found) < 1e-7 * np.abs(v[n]).max()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["g1", "mixed chain"])
def test_the_laws_hold(name, law):
    """By the state after the impact alone: no contact approaches, impulses stay in their cones, friction opposes slip."""
    model, rng = zoo.model(name), np.random.default_rng(3)
    contacts, mu = touching(model, rng, 2), 0.6
    q, v = model.random(rng, 8), rng.normal(size=(8, model.nv))
    hit = kt.impact(model, q, v, contacts, 0.0 if law == "newton" else 0.4, mu, law)
    frames = arranged(model, contacts).frames
    for n in range(8):
        J = dense(model, q[n], contacts)
        u, x = (J @ hit.v[n]).reshape(-1, 3), np.einsum("cij,cj->ci", frames, hit.impulses[n])
        scale = np.abs(J @ v[n]).max()
        assert (u[:, 0] >= -1e-9 * scale).all()
        assert (np.linalg.norm(x[:, 1:], axis=1) <= mu * x[:, 0] + 1e-9 * np.abs(x).max()).all()
        assert_close(kt.mass_matrix(model, q[n]) @ (hit.v[n] - v[n]), J.T @ x.ravel(), 1e-9)
        if law == "newton":
            assert (np.abs(x[:, 0] * u[:, 0]) <= 1e-9 * scale * np.abs(x).max()).all()
            slip = np.linalg.norm(u[:, 1:], axis=1)
            power = (x[:, 1:] * u[:, 1:]).sum(axis=1)
            assert (np.abs(power + mu * x[:, 0] * slip) <= 1e-9 * scale * np.abs(x).max()).all()
    gain = kt.kinetic_energy(model, q, hit.v) - kt.kinetic_energy(model, q, v)
    assert (gain <= 1e-12 * kt.kinetic_energy(model, q, v)).all()
    assert (hit.residuals.complementarity < 1e-9).all() and (hit.residuals.cone < 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(LAWS),
    st.floats(0.0, 1.0),
    st.floats(0.0, 2.0),
    st.floats(-4.0, 4.0),
)
def test_energy_never_grows(seed, law, eps, mu, decades):
    """Whatever the directions, the friction and the masses, these up to 10⁸ apart."""
    rng = np.random.default_rng(seed)
    heavy = kt.Inertia(2.0 * 10.0**decades, tensor=0.008 * 10.0**decades * np.eye(3))
    pose = kt.Pose(translation=[0, 0, 0.3])
    model = kt.Model(
        [kt.Body("a", None, kt.Free(), inertia=BALL), kt.Body("b", "a", kt.Universal([1, 0, 0], [0, 1, 0]), pose, heavy)]
    )
    q, v = model.random(rng), rng.normal(size=model.nv)
    contacts = [kt.Contact(k % 2, rng.normal(size=3), rng.normal(size=3)) for k in range(3)]
    hit = kt.impact(model, q, v, contacts, eps, mu, law)
    before, after = (kt.kinetic_energy(model, q, x) for x in (v, hit.v))
    assert after <= before * (1.0 + 1e-7)
    assert np.isfinite(hit.v).all() and (hit.restitution >= 0.0).all() and (hit.restitution <= eps).all()


def test_a_spinning_ball_on_the_floor():
    """It sticks if 2/7 of its slip is at most μ (1 + ε) of its fall; else friction is μ times the blow."""
    model, contact = sphere(), kt.Contact("ball", [0, 0, -0.1], UP)
    eps, fall = 0.5, 2.0
    for slip in (0.1, 1.0, 3.0, 20.0):
        for mu in (0.0, 0.1, 0.5, 10.0):
            v = np.array([0, 0, 0, slip, 0, -fall], dtype=float)
            hit = kt.impact(model, model.neutral(), v, contact, eps, mu)
            change = min(2 / 7 * slip, mu * (1 + eps) * fall)
            wanted = [0, change / (0.4 * 0.1), 0, slip - change, 0, eps * fall]
            assert_close(hit.v, wanted, 1e3 * EPS, 1.0)


def test_a_rocking_block():
    """Housner (1963): at the change of corners the speed falls to 1 − 3/2 sin²α, α the block's slope."""
    width, height = 0.4, 1.0
    inertia = kt.Inertia(3.0, tensor=np.diag([1, width**2 + height**2, 1]) * 3.0 / 12)
    model = kt.Model([kt.Body("block", None, kt.Planar([1, 0, 0], [0, 0, 1]), inertia=inertia)], gravity=(0, 0, 0))
    corners = [kt.Contact("block", [side * width / 2, 0, -height / 2], UP) for side in (-1, 1)]
    J = dense(model, np.zeros(3), [kt.Contact(0, c.point, c.normal) for c in corners])
    v = np.linalg.svd(J[[0, *[k for k in (1, 2) if J[k].any()]]])[2][-1]
    v = v if (J @ v)[3] < 0 else -v  # turns about the left corner, the right one falls
    hit = kt.impact(model, np.zeros(3), v, corners, 0.0, 100.0)
    spin = kt.jacobian(model, np.zeros(3), 0)[1]
    sin2 = width**2 / (width**2 + height**2)
    assert_close(spin @ hit.v, (1 - 1.5 * sin2) * (spin @ v), 1e-11)
    assert_close(hit.impulses[0], np.zeros(3), 1e-11, np.abs(hit.impulses).max())


def cradle(count):
    ball = kt.Inertia(1.0, tensor=0.01 * np.eye(3))
    slide = [kt.Body(f"ball {k}", None, kt.Prismatic([1, 0, 0]), inertia=ball) for k in range(count)]
    return kt.Model(slide, gravity=(0, 0, 0))


def test_newtons_cradle_one_blow_after_the_other():
    """Balls a hair apart pass the motion on: what comes in on one side goes out on the other."""
    model, v = cradle(5), np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    pairs = [kt.Contact(k + 1, [0, 0, 0], [1, 0, 0], other=k) for k in range(4)]
    for _ in range(12):
        approaching = [pair for pair in pairs if v[pair.body] < v[pair.other]]
        if not approaching:
            break
        v = kt.impact(model, np.zeros(5), v, approaching[-1], 1.0).v
    assert_close(v, [0, 0, 0, 1, 1], 64 * EPS)
    together = kt.impact(model, np.zeros(5), np.array([1.0, 0, 0, 0, 0]), pairs, 1.0)
    assert_close(together.v.sum(), 1.0, 64 * EPS)
    assert (np.diff(together.v) >= -1e-12).all() and (together.v**2).sum() <= 1.0 + 1e-12


def test_a_rod_that_jams():
    """Painlevé's rod: where friction presses it into the floor harder than that gives way, it stops at once.

    Elsewhere it slides on: x_n = −u_n / (A_nn − s μ A_nt), s the sign of its slip.
    """
    rod = kt.Inertia(1.0, tensor=np.diag([0.0, 1.0, 1.0]) / 12)
    model = kt.Model([kt.Body("rod", None, kt.Planar([1, 0, 0], [0, 0, 1]), inertia=rod)])
    tip, mu, fall, jams = kt.Contact(0, [-0.5, 0.0, 0.0], UP), 2.0, -1e-3, []
    for angle, slip in itertools.product(np.linspace(-1.5, 1.5, 16), (-5.0, 5.0)):
        q = np.array([0.0, 0.0, angle])
        J = dense(model, q, [tip])[:2]
        A = J @ np.linalg.solve(kt.mass_matrix(model, q), J.T)
        v = np.linalg.lstsq(J, np.array([fall, slip]), rcond=None)[0]
        hit = kt.impact(model, q, v, tip, 0.0, mu)
        gives = A[0, 0] - np.sign(slip) * mu * A[0, 1]
        jams.append(gives < 0.0)
        if gives < 0.0:
            assert_close(J @ hit.v, [0.0, 0.0], 1e-9, 5.0)
            assert hit.impulses[0, 2] > 100.0 * -fall / A[0, 0]  # what the fall alone would need
        else:
            x = -fall / gives
            assert_close(J @ hit.v, [0.0, slip + x * (A[1, 0] - np.sign(slip) * mu * A[1, 1])], 1e-9, 5.0)
    assert 0 < sum(jams) < len(jams)


def test_redundant_contacts_share():
    """A table of four legs, one more than carry it: alike by symmetry."""
    top = kt.Inertia(4.0, tensor=np.diag([0.5, 0.5, 0.9]))
    model = kt.Model([kt.Body("table", None, kt.Free(), inertia=top)])
    legs = [kt.Contact(0, [x, y, -0.5], UP) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    v = np.array([0, 0, 0, 0, 0, -3.0])
    for mu in (0.0, 0.5):
        hit = kt.impact(model, model.neutral(), v, legs, 0.2, mu)
        assert_close(hit.v, [0, 0, 0, 0, 0, 0.6], 1e-11)
        assert_close(hit.impulses, np.tile([0.0, 0.0, 1.2 * 3.0], (4, 1)), 1e-9)


def test_a_stretched_chain_cannot_be_pushed_along_itself():
    link = kt.Inertia(1.0, [0.5, 0, 0], 0.1 * np.eye(3))
    hinge = kt.Revolute([0, 0, 1])
    model = kt.Model([kt.Body("a", None, hinge, inertia=link), kt.Body("b", "a", hinge, kt.Pose(translation=[1, 0, 0]), link)])
    hit = kt.impact(model, np.zeros(2), np.array([1.0, 2.0]), [kt.Contact("b", [1, 0, 0], [-1, 0, 0])], 0.5)
    assert hit.lost.tolist() == [True] and np.array_equal(hit.v, [1.0, 2.0]) and not hit.impulses.any()
    both = [kt.Contact("b", [1, 0, 0], [-1, 0, 0]), kt.Contact("b", [1, 0, 0], [0, -1, 0])]
    hit = kt.impact(model, np.zeros(2), np.array([1.0, 2.0]), both, 0.5)
    assert hit.lost.tolist() == [True, False]
    assert_close(dense(model, np.zeros(2), [kt.Contact(1, [1, 0, 0], [0, -1, 0])])[0] @ hit.v, 2.0, 1e-12)


def test_a_batch_is_its_states():
    model, rng = zoo.model("panda"), np.random.default_rng(5)
    q, v = model.random(rng, (3, 2)), rng.normal(size=(3, 2, model.nv))
    contacts = touching(model, rng, 2)
    eps, mu = rng.uniform(0, 1, (2, 3)), rng.uniform(0, 1, (3, 1, 1))
    whole = kt.impact(model, q, v, contacts, eps, mu, "poisson")
    assert whole.v.shape == (3, 2, model.nv) and whole.impulses.shape == (3, 2, 3, 3) and whole.lost.shape == (3, 2, 3)
    for i, j in np.ndindex(3, 2):
        one = kt.impact(model, q[i, j], v[i, j], contacts, eps[j], mu[i, 0], "poisson")
        assert_close(one.v, whole.v[i, j], 1e-12)


def test_pinocchio_agrees():
    """Its impulse dynamics knows contacts that all hold, without friction."""
    model = zoo.model("panda")
    theirs = pin.buildModelFromUrdf(str(zoo.robots_folder() / "panda_description/urdf/panda.urdf"))
    rng = np.random.default_rng(7)
    q, v = model.random(rng), rng.normal(size=model.nv)
    contact = kt.Contact(6, [0.05, 0.1, 0.1], [0.3, -1.0, 0.5])
    J = dense(model, q, [contact])[:1]
    v = v if (J @ v)[0] < 0 else -v
    found = pin.impulseDynamics(theirs, theirs.createData(), q, v, J, 0.3, 0.0)
    assert_close(kt.impact(model, q, v, contact, 0.3).v, found, gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)))


@pytest.mark.parametrize("law", LAWS)
def test_an_impact_does_not_depend_on_the_batch(law):
    """Bit for bit: any order, any size, any number of threads."""
    model, rng = zoo.model("panda"), np.random.default_rng(9)
    contacts, order = touching(model, rng, 4), rng.permutation(37)
    q, v = model.random(rng, 37), rng.normal(size=(37, model.nv))
    whole, mixed = (kt.impact(model, q[some], v[some], contacts, 0.5, 0.7, law) for some in (slice(None), order))
    assert np.array_equal(whole.v[order], mixed.v) and np.array_equal(whole.impulses[order], mixed.impulses)
    before = threads()
    try:
        kt.set_threads(1)
        assert all(np.array_equal(kt.impact(model, q[n], v[n], contacts, 0.5, 0.7, law).v, whole.v[n]) for n in range(37))
    finally:
        kt.set_threads(before)


def test_without_friction_normals_are_enough():
    """A number μ = 0 for all asks for normals only; μ = 0 beside other states asks for tangents too, and finds none."""
    model, rng = zoo.model("g1"), np.random.default_rng(10)
    contacts = touching(model, rng, 5)
    q, v = model.random(rng, 9), rng.normal(size=(9, model.nv))
    friction = np.zeros((10, 1))
    friction[-1] = 0.5
    both = kt.impact(model, np.append(q, q[:1], axis=0), np.append(v, v[:1], axis=0), contacts, 0.3, friction, "poisson")
    alone = kt.impact(model, q, v, contacts, 0.3, 0.0, "poisson")
    assert_close(both.v[:9], alone.v, 1e-7)
    assert not np.array_equal(both.v[9], both.v[0])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["forest", "chain", "bush"])
def test_what_no_impulses_do_is_not_asked_for(name, law):
    """Contacts that move in few ways: Newton's law may have no solution, and those of ε = 0 are then taken."""
    model, rng = zoo.model(name), np.random.default_rng(0)
    q, v = model.random(rng, 100), rng.normal(size=(100, model.nv))
    last, up, down = model.nbodies - 1, [0, 0.3, 1], [0, -0.3, 1]
    between = kt.Contact(model.nbodies // 2, [0.1, 0, 0.3], down, other=last)
    contacts = [kt.Contact(last, [0.1, 0.2, 0.3], up), between, kt.Contact(last, [-0.1, 0.2, 0.1], up)]
    hit, plastic = (kt.impact(model, q, v, contacts, eps, 0.5, law=law) for eps in (1.0, 0.0))
    T = kt.kinetic_energy(model, q, v)
    assert (kt.kinetic_energy(model, q, hit.v) <= T * (1 + 1e-12 * np.linalg.cond(kt.mass_matrix(model, q)))).all()
    for missed in (hit.residuals.complementarity, hit.residuals.dissipation):
        assert (missed <= 2e-6 * T).all()
    lowered = (hit.restitution == 0.0).all(axis=1)
    assert lowered.any() == (law == "newton")
    assert_close(hit.impulses[lowered], plastic.impulses[lowered], 1e-9, np.abs(plastic.impulses).max())


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_link_between_two_walls_stays_whatever_newton_asks_for(friction):
    """It comes to one as fast as it leaves the other, so that none can be left with ε > 0: it stops, as with ε = 0."""
    link = kt.Inertia(1.0, [0.5, 0, 0], np.diag([0.01, 0.1, 0.1]))
    model = kt.Model([kt.Body("link", None, kt.Revolute([0, 0, 1]), inertia=link)])
    walls = [kt.Contact("link", [1.0, 0, 0], [0, 1, 0]), kt.Contact("link", [0.8, 0, 0], [0, -1, 0])]
    eps = np.array([[0.0], [0.5], [1.0]])
    hit = kt.impact(model, [0.0], [1.0], walls, eps, friction)
    assert np.abs(hit.v).max() < 1e-12 and np.abs(hit.impulses).max() < 0.35 / 0.8 + 1e-9
    assert np.abs(hit.residuals.energy + 0.175).max() < 1e-12 and not hit.restitution.any()
    assert max(np.abs(x).max() for x in (hit.residuals.signorini, hit.residuals.complementarity)) < 1e-12


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_what_newtons_law_asks_of_jammed_arms_is_refused(friction):
    """Four contacts of an arm with the world, where no impulses may obey it: no gain, and impulses of a sane size."""
    model, rng = zoo.model("ur5"), np.random.default_rng(1)
    contacts = [kt.Contact(int(rng.integers(6)), 0.1 * rng.normal(size=3), rng.normal(size=3)) for _ in range(4)]
    q, v = model.random(rng, 64), rng.normal(size=(64, 6))
    hit = kt.impact(model, q, v, contacts, 1.0, friction)
    before, gain = kt.kinetic_energy(model, q, v), kt.kinetic_energy(model, q, hit.v) - kt.kinetic_energy(model, q, v)
    assert (gain <= 1e-9 * before).all() and np.abs(gain - hit.residuals.energy).max() < 1e-8 * before.max()
    assert (hit.residuals.signorini < 1e-6 * np.abs(v).max()).all()
