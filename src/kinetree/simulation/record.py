"""What a simulation keeps as it goes; at any moment it is a `Run`."""

from __future__ import annotations

from time import perf_counter
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.model import Model
from kinetree.simulation.labels import coordinate_labels, velocity_labels
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array


@final
class Record:
    """Rows filled as the simulation goes, from which `run` makes a `Run`; `about` are further fields of it.

    `driven` says whether control or external wrenches act; what joints do by themselves is seen by the forces that are stored.
    """

    def __init__(self, model: Model, rows: int, driven: bool, **about: Any) -> None:
        self._model, self._driven, self._about = model, driven, about
        self._t, self._q, self._v = np.empty(rows), np.empty((rows, model.nq)), np.empty((rows, model.nv))
        self._tau = np.empty((rows, model.nv))
        self._count, self._started = 0, perf_counter()

    def store(self, t: float, q: Array, v: Array, tau: Array) -> None:
        """Keep one state, and the joint forces there; in place of the last one if that was at the same time."""
        k = self._count
        k -= k > 0 and t <= self._t[k - 1]
        self._t[k], self._q[k], self._v[k], self._tau[k] = t, q, v, tau
        self._count = k + 1

    @property
    def count(self) -> int:
        """How many states are stored."""
        return self._count

    def run(self, t: float, q: Array, v: Array, status: str, message: str, **about: Any) -> Run:
        """What was stored, the last good state (t, q, v) included, with its energies; the forces there are the last known."""
        wall_time = perf_counter() - self._started
        if not self._count or t > self._t[self._count - 1]:
            self.store(t, q, v, self._tau[self._count - 1] if self._count else np.zeros(self._model.nv))
        t_all, q_all, v_all, tau_all = (x[: self._count] for x in (self._t, self._q, self._v, self._tau))
        model = self._model
        with np.errstate(all="ignore"):
            kinetic = compilation.compile(functions.kinetic_energy, model)(q_all, v_all)
            potential = compilation.compile(functions.potential_energy, model)(q_all)
        return Run(
            t=t_all,
            q=q_all,
            v=v_all,
            tau=tau_all,
            kinetic=kinetic,
            potential=potential,
            model_name=model.name,
            model_digest=model.digest,
            status=status,
            message=message,
            q_labels=coordinate_labels(model),
            v_labels=velocity_labels(model),
            wall_time=wall_time,
            model=model,
            driven=self._driven or bool(tau_all.any()),
            **self._about,
            **about,
        )
