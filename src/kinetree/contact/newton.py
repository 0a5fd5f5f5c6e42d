"""Semismooth Newton on the laws of contact: in a few steps where sweeps take thousands, if it gets there at all."""

from __future__ import annotations

import numpy as np

from kinetree.contact.laws import Laws, equation
from kinetree.spatial.scalars import Array

STEPS = 30
HALVINGS = 8


def polished(x: Array, laws: Laws, goal: Array) -> Array:
    """x (B, 3m) with the laws obeyed to goal (B,) [N s], or as near to it as the steps come."""
    F, J = equation(x, laws)
    size = np.abs(F).max(axis=1)
    for _ in range(STEPS):
        wrong = np.flatnonzero(size > goal)
        if not wrong.size:
            break
        part, d = laws.of(wrong), -_solve(J[wrong], F[wrong])
        fraction, better = 1.0, np.zeros(len(wrong), dtype=bool)
        for _ in range(HALVINGS):
            tried = x[wrong] + fraction * d
            F_tried, J_tried = equation(tried, part)
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
    """J⁻¹ F; the step of least norm where J is singular, contacts being redundant."""
    try:
        return np.linalg.solve(J, F[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-12), F)
