"""What touched in the course of a run."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.simulation.contact.stepper import ContactStepper
from kinetree.simulation.impacts import Blow
from kinetree.spatial.scalars import Array


@final
class Touched:
    """Impacts and forces of a run's steps: `look` after each, `keep` once it is known when it ended, `store` with a state."""

    def __init__(self, step: ContactStepper) -> None:
        self._step = step
        self._blows: list[Blow] = []
        self._steps = np.zeros(len(step.contacts.names), dtype=int)
        self._rows: list[Array] = []
        self._contacts: list[Array] = []
        self._forces: list[Array] = []

    def look(self, h: float) -> None:
        """Remember what the step of h did; it may be made again, shortened, in search of events."""
        self._last = self._step.happened, self._step.pushes / h

    def keep(self, t: float) -> None:
        """What the step did until t is part of the run."""
        happened, forces = self._last
        self._blows += [blow for blow in happened if blow.t <= t]
        self._steps += forces.any(axis=1)

    def store(self, row: int) -> None:
        """The state that the step led to is the stored one of that number."""
        which = np.flatnonzero(self._last[1].any(axis=1))
        self._rows.append(np.full(len(which), row))
        self._contacts.append(which)
        self._forces.append(self._last[1][which])

    def found(self) -> dict[str, Any]:
        """As fields of a `Run`."""
        lists = self._step.contacts
        return {
            "contacts": lists.names,
            "contact_bodies": tuple((int(a), int(b)) for a, b in lists.bodies),
            "contact_steps": tuple(map(int, self._steps)),
            "impacts": tuple(self._blows),
            "force_rows": np.concatenate([*self._rows, np.zeros(0, dtype=int)]),
            "force_contacts": np.concatenate([*self._contacts, np.zeros(0, dtype=int)]),
            "forces": np.concatenate([*self._forces, np.zeros((0, 3))]),
        }
