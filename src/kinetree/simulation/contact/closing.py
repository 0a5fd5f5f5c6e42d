"""When gaps close: whether one does between two moments, and where it is as good as closed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.spatial.scalars import Array


def dips(a: tuple[float, Array, Array], b: tuple[float, Array, Array], look: Callable, depth: int) -> float | None:
    """A time at which some gap is not positive between two at which gaps and rates are known, if there is one.

    Distances of what moves straight on are convex in time and lie above their tangents: where these meet above zero there is
    none; else that is where to look.
    """
    (start, low, falling), (end, high, rising) = a, b
    if (high <= 0.0).any():
        return end
    turns = (falling < 0.0) & (rising > 0.0)
    if not turns.any() or not depth:
        return None
    slope, width = np.where(turns, rising - falling, 1.0), end - start
    meet = np.clip((high - low - rising * width) / -slope, 0.0, width)
    lowest = np.where(turns, low + falling * meet, np.inf)
    k = int(np.argmin(lowest))
    if lowest[k] > 0.0:
        return None
    middle = (start + float(meet[k]), *look(start + float(meet[k])))
    found = dips(a, middle, look, depth - 1)
    return found if found is not None else dips(middle, b, look, depth - 1)


def closed(value: Callable[[float], float], b: float, low: float, high: float, enough: float, tolerance: float) -> float:
    """An s in [0, b] where a gap is between 0 and `enough`, or the last before it closes, to a tolerance.

    It is low > enough at 0 and high ≤ 0 at b. The secant, whose older end counts less each time it is kept (Anderson and
    Björck, 1973), and the middle of what is left every third time.
    """
    a, goal, count = 0.0, 0.5 * enough, 0
    low, high = low - goal, high - goal
    while b - a > tolerance:
        count += 1
        s = 0.5 * (a + b) if count % 3 == 0 else min(max((high * a - low * b) / (high - low), a), b)
        found = value(s) - goal
        if abs(found) <= goal:
            return s
        if found > 0.0:
            a, low, high = s, found, high * _less(found, low)
        else:
            b, high, low = s, found, low * _less(found, high)
    return a


def _less(found: float, before: float) -> float:
    part = 1.0 - found / before
    return part if part > 0.0 else 0.5
