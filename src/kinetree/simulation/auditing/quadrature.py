"""The integral over time of something known at the stored states."""

from __future__ import annotations

import numpy as np

from kinetree.spatial.scalars import Array


def integral(t: Array, x: Array) -> tuple[Array, Array]:
    """∫ x dt (K,) from the first time on, and its own error (K,): what leaving out every other state changes.

    Each interval is h/2 (x₀ + x₁) + h²/12 (x₀' − x₁') with x' of the parabola through three states: of fourth order where x
    is smooth. Fewer than five states cannot tell their error, which is then infinite.
    """
    fine = _integral(t, x)
    if len(t) < 5:
        return fine, np.full(len(t), np.inf)
    coarse = np.interp(t, t[::2], _integral(t[::2], x[::2]) - fine[::2])
    return fine, np.maximum.accumulate(np.abs(coarse))


def _integral(t: Array, x: Array) -> Array:
    h = np.diff(t)
    pieces = h / 2 * (x[:-1] + x[1:])
    if len(t) >= 3:
        pieces -= h**2 / 12 * np.diff(np.gradient(x, t, edge_order=2))
    return np.concatenate([[0.0], np.cumsum(pieces)])
