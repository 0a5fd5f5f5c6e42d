"""Impulses of contacts in contact space: sweeps for most states, Newton's method for what they leave."""

from __future__ import annotations

import numpy as np

from kinetree.contact.gauss_seidel import step_sizes, swept
from kinetree.contact.newton import polished, residual
from kinetree.contact.redundant import shortest
from kinetree.spatial.scalars import Array

SWEEPS = (25, 25, 50, 200, 800, 3200)
"""Of each round; from the third on, Newton's method goes on from where they end."""
TOLERANCE = 1e-12
"""Of the largest impulse that some contact alone would need: how far from the laws impulses may be."""


def solved(A: Array, b: Array, least: Array, mu: Array, lost: Array) -> Array:
    """x (B, 3m) [N s]: impulses that obey Signorini's and Coulomb's laws with the velocities A x + b after them.

    A (B, 3m, 3m), b (B, 3m), least normal impulses (B, m), friction (B, m), and which directions give no way (B, 3m). Where
    several do, contacts being redundant, a short one.
    """
    steps = step_sizes(A, lost)
    alone = np.abs(b.reshape(*mu.shape, 3)) * steps[..., [0, 1, 1]]
    goal = TOLERANCE * (alone.max(axis=(1, 2)) + np.abs(least).max(axis=1))
    x, todo = np.zeros_like(b), np.arange(len(b))
    for turn, sweeps in enumerate(SWEEPS):
        given = tuple(a[todo] for a in (A, b, steps, least, mu))
        x[todo] = swept(x[todo], *given, sweeps)
        if turn >= 2:
            better = polished(x[todo], *given, goal[todo])
            x[todo] = np.where((residual(better, *given) <= goal[todo])[:, None], better, x[todo])
        todo = todo[residual(x[todo], *given) > goal[todo]]
        if not todo.size:
            break
    return shortest(x, A, b, steps, least, mu, goal) if mu.shape[1] > 1 else x
