"""The SKO model of a rigid-body tree at q: weights φ(p, k) from placements and joints, joint maps H, inertias M and Γ."""

from __future__ import annotations

from typing import Any

from kinetree.algebra.sko import SKO
from kinetree.algebra.sweeps import each, split
from kinetree.model import Joint, LeanModel, Model, Pose
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift
from kinetree.spatial.turns import placed

Mechanism = Model | LeanModel


def weight(joint: Joint, placement: Pose, q: Array) -> Shift:
    """φ(parent, k): placement of the joint on the parent, then what the joint has moved."""
    R, p = joint.displacement(q)
    return Shift(placed(placement.rotation, R), placement.rotation @ p + placement.translation)


def joints(model: Mechanism) -> list[Joint]:
    """Joint of each body."""
    return [body.joint for body in model.bodies]


def weights(model: Mechanism, q: Array) -> list[Shift]:
    """φ(parent, k) of each body at q."""
    placements = [body.placement for body in model.bodies]
    return each(weight, joints(model), placements, split(model.q_slices, q))


def joint_maps(model: Mechanism, q: Array) -> list[Array]:
    """H(k) (nv_k, 6) of each body at q."""
    return each(lambda joint, q: joint.H(q), joints(model), split(model.q_slices, q))


def sko_model(model: Mechanism, q: Array, batch: tuple[int, ...] | None = None, Gamma: Any = None) -> SKO:
    """The SKO model at q, an array (nq,) of scalars; `batch` is the shape inside them, None if they are traced.

    Gamma is (nv_k, nv_k) of each joint, its armature where not given.
    """
    sizes, names = [joint.nv for joint in joints(model)], [str(k) for k in range(len(model.bodies))]
    names = model.body_names if isinstance(model, Model) else names
    phi, H, Gamma = weights(model, q), joint_maps(model, q), model.joint_inertias if Gamma is None else Gamma
    return SKO.trusted(model.tree, phi, H, model.inertias, Gamma, sizes, 6, names, batch)
