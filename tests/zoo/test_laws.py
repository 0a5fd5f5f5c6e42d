"""Laws of mechanics on the whole zoo, by the NumPy reference: no compilation, so that the zoo can be large.

`test_kernels` says that kernels are equal to the reference.
"""

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import EPS, assert_close, gamma

import kinetree as kt

STEP = 1e-4
TRUNCATION = 100 * STEP**4
"""A five-point difference: its error is h⁴ f⁽⁵⁾/30 on functions whose derivatives are of the order of their size."""


@pytest.fixture(params=zoo.NAMES)
def name(request):
    return request.param


@pytest.fixture
def model(name):
    return zoo.model(name)


@pytest.fixture
def state(name):
    return zoo.state(name)


def ref(function, model, *arrays, **options):
    return kt.reference(function, model, *arrays, **options)


def derivative(f):
    """d/ds f(s) at 0 by five points."""
    h = STEP
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def difference_bound(model, scale):
    """Absolute error of `derivative` of a function of that size: truncation, and rounding divided by the step."""
    return (TRUNCATION + 2 * gamma(model) / STEP) * scale


def along(model, q, v, s):
    return ref(kt.integrate, model, q, s * v)


def force_scale(model, q):
    """What a joint force is the sum of: weights and inertias of the whole tree on the longest lever."""
    _, origins = ref(kt.forward_kinematics, model, q)
    lever = 1.0 + np.abs(origins).max()
    return sum(body.inertia.mass for body in model.bodies) * (np.abs(model.gravity).max() + lever) * lever


def test_mass_matrix_is_symmetric_positive_definite(model, state):
    M = ref(kt.mass_matrix, model, state[0])
    assert np.array_equal(M, M.T)
    np.linalg.cholesky(M)


def test_kinetic_energy_is_half_v_M_v(model, state):
    q, v, *_ = state
    M = ref(kt.mass_matrix, model, q)
    assert_close(ref(kt.kinetic_energy, model, q, v), 0.5 * v @ M @ v, 2 * gamma(model), np.abs(v) @ np.abs(M) @ np.abs(v))


def test_columns_of_the_mass_matrix_are_forces_of_unit_accelerations(model, state):
    q, v, *_ = state
    M, bias = ref(kt.mass_matrix, model, q), ref(kt.bias_force, model, q, v)
    columns = ref(kt.inverse_dynamics, model, q, v, np.eye(model.nv)) - bias
    assert_close(columns.T, M, 2 * gamma(model), np.abs(M).max() + np.abs(bias).max() + force_scale(model, q))


def test_inverse_mass_matrix(model, state):
    M, inverse = ref(kt.mass_matrix, model, state[0]), ref(kt.inverse_mass_matrix, model, state[0])
    assert np.array_equal(inverse, inverse.T)
    assert_close(M @ inverse, np.eye(model.nv), 2 * gamma(model) * np.linalg.cond(M))


def test_forward_dynamics_inverts_inverse_dynamics(model, state):
    q, v, a, external = state
    M = ref(kt.mass_matrix, model, q)
    for loads in ((), (external,)):
        tau = ref(kt.inverse_dynamics, model, q, v, a, *loads)
        scale = (np.abs(tau).max() + force_scale(model, q)) * np.linalg.norm(np.linalg.inv(M), 2)
        assert_close(ref(kt.forward_dynamics, model, q, v, tau, *loads), a, 2 * gamma(model) * np.linalg.cond(M), scale)


def test_external_wrenches_act_through_the_jacobians(model, state):
    q, v, a, external = state
    found = ref(kt.inverse_dynamics, model, q, v, a, external) - ref(kt.inverse_dynamics, model, q, v, a)
    J = [ref(kt.jacobian, model, q, body=k, frame="body") for k in range(model.nbodies)]
    wanted = -sum(J_k.T @ W for J_k, W in zip(J, external, strict=True))
    scale = sum(np.abs(J_k).max() for J_k in J) * np.abs(external).max()
    assert_close(found, wanted, 2 * gamma(model), scale + force_scale(model, q) + np.abs(found).max())


def test_gravity_force_is_the_slope_of_the_potential_energy(model, state):
    q, *_ = state
    slope = derivative(lambda s: ref(kt.potential_energy, model, along(model, q, np.eye(model.nv), s)))
    assert np.abs(ref(kt.gravity_force, model, q) - slope).max() <= difference_bound(model, force_scale(model, q))


def test_gravity_force_by_complex_steps(model, state):
    q, *_ = state
    if model.nq != model.nv:
        pytest.skip("quaternions have no complex step: the difference above covers them")
    U = ref(kt.potential_energy, model, q + 1e-30j * np.eye(model.nv))
    assert_close(ref(kt.gravity_force, model, q), U.imag / 1e-30, 2 * gamma(model), force_scale(model, q))


def test_power_is_the_rate_of_the_energy(model, state):
    q, v, a, _ = state

    def energy(s):
        there = along(model, q, v, s)
        return ref(kt.kinetic_energy, model, there, v + s * a) + ref(kt.potential_energy, model, there)

    power = ref(kt.inverse_dynamics, model, q, v, a) @ v
    scale = (force_scale(model, q) + energy(0.0)) * (1.0 + np.abs(v).sum())
    assert abs(power - derivative(energy)) <= difference_bound(model, scale)


def test_coriolis_force_is_quadratic_in_v(model, state):
    q, v, *_ = state
    gravity = ref(kt.gravity_force, model, q)

    def h(v):
        return ref(kt.bias_force, model, q, v) - gravity

    scale = np.abs(gravity).max() + np.abs(h(v)).max() + force_scale(model, q)
    assert_close(h(2 * v), 4 * h(v), 8 * gamma(model), scale)
    assert_close(h(-v), h(v), 4 * gamma(model), scale)


def test_jacobians_are_the_rates_of_the_poses(model, state):
    q, v, *_ = state
    R, _ = ref(kt.forward_kinematics, model, q)
    R_dot = derivative(lambda s: ref(kt.forward_kinematics, model, along(model, q, v, s))[0])
    p_dot = derivative(lambda s: ref(kt.forward_kinematics, model, along(model, q, v, s))[1])
    omega = np.einsum("nij,nkj->nik", R_dot, R)[:, [2, 0, 1], [1, 2, 0]]
    bound = difference_bound(model, force_scale(model, q) * (1 + np.abs(v).sum()))
    for k in range(model.nbodies):
        world, body = (ref(kt.jacobian, model, q, body=k, frame=frame) for frame in ("world", "body"))
        assert np.abs(world @ v - np.concatenate([omega[k], p_dot[k]])).max() <= bound
        assert_close(np.kron(np.eye(2), R[k]) @ body, world, 2 * gamma(model), np.abs(world).max())


def test_center_of_mass_is_the_slope_of_the_energy_in_gravity(model, state):
    q, *_ = state
    com = ref(kt.center_of_mass, model, q)
    mass = sum(body.inertia.mass for body in model.bodies)
    assert_close(ref(kt.potential_energy, model, q), -mass * (model.gravity @ com), 2 * gamma(model), force_scale(model, q))


def test_joint_maps_and_their_rates(model, state):
    """H is the rate of the displacement, and the bias Ḣ* v the rate of H* v with v held."""
    q, v, *_ = state
    for body, at, rates in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        joint, x, u = body.joint, q[at], v[rates]
        H_rate = derivative(lambda s, joint=joint, x=x, u=u: np.asarray(joint.H(joint.integrate(x, s * u)).T @ u, float))
        assert np.abs(H_rate - joint.H_rate(x, u).T @ u).max() <= difference_bound(model, 10.0)


def test_integrate_and_difference_are_inverse(model, state):
    q, v, a, _ = state
    bound = 4 * gamma(model)
    there = ref(kt.integrate, model, q, v)
    assert_close(ref(kt.integrate, model, q, 0 * v), q, bound)
    assert_close(ref(kt.difference, model, q, there), v, bound, 1.0 + np.abs(q).max())
    assert_close(ref(kt.difference, model, there, q), -v, bound, 1.0 + np.abs(q).max())
    halfway = ref(kt.integrate, model, q, 0.5 * v)
    assert_close(ref(kt.integrate, model, halfway, 0.5 * v), there, bound, 1.0)
    assert_close(ref(kt.difference, model, q, q), 0 * v, bound, 1.0)
    far = ref(kt.integrate, model, q, 3 * a)
    again = ref(kt.integrate, model, q, ref(kt.difference, model, q, far))
    for x, y in zip(ref(kt.forward_kinematics, model, far), ref(kt.forward_kinematics, model, again), strict=True):
        assert_close(y, x, bound * 10, 1.0)


def test_batches_are_states_one_by_one(model, name):
    q, v = model.random(5, (2, 1)), np.random.default_rng(6).normal(size=(3, model.nv))
    found = ref(kt.bias_force, model, q, v)
    assert found.shape == (2, 3, model.nv)
    for i, j in np.ndindex(2, 3):
        one = ref(kt.bias_force, model, q[i, 0], v[j])
        assert_close(found[i, j], one, gamma(model), force_scale(model, q[i, 0]))


@st.composite
def trees(draw):
    size = draw(st.integers(1, 8))
    parents = [draw(st.integers(-1, k - 1)) for k in range(size)]
    kinds = [draw(st.sampled_from(sorted(zoo.JOINTS))) for _ in range(size)]
    return zoo.tree("drawn", parents, kinds, draw(st.integers(0, 2**20)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(trees(), st.integers(0, 2**20))
def test_any_tree_is_inverted(model, seed):
    if model.nv == 0:
        return
    rng = np.random.default_rng(seed)
    q, (v, a) = model.random(rng), rng.uniform(-2, 2, (2, model.nv))
    M = ref(kt.mass_matrix, model, q)
    tau = ref(kt.inverse_dynamics, model, q, v, a)
    scale = (np.abs(tau).max() + force_scale(model, q)) * np.linalg.norm(np.linalg.inv(M), 2)
    assert_close(ref(kt.forward_dynamics, model, q, v, tau), a, 2 * gamma(model) * np.linalg.cond(M), scale)
    assert np.linalg.eigvalsh(M)[0] > -EPS * np.abs(M).max() * model.nv
