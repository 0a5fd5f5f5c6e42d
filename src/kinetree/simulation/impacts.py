"""Impacts in the course of a run, and how a file holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Blow:
    """One impact of a run, of whatever was closed at that moment.

    Attributes
    ----------
    t [s], q (nq,) : when and where
    before, after (nv,) : the velocities
    energy [J] : what the kinetic energy changed by, not positive
    contacts (k,) : the contacts that took part, by their place in `Run.contacts`
    impulses (k, 3) [N s] : on the first body of each, world axes; of the end of a joint its size [N m s or N s], 0, 0
    """

    t: float
    q: Array
    before: Array
    after: Array
    energy: float
    contacts: Array
    impulses: Array

    def __post_init__(self) -> None:
        for x in (self.q, self.before, self.after, self.contacts, self.impulses):
            x.setflags(write=False)


IMPACTS = {f"impact_{name}": name for name in ("t", "q", "before", "after", "energy", "count", "contacts", "impulses")}
"""Entries of a file: those of all impacts one after the other, and how many contacts each has."""


def packed(blows: Sequence[Blow]) -> dict[str, Array]:
    """Entries of a file; none of no impacts."""
    if not blows:
        return {}
    whole = {"t", "q", "before", "after", "energy"}
    entries = {entry: np.array([getattr(blow, name) for blow in blows]) for entry, name in IMPACTS.items() if name in whole}
    entries["impact_count"] = np.array([float(len(blow.contacts)) for blow in blows])
    entries["impact_contacts"] = np.concatenate([blow.contacts for blow in blows]).astype(float)
    return entries | {"impact_impulses": np.concatenate([blow.impulses for blow in blows])}


def unpacked(read: Callable[[str, tuple[int, ...]], Array], nq: int, nv: int, known: int, total: int) -> tuple[Blow, ...]:
    """Impacts from entries; read(entry, shape) is one, checked. Raises ValueError where they do not fit together."""
    t, energy, count = (read(f"impact_{name}", (total,)) for name in ("t", "energy", "count"))
    q, before, after = (read(f"impact_{name}", (total, n)) for name, n in (("q", nq), ("before", nv), ("after", nv)))
    hits = int(count.sum())
    contacts, impulses = read("impact_contacts", (hits,)).astype(int), read("impact_impulses", (hits, 3))
    if (count < 0).any() or not ((contacts >= 0) & (contacts < known)).all():
        raise ValueError("its impacts do not fit together")
    ends = np.cumsum(count.astype(int))[:-1]
    parts: Any = (np.split(contacts, ends), np.split(impulses, ends))
    rows = zip(t, q, before, after, energy, *parts, strict=True)
    return tuple(Blow(float(t), q.copy(), u.copy(), w.copy(), float(e), c.copy(), x.copy()) for t, q, u, w, e, c, x in rows)
