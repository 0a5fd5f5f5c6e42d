"""`simulate`: checks at the boundary, then one loop of integrator steps that never loses what it has computed."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import InputError, KinetreeError, SimulationError
from kinetree.evaluation import checked_arguments
from kinetree.model import Model
from kinetree.simulation.checks import check_form, check_integrator, check_memory, check_movable, check_seconds, whole_number
from kinetree.simulation.control import applied, control_signal, external_signal
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.simulation.labels import velocity_labels
from kinetree.simulation.progress import ProgressBar
from kinetree.simulation.record import Record
from kinetree.simulation.run import Run
from kinetree.simulation.system import maps_of, stepper
from kinetree.spatial.scalars import Array

WHOLE_STEP = 1e-9
"""A remainder of duration/dt below this many steps is rounding, not a step of its own."""


@final
class SimulationStopped(SimulationError):  # noqa: N818
    """The simulation could not go on; `run`, a `Run` or `Rollout`, holds everything up to the last good state."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run


def simulate(
    model: Model,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    *,
    control: Any = None,
    external: Any = None,
    form: str = "newton-euler",
    integrator: str = "rk4",
    store_every: int = 1,
    progress: bool | None = None,
) -> Run:
    """The motion of a model from (q0, v0), a `Run`.

    There are n = ⌈duration/dt⌉ steps; the last is shortened so that it lands on duration exactly.

    Parameters
    ----------
    q0 (nq,), v0 (nv,) : initial state; the neutral configuration and rest where not given
    duration, dt [s] : whole time, and time step
    control : joint forces [N m or N]: None, a constant (nv,), a `Table` or pair (times (K,), taus (K, nv)), or a function
        control(t, q, v) → (nv,)
    external : wrenches [moment; force] on the bodies, body axes: None, a constant (nbodies, 6), or a function of (t, q, v)
    form : of the equations of motion: "newton-euler", the articulated recursion in (q, v); "hamilton", in (q, p), O(N) too;
        "lagrange", by the mass and the Coriolis matrix, another road to the same numbers, O(N³)
    integrator : "rk4" or "semi-implicit-euler"
    store_every : keep every so-manieth state; the first and the last are always kept
    progress : show a progress bar; None shows it on a terminal when the whole takes more than a second

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    SimulationStopped : the state became infinite, or control failed, after the start; its `run` holds what was computed

    Ctrl-C returns what was computed, with status "interrupted".

    Cost: O(N) per call of the dynamics, 4 a step for rk4, 1 for semi-implicit-euler.
    """
    check_form(form)
    check_integrator(integrator)
    q, v = _initial_state(model, q0, v0)
    steps, last = _steps(duration, dt)
    store_every = whole_number(store_every, "store_every")
    rows = _rows(model, steps, store_every)
    drives = control_signal(model, control), external_signal(model, external)
    step, forces = stepper(model, form, integrator, *drives), applied(model, *drives)
    carried, velocity = maps_of(model, form)
    about = {"form": form, "integrator": integrator, "dt": float(dt), "store_every": store_every}
    record = Record(model, rows, **about, driven=drives != (None, None))
    record.store(0.0, q, v, forces(0.0, q, v))
    t, y, k, done = 0.0, carried(q, v), 0, 0
    stages = INTEGRATORS[integrator].stages

    def run(status: str, message: str) -> Run:
        return record.run(t, q, velocity(q, y), status, message, steps=done, nfev=done * stages)

    try:
        with ProgressBar(steps, progress, f"simulating {model.name}") as bar, np.errstate(all="ignore"):
            for k in range(1, steps + 1):
                after, h = (k * dt, dt) if k < steps else (duration, last)
                q_after, y_after = step(t, q, y, h)
                if not math.isfinite(q_after.dot(q_after) + y_after.dot(y_after)):
                    said = divergence(model, t, dt, velocity(q, y))
                    raise SimulationError(f"the simulation of {model.name!r} diverged: the state {said}")
                t, q, y, done = after, q_after, y_after, k
                if k % store_every == 0 or k == steps:
                    v = velocity(q, y)
                    record.store(t, q, v, forces(t, q, v))
                bar.at(k)
    except KeyboardInterrupt:
        return run("interrupted", f"interrupted at t = {t:.9g} s of {duration:g} s")
    except KinetreeError as failure:
        if k <= 1 and isinstance(failure, InputError):
            raise
        raise SimulationStopped(str(failure), run("stopped", str(failure))) from None
    return run("finished", "")


def divergence(model: Model, t: float, dt: float, v: Array) -> str:
    """How a state diverged, in words: when, and what was fast while it was finite."""
    fastest = int(np.argmax(np.abs(v)))
    body = next(i for i, s in enumerate(model.v_slices) if s.start <= fastest < s.stop)
    return (
        f"after t = {t:.9g} s is not finite. Fastest was joint "
        f"{model.joint_names[body]!r} at {v[fastest]:.3g} {velocity_labels(model)[fastest][1]}. "
        f"Try a smaller dt (now {dt:g} s), and look at control and at very light bodies."
    )


def _initial_state(model: Model, q0: ArrayLike | None, v0: ArrayLike | None) -> tuple[Array, Array]:
    check_movable(model)
    q0 = model.neutral() if q0 is None else q0
    v0 = np.zeros(model.nv) if v0 is None else v0
    checked_arguments(simulate, model, (q0, v0))
    q, v = np.array(q0, dtype=float), np.array(v0, dtype=float)
    if q.ndim != 1 or v.ndim != 1:
        raise InputError(f"q0 and v0 must be one state, shapes ({model.nq},) and ({model.nv},), found {q.shape}, {v.shape}.")
    return q, v


def _steps(duration: float, dt: float) -> tuple[int, float]:
    """How many steps, and the length of the last one [s]."""
    check_seconds(duration, "duration")
    check_seconds(dt, "dt")
    if dt > duration * (1.0 + WHOLE_STEP):
        raise InputError(f"dt must not exceed duration, found dt = {dt:g} s, duration = {duration:g} s.")
    if not duration / dt < 2**53:
        raise InputError(f"duration/dt must be below 2^53 steps, found {duration:g} s / {dt:g} s. Take a larger dt.")
    steps = max(1, math.ceil(duration / dt - WHOLE_STEP))
    last = duration - (steps - 1) * dt
    rounding = max(WHOLE_STEP, 4.0 * steps * np.finfo(float).eps)
    return steps, dt if abs(last - dt) <= rounding * dt else last


def _rows(model: Model, steps: int, store_every: int) -> int:
    """How many states are stored."""
    rows = steps // store_every + 2
    check_memory(steps, rows, 8 * (model.nq + 2 * model.nv + 4))
    return rows
