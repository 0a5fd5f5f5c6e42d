"""Every operator is its matrix: applied to one vector, to columns, to stacks and batches, transposed, in blocks, inverted."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import zoo
from by_hand import ByHand, Matrix, assert_equal
from cases import Case, abstract, case, inertia, joint_map, rigid_by_hand
from words import OPERATORS, element

import kinetree as kt

SINGLE = ("bush", "forest", "full forest", "chain from the tip", "every joint free")


@pytest.fixture(params=SINGLE)
def one(request) -> Case:
    return case(request.param)


@pytest.fixture(params=OPERATORS)
def pairs(request, one):
    """An operator and its transpose, each with its matrix."""
    A, W = OPERATORS[request.param](one.sko), OPERATORS[request.param](one.hand)
    return (A, W), (A.T, W.T)


def numbers(*shape) -> np.ndarray:
    return np.random.default_rng(shape).uniform(-1.0, 1.0, shape)


def times(W: Matrix, x: np.ndarray) -> Matrix:
    """W x for columns x."""
    return W @ Matrix(x, np.abs(x), 0.0)


def test_dense_is_the_matrix(pairs):
    for A, W in pairs:
        assert A.shape == W.value.shape
        assert_equal(A.dense(), W)
        assert_equal(A @ np.eye(A.shape[1]), W)
        x = numbers(A.shape[1], 3)
        assert_equal(A @ x, times(W, x))


def test_vectors(pairs):
    for A, W in pairs:
        x = numbers(2, 3, A.shape[1])
        wanted = times(W, x.reshape(6, -1).T)
        assert_equal((A @ x).reshape(6, -1).T, wanted)
        assert_equal((A @ x[1, 2])[:, None], times(W, x[1, 2][:, None]))
        assert_equal((x[1, 2] @ A.T)[:, None], times(W, x[1, 2][:, None]))
        assert_equal((x @ A.T).reshape(6, -1).T, wanted)
        assert_equal(np.moveaxis(A @ np.moveaxis(x, -1, -2), -2, -1).reshape(6, -1).T, wanted)  # columns in a stack


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint16, bool, np.float32, complex, object])
def test_vectors_of_other_numbers(dtype):
    one = case("full forest")
    for name in OPERATORS:
        A, W = OPERATORS[name](one.sko), OPERATORS[name](one.hand)
        x = (10 * np.abs(numbers(A.shape[1], 2))).astype(dtype)
        plain = x.astype(complex if dtype is complex else float)
        for part, wanted in ((np.real, plain.real), (np.imag, plain.imag)):
            assert_equal(part(A @ x), times(W, wanted))
            assert_equal(part(A @ x.tolist()), times(W, wanted))


def test_complex_steps_take_derivatives():
    """d/dq of ℳ x, ℳ⁻¹ x and log det ℳ along a joint, against central differences of matrices by hand."""
    model, q = case("chain").model, case("chain").q
    x, e, h = numbers(6), np.eye(6)[2], 1e-5
    s = kt.operators(model, q + 1e-30j * e)
    plus, minus = (rigid_by_hand(model, q + sign * h * e).mass.value for sign in (1, -1))
    truncation = 10 * h**2 + 1e-15 * np.linalg.cond(plus) / h
    for found, difference in (
        (s.mass @ x, (plus - minus) @ x),
        (s.mass.inv @ x, (np.linalg.inv(plus) - np.linalg.inv(minus)) @ x),
        (s.mass.logdet(), np.linalg.slogdet(plus)[1] - np.linalg.slogdet(minus)[1]),
    ):
        wanted = difference / (2 * h)
        assert np.abs(found.imag / 1e-30 - wanted).max() <= truncation * np.abs(wanted).max() * np.linalg.cond(plus)


def test_the_transpose_is_the_adjoint(pairs):
    for A, W in pairs:
        x, y = numbers(A.shape[1]), numbers(A.shape[0])
        assert abs((A @ x) @ y - x @ (A.T @ y)) <= 2 * W.error * (np.abs(y) @ W.size @ np.abs(x))


def test_blocks_are_slices_and_the_pattern_covers_them(pairs):
    for A, W in pairs:
        size, pattern = len(A.rows), A.pattern()
        some = np.random.default_rng(size).permutation(size**2)[:25]  # every pair: on drawn forests, in test_abstract
        for i, j in zip(*np.divmod(some, size), strict=True):
            found, wanted = A.blocks(i, j), W.value[A.rows.slices[i], A.columns.slices[j]]
            assert found.shape == wanted.shape
            assert np.abs(found - wanted).max(initial=0.0) <= 2 * W.bound
            assert pattern[i, j] or np.abs(wanted).max(initial=0.0) <= W.bound


@pytest.mark.parametrize("name", ["E", "phi", "mass", "psi", "Omega", "K", "mass.inv"])
@pytest.mark.parametrize("model", ["bush", "forest", "full forest", "random 12"])
def test_patterns_of_generic_models_are_no_larger(model, name):
    one = case(model)
    A, W = element(name)(one.sko), element(name)(one.hand)
    tight = np.zeros((len(A.rows), len(A.columns)), dtype=bool)
    for i, rows in enumerate(A.rows.slices):
        for j, columns in enumerate(A.columns.slices):
            tight[i, j] = np.abs(W.value[rows, columns]).max(initial=0.0) > W.bound
    if name in ("E", "phi", "mass"):
        assert np.array_equal(A.pattern(), tight)
        assert np.array_equal(A.T.pattern(), tight.T)
    assert not (tight & ~A.pattern()).any()


def test_blocks_by_name():
    s, names = case("bush").sko, case("bush").model.body_names
    for A in (s.mass, s.Omega, s.phi, s.G, s.phi + 1):
        for i, row in enumerate(names):
            for j, column in enumerate(names):
                assert np.array_equal(A.blocks(row, column), A.blocks(i, j))
    assert np.array_equal(s.bodies.view(np.arange(36.0), names[2]), np.arange(12.0, 18.0))


# Batches of models.


@dataclass(frozen=True)
class Batch:
    """An SKO model with the leading axes (2, 3), and the matrices by hand of each state."""

    sko: kt.SKO
    hands: dict[tuple[int, int], ByHand]


@cache
def rigid_batch() -> Batch:
    model = zoo.model("floating")
    q = model.random(3, (2, 3))
    return Batch(kt.operators(model, q), {i: rigid_by_hand(model, q[i]) for i in np.ndindex(2, 3)})


@cache
def abstract_batch() -> Batch:
    """Weights, joint maps and inertias with leading axes of their own: (3,), none, (2, 1)."""
    rng, parents, sizes, dofs = np.random.default_rng(4), [2, 2, -1, -1], [2, 3, 4, 2], [1, 3, 2, 0]
    E = [None if p < 0 else 0.5 * rng.normal(size=(3, sizes[p], m)) for p, m in zip(parents, sizes, strict=True)]
    H = [joint_map(rng, n, m) for n, m in zip(dofs, sizes, strict=True)]
    M = [np.array([[inertia(rng, m)], [inertia(rng, m)]]) for m in sizes]
    hands = {
        (i, j): ByHand(parents, [X if X is None else X[j] for X in E], H, [X[i, 0] for X in M]) for i, j in np.ndindex(2, 3)
    }
    return Batch(kt.SKO(parents, E, H, M), hands)


@pytest.fixture(params=[rigid_batch, abstract_batch], ids=["rigid", "abstract"])
def batch(request) -> Batch:
    return request.param()


def assert_all_equal(found: np.ndarray, lead: tuple[int, ...], wanted: list[Matrix]):
    """`found` broadcast to the leading axes is the wanted matrices in order."""
    shape = wanted[0].value.shape
    every = np.broadcast_to(found, (*lead, *shape))
    for k, W in zip(np.ndindex(lead), wanted, strict=True):
        assert_equal(every[k], W)


@pytest.mark.parametrize("name", OPERATORS)
def test_batches(name, batch):
    A = OPERATORS[name](batch.sko)
    W = {i: OPERATORS[name](hand) for i, hand in batch.hands.items()}
    columns = A.shape[1]
    assert A.batch in ((2, 3), ())  # no axes where no number of the model is left: φ − φ, φ⁰
    assert_all_equal(A.dense(), (2, 3), list(W.values()))
    assert_all_equal(A @ np.eye(columns), (2, 3), list(W.values()))
    assert_all_equal(A.T.dense(), (2, 3), [X.T for X in W.values()])
    i, j = len(A.rows) - 1, len(A.columns) // 2
    wanted = [X[A.rows.slices[i], A.columns.slices[j]] for X in W.values()]
    assert_all_equal(A.blocks(i, j), (2, 3), wanted)
    for shape in ((2, 3), (3,), (), (4, 1, 1)):
        x = numbers(*shape, columns)
        lead = np.broadcast_shapes((2, 3), shape)
        each = np.broadcast_to(x, (*lead, columns))
        wanted = [times(W[k[-2:]], each[k][:, None]) for k in np.ndindex(lead)]
        assert_all_equal((A @ x)[..., None], lead, wanted)
        assert_all_equal((x @ A.T)[..., None], lead, wanted)
    x = numbers(2, 1, columns, 2)
    assert_all_equal(A @ x, (2, 3), [times(W[k], x[k[0], 0]) for k in np.ndindex(2, 3)])


@pytest.mark.parametrize("name", ["mass", "mass.inv", "D", "psi"])
def test_determinants_in_a_batch(name, batch):
    sign, size = element(name)(batch.sko).slogdet()
    assert sign.shape == size.shape == (2, 3)
    for k, hand in batch.hands.items():
        W = element(name)(hand)
        assert sign[k] == 1
        assert size[k] == pytest.approx(np.linalg.slogdet(W.value)[1], abs=len(W.value) * W.error * hand.condition)


def test_as_many_states_as_coordinates():
    """A square array is read as columns, but in a batch of that many states as a vector for each."""
    model = zoo.model("mixed chain")
    q = model.random(1, model.nv)
    one, many, x = kt.operators(model, q[0]).mass, kt.operators(model, q).mass, numbers(model.nv, model.nv)
    assert_equal(one @ x, Matrix(one.dense() @ x, abs(one.dense()) @ abs(x), 1e-13))
    for k in range(model.nv):
        assert_equal((many @ x)[k], Matrix(many.dense()[k] @ x[k], abs(many.dense()[k]) @ abs(x[k]), 1e-13))
    assert (kt.operators(model, q[:4]).mass @ x).shape == (4, *x.shape)


def test_what_is_kept_of_an_expression_is_not_given_to_another():
    """An element that is no more needed leaves its address to the next: the key of neither may be an address."""
    s, d = case("bush").sko, case("bush").hand
    for c in range(300):
        X = s.diagonal("X", [c * np.eye(6)] * 6)
        assert_equal((s.phi @ X @ s.phi.T).dense(), d.phi @ d.diagonal([c * np.eye(6)] * 6) @ d.phi.T)


def test_stacks_of_nothing():
    """No joint moves: vectors on joints are empty. And a stack may be."""
    s = case("no joint moves").sko
    assert np.array_equal(s.H.T @ np.zeros((5, 0)), np.zeros((5, 6)))
    assert np.array_equal(s.H.T @ np.zeros(0), np.zeros(6))
    assert (s.mass @ np.zeros((2, 5, 0))).shape == (2, 5, 0)
    for lead in (0,), (5,), (2, 0):
        assert (s.H @ np.zeros((*lead, 6))).shape == (*lead, 0)
        assert (s.phi @ np.zeros((*lead, 6, 0))).shape == (*lead, 6, 0)
        assert (s.phi @ np.zeros((*lead, 6))).shape == (*lead, 6)


def test_operators_of_two_models_on_one_tree():
    """Spaces fit, so they go together: here of a robot and of an abstract model that has other weights on its tree."""
    one = case("bush")
    d = one.hand
    other = ByHand(d.parents, [X if X is None else 0.5 * X for X in d.weights], d.H_blocks, d.M_blocks)
    s = kt.SKO(d.parents, other.weights, d.H_blocks, d.M_blocks)
    for words in (
        lambda a, b: a.phi.T @ a.M @ b.phi,
        lambda a, b: a.M @ b.phi.T @ b.phi,
        lambda a, b: a.H @ b.phi @ a.M @ a.psi.T,
        lambda a, b: a.psi.T @ b.tau @ b.psi @ a.P,
        lambda a, b: a.mass.inv @ b.mass - b.D @ a.D.inv,
    ):
        for operators, matrices in (((one.sko, s), (d, other)), ((s, one.sko), (other, d))):
            A, W = words(*operators), words(*matrices)
            assert_equal(A.dense(), W)
            assert_equal(A.T @ np.eye(A.shape[0]), W.T)
            assert_equal(A.blocks(2, 3), Matrix(W.value[A.rows.slices[2], A.columns.slices[3]], W.size, W.error))


DETERMINANTS = {
    **{name: element(name) for name in ("phi", "psi.inv", "M", "R.inv", "P", "D", "D.inv", "mass", "mass.inv")},
    "1 + H φ K": lambda o: 1 + o.H @ o.phi @ o.K,
    "(1 − H ψ K)*": lambda o: (1 - o.H @ o.psi @ o.K).T,
    "1 − E + 3 E²": lambda o: 1 - o.E + 3 * o.E @ o.E,
    "1 + 2 E* E²": lambda o: 1 + 2 * o.E.T @ o.E @ o.E,
    "−2 φ M": lambda o: -2 * o.phi @ o.M,
    "½ ℳ D": lambda o: 0.5 * o.mass @ o.D,
    "H P H*, by (32)": lambda o: o.H @ o.P @ o.H.T,
    "H φ M ψ* H* D⁻¹": lambda o: o.H @ o.phi @ o.M @ o.psi.T @ o.H.T @ o.D.inv,
}


@pytest.mark.parametrize("name", DETERMINANTS)
def test_determinants(name, one):
    A, W = DETERMINANTS[name](one.sko), DETERMINANTS[name](one.hand)
    found, wanted = A.slogdet(), np.linalg.slogdet(W.value)
    bound = 2 * len(W.value) * W.error * max(one.hand.condition, W.condition)
    assert found[0] == pytest.approx(wanted[0], abs=bound)
    assert found[1] == pytest.approx(wanted[1], abs=bound)
    if wanted[0] > 0:
        assert A.logdet() == found[1]


@pytest.mark.parametrize("name", ["tau", "taubar", "P_plus"])
def test_the_determinant_of_a_projection_is_zero(name, one):
    A, W = getattr(one.sko, name), getattr(one.hand, name)
    found = (2 * one.sko.phi @ A.T).slogdet()
    if name == "tau" and one.name == "every joint free":
        assert found[0] == 1
        assert found[1] == pytest.approx(len(W.value) * np.log(2), abs=len(W.value) * W.error * one.hand.condition)
    else:
        assert found == (0, -np.inf)
    if name == "taubar" and one.name != "every joint free":
        assert (1 - one.sko.tau).slogdet() == (0, -np.inf)


def test_determinants_of_blocks_of_ones_own():
    s = case("bush").sko
    blocks = np.random.default_rng(1).normal(size=(6, 6, 6))
    for X in (blocks, blocks + np.swapaxes(blocks, -1, -2), np.zeros((6, 6, 6))):
        sign, size = np.linalg.slogdet(X)
        for A in (s.diagonal("X", X, symmetric=np.array_equal(X, np.swapaxes(X, -1, -2))), s.diagonal("X", X)):
            assert A.slogdet()[0] == np.prod(sign)
            assert A.slogdet()[1] == pytest.approx(size.sum(), rel=1e-12)


def test_inverses_of_blocks_of_ones_own():
    one = case("bush")
    blocks = np.random.default_rng(2).normal(size=(6, 6, 6))
    X, W = one.sko.diagonal("X", blocks), one.hand.diagonal(blocks)
    assert_equal(X.inv.dense(), W.inv)
    assert_equal((one.sko.phi @ X.T).inv.dense(), (one.hand.phi @ W.T).inv)
    assert X.inv.inv is X
    assert str((X.inv @ X).simplify()) == "1"


def test_where_no_joint_moves_everything_passes():
    s = case("no joint moves").sko
    assert np.array_equal(s.taubar.inv.dense(), np.eye(6))
    assert_equal(s.P_plus.inv.dense(), case("no joint moves").hand.R.inv)
    assert s.taubar.slogdet() == (1, 0)
    assert s.mass.slogdet() == (1, 0)


@pytest.mark.parametrize("model", ["rotors", "rotors in a forest", "rotors anywhere"])
@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "(H φ G)⁻¹"])  # which is 1 + H φ K where Γ = 0
def test_joints_with_inertias(name, model):
    A, W = OPERATORS[name](case(model).sko), OPERATORS[name](case(model).hand)
    assert_equal(A.dense(), W)
    assert_equal(A.T @ np.eye(A.shape[0]), W.T)


@pytest.mark.parametrize("name", ["P", "D", "mass", "mass.inv", "½ ℳ D"])
def test_determinants_of_joints_with_inertias(name):
    one, of = case("rotors"), DETERMINANTS[name]
    found, W = of(one.sko).slogdet(), of(one.hand)
    assert found[0] == 1
    bound = 2 * len(W.value) * W.error * max(one.hand.condition, W.condition)
    assert found[1] == pytest.approx(np.linalg.slogdet(W.value)[1], abs=bound)


def test_joints_with_inertias_let_something_through():
    """τ̄ = 1 − G H is a projection only where Γ = 0."""
    one = abstract("rotor", [-1, 0], [None, np.eye(2)], [np.eye(2), np.eye(2)], [np.eye(2), 2 * np.eye(2)], [np.eye(2)] * 2)
    for name in ("taubar", "P_plus"):
        A, W = getattr(one.sko, name), getattr(one.hand, name)
        assert_equal(A.inv.dense(), W.inv)
        assert A.logdet() == pytest.approx(np.linalg.slogdet(W.value)[1], rel=1e-12)
    s = case("rotors").sko  # without Γ where every second coordinate is
    with pytest.raises(kt.InputError, match="singular"):
        s.taubar.inv.dense()
    assert str(s.mass) == "H φ M φ* H* + Γ"
    assert str(2 * s.mass) == "2 H φ M φ* H* + 2 Γ"
    assert str((2 * s.mass).inv) == "0.5 (1 − H ψ K)* D⁻¹ (1 − H ψ K)"
    assert str(case("mixed chain").sko.Gamma) == "0"
