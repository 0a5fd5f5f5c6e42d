"""Kernels of float32 agree with those of float64 on the same numbers, to float32's rounding and the conditioning."""

import numpy as np
import pytest
import zoo
from test_kernels import CALLS, batch

import kinetree as kt

EPS = np.finfo(np.float32).eps
SOLVES = (kt.forward_dynamics, kt.inverse_mass_matrix, kt.logdet_mass_matrix, kt.velocity, kt.momentum_rate, kt.hamiltonian)
MATRICES = (kt.mass_matrix, kt.inverse_mass_matrix, kt.coriolis_matrix)
TREES = (
    "mixed chain",
    "forest",
    "bush",
    "random 12",
    "long chain",
    "panda",
    "g1",
    *(f"one {kind}" for kind in ("free", "screw")),
)
RNG = np.random.default_rng(3)


def tolerance(function, model, q):
    """√(36 (N + 1)) ε: as in `tolerance`, roundings as if independent (Higham, section 2.8); times κ(M_q) after a solve."""
    kappa = np.linalg.cond(kt.mass_matrix(model, q.astype(float))).max() if function in SOLVES else 1.0
    return np.sqrt(36.0 * (model.nbodies + 1)) * EPS * kappa


def assert_near(found, wanted, relative, scale=0.0):
    for ours, theirs in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        assert ours.dtype == np.float32
        assert np.abs(ours - theirs).max() <= relative * max(np.abs(theirs).max(), scale)


def compare(function, model, lowering, size=19):
    given = {name: x.astype(np.float32) for name, x in batch(model, size).items()}
    arguments = [given[name] for name in CALLS[function]]
    options = {"external": True} if "external" in CALLS[function] else {}
    single, double = (kt.compile(function, model, dtype=d, lowering=lowering, **options) for d in (np.float32, np.float64))
    allowed = tolerance(function, model, given["q"])
    scale = model.nv if function is kt.logdet_mass_matrix else 0.0  # a sum of so many logarithms, which may cancel
    assert_near(single(*arguments), double(*arguments), allowed, scale)
    assert_near(single(*(x[0] for x in arguments)), double(*(x[0] for x in arguments)), allowed, scale)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("function", [f for f in CALLS if f is not kt.difference], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["mixed chain", "forest", "panda"])
def test_every_function(name, function, lowering):
    if lowering == "unrolled" or function not in MATRICES:
        compare(function, zoo.model(name), lowering)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("function", [kt.inverse_dynamics, kt.forward_dynamics], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", TREES)
def test_dynamics_of_every_tree(name, function, lowering):
    compare(function, zoo.model(name), lowering)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
def test_expressions(lowering):
    model = zoo.model("random 12")

    def both(ops, x):
        mass = ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T
        return mass @ x, mass.inv @ (mass @ x)

    q, x = model.random(1, (9,)).astype(np.float32), RNG.normal(size=(9, model.nv)).astype(np.float32)
    single, double = (kt.compile(both, model, dtype=d, lowering=lowering) for d in ("float32", "float64"))
    product, solved = single(q, x)
    wanted = double(q, x)
    assert_near(product, wanted[0], tolerance(kt.mass_matrix, model, q))
    assert_near(solved, wanted[1], tolerance(kt.forward_dynamics, model, q))


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
def test_turning_by_nothing_and_by_next_to_nothing(lowering):
    """sin θ/θ and its like at θ = 0, and where θ² is no number of float32 any more."""
    model = zoo.model("mixed chain")
    kernel = kt.compile(kt.integrate, model, dtype=np.float32, lowering=lowering)
    q = model.random(2).astype(np.float32)
    for size in (0.0, 1e-44, 1e-30, 1e-20, 1e-12, 1e-8, 1e-4, 1e-2):
        turn = (size * RNG.uniform(-1, 1, model.nv)).astype(np.float32)
        with np.errstate(all="raise", under="ignore"):
            found = kernel(q, turn)
        assert_near(found, kt.integrate(model, q, turn), tolerance(kt.integrate, model, q))


def test_what_batch_a_state_is_in_does_not_matter():
    model = zoo.model("random 12")
    for lowering in ("unrolled", "looped"):
        kernel = kt.compile(kt.inverse_dynamics, model, dtype=np.float32, lowering=lowering)
        q = model.random(1, (37,)).astype(np.float32)
        v, a = RNG.normal(size=(2, 37, model.nv)).astype(np.float32)
        whole = kernel(q, v, a)
        np.testing.assert_array_equal(whole, np.array([kernel(*state) for state in zip(q, v, a, strict=True)]))
        np.testing.assert_array_equal(whole[:19], kernel(np.asfortranarray(q[:19]), v[:19], a[:19]))


def test_arguments_are_cast_as_numpy_casts_them():
    model = zoo.model("chain")
    single, double = (kt.compile(kt.gravity_force, model, dtype=d) for d in (np.float32, np.float64))
    assert single is kt.compile(kt.gravity_force, model, "f4") and single is not double
    q = np.arange(6.0)
    assert double(q.astype(np.float32)).dtype == np.float64 and single(q.astype(np.int16)).dtype == np.float32
    np.testing.assert_array_equal(double(q.astype(np.float32)), double(q))
    for wide in (q, q.astype(int), q.tolist()):
        with pytest.raises(TypeError, match="safely coerced"):
            single(wide)
    np.testing.assert_array_equal(single(q, dtype=np.float32), single(q.astype(np.float32)))
    assert kt.gravity_force(model, q.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, int, complex, ">f4", "text", object])
def test_other_numbers_are_refused(dtype):
    with pytest.raises(kt.InputError, match="compiled for float64 or float32, found dtype"):
        kt.compile(kt.gravity_force, zoo.model("chain"), dtype=dtype)
