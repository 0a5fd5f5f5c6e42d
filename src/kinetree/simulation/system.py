"""A model with everything that drives it, as the maps an integrator needs, and what makes steps of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree import compilation, functions
from kinetree.algorithms import momentum as momenta
from kinetree.compiler.compile import kernel_of
from kinetree.errors import SimulationError
from kinetree.model import Model
from kinetree.simulation import charts
from kinetree.simulation.adaptive import Adaptive, Motion, reach, solver_of
from kinetree.simulation.control import Constant, Signal
from kinetree.simulation.forms import TRACED, dense_momenta, dense_rate, dense_velocity, rate, rates, same
from kinetree.simulation.implicit import Implicit, Phase
from kinetree.simulation.integrators import INTEGRATORS, Explicit, System
from kinetree.simulation.kernels import step_kernel
from kinetree.simulation.labels import velocity_labels
from kinetree.simulation.solving import Unsolved, solve
from kinetree.spatial.scalars import Array

Take = Callable[[float, Array, Array, float], tuple[Array, Array, int]]
"""take(t, q, y, h): the state (q, y) at t + h, and how often the dynamics were asked for."""


@final
@dataclass
class Stepper:
    """step(t, q, y, h), the state (q, y) at t + h; nfev counts how often the dynamics were asked for."""

    take: Take
    nfev: int = 0

    def __call__(self, t: float, q: Array, y: Array, h: float) -> tuple[Array, Array]:
        q, y, asked = self.take(t, q, y, h)
        self.nfev += asked
        return q, y


def stepper(
    model: Model,
    form: str,
    integrator: str,
    control: Signal | None,
    external: Signal | None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> Stepper:
    """Steps of a model under what drives it; rtol and atol are for adaptive rules.

    Where that is asked for once in a step, or is constant, a step is one kernel, the same that a rollout repeats.
    A step raises SimulationError where its equations cannot be solved.
    """
    rule = INTEGRATORS[integrator]
    if isinstance(rule, Adaptive):
        solver_of(rule)
        motion = _motion(model, form, control, external)
        return Stepper(lambda t, q, y, h: reach(rule, motion, t, q, y, h, rtol, atol))
    constant = all(drive is None or isinstance(drive, Constant) for drive in (control, external))
    by_kernels = _by_kernels(model, form, rule, control, external)
    if form not in TRACED or not (constant or (isinstance(rule, Explicit) and rule.stages == 1)):
        return Stepper(by_kernels)
    kernel = step_kernel(model, form, integrator, external is not None)
    velocity, still = maps_of(model, form)[1], np.zeros(model.nv)

    def take(t: float, q: Array, y: Array, h: float) -> tuple[Array, Array, int]:
        v = velocity(q, y)
        tau = still if control is None else control(t, q, v)
        found = kernel(q, y, tau, h) if external is None else kernel(q, y, tau, h, external(t, q, v))
        if isinstance(rule, Explicit):
            return *found, rule.stages
        if found[1][0] != found[1][0]:
            return by_kernels(t, q, y, h)
        return found[0], found[1], rule.stages * int(found[2])

    return Stepper(take)


def _by_kernels(model: Model, form: str, rule: Explicit | Implicit, control: Signal | None, external: Signal | None) -> Take:
    if isinstance(rule, Explicit):
        system = system_of(model, form, control, external)
        return lambda t, q, y, h: (*rule.step(system, t, q, y, h), rule.stages)
    phase = phase_of(model, form, control, external)
    carries_p = form in TRACED and TRACED[form].carried is not same

    def take(t: float, q: Array, y: Array, h: float) -> tuple[Array, Array, int]:
        p, w = (y, np.zeros_like(y)) if carries_p else (phase.momenta(t, q, y)[0], y)
        try:
            q, p, count = solve(rule, phase, t, q, p, h, w)
        except Unsolved as failure:
            raise SimulationError(_unsolved(model, t, h, failure)) from None
        return q, p if carries_p else phase.velocity(q, p), rule.stages * count

    return take


def _motion(model: Model, form: str, control: Signal | None, external: Signal | None) -> Motion:
    flow = system_of(model, form, control, external).flow
    if charts.is_flat(model):
        return Motion(flow, _last, _last)
    return Motion(flow, kernel_of(charts.rate_of_coordinates, model), kernel_of(charts.unit, model))


def _unsolved(model: Model, t: float, h: float, failure: Unsolved) -> str:
    changes = failure.changes
    worst = int(np.argmax(np.where(np.isfinite(changes), changes, np.inf)))
    body = next(i for i, s in enumerate(model.v_slices) if s.start <= worst < s.stop)
    return (
        f"the simulation of {model.name!r}: the equations of the step from t = {t:.9g} s could not be solved: after "
        f"{failure.count} repetitions the velocity of joint {model.joint_names[body]!r} still changes by {changes[worst]:.3g} "
        f"{velocity_labels(model)[worst][1]}. Take a smaller dt (now {h:g} s), and look at control that jumps, "
        "and at joints that damp by themselves faster than that: semi-implicit-euler takes what they do implicitly."
    )


def maps_of(model: Model, form: str) -> tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]]:
    """(q, v) → y and (q, y) → v as kernels; where y is v, they hand it on."""
    algorithms = (same, same) if form not in TRACED else (TRACED[form].carried, TRACED[form].velocity)
    carried, velocity = (_last if f is same else kernel_of(f, model) for f in algorithms)
    return carried, velocity


def system_of(model: Model, form: str, control: Signal | None, external: Signal | None) -> System:
    """Kernels of a model in a form, closed over what drives it."""
    _, velocity = maps_of(model, form)
    without = ("external",) if external is None else ()
    forced = dense_rate(model) if form not in TRACED else kernel_of(rate, model, without, {"form": form})
    still = np.zeros(model.nv)

    def asked(t: float, q: Array, y: Array) -> tuple[Array, Array]:
        v = velocity(q, y)
        tau = still if control is None else control(t, q, v)
        return v, forced(q, v, tau) if external is None else forced(q, v, tau, external(t, q, v))

    turned = _last if charts.is_flat(model) else kernel_of(charts.turn, model)
    return System(asked, velocity, compilation.compile(functions.integrate, model), turned)


def phase_of(model: Model, form: str, control: Signal | None, external: Signal | None) -> Phase:
    """Hamilton's equations of a model as kernels, closed over what drives it; Lagrange's for that form."""
    without = ("external",) if external is None else ()
    if form in TRACED:
        velocity, found = kernel_of(momenta.velocity, model), kernel_of(rates, model, without, {"form": "hamilton"})
    else:
        velocity, found = dense_velocity(model), dense_momenta(model)
    still = np.zeros(model.nv)

    def asked(t: float, q: Array, v: Array) -> tuple[Array, Array]:
        tau = still if control is None else control(t, q, v)
        return found(q, v, tau) if external is None else found(q, v, tau, external(t, q, v))

    maps = (charts.turn, charts.unturn, charts.carry, charts.pull, charts.straight)
    flat = charts.is_flat(model)
    return Phase(
        asked,
        velocity,
        compilation.compile(functions.integrate, model),
        np.dot,
        *(_last if flat else kernel_of(f, model) for f in maps),
    )


def _last(*vectors: Array) -> Array:
    return vectors[-1]
