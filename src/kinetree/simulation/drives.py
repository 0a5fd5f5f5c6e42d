"""What drives a rollout: arrays with a row for each step, or one for all steps, checked without being copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import InputError
from kinetree.evaluation import owner
from kinetree.model import Model
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Drive:
    """An array (..., steps or 1, *core).

    Attributes
    ----------
    name, what : for messages
    values : the array
    core : the axes of a row
    timed : whether its axis of time was given
    """

    name: str
    what: str
    values: Array
    core: tuple[int, ...]
    timed: bool

    @property
    def batch(self) -> tuple[int, ...]:
        """Its leading axes."""
        return self.values.shape[: -len(self.core) - 1]

    @property
    def length(self) -> int:
        """Of its axis of time."""
        return self.values.shape[-len(self.core) - 1]

    def rows(self, start: int, stop: int, steps: int) -> Array:
        """The rows of some of the steps, a view."""
        values = np.broadcast_to(self.values, (*self.batch, steps, *self.core))
        return values[(..., slice(start, stop), *(slice(None) for _ in self.core))]

    def check_finite(self, model: Model) -> None:
        """`InputError` naming the first number that is not."""
        given = self.values if self.timed else self.values[0]
        bad = ~np.isfinite(given)
        if bad.any():
            where = tuple(map(int, np.argwhere(bad)[0]))
            raise InputError(
                f"{self.what} must be finite, found {given[where]} at index {where}{owner(model, self.name, where)}."
            )


def joint_drive(model: Model, tau: ArrayLike | None) -> Drive:
    """Joint forces; None is no forces."""
    names = ", ".join(model.joint_names[:12]) + (", …" if model.nbodies > 12 else "")
    meaning = f"The model has nv = {model.nv}, in the order of its joints: {names}."
    return _drive(model, "tau", np.zeros(model.nv) if tau is None else tau, (model.nv,), meaning)


def external_drive(model: Model, external: ArrayLike) -> Drive:
    """Wrenches on the bodies."""
    meaning = "It has one wrench [moment; force] per body, body axes."
    return _drive(model, "external", external, (model.nbodies, 6), meaning)


def _drive(model: Model, name: str, x: Any, core: tuple[int, ...], meaning: str) -> Drive:
    what, listing = f"rollout of {model.name!r}: {name}", ", ".join(map(str, core))
    try:
        found = np.asarray(x)
    except (TypeError, ValueError):
        found = np.asarray(None)
    if found.dtype.kind not in "biuf":
        raise InputError(f"{what} must be an array of real numbers, found {x!s:.80}.")
    if found.shape[max(found.ndim - len(core), 0) :] != core:
        one = f"({listing},)" if len(core) == 1 else f"({listing})"
        raise InputError(
            f"{what} must have shape (..., steps, {listing}), or {one} for all steps, found {found.shape}. {meaning}"
        )
    timed = found.ndim > len(core)
    values = found.astype(float, copy=False)
    return Drive(name, what, values if timed else values[None], core, timed)


def steps_of(model: Model, drives: Sequence[Drive], asked: int | None) -> int:
    """How many steps there are, by what was asked and by the drives' axes of time."""
    told = {drive.name: drive.length for drive in drives if drive.timed and drive.length != 1}
    if asked is not None:
        told = {"steps": asked, **told}
    elif not any(drive.timed for drive in drives):
        raise InputError(
            f"rollout of {model.name!r}: how many steps? Give steps=, or tau with one row per step, (..., steps, {model.nv})."
        )
    by, steps = next(iter(told.items()), ("", 1))
    for drive in drives:
        if drive.length not in (1, steps) or not drive.length:
            tail, n = ", ".join(map(str, drive.core)), drive.length
            raise InputError(
                f"{drive.what} must have one row per step, or one for all steps, on its axis before ({tail}); found {n} in "
                f"shape {drive.values.shape}{f', but {by} says {steps} steps' if by not in (drive.name, '') else ''}. "
                f"A constant for each of several rollouts has shape (..., 1, {tail})."
            )
    return steps
