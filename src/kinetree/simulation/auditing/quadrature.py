"""The integral over time of something known at the stored states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree import functions
from kinetree.model import Model
from kinetree.spatial.scalars import Array


def integral(t: Array, x: Array) -> tuple[Array, Array]:
    """∫ x dt (K,) from the first time on, and its own error (K,): what leaving out every other state changes.

    Each interval is h/2 (x₀ + x₁) + h²/12 (x₀' − x₁') with x' of the parabola through three states: of fourth order where x
    is smooth. Fewer than five states cannot tell their error, which is then infinite.
    """
    return _doubted(t, lambda every: _integral(t[::every], x[::every]))


def work_along(model: Model, t: Array, q: Array, tau: Array, blows: Array) -> tuple[Array, Array]:
    """∫ τ* dq (K,) from the first state on, and its own error: by the way that was gone. Where bodies touch velocities jump,
    and are at the end of a step not what they were on average within it.

    Each interval is ½ (τ₀ + τ₁)* (q₁ − q₀), of second order; of one that holds the time of a blow nothing tells when τ went
    from τ₀ to τ₁, and its error is up to ½ |τ₁ − τ₀|* |q₁ − q₀|.
    """

    def pieces(every: int, weigh: Callable[[Array, Array, Array], Array]) -> Array:
        x, force = q[::every], tau[::every]
        return 0.5 * weigh(force[:-1], force[1:], functions.difference(model, x[:-1], x[1:])).sum(axis=1)

    def sums(every: int) -> Array:
        return np.concatenate([[0.0], np.cumsum(pieces(every, lambda first, last, way: (first + last) * way))])

    work, error = _doubted(t, sums)
    struck = np.zeros(len(t) - 1)
    struck[np.clip(np.searchsorted(t, blows) - 1, 0, None)] = 1.0
    jumps = struck * pieces(1, lambda first, last, way: np.abs((last - first) * way))
    return work, error + np.concatenate([[0.0], np.cumsum(jumps)])


def _doubted(t: Array, found: Callable[[int], Array]) -> tuple[Array, Array]:
    """What is found from every state, and its error from what is found from every other."""
    fine = found(1)
    if len(t) < 5:
        return fine, np.full(len(t), np.inf)
    coarse = np.interp(t, t[::2], found(2) - fine[::2])
    return fine, np.maximum.accumulate(np.abs(coarse))


def _integral(t: Array, x: Array) -> Array:
    h = np.diff(t)
    pieces = h / 2 * (x[:-1] + x[1:])
    if len(t) >= 3:
        pieces -= h**2 / 12 * np.diff(np.gradient(x, t, edge_order=2))
    return np.concatenate([[0.0], np.cumsum(pieces)])
