"""Lagrange's form: Jacobians of the links, virtual work, and coordinates of one's own."""

import documents
import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from tolerance import EPS, assert_close, gamma

import kinetree as kt

ABSOLUTE = np.array([[1.0, 0.0], [-1.0, 1.0]])


@pytest.mark.parametrize("name", ["mixed chain", "forest", "floating", "panda", "g1"])
def test_the_mass_matrix_is_the_sum_over_the_links(name):
    """(15): ℳ = Σ m J_L* J_L + J_A* I J_A with the Jacobians of the centres of mass."""
    model, (q, *_) = zoo.model(name), zoo.state(name)
    rotations, _ = kt.forward_kinematics(model, q)
    M = np.zeros((model.nv, model.nv))
    for k, (body, R) in enumerate(zip(model.bodies, rotations, strict=True)):
        inertia = body.inertia
        J = kt.jacobian(model, q, k, point=inertia.com)
        M += inertia.mass * J[3:].T @ J[3:] + J[:3].T @ R @ inertia.tensor @ R.T @ J[:3]
        own = kt.jacobian(model, q, k, frame="body", point=inertia.com)
        assert_close(np.kron(np.eye(2), R) @ own, J, 2 * gamma(model))
    assert_close(kt.mass_matrix(model, q), M, 2 * gamma(model))


def test_jacobians_of_a_document():
    case = documents.case("004_chain3_christoffel")
    for k, body in enumerate(case.model.bodies):
        J = kt.jacobian(case.model, case.q, k, point=body.inertia.com)
        assert_close(J[:3], case.expected["J_A"][k], 4 * gamma(case.model))
        assert_close(J[3:], case.expected["J_L"][k], 4 * gamma(case.model))


def test_points_and_states_broadcast():
    model = zoo.model("panda")
    q, points = model.random(0, 5), np.random.default_rng(1).normal(size=(2, 1, 3))
    found = kt.jacobian(model, q, "panda_link7", point=points)
    assert found.shape == (2, 5, 6, model.nv)
    assert_close(found[1, 3], kt.jacobian(model, q[3], "panda_link7", point=points[1, 0]), 4 * EPS)
    for wrong in (np.zeros(2), [np.nan, 0, 0], "there"):
        with pytest.raises(kt.InputError, match="point must"):
            kt.jacobian(model, q, 0, point=wrong)


@pytest.mark.parametrize("name", ["mixed chain", "forest", "g1", "random 60"])
def test_wrenches_do_the_work_of_their_joint_forces(name):
    model, (q, v, _, external) = zoo.model(name), zoo.state(name)
    jacobians = (kt.reference(kt.jacobian, model, q, body=k, frame="body") for k in range(model.nbodies))
    power = sum(W @ J @ v for W, J in zip(external, jacobians, strict=True))
    force = kt.generalized_force(model, q, external)
    assert abs(force @ v - power) <= gamma(model) * (np.abs(force) @ np.abs(v) + np.abs(external).sum() * np.abs(v).sum())
    without = kt.bias_force(model, q, v)
    assert_close(kt.bias_force(model, q, v, external), without - force, 2 * gamma(model), np.abs(force).max())


def planar():
    found = documents.cases()["004_planar_2R"]
    return kt.example("planar-2r"), found["params"], found["expected"]


def test_absolute_angles():
    """θ = B φ: Q_φ = (τ₁ − τ₂, τ₂), and every other term of the document."""
    model, p, wanted = planar()
    angles, bound = kt.Coordinates(model, ABSOLUTE), 4 * gamma(model)
    phi, rate = np.linalg.solve(ABSOLUTE, p["theta"]), np.linalg.solve(ABSOLUTE, p["thetad"])
    assert_close(phi, wanted["phi"], bound)
    assert_close(angles.q(phi), p["theta"], bound)
    assert_close(angles.mass_matrix(phi), wanted["H_phi"], bound)
    assert_close(angles.coriolis_matrix(phi, rate) @ rate, wanted["h_phi"], bound, np.abs(wanted["G_phi"]).max())
    assert_close(angles.gravity_force(phi), wanted["G_phi"], bound)
    assert_close(angles.generalized_force(phi, p["tau"]), wanted["Q_phi"], bound)
    condition = np.linalg.cond(wanted["H_phi"])
    assert_close(angles.forward_dynamics(phi, rate, p["tau"]), wanted["phidd"], bound * condition)


def polar(model):
    """The planar 2R by where its tip is: r and the direction, q by the law of cosines; B by a complex step of q."""
    bodies = model.bodies
    first = bodies[1].placement.translation[0]

    def q(theta):
        r, direction = theta
        bend = np.arccos(((r / first) ** 2 - 2.0) / 2.0 + 0j)
        return np.real_if_close(np.array([direction - bend / 2.0, bend]), 1e6)

    def B(theta):
        r, _ = theta
        slope = -(r / first**2) / np.sqrt(1.0 - (((r / first) ** 2 - 2.0) / 2.0) ** 2)
        return np.array([[-slope / 2.0, 1.0], [slope, 0.0]])

    return kt.Coordinates(model, B, q=q)


def test_a_smooth_map_moves_as_the_joints_do():
    model, p, _ = planar()
    coordinates = polar(model)
    theta, rate, tau = np.array([0.8 * model.bodies[1].placement.translation[0] * 2, 0.4]), np.array([0.3, -0.5]), p["tau"]

    def in_polar(_, x):
        return np.concatenate([x[2:], coordinates.forward_dynamics(x[:2], x[2:], tau)])

    def in_joints(_, x):
        return np.concatenate([x[2:], kt.forward_dynamics(model, x[:2], x[2:], tau)])

    start = np.concatenate([coordinates.q(theta), coordinates.v(theta, rate)])
    ours, theirs = (
        solve_ivp(f, (0.0, 0.2), x, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        for f, x in ((in_polar, np.concatenate([theta, rate])), (in_joints, start))
    )
    assert_close(np.concatenate([coordinates.q(ours[:2]), coordinates.v(ours[:2], ours[2:])]), theirs, 1e-9)
    C, h = coordinates.coriolis_matrix(theta, rate), 1e-6
    M_rate = (coordinates.mass_matrix(theta + h * rate) - coordinates.mass_matrix(theta - h * rate)) / (2 * h)
    S = M_rate - 2 * C
    assert np.abs(S + S.T).max() <= 1e-7 * np.abs(M_rate).max()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_linear_map_leaves_the_motion_alone(seed):
    model, rng = zoo.model("ur5"), np.random.default_rng(seed)
    B = np.linalg.qr(rng.normal(size=(model.nv, model.nv)))[0] @ np.diag(rng.uniform(0.5, 2.0, model.nv))
    coordinates, (theta, rate, tau) = kt.Coordinates(model, B, rng.normal(size=model.nq)), rng.normal(size=(3, model.nv))
    wanted = kt.forward_dynamics(model, coordinates.q(theta), B @ rate, tau)
    condition = np.linalg.cond(kt.mass_matrix(model, coordinates.q(theta))) * np.linalg.cond(B) ** 2
    assert_close(B @ coordinates.forward_dynamics(theta, rate, tau), wanted, gamma(model) * condition)


def test_fewer_coordinates_hold_joints_together():
    """Both joints of the double pendulum turn alike: a body less, and T = ½ ℳ' θ̇²."""
    model = kt.example("double-pendulum")
    both = kt.Coordinates(model, [[1.0], [1.0]])
    theta, rate = np.array([0.3]), np.array([1.2])
    assert_close(
        0.5 * rate @ both.mass_matrix(theta) @ rate, kt.kinetic_energy(model, both.q(theta), both.v(theta, rate)), 8 * EPS
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: kt.Coordinates(m, np.eye(3)), r"B must have shape \(nv = 2, n ≤ nv\), found \(3, 3\)"),
        (lambda m: kt.Coordinates(m, ABSOLUTE, offset=[0.0]), r"offset must have shape \(nq = 2,\), found \(1,\)"),
        (lambda m: kt.Coordinates(m, [[1.0, np.nan], [0.0, 1.0]]), "B must be finite, found nan"),
        (lambda m: kt.Coordinates(m, lambda theta: ABSOLUTE), "q must be one too"),
        (lambda m: kt.Coordinates("arm", ABSOLUTE), "must be a kinetree Model, found str"),
        (lambda m: kt.Coordinates(m, ABSOLUTE).mass_matrix([0.0, np.inf]), "θ must be finite, found inf"),
        (lambda m: kt.Coordinates(m, ABSOLUTE).mass_matrix(0.0), "θ must be one state"),
        (lambda m: kt.Coordinates(zoo.model("floating"), np.eye(10)), "has a quaternion"),
    ],
)
def test_wrong_coordinates_are_refused(make, message):
    with pytest.raises(kt.InputError, match=message):
        make(kt.example("planar-2r"))
