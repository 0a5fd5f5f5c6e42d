"""What is no operator, no vector and no SKO model is refused with one message each, kept in refusals.json.

KINETREE_UPDATE_SNAPSHOTS=1 writes the messages anew.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cases import case
from snapshots import Snapshots

import kinetree as kt
from kinetree.model import Tree

MESSAGES = Snapshots(Path(__file__).with_name("refusals.json"))

turned = case("rotors").sko
ops = case("bush").sko  # 6 bodies, nv = 8
batched = kt.operators(case("bush").model, np.tile(case("bush").q, (3, 1)))
four = kt.operators(case("bush").model, np.tile(case("bush").q, (4, 1)))
X = np.zeros(36)


def changed(x, index, value):
    x = np.array(x)
    x[index] = value
    return x


REFUSED = {
    # x of A @ x
    "x of the wrong length": lambda: ops.phi @ np.zeros(35),
    "x for joints": lambda: ops.phi @ np.zeros(8),
    "x of the wrong length in a stack": lambda: ops.H.T @ np.zeros((4, 7)),
    "x a number": lambda: ops.phi @ 1.0,
    "x empty": lambda: ops.phi @ [],
    "x NaN": lambda: ops.phi @ changed(X, 7, np.nan),
    "x infinite in a stack": lambda: ops.phi @ changed(np.zeros((2, 36)), (1, 3), np.inf),
    "x text": lambda: ops.phi @ "one",
    "x of text": lambda: ops.phi @ (["1"] * 36),
    "x None": lambda: ops.phi @ None,
    "x of None": lambda: ops.phi @ np.array([None] * 36),
    "x of text as objects": lambda: ops.phi @ np.array(["a"] * 36, dtype=object),
    "x ragged": lambda: ops.phi @ [[1.0], [1.0, 2.0]],
    "x of dates": lambda: ops.phi @ np.zeros(36, "datetime64[s]"),
    "x @ A of the wrong length": lambda: np.zeros(36) @ ops.H,
    "columns on the left": lambda: np.zeros((36, 3)) @ ops.phi,
    "x with other batch axes": lambda: batched.phi @ np.zeros((4, 36)),
    "x @ A with other batch axes": lambda: np.zeros((2, 4, 36)) @ batched.H.T,
    # operands that do not fit
    "operators with other batch axes": lambda: (batched.phi @ four.M) @ X,
    "H after H": lambda: ops.H @ ops.H,
    "joints into bodies": lambda: ops.phi @ ops.D,
    "a sum into an element": lambda: (1 - ops.tau) @ ops.D,
    "bodies plus joints": lambda: ops.phi + ops.D,
    "H minus its transpose": lambda: ops.H - ops.H.T,
    "operators of different trees": lambda: ops.phi @ case("forest").sko.M,
    "sum over different trees": lambda: ops.phi + case("forest").sko.M,
    "operators of different sizes": lambda: ops.phi @ case("mixed chain").sko.M,
    "1 + H": lambda: 1 + ops.H,
    "an operator plus an array": lambda: ops.phi + np.eye(36),
    "an operator minus text": lambda: ops.phi - "1",
    "None plus an operator": lambda: None + ops.phi,
    "A * B": lambda: ops.H * ops.phi,
    "sum * sum": lambda: (1 + ops.E) * (1 - ops.E),
    "NaN times an operator": lambda: np.nan * ops.phi,
    "an operator plus infinity": lambda: ops.phi + np.inf,
    "an operator divided by zero": lambda: (1 + ops.phi) / 0,
    "power minus one": lambda: ops.mass**-1,
    "power one half": lambda: ops.mass**0.5,
    "power of H": lambda: ops.H**2,
    "power zero of H": lambda: ops.H**0,
    # spaces and elements of a user's own
    "space with a size too few": lambda: ops.space("loads", [1, 2]),
    "space with a negative size": lambda: ops.space("loads", [1, 2, 3, 4, 5, -1]),
    "space with half a size": lambda: ops.space("loads", [1.5] * 6),
    "space with one size": lambda: ops.space("loads", 3),
    "block of an unknown node": lambda: ops.phi.blocks("hand", 0),
    "block of a node beyond": lambda: ops.phi.blocks(0, 6),
    "block of a negative node": lambda: ops.phi.blocks(-1, 0),
    "block of a truth value": lambda: ops.phi.blocks(True, 0),
    "view of an unknown node": lambda: ops.joints.view(np.zeros(8), "hand"),
    "diagonal with a block too few": lambda: ops.diagonal("X", [np.eye(6)] * 5),
    "diagonal with a block of the wrong shape": lambda: ops.diagonal("X", [np.eye(6)] * 5 + [np.eye(5)]),
    "diagonal with a block of no matrix": lambda: ops.diagonal("X", [np.eye(6)] * 5 + [1.0]),
    "diagonal with NaN": lambda: ops.diagonal("X", [np.eye(6)] * 5 + [np.full((6, 6), np.nan)]),
    "diagonal of None": lambda: ops.diagonal("X", None),
    "diagonal that is not symmetric": lambda: ops.diagonal("X", [np.triu(np.ones((6, 6)))] * 6, symmetric=True),
    "diagonal that cannot be symmetric": lambda: ops.diagonal(
        "X", [np.ones((6, n)) for n in ops.joints.sizes], ops.bodies, ops.joints, symmetric=True
    ),
    "diagonal with batch axes of its own": lambda: ops.diagonal("X", np.ones((6, 4, 6, 6))),
    "step without a weight": lambda: ops.step("A", [None] + [np.eye(6)] * 4 + [None]),
    "step with a weight at a root": lambda: ops.step("A", [np.eye(6)] * 6),
    "step with a weight of the wrong shape": lambda: ops.step("A", {1: np.eye(6)[:5], **dict.fromkeys(range(2, 6), np.eye(6))}),
    "step with weights of nodes that are not there": lambda: ops.step("A", dict.fromkeys(range(1, 8), np.eye(6))),
    "step of a number": lambda: ops.step("A", 2.0),
    "resolvent of K": lambda: ops.K.resolvent,
    # inverses and determinants
    "inverse of H": lambda: ops.H.inv,
    "inverse of E": lambda: ops.E.inv,
    "inverse of Ω": lambda: ops.Omega.inv,
    "inverse of a sum": lambda: (ops.phi + ops.M).inv,
    "inverse of zero": lambda: (ops.phi - ops.phi).inv,
    "inverse of τ̄": lambda: ops.taubar.inv,
    "inverse of a product with τ*": lambda: (ops.phi @ ops.tau.T).inv,
    "inverse of P⁺": lambda: ops.P_plus.inv,
    "inverse of M without inertia": lambda: case("massless within").sko.M.inv.dense(),
    "inverse of singular blocks": lambda: ops.diagonal("X", [np.ones((6, 6))] * 6).inv @ X,
    "inverse of blocks that are not positive": lambda: ops.diagonal("X", [-np.eye(6)] * 6, symmetric=True).inv @ X,
    "inverse of blocks in a batch": lambda: batched.diagonal("X", [np.array([np.eye(6)] * 3)] * 6).inv @ X,
    "determinant of H": lambda: ops.H.slogdet(),
    "determinant of E": lambda: ops.E.slogdet(),
    "determinant of Ω": lambda: ops.Omega.logdet(),
    "determinant of a sum": lambda: (ops.phi + ops.M).slogdet(),
    "determinant of 1 and a block diagonal": lambda: (1 + ops.M).slogdet(),
    "determinant of 1 and both triangles": lambda: (1 + ops.E + ops.E.T).slogdet(),
    "determinant of 1 and siblings": lambda: (1 + ops.E.T @ ops.E).slogdet(),
    "determinant of two triangles": lambda: (1 + ops.E + ops.E.T).slogdet(),
    "inverse without the joints' own inertias": lambda: (turned.H @ turned.phi @ turned.M @ turned.phi.T @ turned.H.T).inv,
    "Gamma of another size": lambda: kt.SKO([-1], [None], [np.eye(1, 2)], [np.eye(2)], Gamma=[np.eye(2)]),
    "Gamma that is negative": lambda: kt.SKO([-1], [None], [np.eye(1, 2)], [np.eye(2)], Gamma=[[[-1.0]]]),
    "one Gamma for two nodes": lambda: kt.SKO([-1, -1], [None] * 2, [np.eye(1)] * 2, [np.eye(1)] * 2, Gamma=[np.eye(1)]),
    "log of the determinant zero": lambda: ops.taubar.logdet(),
    "log of a negative determinant": lambda: ops.diagonal("X", [np.diag([-1.0, 1, 1, 1, 1, 1])] * 5 + [np.eye(6)]).logdet(),
}


def model(parents=(-1, 0), E=(None, [[1.0]]), H=([[1.0]], [[1.0]]), M=([[1.0]], [[1.0]]), **options):
    """Two nodes of size 1 unless said otherwise."""
    return kt.SKO(parents, E, H, M, **options)


REFUSED |= {
    # the tree
    "no nodes": lambda: model((), (), (), ()),
    "parents a number": lambda: model(3),
    "parents text": lambda: model("01"),
    "parents None": lambda: model(None),
    "a parent that is text": lambda: model(["a", -1]),
    "a parent that is no node": lambda: model([-1, 2]),
    "a parent below the ground": lambda: model([-1, -2]),
    "a parent of one half": lambda: model([-1, 0.5]),
    "a parent None": lambda: model([None, 0]),
    "a node that is its own parent": lambda: model([-1, 1]),
    "a node with two parents": lambda: Tree((-1, -1, (0, 1))),
    "a cycle of two": lambda: model([1, 0]),
    "a cycle of three beside a tree": lambda: Tree((-1, 3, 1, 2, 0)),
    # weights, joint maps, inertias
    "names too few": lambda: model(names=["a"]),
    "names twice": lambda: model(names=["a", "a"]),
    "E None": lambda: model(E=None),
    "E a number": lambda: model(E=1.0),
    "E too short": lambda: model(E=[None]),
    "E with a weight at the root": lambda: model(E=[[[1.0]], [[1.0]]]),
    "E without a weight": lambda: model(E=[None, None]),
    "E of the wrong shape": lambda: model(E=[None, [[1.0, 2.0]]]),
    "E of a node that is not there": lambda: model(E={2: [[1.0]]}),
    "E of a name": lambda: model(E={"a": [[1.0]]}, names=["a", "b"]),
    "E NaN": lambda: model(E=[None, [[np.nan]]]),
    "E of text": lambda: model(E=[None, [["1"]]]),
    "E of None": lambda: model(E=[None, [[None]]]),
    "E with a vector": lambda: model(E=[None, [1.0]]),
    "E complex": lambda: model(E=[None, [[1j]]]),
    "H None": lambda: model(H=None),
    "H a dictionary": lambda: model(H={0: [[1.0]], 1: [[1.0]]}),
    "H too short": lambda: model(H=[[[1.0]]]),
    "H of the wrong width": lambda: model(H=[[[1.0]], [[1.0, 0.0]]]),
    "H with dependent rows": lambda: model(M=[np.eye(3)] * 2, E=[None, np.eye(3)], H=[np.eye(3), [[1, 2, 3], [2, 4, 6.0]]]),
    "H zero": lambda: model(H=[[[1.0]], [[0.0]]]),
    "H ragged": lambda: model(H=[[[1.0], [1.0, 2.0]], [[1.0]]]),
    "H with a number": lambda: model(H=[[[1.0]], 1.0]),
    "M text": lambda: model(M="ab"),
    "M too long": lambda: model(M=[[[1.0]]] * 3),
    "M not square": lambda: model(M=[[[1.0]], [[1.0, 0.0]]]),
    "M not symmetric": lambda: kt.SKO([-1], [None], [np.eye(2)], [[[1.0, 0.5], [0.0, 1.0]]]),
    "M negative": lambda: model(M=[[[1.0]], [[-1.0]]]),
    "M infinite": lambda: model(M=[[[1.0]], [[np.inf]]]),
    "M None": lambda: model(M=[[[1.0]], None]),
    "batches that do not broadcast": lambda: model(M=[np.ones((2, 1, 1)), np.ones((3, 1, 1))]),
}


@pytest.fixture(scope="module", autouse=True)
def messages():
    yield
    MESSAGES.save()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    MESSAGES.check(name, REFUSED[name])


def test_no_snapshot_is_left_over():
    MESSAGES.check_names(REFUSED)


def test_messages_are_one_line_of_bounded_length():
    MESSAGES.check_lengths()


def test_numbers_in_an_array_of_objects_are_numbers():
    wanted = ops.phi @ np.full(36, 0.5)
    assert np.array_equal(ops.phi @ np.full(36, Fraction(1, 2), dtype=object), wanted)
    assert np.array_equal(ops.phi @ np.array([0.5] * 36, dtype=object), wanted)


@pytest.mark.parametrize(
    "wrong", [lambda: 1j * ops.phi, lambda: ops.phi / "2", lambda: ops.phi * np.ones(3), lambda: [1] * ops.phi]
)
def test_python_says_what_no_operator_is_multiplied_with(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_numbers_of_any_kind_multiply():
    wanted = (2 * ops.phi) @ np.arange(36.0)
    for two in (2, 2.0, np.float64(2), np.float32(2), np.int8(2), Fraction(2)):
        assert np.array_equal((two * ops.phi) @ np.arange(36.0), wanted)
        assert np.array_equal((ops.phi / (1 / two)) @ np.arange(36.0), wanted)
        assert str(two * ops.phi) == "2 φ"
        assert str(two + ops.phi) == "2 + φ"
