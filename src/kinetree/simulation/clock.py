"""When steps begin and end: at origin + k dt, the last one shortened so that the end is met exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.errors import InputError
from kinetree.simulation.checks import check_seconds
from kinetree.simulation.run import Run

WHOLE_STEP = 1e-9
"""A remainder of duration/dt below this many steps is rounding, not a step of its own."""


@final
@dataclass(frozen=True)
class Clock:
    """Steps first + 1 to last of the grid origin + k dt [s]; the last one is `shortened` long and ends at `end`."""

    origin: float
    dt: float
    first: int
    last: int
    shortened: float
    end: float

    @property
    def start(self) -> float:
        """When the first step begins [s]."""
        return self.origin + self.first * self.dt

    def steps(self) -> Iterator[tuple[int, float, float]]:
        """(k, when step k ends, how long it is [s]) of each step."""
        origin, dt = self.origin, self.dt
        for k in range(self.first + 1, self.last):
            yield k, origin + k * dt, dt
        yield self.last, self.end, self.shortened


def clock(duration: float, dt: float, earlier: Run | None = None) -> Clock:
    """Of a simulation of a duration, from 0 or from the end of an earlier run, whose grid it goes on with if that is on it."""
    check_seconds(duration, "duration")
    check_seconds(dt, "dt")
    if earlier is None and dt > duration * (1.0 + WHOLE_STEP):
        raise InputError(f"dt must not exceed duration, found dt = {dt:g} s, duration = {duration:g} s.")
    if not duration / dt < 2**53:
        raise InputError(f"duration/dt must be below 2^53 steps, found {duration:g} s / {dt:g} s. Take a larger dt.")
    origin, first = (0.0, 0) if earlier is None else _grid(earlier, dt)
    end = duration if earlier is None else float(earlier.t[-1]) + duration
    last = max(first + 1, math.ceil((end - origin) / dt - WHOLE_STEP))
    shortened = end - (origin + (last - 1) * dt)
    rounding = max(WHOLE_STEP, 4.0 * last * np.finfo(float).eps)
    return Clock(origin, float(dt), first, last, float(dt) if abs(shortened - dt) <= rounding * dt else shortened, end)


def _grid(earlier: Run, dt: float) -> tuple[float, int]:
    """Origin, and steps from there, of the end of a run."""
    end = float(earlier.t[-1])
    steps = round((end - earlier.origin) / dt) if dt == earlier.dt else 0
    return (earlier.origin, steps) if same_time(end, earlier.origin + steps * dt) else (end, 0)


def same_time(a: float, b: float) -> bool:
    """Whether two times [s] are the same but for rounding."""
    return abs(a - b) <= 4.0 * np.finfo(float).eps * max(abs(a), abs(b))
