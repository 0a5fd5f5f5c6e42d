"""The laws of contact as one equation, whose solutions are the impulses x that obey them (Alart and Curnier, 1991)::

    x_n − max(x_min, x_n − ρ w_n) = 0          x_t − P(x_t − r w_t) = 0, P onto the disc of radius μ x_n          w = A x + b

Signorini: w_n ≥ 0, x_n ≥ x_min, one of both an equality. Coulomb: friction opposes slip, at most μ times the normal impulse.
ρ and r [kg] only say how velocities weigh against impulses; they are 0 where no impulse moves the contact, and x is then 0.

All functions are of one contact, traced: d = 3 for normal and two tangents, d = 1 for a normal without friction.
"""

from __future__ import annotations

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
    """ρ = 1 / A_nn and r = 1 / the larger stiffness of A_tt (2,), of a block (d, d); 0 for lost directions (d,)."""
    rho = where(lost[0], 0.0, 1.0 / where(lost[0], 1.0, A[0, 0]))
    if len(A) == 1:
        return np.array([rho, 0.0], dtype=object)
    a, b, c, both = A[1, 1], A[2, 2], A[1, 2], lost[1] * lost[2]
    largest = 0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + c * c)
    return np.array([rho, where(both, 0.0, 1.0 / where(both, 1.0, largest))], dtype=object)


def dot(a: Array, x: Array) -> Scalar:
    """a·x in four sums that do not wait for each other."""
    return sum(sum((a[k] * x[k] for k in range(start, len(x), 4)), start=0.0) for start in range(4))


def velocities(rows: Array, x: Array, b: Array) -> Array:
    """w (d,) of rows (d, dm) of A, all impulses (dm,) and b (d,)."""
    return np.array([dot(row, x) + one for row, one in zip(rows, b, strict=True)], dtype=object)


def sides(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar) -> Array:
    """The left-hand sides (d,) [N s] for x (d,) and w (d,), ρ and r (2,)."""
    rho, r = steps
    normal = where(rho, where(_touching(x, w, rho, least), rho * w[0], x[0] - least), x[0])
    if len(x) == 1:
        return np.array([normal], dtype=object)
    sticking, _, along = _sliding(x, w, r, mu)
    radius = mu * maximum(x[0], 0.0)
    tangents = [where(r, where(sticking, r * w[k + 1], x[k + 1] - radius * along[k]), x[k + 1]) for k in range(2)]
    return np.array([normal, *tangents], dtype=object)


def derivatives(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar) -> tuple[Array, Array]:
    """S (d, d) and T (d, d): the sides change by S dw + T dx."""
    rho, r = steps
    touching = _touching(x, w, rho, least)
    S, T = np.zeros((len(x), len(x)), dtype=object), np.zeros((len(x), len(x)), dtype=object)
    S[0, 0] = where(touching, rho, 0.0)
    T[0, 0] = where(rho, where(touching, 0.0, 1.0), 1.0)
    if len(x) == 1:
        return S, T
    sticking, ratio, along = _sliding(x, w, r, mu)
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
    """The contact's impulses (d,) moved towards what its law wants, by a part of the way: projected Gauss–Seidel.

    x_n ← max(x_min, x_n − ρ w_n)          x_t ← (x_t − r w_t) into the disc of radius μ x_n
    """
    w = velocities(rows, x, b)
    normal = maximum(least, own[0] - steps[0] * w[0])
    if len(own) == 1:
        return own + part * (np.array([normal], dtype=object) - own)
    y = [own[k] - steps[1] * (w[k] + A[k, 0] * (normal - own[0])) for k in (1, 2)]
    radius = mu * normal
    scale = radius / maximum(maximum(sqrt(y[0] * y[0] + y[1] * y[1]), radius), TINY)
    return own + part * (np.array([normal, scale * y[0], scale * y[1]], dtype=object) - own)


def _touching(x: Array, w: Array, rho: Scalar, least: Scalar) -> Scalar:
    return where(positive(x[0] - rho * w[0] - least), 1.0, 0.0)


def _sliding(x: Array, w: Array, r: Scalar, mu: Scalar) -> tuple[Scalar, Scalar, list[Scalar]]:
    """Whether it sticks; radius over length of y = x_t − r w_t, and y / |y|."""
    y, radius = [x[k] - r * w[k] for k in (1, 2)], mu * maximum(x[0], 0.0)
    length = sqrt(y[0] * y[0] + y[1] * y[1])
    sticking = where(positive(length - radius), 0.0, 1.0)
    long = where(length, length, 1.0)
    return sticking, radius / long, [each / long for each in y]
