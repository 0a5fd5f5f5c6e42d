"""Local coordinates of the configuration manifold: what is simply itself where coordinates are flat.

A quaternion joint moves on a group, of rotations or of poses: q = q₀ exp θ, v and p in the axes of its body. [θ, v] = θ × v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.algebra.sweeps import each, split, stacked
from kinetree.model import Free, Joint, Model
from kinetree.spatial.rotations import normalized, quaternion_product, rotation_of_quaternion
from kinetree.spatial.scalars import Array, array
from kinetree.spatial.sixvectors import Shift, cross_force, cross_motion

TERMS = 14
"""Of the series of `pull`: exact to rounding where a step turns by half a radian, to 1e-12 where by one."""


def turn(model: Model, theta: Array, v: Array) -> Array:
    """θ' (nv,) where the velocity is v: dexp⁻¹ v = v + ½ [θ, v] + ¹⁄₁₂ [θ, [θ, v]] + O(θ⁴)."""

    def node(theta: Array, v: Array) -> Array:
        once = cross_motion(theta, v)
        return v + 0.5 * once + (1.0 / 12.0) * cross_motion(theta, once)

    return _curved(model, node, theta, v)


def unturn(model: Model, theta: Array, w: Array) -> Array:
    """The velocity v (nv,) where θ' is w: dexp w = w − ½ [θ, w] + ⅙ [θ, [θ, w]] − ¹⁄₂₄ [θ, [θ, [θ, w]]] + O(θ⁴)."""

    def node(theta: Array, w: Array) -> Array:
        once = cross_motion(theta, w)
        twice = cross_motion(theta, once)
        return w - 0.5 * once + (1.0 / 6.0) * twice - (1.0 / 24.0) * cross_motion(theta, twice)

    return _curved(model, node, theta, w)


def carry(model: Model, theta: Array, p: Array) -> Array:
    """A momentum (nv,) that stays in space, in axes that have moved by exp θ."""

    def node(theta: Array, p: Array) -> Array:
        back = Free()
        return Shift(*back.displacement(back.integrate(back.neutral(), -theta))) @ p

    return _curved(model, node, theta, p)


def pull(model: Model, theta: Array, p: Array) -> Array:
    """∫₀¹ carry(s θ, p) ds (nv,): the transpose of what exp makes of a change of θ. Σ (−θ ×*)ᵏ p / (k + 1)!"""

    def node(theta: Array, p: Array) -> Array:
        found = p
        for k in range(TERMS, 1, -1):
            found = p - (1.0 / k) * cross_force(theta, found)
        return found

    return _curved(model, node, theta, p)


def straight(model: Model, v: Array, p: Array, rate: Array) -> Array:
    """ṗ (nv,) without the turning of its axes, ṗ + v ×* p: the force along the directions of v."""
    return _curved(model, lambda v, p, rate: rate + cross_force(v, p), v, p, rate)


def rate_of_coordinates(model: Model, q: Array, v: Array) -> Array:
    """q' (nq,): v, but for quaternions u' = ½ u ∘ [0, ω], and for positions of free joints R v."""

    def one(joint: Joint, q: Array, v: Array) -> Array:
        if joint.quaternion is None:
            return v
        u = quaternion_product(q[:4], array([0.0, *(0.5 * v[:3])]))
        return u if joint.nv == 3 else np.concatenate([u, rotation_of_quaternion(q[:4]) @ v[3:]])

    parts = split(model.q_slices, q), split(model.v_slices, v)
    return stacked(each(one, [body.joint for body in model.bodies], *parts), model.q_slices)


def unit(model: Model, q: Array) -> Array:
    """q (nq,) with quaternions of length 1."""

    def one(joint: Joint, q: Array) -> Array:
        return q if joint.quaternion is None else np.concatenate([normalized(q[:4]), q[4:]])

    return stacked(each(one, [body.joint for body in model.bodies], split(model.q_slices, q)), model.q_slices)


def is_flat(model: Model) -> bool:
    """Whether v is q̇ for every joint."""
    return all(body.joint.quaternion is None for body in model.bodies)


def _curved(model: Model, node: Callable[..., Array], *vectors: Any) -> Array:
    """node of the parts (6,) of quaternion joints; of other joints the last vector."""

    def one(joint: Joint, *parts: Array) -> Array:
        if joint.quaternion is None:
            return parts[-1]
        rest = np.zeros(6 - joint.nv)
        return node(*(np.concatenate([x, rest]) for x in parts))[: joint.nv]

    parts = (split(model.v_slices, x) for x in vectors)
    return stacked(each(one, [body.joint for body in model.bodies], *parts), model.v_slices)
