"""What each constraint is about to do, by the state and the time step dt alone.

With gap g, rate ġ, the acceleration g̈ that it would have without contact, and â = max(−g̈, |gravity|)::

    fast      ġ < −â dt, and < −CLOSED/dt     faster than a step could make it
    hit       fast, g ≤ CLOSED                an impact, now; g ≤ AS_GOOD while others stay, for their steps are no better
    staying   g ≤ â dt²/2, or ≤ CLOSED; not fast; and not rising so that it stays away for dt: time-stepping

In an impact ε of what would be back within dt, 2 ε |ġ| < â dt, counts as 0. That ends an accumulation of bounces: a body that
would bounce infinitely often in a finite time lies still.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kinetree.simulation.contact.unilateral import Seen
from kinetree.spatial.scalars import Array

CLOSED: Final = 1e-9
"""Gap [m or rad] up to which a contact is closed, in any case."""
AS_GOOD: Final = 1e-7
"""Gap [m or rad] up to which what is fast is closed while something stays."""
AHEAD: Final = 1.5
"""Of â dt²: what is no farther and not fast is taken along by a time-step, for it may close."""


@final
@dataclass(frozen=True, eq=False)
class Judgement:
    """Masks (n,) of the constraints that are closed, that hit, and that a time-step takes along, none where nothing stays; eps
    (n,), their ε.
    """

    closed: Array
    hit: Array
    taken: Array
    eps: Array


def near(seen: Seen, gravity: float, dt: float) -> Array:
    """Which constraints (n,) may do anything but fly on: those for which `judged` need be asked."""
    return seen.gap <= CLOSED + 4.0 * gravity * dt * dt + 2.0 * dt * np.abs(seen.rate)


def judged(seen: Seen, near: Array, acceleration: Array, restitution: Array, gravity: float, dt: float) -> Judgement:
    """What they do; acceleration (n,) is g̈ without contact."""
    gap, rate, rest = seen.gap, seen.rate, CLOSED / dt
    strong = np.maximum(-acceleration, gravity) * dt
    fast = rate < -np.maximum(strong, rest)
    staying = (
        near & ~fast & (gap <= np.maximum(CLOSED, 0.5 * strong * dt)) & (rate <= np.maximum(-0.5 * acceleration * dt, rest))
    )
    stays = staying.any()
    taken = near & ~fast & (gap <= np.maximum(CLOSED, AHEAD * strong * dt)) & stays
    closed = gap <= (AS_GOOD if stays else CLOSED)
    short = (rate < 0.0) & (-2.0 * restitution * rate < strong)
    return Judgement(closed, fast & closed, taken, np.where(short, 0.0, restitution))
