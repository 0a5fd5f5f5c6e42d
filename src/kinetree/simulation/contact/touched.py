"""What touched in the course of a run."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.simulation.contact.stepper import ContactStepper
from kinetree.simulation.impacts import Blow


@final
class Touched:
    """Impacts and pushes of a run's steps: `look` after each step, `keep` once it is known when that ended."""

    def __init__(self, step: ContactStepper) -> None:
        self._step = step
        self._blows: list[Blow] = []
        self._steps = np.zeros(len(step.contacts.names), dtype=int)

    def look(self) -> None:
        """Remember what the step did; it may be made again, shortened, in search of events."""
        self._last = self._step.happened, self._step.pressing

    def keep(self, t: float) -> None:
        """What the step did until t is part of the run."""
        happened, pressing = self._last
        self._blows += [blow for blow in happened if blow.t <= t]
        self._steps += pressing

    def found(self) -> dict[str, Any]:
        """As fields of a `Run`."""
        lists = self._step.contacts
        return {
            "contacts": lists.names,
            "contact_bodies": tuple((int(a), int(b)) for a, b in lists.bodies),
            "contact_steps": tuple(map(int, self._steps)),
            "impacts": tuple(self._blows),
        }
