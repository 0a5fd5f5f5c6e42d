"""Dense matrices, single blocks and sparsity patterns of expressions, by the structure that a word of operators has.

    L φ R          up a path                      lemma 1
    L A X B* R     forward Lyapunov equation      (11)–(15); the mass matrix by composite inertias is one, (17)–(20)
    L A* X B R     backward Lyapunov equation     (21)–(25); Ω is one, (60)

L, X, R are block diagonal; equation numbers are Jain II's. Any other word is applied to unit columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from kinetree.algebra import lyapunov
from kinetree.algebra.application import joined
from kinetree.algebra.elements import Named, Resolvent
from kinetree.algebra.expression import Blocks, Operator, Product, Starred, Sum
from kinetree.algebra.products import backward_product, block_diagonal, forward_product
from kinetree.algebra.spaces import Space
from kinetree.algebra.sweeps import each, gather, scatter, total
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import symmetric


@final
@dataclass(frozen=True, eq=False)
class Word:
    """L A X B* R (or with stars on A instead of B), as blocks per node."""

    left: Blocks
    A: lyapunov.Weights
    Y: Blocks
    B: lyapunov.Weights
    right: Blocks
    is_forward: bool


def dense(op: Operator) -> Array:
    """The matrix (…, rows, columns)."""
    return joined(_dense(op), op.batch)


def block(op: Operator, i: int, j: int) -> Array:
    """Block (i, j)."""
    return joined(_block(op, i, j), op.batch)


def pattern(op: Operator) -> Array:
    """Which blocks can be nonzero, by the tree and the sizes alone: booleans (nodes, nodes).

    The expression is applied to the identity, with "or" for the sum and "and" for the product of numbers.
    """
    return np.array(_reach(op, list(np.diag(np.array(op.columns.sizes) > 0))))


def _reach(op: Operator, x: Blocks) -> Blocks:
    """Rows of booleans, one per node: which blocks of A x can be nonzero, given which ones of x can."""
    if isinstance(op, Named):
        return _reach(op.definition, x)
    if isinstance(op, Product):
        for factor in reversed(op.factors):
            x = _reach(factor, x)
        return x
    if isinstance(op, Sum):
        nothing = [np.zeros_like(row) for row in x]
        return reduce(lambda y, term: each(np.logical_or, y, _reach(term[1], x)), op.terms, nothing)
    tree, (nearest, farthest) = op.sko.tree, sorted(map(abs, op.levels))

    def node(received: Array, x: Array, takes: bool, gives: bool) -> tuple[Array, Array]:
        x = x & takes
        y = (received if nearest else x | received) & gives
        return y, y if farthest > 1 else x

    data = x, [size > 0 for size in op.columns.sizes], [size > 0 for size in op.rows.sizes]
    nothing = np.zeros_like(x[0])
    if farthest == 0:
        return each(lambda *own: node(nothing, *own)[0], *data)
    if min(op.levels) < 0:
        passed = scatter(tree, lambda above, *own: node(above[1], *own), (nothing, nothing), *data)
        return [y for y, _ in passed]
    return gather(tree, node, nothing, *data)


def _dense(op: Operator) -> Array:
    if isinstance(op, Sum):
        return sum((c * _dense(x) for c, x in op.terms), start=np.zeros(op.shape))
    if op.is_diagonal:
        return block_diagonal(op.apply([np.eye(size) for size in op.columns.sizes]), op.rows, op.columns)
    word = _word(op)
    if word is None:
        Z = np.concatenate(op.apply(op.columns.split(np.eye(op.columns.dimension))))
        return symmetric(Z) if op.is_self_adjoint else Z
    fill = forward_product if word.is_forward else backward_product
    spaces = op.rows, op.columns
    return fill(op.sko.tree, word.A, word.B, word.Y, word.left, word.right, *spaces, mirrored=op.is_self_adjoint)


def _recorded_block(op: Operator, i: int, j: int) -> Any:
    """The same where sweeps are written down: the unit vectors of j go through, and only what arrives at i is kept."""
    columns = []
    for unit in np.eye(op.columns.sizes[j]):
        x = op.columns.zeros(())
        x[j] = unit
        columns.append(op.apply(x))
    kept = [float(k == i) for k in range(len(op.rows))]
    return total(each(lambda share, *own: np.stack(own, axis=1) * share, kept, *columns))


def _block(op: Operator, i: int, j: int) -> Array:
    if op.sko.is_recorded:
        return _recorded_block(op, i, j)
    nothing = np.zeros((op.rows.sizes[i], op.columns.sizes[j]))
    if isinstance(op, Sum):
        return sum((c * _block(x, i, j) for c, x in op.terms), start=nothing)
    word = _word(op)
    if word is None:
        x = op.columns.zeros((op.columns.sizes[j],))
        x[j] = np.eye(op.columns.sizes[j])
        return op.apply(x)[i]
    find = lyapunov.forward_block if word.is_forward else lyapunov.backward_block
    Z = find(op.sko.tree, word.A, word.Y, word.B, i, j)
    return nothing if Z is None else word.left[i] @ Z @ word.right[j]


def _word(op: Operator) -> Word | None:
    """The op as a word of the form that a Lyapunov equation solves, found once and kept with the model."""
    kept = op.sko.solutions
    if op.key not in kept:
        kept[op.key] = _solved(op)
    return kept[op.key]


def _solved(op: Operator) -> Word | None:
    factors = [x for factor in op.factors for x in (factor.definition.factors if isinstance(factor, Named) else (factor,))]
    places = [n for n, x in enumerate(factors) if not x.is_diagonal]
    if len(places) != 2:
        return None
    first, second = (factors[n] for n in places)
    runs = factors[: places[0]], factors[places[0] + 1 : places[1]], factors[places[1] + 1 :]
    sko = op.sko
    left = _run(runs[0], op.rows)
    right = _run(runs[2], op.columns)
    if isinstance(first, Resolvent) and isinstance(second, Starred) and isinstance(second.element, Resolvent):
        A, B, is_forward = first.step, second.element.step, True
    elif isinstance(second, Resolvent) and isinstance(first, Starred) and isinstance(first.element, Resolvent):
        A, B, is_forward = first.element.step, second.step, False
    else:
        return None
    X = _run(runs[1], first.columns)
    symmetric_middle = A is B and [x.key for x in runs[1]] == [x.T.key for x in reversed(runs[1])]
    if is_forward:
        if symmetric_middle:
            Y = sko.R.matrices if A is sko.E and runs[1] == [sko.M] else lyapunov.symmetric_forward(sko.tree, A.weights, X)
        else:
            Y = lyapunov.forward(sko.tree, A.weights, X, B.weights)
    elif symmetric_middle:
        Y = lyapunov.symmetric_backward(sko.tree, A.weights, X, A.sko.ground)
    else:
        Y = lyapunov.backward(sko.tree, A.weights, X, B.weights, (A.sko.ground, B.sko.ground))
    return Word(left, A.weights, Y, B.weights, right, is_forward)


def _run(run: Sequence[Operator], space: Space) -> Blocks:
    """Blocks of a product of block diagonals, whose rows (or, if empty, whose identity) are on a space."""
    x: Blocks = [np.eye(size) for size in (run[-1].columns if run else space).sizes]
    for factor in reversed(run):
        x = factor.apply(x)
    return x
