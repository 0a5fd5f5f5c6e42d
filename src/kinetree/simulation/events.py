"""Functions of a state that are watched while it moves, and the times when they pass through zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import InputError
from kinetree.simulation.control import called
from kinetree.spatial.scalars import Array

MOMENT = 1e-6
"""Part of the first step after which events are looked at first: what is zero at the start is no crossing."""

State = tuple[float, Array, Array]
"""(t, q, y)."""


@final
@dataclass(frozen=True)
class Event:
    """A function (t, q, v) → number; direction 1, −1 or 0: it rises, falls, or either; the crossing that ends the run, or 0."""

    function: Callable[[float, Array, Array], Any]
    name: str
    direction: float
    terminal: int

    def crosses(self, before: float, after: float) -> bool:
        """Whether it reached or passed zero between two values."""
        return (before < 0.0 <= after and self.direction >= 0.0) or (before > 0.0 >= after and self.direction <= 0.0)

    def value(self, t: float, q: Array, v: Array) -> float:
        """What the function gives, a finite number.

        Raises
        ------
        InputError : it gives something else
        SimulationError : it raises an exception
        """
        found = called(self.function, f"event {self.name!r}", t, q, v)
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"event {self.name!r} at t = {t:.9g} s must be a finite number, found {found!r:.60}.")
        return number


def events_of(given: Any) -> tuple[Event, ...]:
    """Events as the user gave them: one function, or several, with attributes `terminal` and `direction` as in SciPy.

    Raises
    ------
    InputError : no function, or an attribute is not what it must be
    """
    listed = [] if given is None else [given] if callable(given) else given
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not all(map(callable, listed)):
        raise InputError(f"events must be a function of (t, q, v) or a list of them, found {given!r:.80}.")
    return tuple(_event(function, k) for k, function in enumerate(listed))


def _event(function: Any, k: int) -> Event:
    name = getattr(function, "__name__", "<lambda>")
    name = f"event {k}" if name == "<lambda>" else name
    direction, terminal = getattr(function, "direction", 0), getattr(function, "terminal", False)
    if not isinstance(direction, (int, float, np.number)) or math.isnan(direction):
        raise InputError(f"direction of event {name!r} must be positive, negative or 0, found {direction!r:.60}.")
    terminal = 0 if terminal is None else terminal
    if not isinstance(terminal, (bool, int, np.bool_, np.integer)) or terminal < 0:
        raise InputError(
            f"terminal of event {name!r} must be True, False, or which of its crossings ends the run, found {terminal!r:.60}."
        )
    return Event(function, name, float(direction), int(terminal))


@final
class Watch:
    """Events over a run: `begin`, then `after` each step; found are their times and states.

    A crossing is looked for where a function has another sign at the end of a step than at its start. It is found by making
    the step again, shortened, so that it is as exact as the integrator; the state that is kept is the last one before.
    """

    def __init__(self, events: Sequence[Event], step: Any, velocity: Callable[[Array, Array], Array]) -> None:
        self.events = events
        self._step, self._velocity = step, velocity
        self._found: list[list[State]] = [[] for _ in events]
        self._values: list[float] = []
        self._from = 0.0

    def begin(self, t: float, q: Array, y: Array, h: float) -> None:
        """Look at the events a moment after the start, the first step being h long."""
        if self.events:
            self._from = MOMENT * h
            self._values = self._all(t + self._from, *self._step(t, q, y, self._from))

    def after(self, before: State, h: float, after: State) -> tuple[str, State] | None:
        """What a step of h led to: the first crossing that ends the run, if there is one, and the state there."""
        values, self._values = self._values, self._all(*after)
        start, self._from = self._from, 0.0
        crossed = [k for k, event in enumerate(self.events) if event.crosses(values[k], self._values[k])]
        found = [(self._located(k, before, start, h, values[k], self._values[k]), k) for k in crossed]
        for state, k in sorted(found, key=lambda one: one[0][0]):
            self._found[k].append((state[0], state[1], self._velocity(*state[1:])))
            if len(self._found[k]) == self.events[k].terminal:
                return self.events[k].name, state
        return None

    def found(self, nq: int, nv: int) -> dict[str, Any]:
        """As fields of a `Run`."""
        if not self.events:
            return {}
        t, q, v = ([[state[part] for state in states] for states in self._found] for part in range(3))
        return {
            "event_names": tuple(event.name for event in self.events),
            "t_events": tuple(np.array(x, dtype=float) for x in t),
            "q_events": tuple(np.array(x, dtype=float).reshape(-1, nq) for x in q),
            "v_events": tuple(np.array(x, dtype=float).reshape(-1, nv) for x in v),
        }

    def _all(self, t: float, q: Array, y: Array) -> list[float]:
        v = self._velocity(q, y)
        return [event.value(t, q, v) for event in self.events]

    def _located(self, k: int, before: State, start: float, h: float, low: float, high: float) -> State:
        """The state of the step from `before` when event k, `low` after `start` and `high` after h, is about to pass zero."""
        t, q, y = before

        def state(s: float) -> State:
            return (t + s, *self._step(t, q, y, s))

        def value(s: float) -> float:
            at, q_s, y_s = state(s)
            return self.events[k].value(at, q_s, self._velocity(q_s, y_s))

        return state(last_before(value, start, h, low, high, 2.0 * np.finfo(float).eps * max(abs(t), h)))


def last_before(value: Callable[[float], float], a: float, b: float, low: float, high: float, tolerance: float) -> float:
    """The last s in [a, b] before a function changes sign, to a tolerance; its values are low at a and high at b.

    Interpolate–truncate–project: as few values as the secant, never more than one above bisection. Source: Oliveira and
    Takahashi, ACM Transactions on Mathematical Software 47(1), 2020, with κ₁ = 0.05/(b − a), κ₂ = 2, n₀ = 1.
    """
    rising, kappa = high >= 0.0 > low, 0.05 / (b - a)
    half = 0.5 * tolerance
    room = half * 2.0 ** (math.ceil(math.log2(max((b - a) / tolerance, 1.0))) + 1)
    while b - a > tolerance:
        middle, width = 0.5 * (a + b), b - a
        secant = (high * a - low * b) / (high - low)
        towards = math.copysign(1.0, middle - secant)
        inward = secant + towards * kappa * width**2 if kappa * width**2 <= abs(middle - secant) else middle
        slack = max(room - 0.5 * width, 0.0)
        s = inward if abs(inward - middle) <= slack else middle - towards * slack
        s, room = min(max(s, a + half), b - half), 0.5 * room
        found = value(s)
        if (found >= 0.0) if rising else (found <= 0.0):
            b, high = s, found
        else:
            a, low = s, found
    return a
