"""Alternating directions for the laws of contact: steps through the regularised A, then onto the cones; for redundant contacts.

    x ← (A + (ρ + η) 1)⁻¹ (z ρ + y + η x − b − s)        z ← into the cones, from x − y / ρ        y ← y − ρ (x − z)

y becomes the velocity of the contacts; s = μ |y_t| along their normals makes Coulomb's law one of cones (De Saxcé and Feng,
1998). Redundant contacts, on which sweeps go on for ever, do not trouble A + ρ 1.
"""

from __future__ import annotations

import numpy as np

from kinetree.contact.laws import Laws, residual
from kinetree.spatial.scalars import Array

PENALTY, PROXIMAL = 1e-4, 1e-6
"""ρ and η at the start, over the largest eigenvalue of A."""
BALANCED, CHANGE = 10.0, 3.0
"""How far the two residuals may differ before ρ changes, and by how much."""
BLOCK = 50
"""Steps between two looks."""


def alternated(x: Array, laws: Laws, goal: Array, steps: int) -> Array:
    """The impulses (B, 3m) nearest to the laws among x and what every so many steps give."""
    B, m = laws.mu.shape
    largest = np.linalg.eigvalsh(laws.A)[:, -1]
    rho, eta = PENALTY * largest, PROXIMAL * largest
    best, best_size = x.copy(), residual(x, laws)
    z, y = x.copy(), np.zeros_like(x)
    for _ in range(0, steps, BLOCK):
        inverse = np.linalg.inv(laws.A + (rho + eta)[:, None, None] * np.eye(3 * m))
        before = z
        for _ in range(BLOCK):
            before = z
            s = np.zeros((B, m, 3))
            s[..., 0] = laws.mu * np.linalg.norm(y.reshape(B, m, 3)[..., 1:], axis=-1)
            pull = rho[:, None] * z + y + eta[:, None] * x - laws.b - s.reshape(B, 3 * m)
            x = np.einsum("bij,bj->bi", inverse, pull)
            z = _into_cones(x - y / rho[:, None], laws)
            y = y - rho[:, None] * (x - z)
        size = residual(z, laws)
        better = size < best_size
        best[better], best_size[better] = z[better], size[better]
        if (best_size <= goal).all():
            break
        primal, dual = np.abs(x - z).max(axis=1), rho / largest * np.abs(z - before).max(axis=1)
        rho = rho * np.where(primal > BALANCED * dual, CHANGE, np.where(dual > BALANCED * primal, 1.0 / CHANGE, 1.0))
    return best


def _into_cones(x: Array, laws: Laws) -> Array:
    """The nearest impulses with |x_t| ≤ μ x_n and x_n ≥ the least."""
    x = x.reshape(*laws.mu.shape, 3)
    n, t, mu = x[..., 0], x[..., 1:], laws.mu
    length = np.linalg.norm(t, axis=-1)
    inside, behind = length <= mu * n, mu * length <= -n
    normal = np.where(inside, n, np.where(behind, 0.0, (mu * length + n) / (1.0 + mu * mu)))
    normal = np.maximum(normal, laws.least)
    scale = np.minimum(1.0, mu * normal / np.where(length > 0.0, length, 1.0))
    return np.concatenate([normal[..., None], scale[..., None] * t], axis=-1).reshape(len(x), -1)
