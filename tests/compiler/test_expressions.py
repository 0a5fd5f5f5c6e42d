"""A user's expression of operators is one kernel: equal to the interpreted value, whatever it takes and returns."""

import pickle

import numpy as np
import pytest
import zoo
from tolerance import assert_close

import kinetree as kt

EXPRESSIONS = {
    "mass": lambda ops, x: (ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T) @ x,
    "inverse mass": lambda ops, x: (ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T).inv @ x,
    "energy": lambda ops, v: 0.5 * (v @ (ops.mass @ v)),
    "velocities": lambda ops, x: ops.phi.T @ (ops.H.T @ x),
    "compliance": lambda ops, x: ops.Omega @ x,
    "determinant": lambda ops, tau: (ops.mass.logdet(), ops.D @ tau),
    "columns": lambda ops, x: (ops.phi.T @ ops.H.T).dense() @ x,
    "bodies": lambda ops, x: ops.bodies.view((2.0 - ops.psi.inv + ops.K @ ops.H) @ x, 1),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("model", ["mixed chain", "forest", "panda"])
def test_is_the_interpreted_value(name, model):
    model, f = zoo.model(model), EXPRESSIONS[name]
    shapes = {"x": ("nv",)} if name == "columns" else None
    kernel = kt.compile(f, model, shapes=shapes)
    size = 6 * model.nbodies if name in ("compliance", "bodies") else model.nv
    q, x = model.random(3, 5), np.random.default_rng(4).normal(size=(5, size))
    found = kernel(q, x)
    wanted = [kt.reference(f, model, q[k], x[k]) for k in range(5)]
    for n in range(kernel.nout):
        ours, theirs = (found[n], [w[n] for w in wanted]) if kernel.nout > 1 else (found, wanted)
        assert_close(ours, np.array(theirs), 1e-12)
    out = np.empty_like(found) if kernel.nout == 1 else None
    if out is not None:
        assert kernel(q, x, out=out) is out and np.array_equal(out, found)


def test_several_inputs_and_named_outputs():
    model = zoo.model("mixed chain")

    def f(ops, q, tau, v, external):
        mass = ops.mass
        return {
            "a": mass.inv @ (tau + ops.H @ ops.phi @ external.reshape(-1)),
            "p": mass @ v,
            "T": v @ (mass @ v) / 2,
            "q": 2 * q,
        }

    kernel = kt.compile(f, model)
    rng = np.random.default_rng(1)
    q, (tau, v), external = model.random(2, 7), rng.normal(size=(2, 7, model.nv)), rng.normal(size=(7, model.nbodies, 6))
    found = kernel(q, tau, v, external)
    assert list(found) == ["a", "p", "T", "q"] and kernel.names == ("a", "p", "T", "q")
    still = 0 * v
    assert_close(found["a"], kt.forward_dynamics(model, q, still, tau + kt.gravity_force(model, q), external), 1e-10)
    assert_close(found["T"], kt.kinetic_energy(model, q, v), 1e-12)
    assert_close(found["p"], np.einsum("bij,bj->bi", kt.mass_matrix(model, q), v), 1e-12)
    assert np.array_equal(found["q"], 2 * q)


def test_common_sweeps_are_shared():
    model = zoo.model("panda")
    once = kt.compile(lambda ops, x: ops.mass.inv @ x, model)
    twice = kt.compile(lambda ops, x: (ops.mass.inv @ x, ops.mass.inv @ x + 1.0), model)
    assert twice.stats.operations == once.stats.operations + model.nv


def test_inverse_mass_times_a_vector_costs_less_than_forward_dynamics():
    model = zoo.model("g1")
    kernel = kt.compile(lambda ops, x: ops.mass.inv @ x, model)
    assert kernel.stats.operations < kt.compile(kt.forward_dynamics, model).stats.operations


def test_weights_of_a_users_own_that_depend_on_q():
    """Springs between each body and its parent, stiffer the further the joint is turned: H φ* H* with a made-up diagonal."""
    model = kt.example("three-link-arm")

    def f(ops, q, x):
        S = ops.diagonal("S", [np.eye(6) * (1.0 + np.cos(q[k]) ** 2) for k in range(3)], symmetric=True)
        A = ops.step("A", [None if p < 0 else np.eye(6) * np.sin(q[k]) for k, p in enumerate(ops.tree.parents)])
        return ops.H @ ops.phi @ (S + ops.M) @ A.resolvent.T @ S.inv @ ops.H.T @ x

    q, x = model.random(1), np.array([1.0, -2.0, 0.5])
    assert_close(kt.compile(f, model)(q, x), kt.reference(f, model, q, x), 1e-12)
    assert_close(kt.reference(f, model, q, x), f(kt.operators(model, q), q, x), 0.0)


def test_a_whole_model_of_a_users_own():
    """A consensus network on a tree, which is no rigid body at all; its weights are arguments."""
    parents = [-1, 0, 0, 1]

    def f(ops, weights, x):
        ours = kt.SKO(parents, [None, *(np.array([[w]]) for w in weights)], [np.eye(1)] * 4, [np.eye(1)] * 4)
        return ours.mass.inv @ x

    constant = kt.SKO(parents, [None] + [np.ones((1, 1))] * 3, [np.eye(1)] * 4, [np.eye(1)] * 4)
    kernel = kt.compile(f, constant, shapes={"weights": 3})
    x, w = np.arange(4.0), np.array([0.5, -2.0, 1.5])
    assert_close(kernel(w, x), np.linalg.solve(kt.reference(lambda ops, w: dense(parents, w), constant, w), x), 1e-12)
    fixed = kt.compile(lambda ops, x: ops.mass.inv @ x, constant)
    assert_close(fixed(x), constant.mass.inv @ x, 1e-12)


def dense(parents, weights):
    E = np.zeros((4, 4))
    for k, w in zip((1, 2, 3), weights, strict=True):
        E[parents[k], k] = w
    phi = np.linalg.inv(np.eye(4) - E)
    return phi @ phi.T


def test_weighing_what_does_not_depend_on_the_argument():
    model = zoo.model("panda")
    kernel = kt.compile(lambda ops: (ops.mass.dense(), ops.mass.logdet()), model)
    q = model.random(0, 3)
    mass, size = kernel(q)
    assert_close(mass, kt.mass_matrix(model, q), 1e-13)
    assert_close(size, np.linalg.slogdet(mass)[1], 1e-12)


REFUSED = {
    "unknown shape": (lambda ops, x: x + 1.0, "shape of 'x' is not known"),
    "a branch": (lambda ops, v: ops.H.T @ v if v[0] > 0 else v, "branch on data"),
    "an operator": (lambda ops: ops.phi, "returns the operator φ"),
    "not used": (lambda ops, x, y: ops.mass @ x, "does not use \\['y'\\]"),
    "no names": (lambda *ops: 0.0, "named arguments"),
    "text": (lambda ops, x: ["a", ops.mass @ x], "real numbers"),
    "nothing": (lambda ops, x: ops.mass @ x if x is None else None, "real numbers"),
    "wrong size": (lambda ops, v: ops.phi @ (v * 2.0), "must have shape"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f, message = REFUSED[name]
    with pytest.raises(kt.InputError, match=message):
        kt.compile(f, kt.example("three-link-arm"))


def test_shapes_are_checked():
    model = kt.example("three-link-arm")
    with pytest.raises(kt.InputError, match="which f does not take"):
        kt.compile(EXPRESSIONS["mass"], model, shapes={"y": 3})
    with pytest.raises(kt.InputError, match="whole numbers"):
        kt.compile(EXPRESSIONS["mass"], model, shapes={"x": (0,)})
    with pytest.raises(kt.InputError, match="takes only shapes"):
        kt.compile(EXPRESSIONS["mass"], model, body=1)
    with pytest.raises(kt.InputError, match="found str"):
        kt.compile(EXPRESSIONS["mass"], "panda")


GAIN = np.random.default_rng(0).normal(size=(30, 30))


def adds_one(ops, v):
    v += 1.0
    return ops.mass @ v


def clears_first(ops, v):
    v[0] = 0.0
    return ops.mass @ v


ORDINARY = {
    "a gain matrix": lambda ops, v: GAIN @ (ops.mass @ v) + v @ (GAIN @ v) + ops.mass.logdet(),
    "einsum": lambda ops, v: np.einsum("i,i", v, ops.mass @ v),
    "a view": lambda ops, v: ops.bodies.view(ops.phi.T @ ops.H.T @ v, 2),
    "simplified to nothing": lambda ops, v: (ops.mass.inv @ ops.mass).simplify() @ v,
    "an argument": lambda ops, v: v,
    "changed in place": adds_one,
    "set in place": clears_first,
    "twice": lambda ops, v: ops.mass @ (ops.mass @ v),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_code_compiles_whatever_the_size(name):
    """From 25 bodies on loops are tried first; what they cannot do is straight-line code all the same."""
    model, f = zoo.tree("thirty", range(-1, 29), ["revolute"] * 30), ORDINARY[name]
    q, v = model.random(0), np.arange(30.0)
    kernel, wanted = kt.compile(f, model), kt.reference(f, model, q, v)
    assert_close(kernel(q, v), wanted, 1e-11)
    assert np.array_equal(v, np.arange(30.0))


@pytest.mark.parametrize("lowering", ["auto", "looped", "unrolled"])
def test_shapes_are_what_they_are_said_to_be(lowering):
    model = zoo.tree("thirty", range(-1, 29), ["revolute"] * 30)
    q, Y = model.random(0), np.random.default_rng(1).normal(size=(30, 2))
    with pytest.raises(kt.InputError, match=r"\(30,\)|\(…, 30\)"):
        kt.compile(lambda ops, y: ops.mass @ y, model, shapes={"y": (3,)}, lowering=lowering)
    if lowering != "looped":
        kernel = kt.compile(lambda ops, Y: ops.mass @ Y, model, shapes={"Y": ("nv", 2)}, lowering=lowering)
        assert_close(kernel(q, Y), kt.mass_matrix(model, q) @ Y, 1e-12)


MISTAKES = {
    "names that are one": (lambda m: kt.compile(lambda ops, v: {1: ops.mass @ v, "1": v}, m), "name its results differently"),
    "no kernel of its own": (lambda m: kt.compile(kt.operational_space_inertia, m, bodies=[0]), "no kernel of its own"),
    "too few arrays": (lambda m: kt.reference(kt.forward_dynamics, m, m.neutral()), "takes the arrays"),
    "too many arrays": (lambda m: kt.reference(kt.mass_matrix, m, m.neutral(), m.neutral()), "takes the arrays"),
    "an option": (lambda m: kt.reference(lambda ops: ops.mass.logdet(), m, m.neutral(), b=1), "unknown options"),
    "shapes of a function": (lambda m: kt.compile(kt.mass_matrix, m, shapes={"q": 3}), "follow from the model"),
    "external of nothing": (lambda m: kt.compile(kt.jacobian, m, body=0, external=True), "no external"),
    "no dtype": (lambda m: kt.compile(kt.mass_matrix, m, "foo"), "found dtype foo"),
    "an operator with an argument": (lambda m: kt.compile(lambda ops, v: ops.mass, m), "returns the operator"),
    "nothing": (lambda m: kt.compile(lambda ops, v: None, m), "real numbers"),
    "an exponential": (lambda m: kt.compile(lambda ops, v: np.exp(v), m), "A kernel knows"),
    "a taken symbol": (lambda m: kt.operators(m, m.neutral()).diagonal("M", [np.eye(6)] * 3), "symbol other than"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_apart(name):
    make, message = MISTAKES[name]
    with pytest.raises(kt.InputError, match=message):
        make(kt.example("three-link-arm"))


def test_a_model_that_was_used_can_be_pickled():
    model = kt.example("double-pendulum")
    M = kt.mass_matrix(model, [0.1, 0.2])
    assert np.array_equal(kt.mass_matrix(pickle.loads(pickle.dumps(model)), [0.1, 0.2]), M)
