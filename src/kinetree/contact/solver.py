"""Impulses of contacts in contact space: sweeps for most states, Newton's method for what they leave."""

from __future__ import annotations

import numpy as np

from kinetree.contact.gauss_seidel import swept
from kinetree.contact.laws import Laws, residual, step_sizes
from kinetree.contact.newton import polished
from kinetree.contact.redundant import shortest
from kinetree.spatial.scalars import Array

SWEEPS = (30, 100, 300, 1000, 4000)
"""Of each round; from the third on, Newton's method goes on from where they end."""
TOLERANCE = 1e-10
"""Of the largest impulse that some contact alone would need: how far from the laws impulses may be."""


def solved(A: Array, b: Array, least: Array, mu: Array, lost: Array) -> Array:
    """x (B, 3m) [N s]: impulses that obey Signorini's and Coulomb's laws with the velocities A x + b after them.

    A (B, 3m, 3m), b (B, 3m), least normal impulses (B, m), friction (B, m), and which directions give no way (B, 3m). Where
    several do, contacts being redundant, a short one. Where none is found, the nearest: `residual` says how near.
    """
    laws = Laws(A, b, step_sizes(A, lost), least, mu)
    alone = np.abs(b.reshape(*mu.shape, 3)) * laws.steps[..., [0, 1, 1]]
    goal = TOLERANCE * (alone.max(axis=(1, 2)) + np.abs(least).max(axis=1))
    x, todo = np.zeros_like(b), np.arange(len(b))
    for turn, sweeps in enumerate(SWEEPS):
        part = laws.of(todo)
        x[todo] = swept(x[todo], part, sweeps)
        if turn >= 2:
            better = polished(x[todo], part, goal[todo])
            x[todo] = np.where((residual(better, part) <= goal[todo])[:, None], better, x[todo])
        todo = todo[residual(x[todo], part) > goal[todo]]
        if not todo.size:
            break
    return shortest(x, laws, goal) if mu.shape[1] > 1 else x
