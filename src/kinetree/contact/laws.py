"""The laws of contact as one equation, whose solutions are the impulses x that obey them (Alart and Curnier, 1991)::

    x_n − max(x_min, x_n − ρ w_n) = 0          x_t − P(x_t − r w_t) = 0, P onto the disc of radius μ x_n          w = A x + b

Signorini: w_n ≥ 0, x_n ≥ x_min, one of both an equality. Coulomb: friction opposes slip, at most μ times the normal impulse.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np

from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Laws:
    """What B states ask of the impulses (B, 3m) of m contacts, normal and two tangents each.

    A (B, 3m, 3m) [1/kg] and b (B, 3m) [m/s] make velocities of impulses; steps (B, m, 2) [kg] are ρ and r, zero where nothing
    gives way; least (B, m) [N s] and mu (B, m).
    """

    A: Array
    b: Array
    steps: Array
    least: Array
    mu: Array

    def of(self, states: Any) -> Laws:
        """Those of some states."""
        return Laws(*(getattr(self, f.name)[states] for f in fields(self)))

    def velocities(self, x: Array) -> Array:
        """w (B, 3m)."""
        return np.einsum("bij,bj->bi", self.A, x) + self.b


def step_sizes(A: Array, lost: Array) -> Array:
    """ρ = 1 / A_nn and r, the reciprocal of the larger stiffness of A_tt (..., m, 2); 0 for lost directions (..., 3m)."""
    n, t, s = (np.arange(A.shape[-1] // 3) * 3 + k for k in range(3))
    a, b, c = A[..., t, t], A[..., s, s], A[..., t, s]
    largest = 0.5 * (a + b) + np.sqrt(0.25 * (a - b) ** 2 + c * c)
    stiff = np.stack([A[..., n, n], largest], axis=-1)
    gone = np.stack([lost[..., n], lost[..., t] & lost[..., s]], axis=-1)
    return np.where(gone, 0.0, 1.0 / np.where(gone, 1.0, stiff))


def residual(x: Array, laws: Laws) -> Array:
    """The largest entry (B,) [N s] of the equation."""
    return np.abs(_sides(x, laws)[0]).max(axis=(1, 2))


def equation(x: Array, laws: Laws) -> tuple[Array, Array]:
    """The left-hand sides (B, 3m) of the equation and their derivatives (B, 3m, 3m)."""
    B, m = laws.mu.shape
    F, touching, sticking, ratio, along = _sides(x, laws)
    unit, rows = np.eye(3 * m).reshape(m, 3, 3 * m), laws.A.reshape(B, m, 3, 3 * m)
    rho, r = laws.steps[..., 0, None], laws.steps[..., 1, None, None]
    J = np.empty((B, m, 3, 3 * m))
    J[..., 0, :] = np.where(touching[..., None], rho * rows[..., 0, :], unit[:, 0])
    step = unit[:, 1:] - r * rows[..., 1:, :]
    turning = ratio[..., None, None] * (step - along[..., None] * (along[..., None, :] @ step))
    growing = (laws.mu * (x.reshape(B, m, 3)[..., 0] > 0.0))[..., None, None] * along[..., None] * unit[:, None, 0]
    J[..., 1:, :] = np.where(sticking[..., None, None], r * rows[..., 1:, :], unit[:, 1:] - growing - turning)
    J = np.where(_lost(laws)[..., None], unit, J)
    return F.reshape(B, 3 * m), J.reshape(B, 3 * m, 3 * m)


def _sides(x: Array, laws: Laws) -> tuple[Array, ...]:
    """The left-hand sides (B, m, 3); which contacts touch and stick; radius over length of y = x_t − r w_t, and y / |y|."""
    B, m = laws.mu.shape
    w, x = laws.velocities(x).reshape(B, m, 3), x.reshape(B, m, 3)
    rho, r = laws.steps[..., 0], laws.steps[..., 1, None]
    touching = x[..., 0] - rho * w[..., 0] > laws.least
    y, radius = x[..., 1:] - r * w[..., 1:], laws.mu * np.maximum(x[..., 0], 0.0)
    length = np.sqrt((y * y).sum(-1))
    sticking, long = length <= radius, np.where(length > 0.0, length, 1.0)
    along = y / long[..., None]
    F = np.empty((B, m, 3))
    F[..., 0] = np.where(touching, rho * w[..., 0], x[..., 0] - laws.least)
    F[..., 1:] = np.where(sticking[..., None], r * w[..., 1:], x[..., 1:] - radius[..., None] * along)
    return np.where(_lost(laws), x, F), touching, sticking, radius / long, along


def _lost(laws: Laws) -> Array:
    """Directions (B, m, 3) in which nothing gives way: their impulse stays zero."""
    return laws.steps[..., [0, 1, 1]] == 0.0
