"""A model with everything that drives it, as the three maps an integrator needs, each one compiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.algebra.sweeps import each, split
from kinetree.compiler.compile import kernel_of
from kinetree.model import Joint, Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import cross_motion

Signal = Callable[[float, Array, Array], Array]
"""signal(t, q, v): joint forces (nv,), or wrenches on the bodies (nbodies, 6)."""


@final
@dataclass(frozen=True)
class System:
    """q' = v on the manifold, v' = acceleration(t, q, v).

    acceleration(t, q, v) (nv,); move(q, theta) (nq,) is the exponential that takes local coordinates theta (nv,) to a
    configuration; rate(theta, v) (nv,) is theta' when the velocity there is v.
    """

    acceleration: Callable[[float, Array, Array], Array]
    move: Callable[[Array, Array], Array]
    rate: Callable[[Array, Array], Array]


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
    return np.concatenate(rates)


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
