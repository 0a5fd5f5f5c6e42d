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
    x = x.copy()
    for k in np.flatnonzero(_kernel(x.shape[-1])(laws.A) < DEPENDENT):
        part = laws.of(slice(k, k + 1))
        free = _free(x[k], part.least[0], part.mu[0])
        values, vectors = np.linalg.eigh(part.A[0][np.ix_(free, free)])
        null = vectors[:, values <= DEPENDENT * values.max(initial=0.0)]
        tried = x[k : k + 1].copy()
        tried[0, free] -= null @ (null.T @ tried[0, free])
        if residual(tried, part) <= max(goal[k], residual(x[k : k + 1], part)):
            x[k] = tried[0]
    return x


def _free(x: Array, least: Array, mu: Array) -> Array:
    """Which impulses no law holds: normal ones above the least, and all three of a contact that sticks."""
    x = x.reshape(-1, 3)
    pressed = x[:, 0] > least * (1.0 + DEPENDENT)
    sticking = pressed & (np.linalg.norm(x[:, 1:], axis=1) < mu * x[:, 0])
    return np.flatnonzero(np.stack([pressed & (sticking | (mu == 0.0)), sticking, sticking], axis=1))


@cache
def _kernel(n: int) -> np.ufunc:
    def sources() -> Any:
        graph = Graph()
        A = graph.input((n, n))
        return straight_source(graph, [A], [least_pivot(A)]), None

    return build_once("least_pivot", "Smallest relative pivot of A.", (_kernel.__wrapped__, n), sources, warn=False)
