"""What drives a simulation: nothing, a constant, a table over time, or the user's own function; checked as it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import compilation, functions
from kinetree.errors import InputError, KinetreeError, SimulationError
from kinetree.model import Model
from kinetree.simulation.forms import own_forces
from kinetree.spatial.scalars import Array

Signal = Callable[[float, Array, Array], Array]
"""signal(t, q, v): joint forces (nv,), or wrenches on the bodies (nbodies, 6)."""


@final
@dataclass(frozen=True, eq=False)
class Constant:
    """The signal that always has one value."""

    value: Array

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        return self.value


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Joint forces over time: times (K,) [s] increasing, taus (K, nv) [N m or N], linear in between, held beyond the ends.

    Raises
    ------
    InputError : fewer than one row, times that do not increase, numbers that are not finite, lengths that differ
    """

    times: Any
    taus: Any

    def __post_init__(self) -> None:
        times, taus = _numbers(self.times, "the times of a table"), _numbers(self.taus, "the forces of a table")
        if times.ndim != 1 or not times.size:
            raise InputError(f"the times of a table must have shape (K,) with K ≥ 1, found {times.shape}.")
        if taus.ndim != 2 or len(taus) != len(times):
            raise InputError(f"the forces of a table must have one row per time, shape ({len(times)}, nv), found {taus.shape}.")
        late = np.flatnonzero(np.diff(times) <= 0.0)
        if late.size:
            k = int(late[0])
            raise InputError(
                f"the times of a table must increase, found {times[k]:.9g} s then {times[k + 1]:.9g} s at rows {k}, {k + 1}."
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "taus", taus)

    def __call__(self, t: float) -> Array:
        """Joint forces (nv,) at time t."""
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return self.taus[max(k - 1, 0)]
        before, after = self.times[k - 1], self.times[k]
        s = (t - before) / (after - before)
        return (1.0 - s) * self.taus[k - 1] + s * self.taus[k]


@final
class Asked:
    """A signal that, asked ahead for a state, gives the same answer to the step that begins there, without asking again."""

    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        self._state: tuple[float, Array, Array] | None = None

    def ahead(self, t: float, q: Array, v: Array) -> Array:
        """Its value, kept for the next call."""
        self._value = self._signal(t, q, v)
        self._state = t, q, v
        return self._value

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        kept, self._state = self._state, None
        if kept is not None and kept[0] == t and kept[1] is q and kept[2] is v:
            return self._value
        return self._signal(t, q, v)


def control_signal(model: Model, control: Any) -> Signal | None:
    """A control as the user gave it → tau(t, q, v) (nv,), or None where nothing drives the joints."""
    what = f"control of {model.name!r}"
    if control is None:
        return None
    if isinstance(control, tuple) and len(control) == 2 and np.ndim(control[1]) == 2:
        control = Table(*control)
    if isinstance(control, Table):
        if control.taus.shape[1] != model.nv:
            raise InputError(
                f"{what}: the forces of a table must have shape (K, {model.nv}), found {control.taus.shape}. {_joints(model)}"
            )
        if len(control.times) == 1:
            return Constant(control.taus[0])
        table = control
        return lambda t, q, v: table(t)
    if callable(control):
        return Asked(_checked(control, (model.nv,), what, _joints(model)))
    return _constant(control, (model.nv,), what, _joints(model))


def external_signal(model: Model, external: Any) -> Signal | None:
    """External wrenches, constant or as a function external(t, q, v) → (nbodies, 6)."""
    if external is None:
        return None
    what, shape = f"external of {model.name!r}", (model.nbodies, 6)
    meaning = "It has one wrench [moment; force] per body, body axes."
    if callable(external):
        return Asked(_checked(external, shape, what, meaning))
    return _constant(external, shape, what, meaning)


def applied(model: Model, control: Signal | None, external: Signal | None) -> Signal:
    """The joint forces (nv,) that do the work of control, of joints by themselves and of external wrenches, for the state a
    step begins with."""
    still = np.zeros(model.nv)
    force = None if external is None else compilation.compile(functions.generalized_force, model)

    def asked(signal: Signal, t: float, q: Array, v: Array) -> Array:
        return signal.ahead(t, q, v) if isinstance(signal, Asked) else signal(t, q, v)

    own = own_forces(model)

    def tau(t: float, q: Array, v: Array) -> Array:
        by_joints = own(q, v, still if control is None else asked(control, t, q, v))
        return by_joints if external is None or force is None else by_joints + force(q, asked(external, t, q, v))

    return tau


def _constant(value: ArrayLike, shape: tuple[int, ...], what: str, meaning: str) -> Signal | None:
    found = _shaped(value, shape, what, meaning)
    return Constant(found) if found.any() else None


def _checked(function: Callable[..., Any], shape: tuple[int, ...], what: str, meaning: str) -> Signal:
    def signal(t: float, q: Array, v: Array) -> Array:
        value = called(function, what, t, q, v)
        if type(value) is np.ndarray and value.dtype == float and value.shape == shape and np.isfinite(value).all():
            return value
        return _shaped(value, shape, f"{what} at t = {t:.9g} s", meaning)

    return signal


def called(function: Callable[..., Any], what: str, t: float, q: Array, v: Array) -> Any:
    """What a user's function gives; its exceptions as one of kinetree's, which a simulation survives.

    Raises
    ------
    SimulationError : the function raised something, which is its cause
    """
    try:
        return function(t, q, v)
    except KinetreeError:
        raise
    except Exception as failure:
        raise SimulationError(f"{what} failed at t = {t:.9g} s: {type(failure).__name__}: {failure}") from failure


def _shaped(value: Any, shape: tuple[int, ...], what: str, meaning: str) -> Array:
    found = _numbers(value, what)
    if found.shape != shape:
        raise InputError(f"{what} must have shape {shape}, found {found.shape}. {meaning}")
    return found


def _numbers(value: Any, what: str) -> Array:
    """A finite, read-only float array of its own."""
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        found = np.asarray(None)
    if found.dtype.kind not in "biuf":
        raise InputError(f"{what} must hold real numbers, found {value!r:.80}.")
    found = np.array(found, dtype=float)
    if not np.isfinite(found).all():
        where = tuple(map(int, np.argwhere(~np.isfinite(found))[0]))
        raise InputError(f"{what} must be finite, found {found[where]} at index {where}.")
    found.setflags(write=False)
    return found


def _joints(model: Model) -> str:
    names = ", ".join(model.joint_names[:12]) + (", …" if model.nbodies > 12 else "")
    return f"The model has nv = {model.nv}, in the order of its joints: {names}."
