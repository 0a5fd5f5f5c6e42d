"""`rollout`: many simulations at once, the loop over time inside compiled code."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.kernel import build_once
from kinetree.compiler.timeloop import TimeLoop
from kinetree.evaluation import batch_of, checked_arguments
from kinetree.model import Model
from kinetree.simulation.checks import (
    check_memory,
    check_movable,
    check_seconds,
    check_step,
    check_traced,
    truth,
    whole_number,
)
from kinetree.simulation.drives import Drive, external_drive, joint_drive, steps_of
from kinetree.simulation.implicit import Implicit
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.simulation.kernels import step_sources
from kinetree.simulation.progress import ProgressBar
from kinetree.simulation.simulate import SimulationStopped, divergence
from kinetree.simulation.system import maps_of
from kinetree.spatial.scalars import Array

PAUSE = 0.1
"""Seconds of computation between two looks at the progress bar, at what diverged, and at Ctrl-C."""
A_BODY = 100e-9
"""Seconds that a step of one body may take at most, before that is measured."""


@final
@dataclass(frozen=True, eq=False)
class Rollout:
    """What a rollout left, its arrays read-only.

    t (m,) [s]; q (..., m, nq); v (..., m, nv); the first state is the initial one. diverged (...) says which of the batch
    did: from where their states were no longer finite they are NaN. status is "finished", "interrupted" (Ctrl-C) or
    "stopped" (all have diverged); message says more.
    """

    t: Array
    q: Array
    v: Array
    diverged: Array
    status: str
    message: str
    model_name: str
    form: str
    integrator: str
    dt: float

    def __post_init__(self) -> None:
        for x in (self.t, self.q, self.v, self.diverged):
            x.setflags(write=False)

    def __repr__(self) -> str:
        batch = f"{self.diverged.shape} × " if self.diverged.ndim else ""
        return (
            f"Rollout({self.model_name!r}, {batch}{len(self.t)} states to t = {self.t[-1]:g} s, "
            f"{self.integrator}, dt={self.dt:g}, {self.status})"
        )


def rollout(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    dt: float,
    integrator: str = "semi-implicit-euler",
    *,
    form: str = "newton-euler",
    steps: int | None = None,
    store_every: int = 1,
    external: ArrayLike | None = None,
    passive: bool = True,
    progress: bool | None = None,
) -> Rollout:
    """The motion of many states at once, a `Rollout`: the time loop runs inside compiled code, batched.

    Step k goes from t = k dt to (k + 1) dt under the joint forces of row k, held over the step. The numbers are those of
    `simulate` with the same dt: the same bits where the joint forces are constant, or where the integrator is
    semi-implicit Euler, which asks for them once a step.

    Parameters
    ----------
    q0 (..., nq), v0 (..., nv) : initial states
    tau : joint forces [N m or N], one row per step (..., steps, nv); an axis of length 1 in place of steps, or the shape
        (nv,), is the same for all steps; None is no joint forces
    dt [s] : time step
    integrator : "semi-implicit-euler", "rk4", "implicit-midpoint", "gauss-legendre-4" or "variational"
    form : of the equations of motion, "newton-euler" or "hamilton", which carries momenta; see `simulate`
    steps : how many, where neither tau nor external says so
    store_every : keep every so-manieth state; the first and the last are always kept
    external : wrenches [moment; force] on the bodies, body axes, (..., steps, nbodies, 6), or (nbodies, 6) for all steps
    passive : whether joints do what they do by themselves, see `simulate`
    progress : show a progress bar; None shows it on a terminal when the whole takes more than a second

    The leading axes broadcast.

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    SimulationStopped : no state is finite any more; its `run` holds the `Rollout`

    Where only some of the batch diverge, the others go on; `diverged` says which, and a `RuntimeWarning` tells of the first.
    Ctrl-C returns what was computed, with status "interrupted".

    Cost: O(N) per step and state, 4 times the dynamics for rk4, once for semi-implicit-euler; see `simulate`.
    """
    check_movable(model)
    check_step(integrator)
    check_traced(form)
    check_seconds(dt, "dt")
    start = checked_arguments(rollout, model, (q0, v0))
    drives = [joint_drive(model, tau)] + ([] if external is None else [external_drive(model, external)])
    steps = steps_of(model, drives, None if steps is None else whole_number(steps, "steps"))
    store_every = whole_number(store_every, "store_every")
    shapes = {name: x.shape[:-1] for name, x in start.items()} | {drive.name: drive.batch for drive in drives}
    batch = batch_of(f"rollout of {model.name!r}", shapes)
    rows, size = 1 + -(-steps // store_every), math.prod(batch)
    check_memory(steps, rows, 8 * size * (model.nq + model.nv), f" of {size} states" if batch else "")
    t = np.minimum(np.arange(rows) * store_every, steps) * float(dt)
    q, v = (np.empty((*batch, rows, n)) for n in (model.nq, model.nv))
    q[..., 0, :], v[..., 0, :] = start["q0"], start["v0"]
    acting = model if truth(passive, "passive") else model.without_resistance
    kernel = rollout_kernel(acting, form, integrator, len(drives) > 1)
    return _Course(acting, form, integrator, kernel, drives, float(dt), steps, store_every, t, q, v).run(progress)


@final
@dataclass(eq=False)
class _Course:
    """A rollout on its way, some steps at a time, so that someone can watch or interrupt it; t, q, v are filled row by row.

    Where momenta are carried, v holds them from row 1 on until the end.
    """

    model: Model
    form: str
    integrator: str
    kernel: np.ufunc
    drives: Sequence[Drive]
    dt: float
    steps: int
    every: int
    t: Array
    q: Array
    v: Array
    rows: int = 1
    done: int = 0
    message: str = ""

    def __post_init__(self) -> None:
        carried, self.velocity = maps_of(self.model, self.form)
        self.state = self.q[..., 0, :].copy(), carried(self.q[..., 0, :], self.v[..., 0, :]).copy()
        self.good = np.full(self.q.shape[:-2], len(self.t))
        """Rows of each rollout that are finite, as far as is known."""

    def run(self, progress: bool | None) -> Rollout:
        status, most = "finished", max(1, int(PAUSE / (A_BODY * self.model.nbodies * max(self.good.size, 1))))
        try:
            with ProgressBar(self.steps, progress, f"rolling out {self.model.name}") as bar, np.errstate(all="ignore"):
                while self.done < self.steps and status == "finished":
                    started, before = perf_counter(), self.done
                    self._advance(most)
                    most = _pace(self.done - before, perf_counter() - started, most)
                    if self._all_diverged():
                        status = "stopped"
                    bar.at(self.done)
        except KeyboardInterrupt:
            status = "interrupted"
            self.message = f"interrupted at t = {self.done * self.dt:.9g} s of {self.steps * self.dt:g} s"
            self._keep_state()
            self._look(1)
        result = self._result(status)
        if status == "stopped":
            raise SimulationStopped(result.message, result)
        if result.diverged.any():
            warnings.warn(result.message, RuntimeWarning, stacklevel=3)
        return result

    def _advance(self, most: int) -> None:
        """Up to `most` steps: whole rows if there are any in them, else towards the next row."""
        into, left = self.done % self.every, self.steps - self.done
        rows = min(most, left) // self.every if into == 0 else 0
        steps = rows * self.every if rows else min(most, self.every - into, left)
        if rows:
            stored = self.q[..., self.rows : self.rows + rows, :], self.v[..., self.rows : self.rows + rows, :]
        else:
            stored = tuple(np.empty((*x.shape[:-1], 1, x.shape[-1])) for x in self.state)
        driven = [drive.rows(self.done, self.done + steps, self.steps) for drive in self.drives]
        plan = np.array([max(rows, 1), steps // max(rows, 1)], dtype=float)
        self.kernel(*self.state, driven[0], self.dt, *driven[1:], plan, out=stored)
        state = stored[0][..., -1, :].copy(), stored[1][..., -1, :].copy()
        self.state, self.done, self.rows = state, self.done + steps, self.rows + rows
        if not rows and (self.done % self.every == 0 or self.done == self.steps):
            self._keep_state()
        self._look(self.rows - max(rows, 1))

    def _keep_state(self) -> None:
        """The state as one more row."""
        if self.t[self.rows - 1] < self.done * self.dt:
            self.t[self.rows] = self.done * self.dt
            self.q[..., self.rows, :], self.v[..., self.rows, :] = self.state
            self.rows += 1

    def _look(self, first: int) -> None:
        """Which rollouts are no longer finite, having been so before row `first`."""
        bad = ~(np.isfinite(self.state[0]).all(-1) & np.isfinite(self.state[1]).all(-1))
        bad &= self.good == len(self.t)
        if not bad.any():
            return
        for drive in self.drives:
            drive.check_finite(self.model)
        finite = np.isfinite(self.q[bad, first : self.rows]).all(-1) & np.isfinite(self.v[bad, first : self.rows]).all(-1)
        self.good[bad] = first + np.where(finite.all(-1), self.rows - first, finite.argmin(-1))

    def _all_diverged(self) -> bool:
        return bool((self.good < len(self.t)).all()) and self.good.size > 0

    def _result(self, status: str) -> Rollout:
        rows, good = self.rows, np.minimum(self.good, self.rows)
        y = self.v[..., 1:rows, :]
        with np.errstate(all="ignore"):
            v = self.velocity(self.q[..., 1:rows, :], y)
        if v is not y:
            self.v[..., 1:rows, :] = v
        diverged = np.asarray(self.good < len(self.t))
        if diverged.any():
            self.message = "; ".join(filter(None, (self.message, self._told(diverged, good))))
            gone = np.arange(rows) >= good[..., None]
            self.q[..., :rows, :][gone], self.v[..., :rows, :][gone] = np.nan, np.nan
        t, q, v = self.t[:rows], self.q[..., :rows, :], self.v[..., :rows, :]
        return Rollout(t, q, v, diverged, status, self.message, self.model.name, self.form, self.integrator, self.dt)

    def _told(self, diverged: Array, good: Array) -> str:
        """The first rollout that diverged, in words."""
        count = int(diverged.sum())
        where = np.unravel_index(int(np.argmin(np.where(diverged, good, len(self.t)))), diverged.shape)
        row = int(good[where]) - 1
        which = f"{count} of {diverged.size} rollouts" if diverged.ndim else "the rollout"
        first = f"first that at index {tuple(map(int, where))}: its" if diverged.ndim else "the"
        said = divergence(self.model, float(self.t[row]), self.dt, self.v[where][row])
        if isinstance(INTEGRATORS[self.integrator], Implicit):
            said += (
                " Or the equations of a step could not be solved there: those of an implicit rule want dt times velocity small."
            )
        return f"{which} of {self.model.name!r} diverged, {first} state {said}"


def _pace(steps: int, seconds: float, most: int) -> int:
    """How many steps to do at once next: what takes `PAUSE`, at most four times as many as last time."""
    return max(1, min(4 * max(most, steps), int(steps * PAUSE / max(seconds, 1e-9))))


def rollout_kernel(model: Model, form: str, integrator: str, driven: bool, lowering: str = "auto") -> np.ufunc:
    """The kernel (q0, y0, tau, dt, plan) → (q, y) of many steps; `driven` adds wrenches `external` before the plan."""
    key = (rollout_kernel, form, integrator, driven, lowering)
    if key not in model.kernels:
        doc = f"steps of {model.name} by {integrator}, {form}: (q0, y0, tau, dt{', external' if driven else ''}, plan)."
        model.kernels[key] = build_once(
            "rollout",
            doc,
            (model.digest, *key),
            lambda: step_sources(model, form, integrator, driven, lowering),
            warn=False,
            frame=TimeLoop((2, 4)),
        )
    return model.kernels[key]
