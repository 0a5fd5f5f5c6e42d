"""Semismooth Newton on the laws of contact: from a guess to rounding in a few steps, redundant contacts included.

The laws are one equation, whose solutions are the fixed points of projected Gauss–Seidel (Alart and Curnier, 1991)::

    x_n − max(x_min, x_n − ρ w_n) = 0          x_t − P(x_t − r w_t) = 0, P onto the disc of radius μ x_n          w = A x + b

It is piecewise smooth. Where contacts are redundant its derivative is singular and the step of least norm is taken.
"""

from __future__ import annotations

import numpy as np

from kinetree.spatial.scalars import Array

STEPS = 30
HALVINGS = 8


def polished(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array, goal: Array) -> Array:
    """x (B, 3m) with the equation solved to goal (B,) [N s], or as near to it as the steps come."""
    F, J = _equation(x, A, b, steps, least, mu)
    size = np.abs(F).max(axis=1)
    for _ in range(STEPS):
        wrong = np.flatnonzero(size > goal)
        if not wrong.size:
            break
        given = tuple(a[wrong] for a in (A, b, steps, least, mu))
        d = -_solve(J[wrong], F[wrong])
        fraction, better = np.ones(len(wrong)), np.zeros(len(wrong), dtype=bool)
        for _ in range(HALVINGS):
            tried = x[wrong] + fraction[:, None] * d
            F_tried, J_tried = _equation(tried, *given)
            size_tried = np.abs(F_tried).max(axis=1)
            now = ~better & (size_tried < size[wrong])
            to = wrong[now]
            x[to], F[to], J[to], size[to] = tried[now], F_tried[now], J_tried[now], size_tried[now]
            better |= now
            fraction = 0.5 * fraction
            if better.all():
                break
        if not better.any():
            break
    return x


def _solve(J: Array, F: Array) -> Array:
    try:
        return np.linalg.solve(J, F[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-12), F)


def residual(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array) -> Array:
    """The largest entry (B,) [N s] of the equation."""
    return np.abs(_equation(x, A, b, steps, least, mu)[0]).max(axis=1)


def _equation(x: Array, A: Array, b: Array, steps: Array, least: Array, mu: Array) -> tuple[Array, Array]:
    """F (B, 3m) and its derivative (B, 3m, 3m)."""
    B, m = mu.shape
    unit = np.eye(3 * m).reshape(m, 3, 3 * m)
    w = (np.einsum("bij,bj->bi", A, x) + b).reshape(B, m, 3)
    x, rows = x.reshape(B, m, 3), A.reshape(B, m, 3, 3 * m)
    rho, r = steps[..., 0], steps[..., 1, None]
    touching = x[..., 0] - rho * w[..., 0] > least
    F, J = np.empty((B, m, 3)), np.empty((B, m, 3, 3 * m))
    F[..., 0] = np.where(touching, rho * w[..., 0], x[..., 0] - least)
    J[..., 0, :] = np.where(touching[..., None], rho[..., None] * rows[..., 0, :], unit[:, 0])
    y, radius = x[..., 1:] - r * w[..., 1:], mu * np.maximum(x[..., 0], 0.0)
    length = np.sqrt((y * y).sum(-1))
    sticking = (length <= radius)[..., None]
    along = y / np.where(length > 0.0, length, 1.0)[..., None]
    F[..., 1:] = np.where(sticking, r * w[..., 1:], x[..., 1:] - radius[..., None] * along)
    dy = unit[:, 1:] - r[..., None] * rows[..., 1:, :]
    across = np.eye(2) - along[..., :, None] * along[..., None, :]
    ratio = (radius / np.where(length > 0.0, length, 1.0))[..., None, None]
    slip = unit[:, 1:] - (mu * (x[..., 0] > 0.0))[..., None, None] * along[..., None] * unit[:, None, 0] - ratio * (across @ dy)
    J[..., 1:, :] = np.where(sticking[..., None], r[..., None] * rows[..., 1:, :], slip)
    # Directions in which nothing gives way: their impulse stays zero.
    lost = np.stack([rho == 0.0, r[..., 0] == 0.0, r[..., 0] == 0.0], axis=-1)
    F, J = np.where(lost, x, F), np.where(lost[..., None], unit, J)
    return F.reshape(B, 3 * m), J.reshape(B, 3 * m, 3 * m)
