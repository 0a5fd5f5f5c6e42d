"""What a blow does: by momentum balance, by dense algebra, by the document's numbers, in compiled code and in NumPy."""

import documents
import numpy as np
import pytest
import zoo
from tolerance import assert_close, gamma

import kinetree as kt
from kinetree.algorithms.impulse import impulse_response as sweeps
from kinetree.algorithms.reference import interpret
from kinetree.contact.chain import contact_wrench, origin_chain

CHAINS = "001_chain3d_N5", "001_chain3d_N9"
THEIRS = [3, 4, 5, 0, 1, 2]
"""[linear; angular] of [angular; linear]."""


def chain_of(name):
    case = documents.cases()[name]
    p = case["params"]
    bodies = [
        kt.Body(
            f"link {i}",
            f"link {i - 1}" if i else None,
            kt.Revolute(z),
            kt.Pose(translation=[p["L"][i - 1] if i else 0.0, 0.0, 0.0]),
            kt.Inertia(p["m"][i], [p["c"][i], 0.0, 0.0], p["I_body"][i]),
        )
        for i, z in enumerate(p["z"])
    ]
    return kt.Model(bodies, name=name), p, case["expected"]


def two_links(m=1.5, L=0.8):
    """The document's example in space: links along x that turn about z."""
    link = kt.Inertia(m, [0.5 * L, 0.0, 0.0], np.diag([0.0, m * L * L / 12, m * L * L / 12]))
    first = kt.Body("first", None, kt.Revolute([0, 0, 1]), inertia=link)
    return kt.Model([first, kt.Body("second", "first", kt.Revolute([0, 0, 1]), kt.Pose(translation=[L, 0, 0]), link)])


@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_momentum_balances_at_every_body(name, rotors):
    """M ΔV = f − Σ φ f_child + W, H f = −Γ Δv, ΔV = φ* H* Δv; dense: Δv = ℳ⁻¹ H φ W."""
    model = zoo.with_rotors(zoo.model(name)) if rotors else zoo.model(name)
    q, W = model.random(1), np.random.default_rng(2).normal(size=(model.nbodies, 6))
    dv, dV, f = interpret(sweeps, model, {"q": q, "wrenches": W}, {})
    ops = kt.operators(model, q)
    P = np.abs(ops.P.dense()).max()
    allowed = gamma(model) * P * np.abs(dV).max()
    lack = ops.M @ dV.ravel() - (f.ravel() - ops.E @ f.ravel() + W.ravel())
    assert np.abs(lack).max() <= allowed + gamma(model) * np.abs(f).max()
    assert np.abs(ops.H @ f.ravel() + ops.Gamma @ dv).max(initial=0.0) <= allowed + gamma(model) * np.abs(f).max()
    assert_close(ops.phi.T @ (ops.H.T @ dv), dV.ravel(), gamma(model))
    M = kt.mass_matrix(model, q)
    wanted = np.linalg.solve(M, ops.H @ (ops.phi @ W.ravel()))
    assert_close(dv, wanted, gamma(model) * np.linalg.cond(M))


@pytest.mark.parametrize("name", ["panda", "mixed chain", "forest"])
def test_compiled_is_the_reference(name):
    model, rng = zoo.model(name), np.random.default_rng(3)
    q, point, impulse = model.random(rng, 11), rng.normal(size=(11, 3)), rng.normal(size=(11, 6))
    found = kt.impulse_response(model, q, model.nbodies - 1, point, impulse)
    R = kt.forward_kinematics(model, q)[0][:, -1]
    force, moment = (np.einsum("nji,nj->ni", R, x) for x in (impulse[:, 3:], impulse[:, :3]))
    W = np.zeros((11, model.nbodies, 6))
    W[:, -1] = np.concatenate([moment + np.cross(point, force), force], axis=1)
    for ours, theirs in zip(
        (found.dv, found.twists, found.joint_impulses), interpret(sweeps, model, {"q": q, "wrenches": W}, {}), strict=True
    ):
        assert_close(ours, theirs, 1e-11)
    assert_close(kt.compile(kt.impulse_response, model)(q, W)[0], found.dv, 1e-11)
    loops = kt.compile(kt.impulse_response, model, lowering="looped")(q, W)
    options = {"body": model.body_names[-1]}
    of_one = [kt.compile(kt.impulse_response, model, lowering=how, **options)(q, point, impulse) for how in ("auto", "looped")]
    for several in (loops, *of_one, kt.reference(kt.impulse_response, model, q, point, impulse, **options)):
        for ours, theirs in zip(several, (found.dv, found.twists, found.joint_impulses), strict=True):
            assert_close(ours, theirs, 1e-11)


def test_a_free_tree_takes_up_the_whole_impulse():
    model, rng = zoo.model("g1"), np.random.default_rng(4)
    q, impulse, point = model.random(rng), rng.normal(size=3), np.array([0.1, -0.2, 0.3])
    found = kt.impulse_response(model, q, 20, point, impulse)
    R, p = kt.forward_kinematics(model, q)
    h = np.zeros(6)
    for k, M in enumerate(model.inertias):
        moment, momentum = np.split(M @ found.twists[k], 2)
        h += np.concatenate([R[k] @ moment + np.cross(p[k], R[k] @ momentum), R[k] @ momentum])
    given = np.concatenate([np.cross(p[20] + R[20] @ point, impulse), impulse])
    assert_close(h, given, gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)))


@pytest.mark.parametrize("name", CHAINS)
def test_the_document(name):
    model, p, expected = chain_of(name)
    q, v = np.array(p["theta"]), np.array(p["thetadot"])
    chain, last = origin_chain(model, q), model.nbodies - 1
    kappa = np.linalg.cond(expected["mass_matrix"])
    close = 2 * gamma(model) * kappa
    assert_close(np.stack([s[:, 0] for s in chain.s])[:, THEIRS], expected["s"], close)
    assert_close(chain.A_inv[:, THEIRS][..., THEIRS], expected["Ainv"], close)
    assert_close(chain.A_inv[last], _at_origin(model, q, kt.operators(model, q).Omega.blocks(last, last)), close)
    R, r = kt.forward_kinematics(model, q)
    assert_close(r, expected["r"], close)
    assert_close(r + np.einsum("nij,nj->ni", R, [body.inertia.com for body in model.bodies]), expected["rC"], close)
    assert_close(kt.mass_matrix(model, q), expected["mass_matrix"], close)
    V = np.cumsum([s[:, 0] * rate for s, rate in zip(chain.s, v, strict=True)], axis=0)  # (7)
    assert_close(V[:, THEIRS], expected["v"], close)
    point = r[-1] + R[-1] @ p["y_contact"]
    n = contact_wrench(point, p["nhat"])
    assert_close(n[THEIRS], expected["n"], close)
    assert_close(n @ V[-1], expected["v_imp"], close)
    blow = chain.blow(v, n, p["eps"])
    assert_close(blow.magnitude, expected["J"], close)
    assert_close(blow.joint_impulses[:, THEIRS], expected["ell"][: model.nbodies], close)
    assert_close(blow.dv, expected["dthetadot"], close)
    assert_close(blow.twists[:, THEIRS], expected["dv"], close)
    response = kt.impulse_response(model, q, last, p["y_contact"], -blow.magnitude * np.array(p["nhat"]))
    assert_close(response.dv, expected["dthetadot"], close)
    moment, force = response.joint_impulses[:, :3], response.joint_impulses[:, 3:]
    force = np.einsum("nij,nj->ni", R, force)
    at_origin = np.concatenate([force, np.einsum("nij,nj->ni", R, moment) + np.cross(r, force)], axis=1)
    assert_close(at_origin, expected["ell"][: model.nbodies], close)
    towards = -np.sign(expected["v_imp"]) * np.array(p["nhat"])
    hit = kt.impact(model, q, v, kt.Contact(last, p["y_contact"], towards), p["eps"])
    assert_close(hit.v - v, expected["dthetadot"], close)
    assert_close(hit.residuals.energy, expected["T_after"] - expected["T_before"], close, expected["T_before"])


def test_the_numbers_of_the_example():
    """Of planar twists [v; ω] at the origin."""
    case = documents.cases()["001_example_2link_planar"]
    p, expected = case["params"], case["expected"]
    model, v, plane = two_links(p["m"], p["L"]), np.array(p["thetadot"]), [3, 4, 2]
    chain, close = origin_chain(model, np.zeros(2)), 2 * gamma(model) * np.linalg.cond(kt.mass_matrix(model, np.zeros(2)))
    block = np.ix_([0, 1], plane, plane)
    s = np.stack([s[:, 0] for s in chain.s])
    V = np.cumsum(s * v[:, None], axis=0)
    n = np.zeros(6)
    n[plane] = p["n"]
    own = [np.outer(x, x @ I) / (x @ I @ x) for x, I in zip(s, chain.I, strict=True)]
    inner = np.stack([np.zeros((6, 6)), chain.A_inv[0]])
    Psi = np.stack([(np.eye(6) - x) @ A for x, A in zip(own, inner, strict=True)])  # (15)
    blow = chain.blow(v, n, p["eps"])
    for found, name in (
        (s[:, plane], "s"),
        (chain.I[block], "I"),
        (V[:, plane], "v"),
        (n @ V[-1], "v_imp"),
        (chain.A_inv[block], "Ainv"),
        (Psi[block], "Psi"),
        (blow.magnitude, "J"),
        (chain.Phi[block], "Phi"),
        (np.vstack([blow.joint_impulses, n * blow.magnitude])[:, plane], "ell"),
        (blow.dv, "dthetadot"),
        (blow.twists[:, plane], "dv"),
        (n @ (V[-1] + blow.twists[-1]), "v_bounce"),
    ):
        assert_close(found, expected[name], close)


def test_the_example_of_two_links():
    m, L, eps = 1.5, 0.8, 0.5
    model, thetadot = two_links(m, L), np.array([1.0, -0.4])
    chain, close = origin_chain(model, np.zeros(2)), gamma(model) * np.linalg.cond(kt.mass_matrix(model, np.zeros(2)))
    plane = np.ix_([3, 4, 2], [3, 4, 2])
    y = np.array([[96 / (7 * m), -66 / (7 * m * L)], [-66 / (7 * m * L), 48 / (7 * m * L * L)]])
    assert_close(chain.A_inv[0][plane][1:, 1:], [[0.0, 0.0], [0.0, 3 / (m * L * L)]], close)
    assert_close(chain.A_inv[1][plane][1:, 1:], y, close)  # (35)
    assert_close(chain.Phi[0][plane], [[1, 0, 0], [0, -5 / 7, 3 / (7 * L)], [0, 0, 0]], close)  # (37)
    assert_close(chain.Phi[1][plane], [[1, 0, 0], [0, 10 / 7, -6 / (7 * L)], [0, 10 * L / 7, -6 / 7]], close)
    blow = chain.blow(thetadot, contact_wrench([2 * L, 0.0, 0.0], [0.0, 1.0, 0.0]), eps)
    speed = 2 * thetadot[0] + thetadot[1]
    assert_close(blow.magnitude, (1 + eps) * 7 * m / 24 * L * speed, close)  # (36)
    assert_close(blow.dv, (1 + eps) * np.array([0.25, -1.5]) * speed, close)  # (38), (39)
    hit = kt.impact(model, np.zeros(2), thetadot, kt.Contact("second", [L, 0, 0], [0, -1, 0]), eps)
    assert_close(hit.v - thetadot, blow.dv, close)
    tip = kt.jacobian(model, np.zeros(2), "second", point=[L, 0, 0])[4]
    assert_close(tip @ hit.v, -eps * (tip @ thetadot), close)  # (40)


def test_origin_referenced_twists_lose_digits_far_away():
    """What the module says: 2e-10 at 100 m, 1e-6 at 1 km, 6e-4 at 10 km, where joint-referenced sweeps lose nothing."""
    model, p, expected = chain_of("001_chain3d_N5")
    q, v = np.array(p["theta"]), np.array(p["thetadot"])
    errors, ours, last = [], [], model.nbodies - 1
    for distance in (1e2, 1e3, 1e4):
        bodies = list(model.bodies)
        bodies[0] = kt.Body("link 0", None, bodies[0].joint, kt.Pose(translation=[distance, 0, 0]), bodies[0].inertia)
        moved = kt.Model(bodies)
        R, r = kt.forward_kinematics(moved, q)
        n = contact_wrench(r[-1] + R[-1] @ p["y_contact"], p["nhat"])
        errors.append(abs(origin_chain(moved, q).blow(v, n, p["eps"]).magnitude / expected["J"] - 1))
        towards = -np.sign(expected["v_imp"]) * np.array(p["nhat"])
        hit = kt.impact(moved, q, v, kt.Contact(last, p["y_contact"], towards), p["eps"])
        ours.append(np.abs(hit.v - v - expected["dthetadot"]).max())
    assert all(0.1 < error / told < 10.0 for error, told in zip(errors, (2e-10, 1e-6, 6e-4), strict=True))
    assert max(ours) < 2 * gamma(model) * np.linalg.cond(expected["mass_matrix"]) * np.abs(expected["dthetadot"]).max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hand", [0, 0, 0], [0, 0, 1]), "no body named 'hand'"),
        ((1, [0, 0], [0, 0, 1]), r"point must have shape \(..., 3\), found \(2,\)"),
        ((1, [0, 0, 0], [0, 0, np.nan]), "impulse must be finite"),
        ((1, [0, 0, 0], [0, 1]), r"impulse must have shape"),
        ((1, [0, 0, 0], "up"), "impulse must be an array of numbers"),
    ],
)
def test_wrong_blows_are_told(arguments, message):
    model = zoo.model("panda")
    with pytest.raises(kt.InputError, match=message):
        kt.impulse_response(model, model.neutral(), *arguments)


def test_chains_that_are_none_are_told():
    with pytest.raises(kt.InputError, match=r"is no serial chain: body .* kinetree\.impulse_response takes any tree"):
        origin_chain(zoo.model("forest"), zoo.model("forest").neutral())
    with pytest.raises(kt.InputError, match="has an armature, which the document knows nothing of"):
        origin_chain(zoo.with_rotors(two_links()), np.zeros(2))
    straight = origin_chain(two_links(), np.zeros(2))
    with pytest.raises(kt.InputError, match="no impulse along n moves the last link"):
        straight.blow(np.ones(2), contact_wrench([1.6, 0, 0], [1.0, 0, 0]))


def _at_origin(model, q, X):
    """A compliance at the last body's joint frame, body axes, as one of twists at the origin, world axes."""
    R, p = (x[-1] for x in kt.forward_kinematics(model, q))
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = R
    turn[3:, :3] = np.cross(p[None], R.T).T
    return turn @ X @ turn.T
