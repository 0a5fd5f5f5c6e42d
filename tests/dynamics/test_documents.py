"""The worked numbers of the source documents. Tolerances: `tolerance.gamma`, the rounding of one sweep, and κ(M_q) of it
after a solve; the documents' numbers carry as much again, hence the factor 2."""

import documents
import numpy as np
import pytest
from documents import TREES
from scipy.integrate import solve_ivp
from tolerance import EPS, assert_close, gamma

import kinetree as kt

EXAMPLES = {
    "moving-base-pendulum": "000_ex1_pendulum_on_moving_base",
    "double-pendulum": "000_ex2_double_pendulum",
    "satellite": "000_ex3_satellite",
    "three-link-arm": "000_ex4_three_link_arm",
}


@pytest.fixture(params=TREES)
def case(request):
    return documents.case(request.param)


@pytest.fixture
def close(case):
    """Compare to the rounding of a sweep, in units of the largest joint force, energy or length about."""

    def close(found, name, condition=1.0, scale=0.0):
        assert_close(found, np.array(case.expected[name]), 2 * gamma(case.model) * condition, scale)

    return close


def force_scale(case):
    """The largest term of a joint force: each of them may be a small difference of large ones."""
    lever = 1.0 + np.abs(kt.forward_kinematics(case.model, case.q)[1]).max()
    weight = sum(body.inertia.mass for body in case.model.bodies) * np.abs(case.model.gravity).max() * lever
    return weight + np.abs(case.expected["inverse_dynamics_qdd0_noload"]).max()


def test_mass_matrix(case, close):
    close(case.S.T @ kt.mass_matrix(case.model, case.q) @ case.S, "mass_matrix")


def test_inverse_mass_matrix(case):
    M = np.array(case.expected["mass_matrix"])
    S_inverse = np.linalg.inv(case.S)
    found = S_inverse @ kt.inverse_mass_matrix(case.model, case.q) @ S_inverse.T
    assert_close(found, np.linalg.inv(M), 2 * gamma(case.model) * np.linalg.cond(M))


def test_logdet(case):
    M = kt.mass_matrix(case.model, case.q)
    logdet = np.linalg.slogdet(M)[1] + 2 * np.linalg.slogdet(case.S)[1]
    # δ log det M = tr(M⁻¹ δM)
    assert abs(logdet - case.expected["logdet_mass_matrix"]) <= 2 * gamma(case.model) * np.linalg.cond(M)


def test_bias(case, close):
    found = case.S.T @ kt.inverse_dynamics(case.model, case.q, case.v, case.a(np.zeros(case.model.nv)))
    close(found, "inverse_dynamics_qdd0_noload", scale=force_scale(case))


def test_gravity(case, close):
    close(case.S.T @ kt.gravity_force(case.model, case.q), "gravity_torque", scale=force_scale(case))


def test_inverse_dynamics_with_loads(case, close):
    if "qdd" not in case.params:
        pytest.skip("the document gives no acceleration for this system")
    tau = kt.inverse_dynamics(case.model, case.q, case.v, case.a(case.array("qdd")), case.external)
    close(case.S.T @ tau, "inverse_dynamics_tau", scale=force_scale(case))


def test_forward_dynamics(case, close):
    tau = np.linalg.solve(case.S.T, case.array("tau"))
    a = kt.forward_dynamics(case.model, case.q, case.v, tau, case.external)
    M = np.array(case.expected["mass_matrix"])
    scale = force_scale(case) * np.abs(np.linalg.inv(M)).max()
    close(np.linalg.solve(case.S, a - case.s_dot), "forward_dynamics_qdd", np.linalg.cond(M), scale)


def test_energies(case, close):
    close(kt.kinetic_energy(case.model, case.q, case.v), "kinetic_energy")
    close(kt.potential_energy(case.model, case.q), "potential_energy", scale=force_scale(case))


def test_momenta(case, close):
    """p, and 𝒦 of every body about its joint in inertial components: the operator expression φ M φ* H* v."""
    ops = kt.operators(case.model, case.q)
    close(case.S.T @ kt.momentum(case.model, case.q, case.v), "momentum_p")
    K = ((ops.phi @ ops.M @ ops.phi.T @ ops.H.T) @ case.v).reshape(-1, 2, 3)
    rotations, _ = kt.forward_kinematics(case.model, case.q)
    close(np.einsum("nij,nkj->nki", rotations, K).reshape(-1, 6), "momentum_stack_K")


def test_rates_of_momenta(case, close):
    """In the documents' coordinates where those are ours too."""
    if not np.array_equal(case.S, np.eye(len(case.S))):
        pytest.skip("angular velocities are told in other axes")
    p = kt.momentum(case.model, case.q, case.v)
    close(kt.momentum_rate(case.model, case.q, p, case.array("tau"), case.external), "pdot", scale=force_scale(case))


def test_rate_of_the_momentum_of_a_free_base():
    """d/dt (S* p) = S* ṗ + ω × S* p for the base, whose momenta the document tells in inertial components."""
    case = documents.case("003_freebase_tree5")
    tau = np.linalg.solve(case.S.T, case.array("tau"))
    p = kt.momentum(case.model, case.q, case.v)
    found = case.S.T @ kt.momentum_rate(case.model, case.q, p, tau, case.external)
    omega, told = case.array("qd")[:3], case.S.T @ p
    found[:3] += np.cross(omega, told[:3])
    found[3:6] += np.cross(omega, told[3:6])
    assert_close(found, case.expected["pdot"], 4 * gamma(case.model), force_scale(case))


def test_christoffel_symbols_of_a_chain():
    case = documents.case("004_chain3_christoffel")
    bound = 4 * gamma(case.model)
    symmetric, document = (kt.christoffel(case.model, case.q, form=form) for form in ("symmetric", "document"))
    assert_close(symmetric, case.expected["C_ijk_symmetrised"], bound)
    assert_close(document, case.expected["C_ijk_eq22"], bound)
    assert_close(kt.coriolis_matrix(case.model, case.q, case.v) @ case.v, case.expected["h"], bound)


def test_hamiltons_equations_integrated():
    """Four bodies for half a second, (q, p) carried; p of the axis along gravity is conserved."""
    case = documents.case("003_hamilton_integration_4body")
    model, n, wanted = case.model, case.model.nv, case.expected
    p0 = kt.momentum(model, case.q, case.v)
    assert_close(p0, wanted["p0"], 2 * gamma(model))

    def rate(_, state):
        q, p = state[:n], state[n:]
        return np.concatenate([kt.velocity(model, q, p), kt.momentum_rate(model, q, p, np.zeros(n))])

    state = np.concatenate([case.q, p0])
    assert_close(rate(0.0, state), wanted["qdot0_pdot0"], 4 * gamma(model), np.abs(wanted["H0"]))
    end = solve_ivp(rate, (0.0, case.params["t_end"]), state, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert_close(end[:n], wanted["q_end"], 1e-12)
    assert_close(end[n:], wanted["p_end"], 1e-12)
    assert_close(kt.hamiltonian(model, end[:n], end[n:]), wanted["H_end"], 1e-12)
    assert_close(end[n], p0[0], 1e-13)


def test_positions(case, close):
    rotations, origins = kt.forward_kinematics(case.model, case.q)
    close(origins, "joint_position_eta", scale=1.0)
    coms = np.array([body.inertia.com for body in case.model.bodies])
    close(origins + np.einsum("nij,nj->ni", rotations, coms), "cm_position_r", scale=1.0)
    masses = np.array([body.inertia.mass for body in case.model.bodies])
    mean = masses @ np.array(case.expected["cm_position_r"]) / masses.sum()
    assert_close(kt.center_of_mass(case.model, case.q), mean, 2 * gamma(case.model), 1.0)


def test_velocities(case):
    v = np.array(case.expected["joint_velocity_v"])
    for k in range(case.model.nbodies):
        assert_close(kt.jacobian(case.model, case.q, k) @ case.v, v[k], 2 * gamma(case.model), np.abs(v).max())


def test_planar_2r():
    found = documents.cases()["004_planar_2R"]
    p, wanted = found["params"], found["expected"]
    bodies = [
        kt.Body("1", None, kt.Revolute([0, 0, 1]), inertia=kt.Inertia(p["m1"], [p["lc1"], 0, 0], np.eye(3) * p["I1"])),
        kt.Body(
            "2",
            "1",
            kt.Revolute([0, 0, 1]),
            kt.Pose(translation=[p["l1"], 0, 0]),
            kt.Inertia(p["m2"], [p["lc2"], 0, 0], np.eye(3) * p["I2"]),
        ),
    ]
    model = kt.Model(bodies, gravity=(0, -p["g"], 0), name="planar 2R")
    H, q, v = np.array(wanted["H"]), p["theta"], p["thetad"]
    bound = 2 * gamma(model)
    assert_close(kt.mass_matrix(model, q), H, bound)
    assert_close(kt.gravity_force(model, q), wanted["G"], bound)
    assert_close(kt.bias_force(model, q, v) - kt.gravity_force(model, q), wanted["h"], bound, np.abs(wanted["G"]).max())
    assert_close(kt.forward_dynamics(model, q, v, p["tau"]), wanted["thetadd"], bound * np.linalg.cond(H))
    shipped = kt.example("planar-2r")
    assert_close(kt.mass_matrix(shipped, q), H, bound)
    assert_close(kt.gravity_force(shipped, q), wanted["G"], bound)


@pytest.mark.parametrize("name", EXAMPLES)
def test_shipped_example_is_the_documents_system(name):
    shipped, wanted = kt.example(name), documents.case(EXAMPLES[name]).model
    assert shipped.parents == wanted.parents
    assert np.array_equal(shipped.gravity, wanted.gravity)
    for ours, theirs in zip(shipped.bodies, wanted.bodies, strict=True):
        assert ours.joint == theirs.joint
        assert ours.placement == theirs.placement
        assert ours.inertia.mass == theirs.inertia.mass
        assert np.array_equal(ours.inertia.com, theirs.inertia.com)
        assert np.array_equal(ours.inertia.tensor, theirs.inertia.tensor)


def test_the_reading_of_the_file_is_exact():
    for name in TREES:
        for body in documents.cases()[name]["params"]["bodies"]:
            R = np.array(body.get("R0", np.eye(3)))
            assert np.abs(R @ R.T - np.eye(3)).max() <= 8 * EPS
