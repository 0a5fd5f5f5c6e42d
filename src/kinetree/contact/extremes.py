"""Bounds and minima without branches, of traced values and of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.compiler.graph import sqrt, where
from kinetree.contact.laws import maximum, positive
from kinetree.spatial.scalars import Array, Scalar

FLAT = 1e-9
"""Slope [m/m] below which a stretch of a segment counts as equally near."""


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    return where(positive(a - b), b, a)


def clamped(x: Scalar, low: Scalar = 0.0, high: Scalar = 1.0) -> Scalar:
    """The nearest to x between bounds."""
    return maximum(minimum(x, high), low)


def unit(v: Array, otherwise: Array) -> tuple[Scalar, Array]:
    """The length of a vector and its direction; `otherwise` of none."""
    squared = v @ v
    length = sqrt(squared)
    return length, where(squared, v * (1.0 / where(squared, length, 1.0)), otherwise)


def lowest(gap: Callable[[Scalar], Array], d: Array, nodes: Sequence[Scalar]) -> Scalar:
    """t in [0, 1] of the shortest gap(t), a vector that is linear between nodes, of which two are 0 and 1.

    Half the squared length is convex, and its slope d · gap linear between nodes: t is in the middle of where that is 0.
    """
    gaps = [gap(t) for t in nodes]
    slopes, bounds = [d @ g for g in gaps], [FLAT * sqrt((d @ d) * (g @ g)) for g in gaps]
    first = _end_of_descent(nodes, slopes, bounds)
    last = 1.0 - _end_of_descent([1.0 - t for t in nodes], [-s for s in slopes], bounds)
    return 0.5 * (first + last)


def _end_of_descent(nodes: Sequence[Scalar], slopes: Sequence[Scalar], bounds: Sequence[Scalar]) -> Scalar:
    """Where in [0, 1] growing slopes, linear between nodes, are negative no more."""
    t0, s0, t1, s1 = -1.0, 0.0, 2.0, 0.0  # the last node of negative slope, and the first of other
    for t, s, bound in zip(nodes, slopes, bounds, strict=True):
        falls = positive(-(s + bound))
        is_last, is_first = where(falls, positive(t - t0), 0.0), where(falls, 0.0, positive(t1 - t))
        t0, s0 = where(is_last, t, t0), where(is_last, s, s0)
        t1, s1 = where(is_first, t, t1), where(is_first, s, s1)
    rise = s1 - s0
    between = t0 + clamped(-s0 / where(positive(rise), rise, 1.0)) * (t1 - t0)
    return where(positive(t0 + 0.5), where(positive(1.5 - t1), between, 1.0), 0.0)
