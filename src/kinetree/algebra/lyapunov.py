"""Lyapunov equations on a tree, and the products A X B* and A* X B of resolvents that they solve.

    forward   Z = A X B*   Y(k) = Σ A(k, j) Y(j) B*(k, j) + X(k)   a gather            Jain II (11)–(15)
    backward  Z = A* X B   Y(k) = A*(p, k) Y(p) B(p, k) + X(k)     a scatter           Jain II (21)–(25)

Y holds the diagonal blocks of Z; every other block follows from one of them along a path of the tree. A and B may be
different resolvents on one tree, X any block diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.algebra.sweeps import gather, scatter
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import congruence, plain_matrices, symmetric

Weights = Sequence[Any]


def between(A: Any, X: Array, B: Any) -> Array:
    """A X B* of any X."""
    return (B @ (A @ X).T).T


def forward(tree: Tree, A: Weights, X: Sequence[Array], B: Weights) -> list[Array]:
    """Y (13), (14): block (k, k) of A X B* for every k."""

    def node(received: Array, A: Any, X: Array, B: Any) -> tuple[Array, Array]:
        Y = received + X
        return Y, between(A, Y, B)

    return gather(tree, node, 0.0, A, X, B)


def symmetric_forward(tree: Tree, A: Weights, X: Sequence[Array]) -> list[Array]:
    """The same with B = A and X symmetric: for X = M the composite inertias R of (18)."""

    def node(received: Array, A: Any, X: Array) -> tuple[Array, Array]:
        Y = received + X  # Y = Σ A Y A* + X
        return Y, congruence(A, Y)

    return gather(tree, node, 0.0, plain_matrices(A), X)


def backward(tree: Tree, A: Weights, X: Sequence[Array], B: Weights, ground: tuple[int, int]) -> list[Array]:
    """Y (23), (24): block (k, k) of A* X B for every k."""

    def node(Y_parent: Array, A: Any, X: Array, B: Any) -> Array:
        return between(A.T, Y_parent, B.T) + X

    return scatter(tree, node, np.zeros(ground), A, X, B)


def symmetric_backward(tree: Tree, A: Weights, X: Sequence[Array], ground: int) -> list[Array]:
    """The same with B = A and X symmetric: for Ω the compliance of each node."""

    def node(Y_parent: Array, A: Any, X: Array) -> Array:
        return symmetric(between(A.T, Y_parent, A.T) + X)  # Y = A* Y A + X

    return scatter(tree, node, np.zeros((ground, ground)), A, X)


def forward_block(tree: Tree, A: Weights, Y: Sequence[Array], B: Weights, i: int, j: int) -> Array | None:
    """Block (i, j) of A X B* by (15); None where it is zero because i and j are not related."""
    common = tree.common_ancestor(i, j)
    if common == i:
        return _up(A, tree.path_down(i, j), Y[j])
    if common == j:
        return _up(B, tree.path_down(j, i), Y[i].T).T
    return None


def backward_block(tree: Tree, A: Weights, Y: Sequence[Array], B: Weights, i: int, j: int) -> Array | None:
    """Block (i, j) of A* X B by (25) through the closest common ancestor; None if there is none."""
    common = tree.common_ancestor(i, j)
    if common == GROUND:
        return None
    Z = Y[common]
    for k in tree.path_down(common, i):
        Z = A[k].T @ Z  # Z(k, c) = A*(p, k) Z(p, c)
    Z = Z.T
    for k in tree.path_down(common, j):
        Z = B[k].T @ Z  # Z(i, k) = Z(i, p) B(p, k)
    return Z.T


def _up(A: Weights, path: Sequence[int], Z: Array) -> Array:
    for k in reversed(path):
        Z = A[k] @ Z  # Z(p, j) = A(p, k) Z(k, j)
    return Z
