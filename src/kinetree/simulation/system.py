"""A model with everything that drives it, as the maps an integrator needs: kernels for a simulation, or traced into one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.algebra.sweeps import each, piled, rows, split, stacked
from kinetree.algorithms.articulated import forward_dynamics
from kinetree.algorithms.kinematics import integrate
from kinetree.compiler.compile import kernel_of, sources_of
from kinetree.compiler.kernel import Sources, build_once
from kinetree.compiler.staged import staged
from kinetree.model import Joint, Model
from kinetree.simulation.control import Constant, Signal
from kinetree.simulation.integrators import INTEGRATORS, System
from kinetree.spatial.scalars import Array, Scalar
from kinetree.spatial.sixvectors import cross_motion

Stepper = Callable[[float, Array, Array, float], tuple[Array, Array]]
"""step(t, q, v, h): the state at t + h."""


def stepper(model: Model, integrator: str, control: Signal | None, external: Signal | None) -> Stepper:
    """Steps of a model under what drives it.

    Where that is asked for once in a step, or is constant, a step is one kernel, the same that a rollout repeats.
    """
    rule = INTEGRATORS[integrator]
    drives = [drive for drive in (control, external) if drive is not None]
    if rule.stages > 1 and not all(isinstance(drive, Constant) for drive in drives):
        return partial(rule.step, system_of(model, control, external))
    kernel = step_kernel(model, integrator, external is not None)
    still = np.zeros(model.nv)

    def advance(t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        tau = still if control is None else control(t, q, v)
        return kernel(q, v, tau, h) if external is None else kernel(q, v, tau, h, external(t, q, v))

    return advance


def step_kernel(model: Model, integrator: str, driven: bool, lowering: str = "auto") -> np.ufunc:
    """The kernel (q, v, tau, h) → (q, v) of one step; `driven` adds wrenches `external` to its arguments."""
    key = (step_kernel, integrator, driven, lowering)
    if key not in model.kernels:
        doc = f"one step of {model.name} by {integrator}: (q, v, tau, h{', external' if driven else ''})."
        model.kernels[key] = build_once(
            "step", doc, (model.digest, *key), lambda: step_sources(model, integrator, driven, lowering), warn=False
        )
    return model.kernels[key]


def step_sources(model: Model, integrator: str, driven: bool, lowering: str = "auto") -> Sources:
    """One step as code: as a whole if it asks for the dynamics once, else in pieces around one code for the dynamics."""
    rule, options = INTEGRATORS[integrator], {"integrator": integrator}
    without = () if driven else ("external",)
    if rule.stages == 1:
        return sources_of(step, model, without, options, lowering=lowering)
    stage = sources_of(forward_dynamics, model, without, lowering=lowering)
    same = "looped" if stage[0].arrays else "unrolled"
    known = [(*without, *KNOWN[k:]) for k in range(rule.stages + 1)]
    pieces = [sources_of(piece, model, missing, options, lowering=same) for missing in known]
    wide = staged(stage[0], [x for x, _ in pieces])
    return wide, None if stage[1] is None else staged(stage[1], [x for _, x in pieces if x is not None])


def step(
    model: Model, q: Array, v: Array, tau: Array, h: Scalar, external: Array | None = None, *, integrator: str
) -> tuple[Array, Array]:
    """(q (nq,), v (nv,)) a step of h later, joint forces and wrenches held."""
    return _traced(model, lambda t, q, v: forward_dynamics(model, q, v, tau, external), q, v, h, integrator)


def piece(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    h: Scalar,
    external: Array | None = None,
    a1: Array | None = None,
    a2: Array | None = None,
    a3: Array | None = None,
    a4: Array | None = None,
    *,
    integrator: str,
) -> tuple[Array, ...]:
    """What a step asks of forward dynamics next, when it was told the accelerations a1, …; or what it gives."""
    told = iter([a for a in (a1, a2, a3, a4) if a is not None])

    def acceleration(t: Any, q: Array, v: Array) -> Array:
        for a in told:
            return stacked(split(model.v_slices, a), model.v_slices)
        raise _Asked(q, v)

    try:
        return _traced(model, acceleration, q, v, h, integrator)
    except _Asked as asked:
        q, v = asked.state
    held = () if external is None else (piled(rows(external)),)
    parts = (q, model.q_slices), (v, model.v_slices), (tau, model.v_slices)
    return *(stacked(split(slices, x), slices) for x, slices in parts), *held


KNOWN = ("a1", "a2", "a3", "a4")
"""Names of the accelerations that `piece` may be told."""


@final
class _Asked(Exception):  # noqa: N818, it is a question, not an error
    """A step asks for the acceleration at a state."""

    def __init__(self, *state: Array) -> None:
        self.state = state


def _traced(model: Model, acceleration: Any, q: Array, v: Array, h: Scalar, integrator: str) -> tuple[Array, Array]:
    system = System(acceleration, partial(integrate, model), partial(coordinate_rate, model))
    return INTEGRATORS[integrator].step(system, 0.0, q, stacked(split(model.v_slices, v), model.v_slices), h)


def system_of(model: Model, control: Signal | None, external: Signal | None) -> System:
    """Kernels of a model, closed over what drives it."""
    forward = compilation.compile(functions.forward_dynamics, model, external=external is not None)
    still = np.zeros(model.nv)

    def acceleration(t: float, q: Array, v: Array) -> Array:
        tau = still if control is None else control(t, q, v)
        return forward(q, v, tau) if external is None else forward(q, v, tau, external(t, q, v))

    curved = any(body.joint.quaternion is not None for body in model.bodies)
    rate = kernel_of(coordinate_rate, model) if curved else _flat_rate
    return System(acceleration, compilation.compile(functions.integrate, model), rate)


def coordinate_rate(model: Model, v_dt: Array, v: Array) -> Array:
    """θ' (nv,) of local coordinates θ = v_dt, where q = integrate(q₀, θ) and the velocity there is v."""
    rates = each(_rate, [body.joint for body in model.bodies], split(model.v_slices, v_dt), split(model.v_slices, v))
    return stacked(rates, model.v_slices)


def _rate(joint: Joint, theta: Array, v: Array) -> Array:
    """θ' = dexp⁻¹ v = v + ½ [θ, v] + ¹⁄₁₂ [θ, [θ, v]] + O(θ⁴) for v in body axes; θ' = v where q itself is flat."""
    if joint.quaternion is None:
        return v
    still = np.zeros(6 - joint.nv)
    Θ, V = np.concatenate([theta, still]), np.concatenate([v, still])
    once = cross_motion(Θ, V)
    return (V + 0.5 * once + (1.0 / 12.0) * cross_motion(Θ, once))[: joint.nv]


def _flat_rate(theta: Array, v: Array) -> Any:
    return v
