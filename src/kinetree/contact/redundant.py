"""Redundant contacts: more than it takes. Impulses that differ by what A maps to zero do the same to all velocities; of these

the shortest are taken, as far as the laws of contact leave them free: four legs of a table then share its weight.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.graph import Graph, where
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.contact.gauss_seidel import maximum
from kinetree.contact.laws import Laws, residual
from kinetree.spatial.scalars import Array, Scalar

DEPENDENT = 1e-10
"""Of a row of A: what is left of it without the rows before, if it depends on them."""


def least_pivot(A: Array) -> Scalar:
    """The smallest of the pivots of A (n, n), each relative to its diagonal entry: zero if rows depend on each other."""
    n, least = len(A), 1.0
    L, pivots = np.zeros((n, n), dtype=object), []
    for j in range(n):
        pivot = A[j, j] - sum((L[j, k] * L[j, k] * pivots[k] for k in range(j)), start=0.0)
        whole = where(A[j, j], A[j, j], 1.0)
        least = -maximum(-least, -(pivot / whole)) if j else pivot / whole
        pivots.append(maximum(pivot, DEPENDENT * whole))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum((L[i, k] * L[j, k] * pivots[k] for k in range(j)), start=0.0)) / pivots[j]
    return least


def shortest(x: Array, laws: Laws, goal: Array) -> Array:
    """x (B, 3m), made shorter where rows of A depend on each other and the laws still hold to goal (B,)."""
    some = np.flatnonzero(_kernel(x.shape[-1])(laws.A) < DEPENDENT)
    if not some.size:
        return x
    x, part = x.copy(), laws.of(some)
    free = _free(x[some], part)
    both = free[:, :, None] & free[:, None, :]
    values, vectors = np.linalg.eigh(np.where(both, part.A, 0.0))
    null = values <= DEPENDENT * values.max(axis=1, keepdims=True)
    along = np.einsum("bij,bi->bj", vectors, np.where(free, x[some], 0.0)) * null
    tried = x[some] - np.einsum("bij,bj->bi", vectors, along) * free
    better = residual(tried, part) <= np.maximum(goal[some], residual(x[some], part))
    x[some[better]] = tried[better]
    return x


def _free(x: Array, laws: Laws) -> Array:
    """Which impulses (B, 3m) no law holds: normal ones above the least, and all three of a contact that sticks."""
    x = x.reshape(*laws.mu.shape, 3)
    pressed = x[..., 0] > laws.least * (1.0 + DEPENDENT)
    sticking = pressed & (np.linalg.norm(x[..., 1:], axis=-1) < laws.mu * x[..., 0])
    free = np.stack([pressed & (sticking | (laws.mu == 0.0)), sticking, sticking], axis=-1)
    return free.reshape(len(x), -1)


@cache
def _kernel(n: int) -> np.ufunc:
    def sources() -> Any:
        graph = Graph()
        A = graph.input((n, n))
        return straight_source(graph, [A], [least_pivot(A)]), None

    return build_once("least_pivot", "Smallest relative pivot of A.", (_kernel.__wrapped__, n), sources, warn=False)
