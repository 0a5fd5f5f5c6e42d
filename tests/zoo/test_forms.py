"""Hamilton's and Lagrange's forms on the whole zoo, by the NumPy reference, against differences and dense algebra."""

import numpy as np
import pytest
import zoo
from test_laws import along, derivative, difference_bound, force_scale, ref
from tolerance import assert_close, gamma

import kinetree as kt

SMALL = [name for name in zoo.NAMES if zoo.model(name).nbodies <= 26]
TRUE = [name for name in SMALL if all(body.joint.quaternion is None for body in zoo.model(name).bodies)]


@pytest.fixture
def model(name):
    return zoo.model(name)


@pytest.fixture
def state(name):
    return zoo.state(name)


def mass(model, q):
    return ref(kt.mass_matrix, model, q)


def own_part(model, p, v):
    """What bends a momentum that is held, because its axes turn and travel with the body: −V ×* P of the joint alone."""
    found = np.zeros(model.nv)
    for body, s in zip(model.bodies, model.v_slices, strict=True):
        if body.joint.quaternion is not None:
            V, P = np.zeros(6), np.zeros(6)
            V[: body.joint.nv], P[: body.joint.nv] = v[s], p[s]
            bent = np.concatenate([np.cross(P[:3], V[:3]) + np.cross(P[3:], V[3:]), np.cross(P[3:], V[:3])])
            found[s] = bent[: body.joint.nv]
    return found


@pytest.mark.parametrize("name", zoo.NAMES)
def test_momentum_and_velocity_are_products_with_the_mass_matrix(model, state):
    q, v, *_ = state
    M, p = mass(model, q), ref(kt.momentum, model, q, v)
    assert_close(p, M @ v, gamma(model), np.abs(M).max())
    assert_close(ref(kt.velocity, model, q, p), v, gamma(model) * np.linalg.cond(M))
    energy = ref(kt.kinetic_energy, model, q, v) + ref(kt.potential_energy, model, q)
    assert_close(ref(kt.hamiltonian, model, q, p), energy, gamma(model) * np.linalg.cond(M), force_scale(model, q))


@pytest.mark.parametrize("name", SMALL)
def test_the_rate_of_the_momentum_is_that_along_the_motion(model, state):
    q, v, tau, external = state
    a = ref(kt.forward_dynamics, model, q, v, tau, external)
    wanted = derivative(lambda s: ref(kt.momentum, model, along(model, q, v, s), v)) + ref(kt.momentum, model, q, a)
    found = ref(kt.momentum_rate, model, q, ref(kt.momentum, model, q, v), tau, external)
    scale = np.abs(mass(model, q)).max() * (1.0 + np.abs(a).max()) + force_scale(model, q)
    assert np.abs(found - wanted).max() <= difference_bound(model, scale)


@pytest.mark.parametrize("name", SMALL)
def test_the_rate_of_the_momentum_is_hamiltons(model, state):
    """ṗ = τ − ∂H/∂q, along the directions of v; and what axes that turn with a body add to it."""
    q, v, tau, _ = state
    p = ref(kt.momentum, model, q, v)
    slope = [derivative(lambda s, e=e: ref(kt.hamiltonian, model, along(model, q, e, s), p)) for e in np.eye(model.nv)]
    found = ref(kt.momentum_rate, model, q, p, tau)
    scale = np.abs(p @ v) + force_scale(model, q)
    assert np.abs(found - (tau - slope + own_part(model, p, v))).max() <= difference_bound(model, scale)


@pytest.mark.parametrize("name", SMALL)
def test_the_coriolis_matrix_is_passive_and_makes_the_bias(model, state):
    q, v, *_ = state
    C = ref(kt.coriolis_matrix, model, q, v)
    scale = np.abs(mass(model, q)).max() * (v @ v)
    gravity = ref(kt.gravity_force, model, q)
    assert_close(C @ v, ref(kt.bias_force, model, q, v) - gravity, 2 * gamma(model), scale + np.abs(gravity).max())
    S = derivative(lambda s: mass(model, along(model, q, v, s))) - 2 * C
    assert np.abs(S + S.T).max() <= 2 * difference_bound(model, scale)


@pytest.mark.parametrize("name", [name for name in SMALL if zoo.model(name).nv <= 16])
def test_christoffel_symbols_are_differences_of_the_mass_matrix(model, state):
    """With Hamel's terms where velocities are no rates: c_ijk − c_ikj = (ℳ [e_j, e_k])_i."""
    q, v, *_ = state
    c = ref(kt.christoffel, model, q)
    units = np.eye(model.nv)
    rate = np.stack([derivative(lambda s, e=e: mass(model, along(model, q, e, s))) for e in units], axis=-1)
    bound = difference_bound(model, np.abs(mass(model, q)).max())
    assert np.abs(c + np.swapaxes(c, 0, 1) - rate).max() <= bound
    bracket = np.array([[-own_bracket(model, j, k) for k in range(model.nv)] for j in range(model.nv)])
    assert np.abs(c - np.swapaxes(c, 1, 2) - np.einsum("il,jkl->ijk", mass(model, q), bracket)).max() <= bound
    assert_close(c @ v, ref(kt.coriolis_matrix, model, q, v), 2 * gamma(model), np.abs(c).max() * np.abs(v).max())


def own_bracket(model, j, k):
    """[e_j, e_k] of the directions that velocities stand for: V_j × V_k within a free or spherical joint, else zero."""
    found = np.zeros(model.nv)
    for body, s in zip(model.bodies, model.v_slices, strict=True):
        if body.joint.quaternion is not None and s.start <= j < s.stop and s.start <= k < s.stop:
            V, W = np.eye(6)[j - s.start], np.eye(6)[k - s.start]
            crossed = np.concatenate([np.cross(V[:3], W[:3]), np.cross(V[:3], W[3:]) + np.cross(V[3:], W[:3])])
            found[s] = crossed[: body.joint.nv]
    return found


@pytest.mark.parametrize("name", TRUE[:6])
def test_the_documents_symbols_are_another_form_of_the_same_force(model, state):
    q, v, *_ = state
    document, symmetric = kt.christoffel(model, q, form="document"), kt.christoffel(model, q)
    assert_close(document @ v @ v, symmetric @ v @ v, 4 * gamma(model), np.abs(symmetric).max() * (v @ v))
    units = np.eye(model.nv)
    rate = np.stack([derivative(lambda s, e=e: mass(model, along(model, q, e, s))) for e in units], axis=-1)
    bound = 2 * difference_bound(model, np.abs(mass(model, q)).max())
    assert np.abs(document - (rate - 0.5 * np.moveaxis(rate, -1, 0))).max() <= bound


def test_the_documents_symbols_of_angular_velocities_are_refused():
    model = zoo.model("floating")
    with pytest.raises(kt.InputError, match=r"velocities of joint .* are not their rates"):
        kt.christoffel(model, model.neutral(), form="document")
    with pytest.raises(kt.InputError, match="form must be one of"):
        kt.christoffel(model, model.neutral(), form="first kind")


def test_large_trees_have_a_coriolis_matrix_by_columns():
    model, (q, v, *_) = zoo.model("random 60"), zoo.state("random 60")
    found, wanted = kt.coriolis_matrix(model, np.stack([q, q]), v), ref(kt.coriolis_matrix, model, q, v)
    assert_close(found, np.stack([wanted, wanted]), 2 * gamma(model), np.abs(mass(model, q)).max())
