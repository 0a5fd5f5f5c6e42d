"""Projected Gauss–Seidel: contacts in turn, each given the impulse that its own law wants, in compiled code.

    x_n ← max(x_min, x_n − ρ w_n)          x_t ← (x_t − r w_t) into the disc of radius μ x_n          w = A x + b

Its fixed points are the solutions of the equation in `laws`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.graph import Graph, sqrt, where
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.compiler.timeloop import TimeLoop
from kinetree.contact.laws import Laws
from kinetree.spatial.scalars import Array, Scalar

TINY = 1e-300


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers, traced or not."""
    return where(abs(a - b) + (a - b), a, b)


def one_sweep(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array) -> Array:
    """x (3m,) after each of m contacts in turn; steps (m, 2) are ρ and r."""
    x = np.array(x, dtype=object)
    for c in range(len(mu)):
        n, t, s = 3 * c, 3 * c + 1, 3 * c + 2
        x[n] = maximum(least[c], x[n] - steps[c, 0] * (_dot(A[n], x) + b[n]))
        w_t, w_s = _dot(A[t], x) + b[t], _dot(A[s], x) + b[s]
        y_t, y_s = x[t] - steps[c, 1] * w_t, x[s] - steps[c, 1] * w_s
        radius = mu[c] * x[n]
        scale = radius / maximum(maximum(sqrt(y_t * y_t + y_s * y_s), radius), TINY)
        x[t], x[s] = scale * y_t, scale * y_s
    return x


def _dot(a: Array, x: Array) -> Scalar:
    """a·x in four sums that do not wait for each other."""
    return sum(sum((a[k] * x[k] for k in range(start, len(x), 4)), start=0.0) for start in range(4))


def swept(x: Array, laws: Laws, sweeps: int) -> Array:
    """x (B, 3m) after so many sweeps."""
    out = np.empty((len(x), 1, x.shape[-1]))
    kernel, plan = _kernel(laws.mu.shape[-1]), np.array([1.0, float(sweeps)])
    kernel(x, laws.A, laws.b, laws.steps, laws.least, laws.mu, plan, out=out)
    return out[:, 0, :]


@cache
def _kernel(m: int) -> np.ufunc:
    def sources() -> Any:
        graph = Graph()
        inputs = [graph.input(shape) for shape in ((3 * m,), (3 * m, 3 * m), (3 * m,), (m, 2), (m,), (m,))]
        return straight_source(graph, inputs, [one_sweep(*inputs)]), None

    doc = "Sweeps of projected Gauss–Seidel: (x, A, b, steps, least, mu, plan)."
    return build_once("gauss_seidel", doc, (_kernel.__wrapped__, m), sources, warn=False, frame=TimeLoop(()))
