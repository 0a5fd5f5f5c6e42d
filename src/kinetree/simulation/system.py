"""A model with everything that drives it, as the maps an integrator needs: kernels for a simulation, or traced into one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.algebra.sweeps import each, piled, rows, split, stacked
from kinetree.algorithms.kinematics import integrate
from kinetree.compiler.compile import kernel_of, sources_of
from kinetree.compiler.kernel import Sources, build_once
from kinetree.compiler.staged import staged
from kinetree.model import Joint, Model
from kinetree.simulation.control import Constant, Signal
from kinetree.simulation.forms import TRACED, dense_rate, flow, rate, same
from kinetree.simulation.integrators import INTEGRATORS, System
from kinetree.spatial.scalars import Array, Scalar
from kinetree.spatial.sixvectors import cross_motion

Stepper = Callable[[float, Array, Array, float], tuple[Array, Array]]
"""step(t, q, y, h): the state at t + h."""


def stepper(model: Model, form: str, integrator: str, control: Signal | None, external: Signal | None) -> Stepper:
    """Steps of a model under what drives it.

    Where that is asked for once in a step, or is constant, a step is one kernel, the same that a rollout repeats.
    """
    rule = INTEGRATORS[integrator]
    drives = [drive for drive in (control, external) if drive is not None]
    if form not in TRACED or (rule.stages > 1 and not all(isinstance(drive, Constant) for drive in drives)):
        return partial(rule.step, system_of(model, form, control, external))
    kernel = step_kernel(model, form, integrator, external is not None)
    velocity, still = maps_of(model, form)[1], np.zeros(model.nv)

    def advance(t: float, q: Array, y: Array, h: float) -> tuple[Array, Array]:
        v = velocity(q, y)
        tau = still if control is None else control(t, q, v)
        return kernel(q, y, tau, h) if external is None else kernel(q, y, tau, h, external(t, q, v))

    return advance


def step_kernel(model: Model, form: str, integrator: str, driven: bool, lowering: str = "auto") -> np.ufunc:
    """The kernel (q, y, tau, h) → (q, y) of one step; `driven` adds wrenches `external` to its arguments."""
    key = (step_kernel, form, integrator, driven, lowering)
    if key not in model.kernels:
        doc = f"one step of {model.name} by {integrator}, {form}: (q, y, tau, h{', external' if driven else ''})."
        model.kernels[key] = build_once(
            "step", doc, (model.digest, *key), lambda: step_sources(model, form, integrator, driven, lowering), warn=False
        )
    return model.kernels[key]


def step_sources(model: Model, form: str, integrator: str, driven: bool, lowering: str = "auto") -> Sources:
    """One step as code: as a whole if it asks for the dynamics once, else in pieces around one code for the dynamics."""
    rule, options = INTEGRATORS[integrator], {"form": form, "integrator": integrator}
    without = () if driven else ("external",)
    if rule.stages == 1:
        return sources_of(step, model, without, options, lowering=lowering)
    dynamics, told = (rate, "a") if TRACED[form].velocity is same else (flow, "wa")
    stage = sources_of(dynamics, model, without, {"form": form}, lowering=lowering)
    alike = "looped" if stage[0].arrays else "unrolled"
    known = [(*without, *(x for x in TOLD if x not in _names(told, k))) for k in range(rule.stages + 1)]
    pieces = [sources_of(piece, model, missing, {"integrator": integrator}, lowering=alike) for missing in known]
    wide = staged(stage[0], [x for x, _ in pieces])
    return wide, None if stage[1] is None else staged(stage[1], [x for _, x in pieces if x is not None])


def step(
    model: Model, q: Array, y: Array, tau: Array, h: Scalar, external: Array | None = None, *, form: str, integrator: str
) -> tuple[Array, Array]:
    """(q (nq,), y (nv,)) a step of h later, joint forces and wrenches held."""
    velocity = partial(TRACED[form].velocity, model)
    return _traced(model, lambda t, q, y: flow(model, q, y, tau, external, form=form), velocity, q, y, h, integrator)


def piece(
    model: Model,
    q: Array,
    y: Array,
    tau: Array,
    h: Scalar,
    external: Array | None = None,
    w1: Array | None = None,
    a1: Array | None = None,
    w2: Array | None = None,
    a2: Array | None = None,
    w3: Array | None = None,
    a3: Array | None = None,
    w4: Array | None = None,
    a4: Array | None = None,
    *,
    integrator: str,
) -> tuple[Array, ...]:
    """What a step asks of the dynamics next, when it was told the rates a1, … and velocities w1, …; or what it gives.

    Where y is the velocity, that is not told.
    """
    told = iter([(w, a) for w, a in ((w1, a1), (w2, a2), (w3, a3), (w4, a4)) if a is not None])

    def answer(t: Any, q: Array, y: Array) -> tuple[Array, Array]:
        for w, a in told:
            return y if w is None else _owned(model, w), _owned(model, a)
        raise _Asked(q, y)

    try:
        return _traced(model, answer, None, q, y, h, integrator)
    except _Asked as asked:
        q, y = asked.state
    held = () if external is None else (piled(rows(external)),)
    return stacked(split(model.q_slices, q), model.q_slices), _owned(model, y), _owned(model, tau), *held


def _names(letters: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{k}" for k in range(1, count + 1) for letter in letters)


TOLD = _names("wa", 4)
"""Names of the velocities and rates that `piece` may be told."""


@final
class _Asked(Exception):  # noqa: N818, it is a question, not an error
    """A step asks for the dynamics at a state."""

    def __init__(self, *state: Array) -> None:
        self.state = state


def _owned(model: Model, x: Array) -> Array:
    """An argument (nv,) as arithmetic between sweeps wants it."""
    return stacked(split(model.v_slices, x), model.v_slices)


def _traced(model: Model, flow: Any, velocity: Any, q: Array, y: Array, h: Scalar, integrator: str) -> tuple[Array, Array]:
    system = System(flow, velocity, partial(integrate, model), partial(turn, model))
    return INTEGRATORS[integrator].step(system, 0.0, q, _owned(model, y), h)


def maps_of(model: Model, form: str) -> tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]]:
    """(q, v) → y and (q, y) → v as kernels; where y is v, they hand it on."""
    algorithms = (same, same) if form not in TRACED else (TRACED[form].carried, TRACED[form].velocity)
    carried, velocity = (_handed_on if f is same else kernel_of(f, model) for f in algorithms)
    return carried, velocity


def _handed_on(q: Array, y: Array) -> Array:
    return y


def system_of(model: Model, form: str, control: Signal | None, external: Signal | None) -> System:
    """Kernels of a model in a form, closed over what drives it."""
    _, velocity = maps_of(model, form)
    without = ("external",) if external is None else ()
    forced = dense_rate(model) if form not in TRACED else kernel_of(rate, model, without, {"form": form})
    still = np.zeros(model.nv)

    def rates(t: float, q: Array, y: Array) -> tuple[Array, Array]:
        v = velocity(q, y)
        tau = still if control is None else control(t, q, v)
        return v, forced(q, v, tau) if external is None else forced(q, v, tau, external(t, q, v))

    curved = any(body.joint.quaternion is not None for body in model.bodies)
    turned = kernel_of(turn, model) if curved else _unturned
    return System(rates, velocity, compilation.compile(functions.integrate, model), turned)


def turn(model: Model, v_dt: Array, v: Array) -> Array:
    """θ' (nv,) of local coordinates θ = v_dt, where q = integrate(q₀, θ) and the velocity there is v."""
    turned = each(_turn, [body.joint for body in model.bodies], split(model.v_slices, v_dt), split(model.v_slices, v))
    return stacked(turned, model.v_slices)


def _turn(joint: Joint, theta: Array, v: Array) -> Array:
    """θ' = dexp⁻¹ v = v + ½ [θ, v] + ¹⁄₁₂ [θ, [θ, v]] + O(θ⁴) for v in body axes; θ' = v where q itself is flat."""
    if joint.quaternion is None:
        return v
    still = np.zeros(6 - joint.nv)
    Θ, V = np.concatenate([theta, still]), np.concatenate([v, still])
    once = cross_motion(Θ, V)
    return (V + 0.5 * once + (1.0 / 12.0) * cross_motion(Θ, once))[: joint.nv]


def _unturned(theta: Array, v: Array) -> Any:
    return v
