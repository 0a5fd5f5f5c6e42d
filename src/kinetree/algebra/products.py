"""Whole matrices L A X B* R and L A* X B R from the Y that solves their Lyapunov equation, one wide sweep each.

forward    a node takes the columns of all it carries, moves them up, adds its own     Jain II (15), Algorithm 4.2
backward   a node takes its parent's row, moves it down, adds its own                  Jain II (25), Algorithm 4.3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.algebra.lyapunov import Weights
from kinetree.algebra.spaces import Space
from kinetree.algebra.sweeps import gather
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import symmetric


@final
@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """Columns of a matrix, side by side, and where each stands; adding puts further ones beside them."""

    places: Array
    matrix: Array

    def __add__(self, other: Columns) -> Columns:
        if not self.places.size:
            return other
        return Columns(np.concatenate([self.places, other.places]), np.concatenate([self.matrix, other.matrix], axis=1))


def block_diagonal(blocks: Sequence[Array], rows: Space, columns: Space) -> Array:
    """The matrix of the blocks (k, k)."""
    Z = _empty(rows, columns, blocks)
    for k, X in enumerate(blocks):
        Z[rows.slices[k], columns.slices[k]] = X
    return Z


def forward_product(
    tree: Tree,
    A: Weights,
    B: Weights,
    Y: Sequence[Array],
    left: Sequence[Array],
    right: Sequence[Array],
    rows: Space,
    columns: Space,
    mirrored: bool,
) -> Array:
    """L A X B* R; blocks of unrelated nodes are never touched. `mirrored`: it is symmetric, so half of it is enough."""
    Z = _empty(rows, columns, Y, left, right)
    upper = [Y_k @ R for Y_k, R in zip(Y, right, strict=True)]
    for k, block in enumerate(upper):
        own = left[k] @ block
        Z[rows.slices[k], columns.slices[k]] = symmetric(own) if mirrored else own
    for k, found in _carried(tree, A, upper, columns):
        Z[rows.slices[k], found.places] = left[k] @ found.matrix  # L_j A(j, k) Y_k R_k
        if mirrored:
            Z[found.places, columns.slices[k]] = Z[rows.slices[k], found.places].T
    if not mirrored:
        across = [(L @ Y_k).T for L, Y_k in zip(left, Y, strict=True)]
        for k, found in _carried(tree, B, across, rows):
            Z[found.places, columns.slices[k]] = found.matrix.T @ right[k]  # L_k Y_k B*(j, k) R_j
    return Z


def backward_product(
    tree: Tree,
    A: Weights,
    B: Weights,
    Y: Sequence[Array],
    left: Sequence[Array],
    right: Sequence[Array],
    rows: Space,
    columns: Space,
    mirrored: bool,
) -> Array:
    """L A* X B R; blocks of nodes without a common ancestor stay zero."""
    nodes = Space("nodes", tree, tuple(Y_k.shape[0] for Y_k in Y))
    Z = _empty(nodes, nodes, Y)
    before = np.zeros(0, dtype=int)  # where the nodes stand that were done already: none of them is below the next one
    for k in tree.order:
        here, parent = np.arange(nodes.dimension)[nodes.slices[k]], tree.parents[k]
        if parent != GROUND and before.size:
            above = nodes.slices[parent]
            Z[here[:, None], before] = A[k].T @ Z[above, before]  # Z(k, j) = A*(p, k) Z(p, j)
            Z[before[:, None], here] = Z[here[:, None], before].T if mirrored else (B[k].T @ Z[before, above].T).T
        Z[nodes.slices[k], nodes.slices[k]] = Y[k]
        before = np.concatenate([before, here])
    found = _empty(rows, columns, Y, left, right)
    for i, L in enumerate(left):
        row = L @ Z[nodes.slices[i]]
        for j, R in enumerate(right):
            found[rows.slices[i], columns.slices[j]] = row[:, nodes.slices[j]] @ R
    return symmetric(found) if mirrored else found


def _carried(tree: Tree, A: Weights, own: Sequence[Array], columns: Space) -> list[tuple[int, Columns]]:
    """Each node that carries others, and their columns at it: A(j, k) X_k."""

    def node(received: Columns, A: object, X: Array, where: slice) -> tuple[Columns, Columns]:
        carried = received + Columns(everywhere[where], X)
        return received, Columns(carried.places, A @ carried.matrix)

    everywhere, nothing = np.arange(columns.dimension), Columns(np.zeros(0, dtype=int), np.zeros((0, 0)))
    found = gather(tree, node, nothing, A, own, columns.slices)
    return [(k, x) for k, x in enumerate(found) if x.places.size]


def _empty(rows: Space, columns: Space, *parts: Sequence[Array]) -> Array:
    """Zeros of the kind that products of these blocks have."""
    blocks = [X for part in parts for X in part]
    if any(X.dtype == object for X in blocks):
        Z = np.empty((rows.dimension, columns.dimension), dtype=object)
        Z[...] = 0.0
        return Z
    return np.zeros((rows.dimension, columns.dimension), dtype=np.result_type(float, *blocks))
