"""What joints do by themselves: damping, friction, springs, and stops at the ends of their ranges.

τ = −B v − f v / √(v² + v_s²) − K (q − rest) ± stops

and, for an integrator that looks a step h ahead, how much of that v̇ changes::

    (ℳ + h B' + h² K') v̇ = τ − h K' v − …        B' = −∂τ/∂v by secants, K' = −∂τ/∂q

which is one more diagonal beside Γ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.rigid import joints, sko_model
from kinetree.algebra.sweeps import each, split, stacked, unzip
from kinetree.algorithms.articulated import accelerations
from kinetree.algorithms.momentum import momentum_and_rate
from kinetree.model import Joint, Model, Resistance
from kinetree.spatial.scalars import Array, Scalar, nonzero


def passive_force(model: Model, q: Array, v: Array) -> Array:
    """τ (nv,) of damping, friction, springs and stops."""
    return _stacked(model, q, v)[0]


def joint_forces(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """All joint forces (nv,) where τ is asked for: what effort limits let through of it, and what joints do by themselves."""
    tau = stacked(each(let_through, split(model.v_slices, tau), model.resistances), model.v_slices)
    return tau + passive_force(model, q, v)


def held_dynamics(model: Model, q: Array, v: Array, tau: Array, h: Scalar, external: Array | None = None) -> Array:
    """v̇ (nv,) for which v + h v̇ is the velocity after a step h, if what resists is that of the velocity after it."""
    tau = stacked(each(let_through, split(model.v_slices, tau), model.resistances), model.v_slices)
    force, B, K = _stacked(model, q, v)
    v = stacked(split(model.v_slices, v), model.v_slices)
    return accelerations(model, q, v, tau + force - h * K * v, external, _held(model, h * (B + h * K)))


def held_momentum_rate(model: Model, q: Array, v: Array, tau: Array, h: Scalar, external: Array | None = None) -> Array:
    """ṗ for which p + h ṗ is the momentum after a step h, likewise: ṗ less what v̇ changes of τ, (h B' + h² K') v̇."""
    tau = stacked(each(let_through, split(model.v_slices, tau), model.resistances), model.v_slices)
    force, B, K = _stacked(model, q, v)
    v = stacked(split(model.v_slices, v), model.v_slices)
    held = h * (B + h * K)
    rate = momentum_and_rate(model, q, v, tau + force - h * K * v, external)[1]
    vdot = sko_model(model.lean, q, Gamma=_held(model, held)).mass.inv @ rate
    return rate - held * stacked(split(model.v_slices, vdot), model.v_slices)


def held_inertias(model: Model, q: Array, v: Array, h: Scalar) -> Any:
    """Γ + h B' + h² K' of each joint."""
    _, B, K = _stacked(model, q, v)
    return _held(model, h * (B + h * K))


def _held(model: Model, x: Array) -> Any:
    """Γ + diag x of each joint."""
    own = split(model.v_slices, x)
    return each(lambda Gamma, x: Gamma + np.eye(len(x)) * x, model.joint_inertias, own)


def _stacked(model: Model, q: Array, v: Array) -> tuple[Any, ...]:
    own = joints(model), model.resistances, split(model.q_slices, q), split(model.v_slices, v)
    return tuple(stacked(x, model.v_slices) for x in unzip(each(resistance, *own), 3))


def resistance(joint: Joint, of: Resistance, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Force (nv,) of a joint, and its slopes B' and K'."""
    x = q if joint.quaternion is None else np.zeros(joint.nv)
    B = of.damping + of.friction / np.sqrt(v * v + of.slow)
    push, pushes = stop(of, x, v)
    return push - B * v - of.stiffness * (x - of.rest), B + 2.0 * of.stop_time * pushes, of.stiffness + pushes


def stop(of: Resistance, x: Array, v: Array) -> tuple[Array, Array]:
    """Force (nv,) of a critically damped spring at either end of the range, which only pushes; its stiffness while it does."""
    above, below = _positive(x - of.upper), _positive(of.lower - x)
    side = nonzero(above) - nonzero(below)
    compressed = _positive(above + below + 2.0 * of.stop_time * (side * v))
    return -of.stop * (side * compressed), of.stop * nonzero(compressed)


def let_through(tau: Array, of: Resistance) -> Array:
    """τ (nv,) within the effort limits, without a change to the last bit where it is within."""
    return tau + of.is_limited * (_positive(-of.effort - tau) - _positive(tau - of.effort))


def _positive(x: Array) -> Array:
    return 0.5 * (x + abs(x))
