"""Simulation with contact: impact times and laws of motion in closed form, energy that only falls, and the same bits again."""

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.contact import Box, Scene, Sphere

G, RADIUS, SIDE, MASS = 9.81, 0.1, 0.1, 2.0
ROUNDING = 1e-13
"""Some hundred rounding errors of times and lengths around 1."""


def free(name, shapes, mass=MASS, tensor=None):
    inertia = kt.Inertia(mass, tensor=0.4 * mass * RADIUS**2 * np.eye(3) if tensor is None else tensor)
    return kt.Body(name, None, kt.Free(), inertia=inertia, shapes=shapes)


def box(name, size, mass=1.0):
    x, y, z = np.square(size)
    return free(name, Box(size), mass, mass / 12 * np.diag([y + z, x + z, x + y]))


def ball(gravity=(0.0, 0.0, -G)):
    return kt.Model([free("ball", Sphere(RADIUS))], gravity=gravity)


def at(model, *heights):
    """The configuration of free bodies at heights."""
    q = model.neutral()
    q[6::7] = heights
    return q


def rises(run):
    """By how much the energy (undriven) ever rises, of the largest kinetic energy."""
    return float((run.energy - np.minimum.accumulate(run.energy)).max() / run.kinetic.max())


def world(model, run, body=0):
    """Velocities (K, 3) of a free body in world axes."""
    R, _ = kt.forward_kinematics(model, run.q)
    return np.einsum("kij,kj->ki", R[:, body], run.v[:, 6 * body + 3 : 6 * body + 6])


def test_a_bouncing_ball_comes_to_rest_when_it_should():
    """Bounce k is at t₀ + 2 v₀ ε (1 − ε^k) / (g (1 − ε)), its energy a share ε² of the last; then it lies still."""
    model, eps, dt = ball(), 0.5, 2e-3
    run = kt.simulate(model, at(model, 1.0 + RADIUS), duration=1.5, dt=dt, contact=Scene(restitution=eps))
    v0 = np.sqrt(2 * G)
    k = np.arange(len(run.impacts))
    times = v0 / G + 2 * v0 * eps / G * (1 - eps**k) / (1 - eps)
    assert np.abs([blow.t for blow in run.impacts] - times).max() < ROUNDING
    assert np.allclose([blow.impulses[0, 2] for blow in run.impacts], MASS * v0 * eps**k * (1 + eps), rtol=1e-9)
    still = run.t[np.flatnonzero(run.v.any(axis=1))[-1]]
    assert abs(still - v0 / G * (1 + eps) / (1 - eps)) < dt + dt / (1 - eps)
    assert len(k) == np.ceil(np.log(G * dt / v0) / np.log(eps))
    assert np.abs(run.q[-1] - at(model, RADIUS)).max() < 1e-9
    assert rises(run) < ROUNDING
    assert kt.audit(run).passed and kt.audit(run)["total energy"].verdict == "only falls"
    assert kt.audit(run)["linear momentum"].verdict == "not expected"


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit-euler"])
def test_a_block_on_an_incline(integrator):
    """It slides with g (sin a − μ cos a), whatever the step, and stays where μ > tan a."""
    a = 0.3
    model = kt.Model([box("block", 3 * [SIDE])], gravity=(G * np.sin(a), 0, -G * np.cos(a)))
    for mu, dt in ((0.2, 0.02), (0.2, 0.005), (0.35, 0.02)):
        scene = Scene(friction=mu)
        run = kt.simulate(model, at(model, SIDE / 2), duration=0.5, dt=dt, contact=scene, integrator=integrator)
        slides = max(0.0, G * (np.sin(a) - mu * np.cos(a)))
        assert np.abs(run.v[:, 3] - slides * run.t).max() < ROUNDING
        order = dt if integrator == "semi-implicit-euler" else 0.0
        assert np.abs(run.q[:, 4] - slides * run.t**2 / 2).max() < ROUNDING + slides * 0.5 * order
        assert np.abs(run.q[:, 6] - SIDE / 2).max() < ROUNDING and run.impacts == ()
        force = run.contact_forces("'block' and the ground")
        assert np.abs(force[1:, 2] - G * np.cos(a)).max() < 1e-9 and not force[0].any()
        assert np.abs(force[1:, 0] + min(mu * G * np.cos(a), G * np.sin(a))).max() < 1e-9


def test_a_ball_slides_then_rolls():
    """From 2 v₀ / (7 μ g) on at 5/7 v₀."""
    model, mu, dt = ball(), 0.3, 1e-3
    run = kt.simulate(model, at(model, RADIUS), [0, 0, 0, 1, 0, 0], duration=0.2, dt=dt, contact=Scene(friction=mu))
    slip = world(model, run)[:, 0] - RADIUS * run.v[:, 1]
    begins = run.t[np.flatnonzero(np.abs(slip) > 1e-9)[-1]]
    assert abs(begins - 2 / (7 * mu * G)) < dt
    assert abs(world(model, run)[-1, 0] - 5 / 7) < 1e-10
    assert rises(run) < 1e-11


def test_a_rocking_block_loses_what_housner_says():
    """ω⁺ / ω⁻ = 1 − 3/2 sin² α at each change of the edge; until then it falls as a pendulum on that edge, to second order."""
    b, h, tilt = 0.05, 0.2, 0.15
    model = kt.Model([box("block", (2 * b, 2 * b, 2 * h))])
    c, s = np.cos(tilt), np.sin(tilt)
    q = np.array([np.cos(tilt / 2), 0, np.sin(tilt / 2), 0, h * s - b * c, 0, b * s + h * c])
    upright = kt.Inertia(1.0, [-b, 0, h], model.bodies[0].inertia.tensor)
    pendulum = kt.Model([kt.Body("block", None, kt.Revolute([0, 1, 0]), inertia=upright)])
    falls = kt.simulate(pendulum, [tilt], duration=0.4, dt=1e-3, events=lambda t, q, v: q[0]).t_events[0][0]
    for dt in (8e-3, 2e-3):
        run = kt.simulate(model, q, duration=0.75, dt=dt, contact=Scene(friction=5.0))
        for blow in run.impacts:
            assert abs(blow.after[1] / blow.before[1] - (1 - 1.5 * b**2 / (b**2 + h**2))) < dt**2
        assert abs(run.impacts[0].t - falls) < dt**2
        assert len(run.impacts) == 2 and rises(run) < 4 * dt**2 * G / h


@pytest.mark.parametrize("off", [0.0, 0.03])
def test_a_stack_of_boxes_stands_still(off):
    model = kt.Model([box(f"box {k}", (size, size, 0.1)) for k, size in enumerate((0.2, 0.16, 0.12))])
    q = at(model, 0.05, 0.15, 0.25)
    q[[4, 12]] += off
    run = kt.simulate(model, q, duration=0.05, dt=2e-3, contact=Scene(friction=0.5))
    assert np.abs(kt.difference(model, q, run.q)).max() < ROUNDING and np.abs(run.v).max() < ROUNDING
    assert run.impacts == () and sum(steps == 25 for steps in run.contact_steps) >= 12


def test_boxes_that_tumble_onto_each_other_gain_no_energy():
    """Though the place where two of them touch moves along an edge within a step."""
    model = kt.Model([box(f"box {k}", (0.2, 0.2, 0.2)) for k in range(2)])
    q, rng = at(model, 0.2, 0.5), np.random.default_rng(2)
    q = kt.integrate(model, q, 0.2 * rng.normal(size=model.nv) * np.tile([1, 1, 1, 0.1, 0.1, 0], 2))
    run = kt.simulate(model, q, duration=0.25, dt=2e-3, contact=Scene(friction=0.6))
    assert len(run.impacts) > 5 and rises(run) < 1e-9


def test_a_pile_gains_no_energy_where_a_contact_jumps_from_place_to_place():
    """Blows that met velocities at one place for what moved at another gave two hundredths of its energy in one step."""
    model = kt.Model([box(f"box {k}", (0.2, 0.15, 0.1 + 0.03 * k), 0.5 + k) for k in range(3)])
    q, rng = at(model, 0.15, 0.4, 0.65), np.random.default_rng(9)
    q = kt.integrate(model, q, 0.5 * rng.normal(size=model.nv) * np.tile([1, 1, 1, 0.04, 0.04, 0], 3))
    run = kt.simulate(model, q, duration=0.24, dt=2e-3, contact=Scene(friction=0.6))
    assert sum(run.contact_steps) > 100 and rises(run) < 1e-5


def test_the_gap_of_a_fast_thin_ball_is_not_missed():
    """Through a floor, and past another ball within one step, a hundred times its size."""
    model = kt.Model([free(name, Sphere(1e-3)) for name in "ab"], gravity=(0, 0, 0))
    q, v = at(model, 1.0, 1.0), np.zeros(12)
    q[4], v[3] = -0.5037, 100.0
    run = kt.simulate(model, q, v, duration=0.02, dt=2e-3, contact=Scene(restitution=1.0))
    assert len(run.impacts) == 1 and abs(run.impacts[0].t - 0.5017 / 100) < ROUNDING
    assert abs(run.v[-1, 9] - 100.0) < 1e-9 and abs(run.v[-1, 3]) < 1e-9
    down = kt.simulate(model, at(model, 0.5, 3.0), [0, 0, 0, 0, 0, -100, *6 * [0]], duration=0.02, dt=2e-3, contact=Scene())
    assert down.q[:, 6].min() >= 1e-3 - 1e-9


def test_two_bodies_in_free_space_keep_both_momenta():
    model = kt.Model([free("a", Sphere(RADIUS), 1.0), free("b", Sphere(RADIUS), 3.0)], gravity=(0, 0, 0))
    q, v = at(model, 0.0, 0.0), np.array([1.0, 5.0, -3.0, 2.0, 0, 0, *6 * [0.0]])
    q[4:6] = -1.0, 0.05
    scene = Scene(ground=(), friction=0.5, restitution=0.7)
    run = kt.simulate(model, q, v, duration=1.0, dt=1e-2, contact=scene, integrator="implicit-midpoint")
    (R, x), masses = kt.forward_kinematics(model, run.q), np.array([1.0, 3.0])
    V = np.einsum("kbij,kbj->kbi", R, run.v.reshape(-1, 2, 6)[..., 3:])
    spin = np.einsum("kbij,kbj->kbi", R, run.v.reshape(-1, 2, 6)[..., :3]) * 0.4 * masses[:, None] * RADIUS**2
    P, L = masses @ V, (masses[:, None] * np.cross(x, V) + spin).sum(axis=1)
    assert len(run.impacts) == 1 and np.abs(V[-1] - V[0]).max() > 0.5
    assert np.abs(P - P[0]).max() < ROUNDING and np.abs(L - L[0]).max() < ROUNDING
    assert kt.audit(run)["linear momentum"].verdict == "not expected"


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_balls_in_a_row_without_gravity_keep_energy_and_momentum(law):
    """One ball meets three that touch each other; the rest of that step is as short as rounding."""
    bodies = [
        kt.Body(f"ball {k}", None, kt.Prismatic([1, 0, 0]), inertia=kt.Inertia(1.0), shapes=Sphere(RADIUS)) for k in range(4)
    ]
    model, scene = kt.Model(bodies, gravity=(0, 0, 0)), Scene(ground=(), restitution=1.0, law=law)
    run = kt.simulate(model, [-0.6, 0.0, 0.2, 0.4], [1.0, 0, 0, 0], duration=1.0, dt=1e-2, contact=scene)
    assert len(run.impacts) == 1 and np.abs(run.energy - 0.5).max() < 1e-9 and np.abs(run.v.sum(axis=1) - 1.0).max() < 1e-9
    assert np.abs(run.v[-1] - run.impacts[0].after).max() < 1e-9


def hanging(count=4):
    link = kt.Inertia(1.0, [0.25, 0, 0], np.diag([0.001, 0.02, 0.02]))
    ends = kt.Limits(-0.5, 0.5, np.inf, np.inf)
    joint = kt.Revolute([0, 1, 0])
    return kt.Model(
        [
            kt.Body(
                f"link {k}",
                f"link {k - 1}" if k else None,
                joint,
                kt.Pose(translation=[0.5 * (k > 0), 0, 0]),
                link,
                limits=ends,
            )
            for k in range(count)
        ]
    )


@pytest.mark.parametrize("form", ["newton-euler", "hamilton"])
def test_a_chain_falls_onto_the_ends_of_its_joints(form):
    model = hanging()
    run = kt.simulate(model, duration=1.0, dt=2e-3, contact=Scene(pairs=[]), form=form)
    assert len(run.impacts) > 3 and max(run.contact_steps) > 100
    assert np.abs(run.q).max() < 0.5 + 1e-9
    assert rises(run) < 1e-5
    assert all(blow.energy < 0 and blow.impulses[:, 0].min() > 0 for blow in run.impacts)
    assert abs(run.q[-1, 0] - 0.5) < 1e-7, "the first is held by the end of its joint"


def test_going_on_has_the_bits_of_one_run_and_events_are_found(tmp_path):
    model, scene = hanging(), Scene(pairs=[])

    def level(t, q, v):
        return q[2] - 0.1

    def go(**more):
        return kt.simulate(model, dt=2e-3, contact=scene, events=level, **more)

    whole, first = go(duration=0.6), go(duration=0.4)
    both = first + go(duration=0.2, restart=first)
    assert np.array_equal(whole.q, both.q) and np.array_equal(whole.v, both.v)
    assert whole.t_events[0].size and np.array_equal(whole.t_events[0], both.t_events[0])
    assert whole.contact_steps == both.contact_steps
    assert [blow.t for blow in whole.impacts] == [blow.t for blow in both.impacts]
    with pytest.raises(kt.InputError, match=r"had contacts.*give contact= again"):
        kt.simulate(model, restart=first)
    both.save(tmp_path / "run.npz")
    read = kt.load_run(tmp_path / "run.npz")
    assert (read.contacts, read.contact_bodies, read.contact_steps) == (both.contacts, both.contact_bodies, both.contact_steps)
    end = "upper end of joint 'link 0'"
    assert np.array_equal(read.contact_forces(end), both.contact_forces(end)) and both.contact_forces(end).any()
    assert np.array_equal(whole.contact_forces(end), both.contact_forces(end))
    for a, b in zip(read.impacts, both.impacts, strict=True):
        assert a.t == b.t and all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("q", "after", "contacts", "impulses"))


def test_an_event_ends_a_run_at_an_impact():
    """Impacts after the end of a run are not part of it."""
    model = ball()

    def rising(t, q, v):
        return v[5]

    rising.terminal, rising.direction = True, 1
    run = kt.simulate(model, at(model, 1.0 + RADIUS), duration=1.0, dt=0.01, contact=Scene(restitution=1.0), events=rising)
    assert run.status == "event" and abs(run.t[-1] - np.sqrt(2 / G)) < 1e-9 and len(run.impacts) <= 1


ZOO = ("floating", "mixed chain", "forest")


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.sampled_from(ZOO), st.integers(0, 99), st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 0.6]))
def test_energy_never_grows(name, seed, eps, mu):
    """Trees with a ball on each body, dropped on a floor; rises are those of second order in the step."""
    model = zoo.model(name)
    model = model.with_shapes({body: Sphere(0.15) for body in model.body_names})
    q = model.random(seed)
    low = kt.forward_kinematics(model, q)[1] @ np.array([1.0, -2.0, -9.0]) / np.sqrt(86.0)
    floor = kt.contact.Plane((-1.0, 2.0, 9.0), -np.sqrt(86.0) * (low.max() + 0.2))
    v = np.random.default_rng(seed).normal(size=model.nv)
    scene = Scene(ground=floor, pairs=[(body, None) for body in model.body_names], restitution=eps, friction=mu)
    run = kt.simulate(model, q, v, duration=0.3, dt=2e-3, contact=scene)
    assert rises(run) < 1e-3
    assert all(blow.energy <= ROUNDING * run.kinetic.max() for blow in run.impacts)


@pytest.mark.parametrize("damping", [0.1, 20.0, 2000.0])
def test_a_spring_carries_what_stands_on_it_and_its_damper_nothing(damping):
    """A light foot under a heavy trunk, with a damper that is far faster than a step: it stays at its equilibrium."""
    K, rest = 500.0, -0.2
    spring = kt.JointDynamics(damping=damping, stiffness=K, rest=rest)
    along = kt.Prismatic([0, 0, 1])
    trunk = kt.Body("trunk", None, along, inertia=kt.Inertia(2.0))
    foot = kt.Body("foot", "trunk", along, inertia=kt.Inertia(0.01), shapes=Sphere(0.02), dynamics=spring)
    stands = rest + 2.0 * G / K
    run = kt.simulate(
        kt.Model([trunk, foot]), [0.02 - stands, stands], duration=0.1, contact=Scene(), integrator="semi-implicit-euler"
    )
    assert np.abs(run.q - run.q[0]).max() < 1e-9 and np.abs(run.v).max() < 1e-6
    assert np.abs(run.contact_forces("'foot'")[1:, 2] - 2.01 * G).max() < 1e-6


def test_bad_input():
    model = ball()
    with pytest.raises(kt.InputError, match=r"q0 penetrates: 'ball' and the ground.* by 0\.1 m"):
        kt.simulate(model, contact=Scene())
    with pytest.raises(kt.InputError, match=r"contact must be a kinetree\.contact\.Scene, found str"):
        kt.simulate(model, contact="floor")
    with pytest.raises(kt.InputError, match=r"beyond the upper end of joint 'link 2'.*limits=False"):
        kt.simulate(hanging(), [0, 0, 0.7, 0], contact=Scene(pairs=[]))
    with pytest.raises(kt.InputError, match=r"no body of 'model' has shapes.*Scene\(pairs=\[\]\)"):
        kt.simulate(hanging(), contact=Scene())
    with pytest.raises(kt.InputError, match=r"no contact 'floor'. Contacts: none"):
        kt.simulate(model, duration=0.01).contact_forces("floor")
    assert kt.simulate(model, at(model, RADIUS - 1e-7), duration=0.01, contact=Scene()).q[-1, 6] > RADIUS - 1e-9
