"""The laws of contact as one equation, whose solutions are the impulses x that obey them (Alart and Curnier, 1991)::

    x_n − max(x_min, x_n − ρ w_n) = 0          x_t − P(x_t − r w_t) = 0, P onto the disc of radius μ x_n          w = A x + b

Signorini: w_n ≥ 0, x_n ≥ x_min, one of both an equality. Coulomb: friction opposes slip, at most μ times the normal impulse.
ρ and r [kg] only say how velocities weigh against impulses; they are 0 where no impulse moves the contact, and x is then 0.

All functions are of one contact, traced: normal and two tangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.compiler.graph import finite_check, sqrt, where
from kinetree.spatial.scalars import Array, Scalar

TINY = 1e-300


def positive(x: Scalar) -> Scalar:
    """Not zero where x > 0, or where x is no number."""
    return abs(x) + x


def finite(x: Scalar) -> Scalar:
    """1 where x is a number, and not infinite; else 0."""
    return where(finite_check(x), 0.0, 1.0)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    return where(positive(a - b), a, b)


def step_sizes(A: Array, lost: Array) -> Array:
    """ρ = 1 / A_nn and r = 1 / the larger stiffness of A_tt (2,), of a block (3, 3); 0 for lost directions (3,)."""
    a, b, c = A[1, 1], A[2, 2], A[1, 2]
    largest = 0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + c * c)
    both = lost[1] * lost[2]
    rho, r = (where(gone, 0.0, 1.0 / where(gone, 1.0, a)) for gone, a in ((lost[0], A[0, 0]), (both, largest)))
    return np.array([rho, r], dtype=object)


def dot(a: Array, x: Array) -> Scalar:
    """a·x in four sums that do not wait for each other."""
    return sum(sum((a[k] * x[k] for k in range(start, len(x), 4)), start=0.0) for start in range(4))


def velocities(rows: Array, x: Array, b: Array) -> Array:
    """w (3,) of rows (3, 3m) of A, all impulses (3m,) and b (3,)."""
    return np.array([dot(rows[k], x) + b[k] for k in range(3)], dtype=object)


def sides(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar) -> Array:
    """The left-hand sides (3,) [N s] for x (3,) and w (3,), ρ and r (2,)."""
    rho, r = steps
    touching, sticking, _, along = _states(x, w, steps, least, mu)
    normal = where(rho, where(touching, rho * w[0], x[0] - least), x[0])
    radius = mu * maximum(x[0], 0.0)
    tangents = [where(r, where(sticking, r * w[k + 1], x[k + 1] - radius * along[k]), x[k + 1]) for k in range(2)]
    return np.array([normal, *tangents], dtype=object)


def derivatives(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar) -> tuple[Array, Array]:
    """S (3, 3) and T (3, 3): the sides change by S dw + T dx."""
    rho, r = steps
    touching, sticking, ratio, along = _states(x, w, steps, least, mu)
    S, T = np.zeros((3, 3), dtype=object), np.zeros((3, 3), dtype=object)
    S[0, 0] = where(touching, rho, 0.0)
    T[0, 0] = where(rho, where(touching, 0.0, 1.0), 1.0)
    pressed = where(positive(x[0]), mu, 0.0)
    for i in range(2):
        for j in range(2):
            one = float(i == j)
            across = ratio * (one - along[i] * along[j])
            S[i + 1, j + 1] = r * where(sticking, one, across)
            T[i + 1, j + 1] = where(r, where(sticking, 0.0, one - across), one)
        T[i + 1, 0] = where(r, where(sticking, 0.0, -pressed * along[i]), 0.0)
    return S, T


def swept(
    rows: Array, A: Array, x: Array, own: Array, b: Array, steps: Array, least: Scalar, mu: Scalar, part: Scalar
) -> Array:
    """The contact's impulses (3,) moved towards what its law wants, by a part of the way: projected Gauss–Seidel.

    x_n ← max(x_min, x_n − ρ w_n)          x_t ← (x_t − r w_t) into the disc of radius μ x_n
    """
    w = velocities(rows, x, b)
    normal = maximum(least, own[0] - steps[0] * w[0])
    y = [own[k] - steps[1] * (w[k] + A[k, 0] * (normal - own[0])) for k in (1, 2)]
    radius = mu * normal
    scale = radius / maximum(maximum(sqrt(y[0] * y[0] + y[1] * y[1]), radius), TINY)
    return own + part * (np.array([normal, scale * y[0], scale * y[1]], dtype=object) - own)


def _states(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar) -> tuple[Any, Any, Scalar, list[Scalar]]:
    """Whether it touches and sticks; radius over length of y = x_t − r w_t, and y / |y|."""
    rho, r = steps
    touching = where(positive(x[0] - rho * w[0] - least), 1.0, 0.0)
    y, radius = [x[k] - r * w[k] for k in (1, 2)], mu * maximum(x[0], 0.0)
    length = sqrt(y[0] * y[0] + y[1] * y[1])
    sticking = where(positive(length - radius), 0.0, 1.0)
    long = where(length, length, 1.0)
    return touching, sticking, radius / long, [each / long for each in y]
