"""Steps of a simulation with contact: from impact to impact by an integrator, along contacts by time-stepping."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final, final

import numpy as np

from kinetree import compilation, functions
from kinetree.contact.scene import Scene
from kinetree.model import Model
from kinetree.simulation.contact.closing import closed, dips
from kinetree.simulation.contact.judgement import AS_GOOD, CLOSED, Judgement, judged, near
from kinetree.simulation.contact.solving import DEEP, Contacts, Rows
from kinetree.simulation.contact.unilateral import Seen, Unilateral
from kinetree.simulation.events import last_before
from kinetree.simulation.impacts import Blow
from kinetree.simulation.integrators import LOOK_AHEAD
from kinetree.simulation.system import Stepper, maps_of
from kinetree.spatial.scalars import Array

MOST: Final = 24
"""Impacts and moments of touching in one step that are told apart; what is left of the step is then one time-step."""
DEPTH: Final = 8
"""Halvings in search of a gap that closes and opens within a step."""

SHALLOW: Final = 2.0 * CLOSED
"""How much deeper [m or rad] a gap that a time-step does not take along may be at its end."""

SHORT: Final = 1e-3
"""Of dt: what is left of a step after an impact, if no longer, is too short for gaps to tell rates."""

STRAYED: Final = 0.1
"""Of how far a contact moves in a step: a gap that changes otherwise than by its rates is that of another place by then."""

Maps = tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]]
State = tuple[Array, Array]
Move = Callable[[float], State]
"""move(s): (q, y) after s."""


@final
class ContactStepper:
    """step(t, q, y, h), as a `Stepper` does; what it does depends on (t, q, y), h and dt alone.

    happened: the impacts of the last step; pushes (n, 3) [N s]: the impulses of its time-steps, on the first bodies, world
    axes, of ends of joints their size; nfev counts how often the dynamics were asked for.
    """

    def __init__(self, model: Model, smooth: Stepper, maps: Maps, contacts: Contacts, integrator: str, dt: float) -> None:
        self._smooth, self._contacts, self._dt = smooth, contacts, dt
        self._part = 1.0 if integrator in LOOK_AHEAD else 0.5
        self._carried, self._velocity = maps
        self._moved = compilation.compile(functions.integrate, model)
        self._gravity = float(np.linalg.norm(model.gravity))
        self._flown: tuple[float, Array, Array, float, State] | None = None
        self.happened: list[Blow] = []
        self.pushes = np.zeros((len(contacts.unilateral.names), 3))

    @property
    def contacts(self) -> Unilateral:
        """What cannot be passed."""
        return self._contacts.unilateral

    @property
    def nfev(self) -> int:
        """How often the dynamics were asked for."""
        return self._smooth.nfev

    def __call__(self, t: float, q: Array, y: Array, h: float) -> State:
        self.happened, self.pushes = [], np.zeros_like(self.pushes)
        try:
            return self._step(t, q, y, h)
        except _DivergedError as found:
            return found.state

    def _step(self, t: float, q: Array, y: Array, h: float) -> State:
        for _ in range(MOST):
            flight = partial(self._flight, t, q, y)
            v = self._velocity(q, y)
            seen = self.contacts.seen(q, v)
            found = self._judged(seen, flight)
            if found.hit.any():
                blow = self._contacts.blow(t, seen, v, found)
                if blow.contacts.size:
                    self.happened.append(blow)
                    y = self._carried(q, blow.after)
                    continue
            taken = self.contacts.essential(seen, np.flatnonzero(found.taken))
            along = cache(partial(self._along, t, seen, v, taken))
            move: Move = (lambda s, along=along: along(s)[0]) if taken.size else flight
            s = self._touching(t, seen, ~found.taken, move, h, move(h))
            if taken.size:
                self.pushes[taken] += along(h if s is None else s)[1]
            if s is None:
                return move(h)
            (q, y), t, h = move(s), t + s, h - s
        v = self._velocity(q, y)
        seen = self.contacts.seen(q, v)
        near_enough = seen.gap <= CLOSED + 2.0 * h * (np.abs(seen.rate) + self._gravity * h)
        within = self.contacts.essential(seen, np.flatnonzero(near_enough))
        if not within.size:
            return self._flight(t, q, y, h)
        end, pushed = self._along(t, seen, v, within, h)
        self.pushes[within] += pushed
        return end

    def _flight(self, t: float, q: Array, y: Array, h: float) -> State:
        """The integrator's step; the last one is remembered."""
        known = self._flown
        if known is None or not (known[0] == t and known[1] is q and known[2] is y and known[3] == h):
            end = self._smooth(t, q, y, h)
            if not (np.isfinite(end[0]).all() and np.isfinite(end[1]).all()):
                raise _DivergedError(end)
            self._flown = known = t, q, y, h, end
        return known[4]

    def _judged(self, seen: Seen, flight: Move) -> Judgement:
        some = near(seen, self._gravity, self._dt)
        if not some.any():
            return Judgement(some, some, some, seen.gap)
        q, y = flight(self._dt)
        acceleration = (self.contacts.seen(q, self._velocity(q, y)).rate - seen.rate) / self._dt
        return judged(seen, some, acceleration, self.contacts.restitution, self._gravity, self._dt)

    def _along(self, t: float, seen: Seen, v: Array, taken: Array, h: float) -> tuple[State, Array]:
        """The state after a time-step h along contacts, and their impulses (k, 3). It is RATTLE with the laws of contact.

        A first blow at the start, such that gaps do not close beyond zero on average over the step; the motion of the
        integrator; a second blow at the end, for u⁺ ≥ 0. What penetrates even so is taken back, an older depth by part h/dt.
        Where that would need a blow at one place for what moves at another, gaps are taken to close by their rates: where one
        changes otherwise, and where both blows together give more energy than a tenth of what the first does.
        """
        gap = seen.gap[taken]
        depth = np.minimum(gap, 0.0)
        allowed = depth * (1.0 - h / self._dt)
        free = self._ahead(t, seen.q, self._carried(seen.q, v), h)
        rows, later = self._contacts.rows(seen, taken), self.contacts.directions(free[0], taken)
        first, last = rows.J @ v, later.speeds(free[0].V, free[1])
        b = (1.0 - self._part) * first + self._part * last
        if h <= SHORT * self._dt:
            return self._struck(t, seen, v, taken, h, rows, b, allowed)[:2]
        mean, fast = 0.5 * (first + last)[::3], np.maximum(np.abs(first), np.abs(last))[::3]
        strayed = np.abs(free[0].gap[taken] - gap - h * mean) > STRAYED * h * fast + CLOSED
        by_rates = (gap - depth) / h + ((1.0 - self._part) * first + self._part * (rows.J @ free[1]))[::3]
        b[::3] = np.where(strayed, by_rates, (free[0].gap[taken] - depth) / h)
        state, pushed, first_work, work = self._struck(t, seen, v, taken, h, rows, b, allowed)
        if work > STRAYED * first_work and not strayed.all():
            b[::3] = by_rates
            state, pushed, *_ = self._struck(t, seen, v, taken, h, rows, b, allowed)
        return state, pushed

    def _struck(
        self, t: float, seen: Seen, v: Array, taken: Array, h: float, rows: Rows, b: Array, allowed: Array
    ) -> tuple[State, Array, float, float]:
        """The state and the impulses where the first blow meets velocities b (3k,); its work, and that of both blows [J]."""
        contacts, gap = self._contacts, seen.gap[taken]
        x = contacts.kick(contacts.ahead(rows, seen, self._part * h), taken, b)
        end, after = self._ahead(t, seen.q, self._carried(seen.q, v + x @ rows.B), h)
        first_work, pushed = _work(rows, v, x), rows.directions.world(x)
        rows = contacts.rows(end, taken)
        b = rows.J @ after
        b[::3] += np.where((gap > CLOSED) & (end.gap[taken] > CLOSED), end.gap[taken], 0.0) / h
        x = contacts.kick(rows, taken, b)
        q, left = end.q, end.gap[taken] - allowed
        if left.min() < -DEEP:
            q = self._moved(q, contacts.lift(rows, left))
        state = q, self._carried(q, after + x @ rows.B)
        return state, pushed + rows.directions.world(x), first_work, first_work + _work(rows, after, x)

    def _ahead(self, t: float, q: Array, y: Array, h: float) -> tuple[Seen, Array]:
        q, y = self._flight(t, q, y, h)
        v = self._velocity(q, y)
        return self.contacts.seen(q, v), v

    def _touching(self, t: float, seen: Seen, watched: Array, move: Move, h: float, end: State) -> float | None:
        """When the first of the watched gaps closes: the last s before, or None.

        A gap that is closed and opening counts when it is deeper than it was. In flight the moment is found to rounding, and
        deeper is by CLOSED; along contacts, where steps are no better, it is found to AS_GOOD, and deeper is by SHALLOW.
        """
        if not watched.any():
            return None
        lists = self._contacts.unilateral
        flies = watched.all()
        slack = np.where(seen.gap > CLOSED, 0.0, CLOSED - seen.gap) if flies else SHALLOW - np.minimum(seen.gap, 0.0)
        slack = slack[watched]

        def look(q: Array, y: Array) -> tuple[Array, Array]:
            found = lists.seen(q, self._velocity(q, y))
            return found.gap[watched] + slack, found.rate[watched]

        def value(s: float) -> float:
            return float((lists.gap(move(s)[0])[watched] + slack).min())

        first, last = (seen.gap[watched] + slack, seen.rate[watched]), look(*end)
        s = dips((0.0, *first), (h, *last), lambda s: look(*move(s)), DEPTH)
        if s is None:
            return None
        low, high, tolerance = float(first[0].min()), value(s), 2.0 * np.finfo(float).eps * max(abs(t), h)
        if flies:
            return float(last_before(value, 0.0, s, low, high, tolerance))
        return closed(value, s, low, high, min(AS_GOOD, 0.5 * low), tolerance)


def contact_stepper(
    model: Model, acting: Model, scene: Scene, smooth: Stepper, form: str, integrator: str, dt: float
) -> ContactStepper:
    """Steps of a model in a scene: `smooth` ones where nothing touches; acting is the model without stops at joint ends."""
    contacts = Contacts(acting, Unilateral(model, scene), scene.law)
    return ContactStepper(acting, smooth, maps_of(acting, form), contacts, integrator, dt)


def _work(rows: Rows, v: Array, x: Array) -> float:
    """½ x* (u + u⁺) [J] of a blow at velocities v."""
    return float(x @ (rows.J @ v + 0.5 * (rows.A @ x)))


class _DivergedError(Exception):
    """A step ended at a state that is not finite."""

    def __init__(self, state: State) -> None:
        self.state = state
