"""Two runs as one, where the later went on from the end of the earlier."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

import numpy as np

from kinetree.errors import InputError
from kinetree.simulation.clock import same_time
from kinetree.simulation.run import ARRAYS, EVENTS, Run
from kinetree.spatial.scalars import Array


def joined(earlier: Run, later: Run) -> Run:
    """Both as one: the first state of the later stands for the last of the earlier, which it may have replaced.

    Raises
    ------
    InputError : they do not fit together
    """
    for name in ("model_digest", "form", "integrator", "dt", "rtol", "atol", "passive"):
        ours, theirs = getattr(earlier, name), getattr(later, name)
        if ours != theirs:
            raise InputError(f"runs can be joined only if they have the same {name}, found {ours!r} and {theirs!r}.")
    if earlier.contacts and later.contacts and earlier.contacts != later.contacts:
        raise InputError("runs can be joined only if they have the same contacts: give both the same scene.")
    if not same_time(later.t[0], earlier.t[-1]):
        raise InputError(
            f"the later run must begin where the earlier one ends, at t = {earlier.t[-1]:.17g} s; it begins at "
            f"{later.t[0]:.17g} s. kt.simulate(model, restart=earlier, …) makes one that does."
        )
    events = {name: _events(earlier, later, name) for name in EVENTS}
    arrays = {name: np.concatenate([getattr(earlier, name)[:-1], getattr(later, name)]) for name in ARRAYS}
    return replace(
        later,
        **arrays,
        **events,
        event_names=later.event_names or earlier.event_names,
        contacts=later.contacts or earlier.contacts,
        impacts=earlier.impacts + later.impacts,
        contact_bodies=later.contact_bodies or earlier.contact_bodies,
        force_rows=np.concatenate([earlier.force_rows, later.force_rows + len(earlier.t) - 1]),
        force_contacts=np.concatenate([earlier.force_contacts, later.force_contacts]),
        forces=np.concatenate([earlier.forces, later.forces]),
        contact_steps=tuple(map(sum, zip_longest(earlier.contact_steps, later.contact_steps, fillvalue=0))),
        driven=earlier.driven or later.driven,
        steps=earlier.steps + later.steps,
        nfev=earlier.nfev + later.nfev,
        wall_time=earlier.wall_time + later.wall_time,
        model=earlier.model or later.model,
    )


def _events(earlier: Run, later: Run, name: str) -> tuple[Array, ...]:
    """The events of both, one after the other."""
    before, after = getattr(earlier, name), getattr(later, name)
    if not (before and after):
        return before or after
    if earlier.event_names != later.event_names:
        found = f"{', '.join(earlier.event_names)} and {', '.join(later.event_names)}"
        raise InputError(f"runs can be joined only if they have the same events, found {found}.")
    return tuple(np.concatenate(pair) for pair in zip(before, after, strict=True))
