"""Projected Gauss–Seidel: contacts in turn, each given the impulse that its own law wants, in compiled code.

With w = A x + b the velocities after the impulses x, normal and tangents of each contact in turn::

    x_n ← max(x_min, x_n − w_n / A_nn)          Signorini: w_n ≥ 0, x_n ≥ x_min, one of both an equality
    x_t ← (x_t − r w_t) into the disc of radius μ x_n          Coulomb, r the reciprocal of the larger stiffness of A_tt

A fixed point obeys both laws exactly, and there are no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.graph import Graph, sqrt, where
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.compiler.timeloop import TimeLoop
from kinetree.spatial.scalars import Array, Scalar

TINY = 1e-300


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers, traced or not."""
    return where(abs(a - b) + (a - b), a, b)


def one_sweep(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array) -> Array:
    """x (3m,) after each of m contacts in turn; steps (m, 2) are 1 / A_nn and r."""
    x = list(x)
    for c in range(len(mu)):
        n, t, s = 3 * c, 3 * c + 1, 3 * c + 2
        x[n] = maximum(least[c], x[n] - steps[c, 0] * (_dot(A[n], x) + b[n]))
        w_t, w_s = _dot(A[t], x) + b[t], _dot(A[s], x) + b[s]
        y_t, y_s = x[t] - steps[c, 1] * w_t, x[s] - steps[c, 1] * w_s
        radius = mu[c] * x[n]
        scale = radius / maximum(maximum(sqrt(y_t * y_t + y_s * y_s), radius), TINY)
        x[t], x[s] = scale * y_t, scale * y_s
    return np.array(x, dtype=object)


def _dot(a: Array, x: Sequence[Scalar]) -> Scalar:
    """a·x in four sums that do not wait for each other."""
    return sum(sum((a[k] * x[k] for k in range(start, len(x), 4)), start=0.0) for start in range(4))


def step_sizes(A: Array, lost: Array) -> Array:
    """1 / A_nn and r (..., m, 2) of each contact; 0 for directions in which nothing gives way, lost (..., 3m)."""
    n, t, s = (np.arange(A.shape[-1] // 3) * 3 + k for k in range(3))
    a, b, c = A[..., t, t], A[..., s, s], A[..., t, s]
    largest = 0.5 * (a + b) + np.sqrt(0.25 * (a - b) ** 2 + c * c)
    stiff = np.stack([A[..., n, n], largest], axis=-1)
    gone = np.stack([lost[..., n], lost[..., t] & lost[..., s]], axis=-1)
    return np.where(gone, 0.0, 1.0 / np.where(gone, 1.0, stiff))


def swept(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array, sweeps: int) -> Array:
    """x (..., 3m) after so many sweeps."""
    arrays = [np.asarray(a) for a in (x, A, b, steps, least, mu)]
    cores = (1, 2, 1, 2, 1, 1)
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in zip(arrays, cores, strict=True)))
    out = np.empty((*batch, 1, A.shape[-1]))
    _kernel(A.shape[-1] // 3)(*arrays, np.array([1.0, float(sweeps)]), out=out)
    return out[..., 0, :]


@cache
def _kernel(m: int) -> np.ufunc:
    def sources() -> Any:
        graph = Graph()
        inputs = [graph.input(shape) for shape in ((3 * m,), (3 * m, 3 * m), (3 * m,), (m, 2), (m,), (m,))]
        return straight_source(graph, inputs, [one_sweep(*inputs)]), None

    doc = "Sweeps of projected Gauss–Seidel: (x, A, b, steps, least, mu, plan)."
    return build_once("gauss_seidel", doc, (_kernel.__wrapped__, m), sources, warn=False, frame=TimeLoop(()))
