"""Where a simulation begins, and how it goes: as the user says, or as an earlier run ended and went."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.contact.scene import Scene
from kinetree.errors import InputError
from kinetree.evaluation import checked_arguments
from kinetree.model import Model
from kinetree.model.resistance import strongest
from kinetree.simulation.checks import (
    check_form,
    check_integrator,
    check_movable,
    check_seconds,
    check_tolerances,
    truth,
    whole_number,
)
from kinetree.simulation.contact.ends import ends_of
from kinetree.simulation.contact.unilateral import check_scene
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array

RESOLVED = 2.0
"""Rate of decay times dt beyond which an explicit step makes it grow."""


def initial_state(
    model: Model, q0: ArrayLike | None, v0: ArrayLike | None, earlier: Run | None, contact: Scene | None
) -> tuple[Array, Array, Array | None]:
    """(q, v, p): what is not given is neutral, but not beyond ends that are contacts, and at rest; or of the end of a run.

    p (nv,) are the momenta that run carried, None where it carried none or the state is another.
    """
    check_movable(model)
    if earlier is not None:
        _check_same(model, earlier)
    check_scene(contact, earlier)
    q_usual, v_usual = (model.neutral(), np.zeros(model.nv)) if earlier is None else (earlier.q[-1], earlier.v[-1])
    if earlier is None and contact is not None:
        q_usual = ends_of(model, contact.limits).within(q_usual)
    given = q_usual if q0 is None else q0, v_usual if v0 is None else v0
    checked_arguments(_simulate, model, given)
    q, v = np.array(given[0], dtype=float), np.array(given[1], dtype=float)
    if q.ndim != 1 or v.ndim != 1:
        raise InputError(f"q0 and v0 must be one state, shapes ({model.nq},) and ({model.nv},), found {q.shape}, {v.shape}.")
    return q, v, None if earlier is None or q0 is not None or v0 is not None else earlier.carried


@final
@dataclass(frozen=True)
class Manner:
    """How a motion is computed: the fields of a `Run` by these names."""

    dt: float
    form: str
    integrator: str
    store_every: int
    rtol: float
    atol: float
    passive: bool


def manner(model: Model, earlier: Run | None, **given: Any) -> Manner:
    """What is given, else as in the earlier run, else as usual; checked."""
    usual = Manner(1e-3, "newton-euler", "rk4", 1, 1e-8, 1e-10, True) if earlier is None else earlier
    if earlier is None and given["passive"] is not False and too_fast(model, given["dt"] or usual.dt):
        usual = replace(usual, integrator="semi-implicit-euler")
    found = Manner(**{f.name: getattr(usual, f.name) if given[f.name] is None else given[f.name] for f in fields(Manner)})
    check_form(found.form)
    check_integrator(found.integrator)
    check_tolerances(found.integrator, given["rtol"], given["atol"])
    check_seconds(found.dt, "dt")
    whole_number(found.store_every, "store_every")
    rest = {"rtol": float(found.rtol), "atol": float(found.atol), "passive": truth(found.passive, "passive")}
    return replace(found, dt=float(found.dt), store_every=int(found.store_every), **rest)


def too_fast(model: Model, dt: Any) -> tuple[str, float] | None:
    """The joint whose damping, friction or spring settles faster than explicit steps of dt can follow, and its rate [1/s]."""
    if not model.resists or not isinstance(dt, (int, float, np.number)):
        return None
    name, rate = strongest(model.bodies, model.resistances)
    return (name, rate) if rate * dt > RESOLVED else None


def _check_same(model: Model, earlier: Any) -> None:
    if not isinstance(earlier, Run):
        raise InputError(f"restart must be a Run, found {type(earlier).__name__}; kt.load_run reads one from a file.")
    earlier.check_of(model, "restart is a run")


def _simulate(model: Model, q0: Array, v0: Array) -> None:
    """Names the arguments for messages."""


_simulate.__name__ = "simulate"
