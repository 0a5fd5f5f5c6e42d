"""Impulses of contacts in contact space: sweeps for most states, slower methods for those that sweeps leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinetree.contact.gauss_seidel import swept
from kinetree.contact.laws import Laws, residual, step_sizes
from kinetree.contact.newton import polished
from kinetree.contact.redundant import shortest
from kinetree.contact.splitting import alternated
from kinetree.spatial.scalars import Array

Method = Callable[[Array, Laws, Array], Array]

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
    for method in METHODS:
        part = laws.of(todo)
        x[todo] = method(x[todo], part, goal[todo])
        todo = todo[residual(x[todo], part) > goal[todo]]
        if not todo.size:
            break
    return shortest(x, laws, goal) if mu.shape[1] > 1 else x


def _then_newton(method: Method) -> Method:
    """A method, and Newton's from where it ends; its result is taken if it gets there."""

    def both(x: Array, laws: Laws, goal: Array) -> Array:
        x = method(x, laws, goal)
        better = polished(x.copy(), laws, goal)
        return np.where((residual(better, laws) <= goal)[:, None], better, x)

    return both


def _sweeps(count: int) -> Method:
    return lambda x, laws, goal: swept(x, laws, count)


METHODS: Sequence[Method] = (
    _sweeps(30),
    _sweeps(100),
    _then_newton(_sweeps(300)),
    _then_newton(_sweeps(1000)),
    _then_newton(lambda x, laws, goal: alternated(x, laws, goal, 1000)),
    _then_newton(_sweeps(4000)),
    _then_newton(lambda x, laws, goal: alternated(x, laws, goal, 3000)),
)
"""Each goes on from where the one before ended, with the states that are not there yet."""
