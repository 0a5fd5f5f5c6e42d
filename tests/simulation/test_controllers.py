"""Controllers do what their equations promise, in simulations."""

import numpy as np
import pytest
import zoo
from tolerance import assert_close, gamma

import kinetree as kt
from kinetree.controllers import computed_torque, gravity_compensation, operational_space, partial_computed_torque, pd, together


def test_gravity_compensation_holds_still():
    model = zoo.model("panda")
    q0 = model.random(1)
    run = kt.simulate(model, q0, duration=0.2, dt=1e-3, control=gravity_compensation(model))
    assert np.abs(run.q - q0).max() <= 1e3 * gamma(model)


def test_pd_with_gravity_compensation_settles_at_its_target():
    model = zoo.model("floating")
    q0, wanted = model.random(0), model.random(1)
    control = together(gravity_compensation(model), pd(model, wanted, 40.0, 12.0))
    before = np.abs(kt.difference(model, q0, wanted)).max()
    run = kt.simulate(model, q0, duration=6.0, dt=2e-3, control=control, store_every=100)
    assert np.abs(kt.difference(model, run.q[-1], wanted)).max() < 0.05 * before
    assert (np.diff(run.kinetic[-5:]) <= 0.0).all()


def test_computed_torque_makes_errors_those_of_a_spring_and_damper():
    """e'' + D e' + K e = 0, critically damped: e = e₀ (1 + ω t) exp(−ω t) while following a moving target."""
    model, omega, duration = zoo.model("ur5"), 8.0, 0.5
    rng = np.random.default_rng(2)
    amplitude, error = rng.uniform(-0.5, 0.5, (2, model.nv))

    def target(t):
        return amplitude * np.sin(3 * t), 3 * amplitude * np.cos(3 * t), -9 * amplitude * np.sin(3 * t)

    q0, v0, _ = target(0.0)
    run = kt.simulate(model, q0 + error, v0, duration, 1e-3, control=computed_torque(model, target, omega**2, 2 * omega))
    wanted = np.array([target(t)[0] for t in run.t]) + np.outer((1 + omega * run.t) * np.exp(-omega * run.t), error)
    assert np.abs(run.q - wanted).max() <= 1e-8  # RK4 at ω dt = 0.008


def test_operational_space_moves_a_point_along_a_line():
    model, duration, point = zoo.model("panda"), 0.4, np.array([0.02, 0.0, 0.05])
    q0 = np.array([0.1, -0.4, 0.2, -1.9, 0.1, 1.6, 0.7, 0.02, 0.02])
    body = model.body_index("panda_link7")

    def tip(q):
        R, p = kt.forward_kinematics(model, q)
        return p[body] + R[body] @ point

    start, way = tip(q0), np.array([0.05, -0.08, 0.04])

    def target(t):
        s = t / duration
        return start + way * (3 * s**2 - 2 * s**3), way * (6 * s - 6 * s**2) / duration, way * (6 - 12 * s) / duration**2

    control = operational_space(model, "panda_link7", target, 400.0, 40.0, point)
    run = kt.simulate(model, q0, None, duration, 1e-3, control=control, store_every=20, passive=False)
    wanted = np.array([target(t)[0] for t in run.t])
    assert np.abs(np.array([tip(q) for q in run.q]) - wanted).max() <= 1e-6


@pytest.mark.parametrize("name", ["mixed chain", "floating", "panda"])
def test_the_drift_is_the_rate_of_the_jacobian(name):
    from kinetree.algorithms.inverse import drift
    from kinetree.compiler.compile import kernel_of

    model, (q, v, *_) = zoo.model(name), zoo.state(name)
    point, k, h = (0.1, -0.2, 0.3), model.nbodies - 1, 1e-5

    def velocity(s):
        return kt.jacobian(model, kt.integrate(model, q, s * v), k, point=point)[3:] @ v

    found = kernel_of(drift, model, options={"body": k, "point": point})(q, v)
    wanted = (velocity(h) - velocity(-h)) / (2 * h)
    assert_close(found, wanted, 1e-7, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: pd(m, np.zeros(2), 1.0, 1.0), r"must be a configuration \(6,\)"),
        (lambda m: pd(m, np.zeros(6), -1.0, 1.0), "stiffness must be a number or"),
        (lambda m: pd(m, np.zeros(6), 1.0, np.ones(5)), "damping must be a number or"),
        (lambda m: operational_space(m, "hand", np.zeros(3), 1.0, 1.0), "no body named 'hand'"),
        (lambda m: operational_space(m, 5, np.zeros(2), 1.0, 1.0), r"must be a position \(3,\)"),
        (lambda m: computed_torque(m, lambda t: (np.zeros(6), np.zeros(5)), 1.0, 1.0)(0.0, np.zeros(6), np.zeros(6)), "rates"),
    ],
)
def test_wrong_controllers_are_refused(make, message):
    with pytest.raises(kt.InputError, match=message):
        make(zoo.model("ur5"))


def test_a_singular_configuration_is_named():
    model = kt.example("planar-2r")
    control = operational_space(model, 1, np.zeros(3), 1.0, 1.0)
    with pytest.raises(kt.InputError, match="cannot be moved in every direction"):
        control(0.0, np.zeros(2), np.zeros(2))


def test_partial_computed_torque_drives_some_joints_and_leaves_the_others():
    for name in ("floating", "mixed chain", "panda"):
        model, (q, v, a, _) = zoo.model(name), zoo.state(name)
        joints = model.joint_names[1::2]
        driven = np.concatenate([np.r_[model.v_slices[k]] for k in range(1, model.nbodies, 2)])
        tau = partial_computed_torque(model, joints, lambda t, q, v, wanted=a[driven]: wanted)(0.0, q, v)
        assert not np.delete(tau, driven).any()
        bound = gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)) * max(1.0, np.abs(tau).max())
        assert_close(kt.forward_dynamics(model, q, v, tau)[driven], a[driven], bound)


def test_partial_computed_torque_of_all_joints_is_computed_torque():
    model, (q, v, a, _) = zoo.model("panda"), zoo.state("panda")
    tau = partial_computed_torque(model, model.joint_names, lambda t, q, v: a)(0.0, q, v)
    assert_close(tau, kt.inverse_dynamics(model, q, v, a), gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)))


@pytest.mark.parametrize("joints", ["upper", ["upper", "elbow"], ["upper", "upper"], [1]])
def test_partial_computed_torque_names_the_joints_there_are(joints):
    with pytest.raises(
        kt.InputError, match=r"joints must be different names of joints, found .* Joints of 'double-pendulum': upper"
    ):
        partial_computed_torque(kt.example("double-pendulum"), joints, lambda t, q, v: np.zeros(1))


def test_partial_computed_torque_with_wrong_accelerations():
    model = kt.example("double-pendulum")
    with pytest.raises(kt.InputError, match=r"at t = 0 s must have shape \(1,\), one for each velocity of lower, found \(2,\)"):
        partial_computed_torque(model, ["lower"], lambda t, q, v: v)(0.0, np.zeros(2), np.zeros(2))
