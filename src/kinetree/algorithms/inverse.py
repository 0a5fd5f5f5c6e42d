"""Inverse dynamics, the Newton–Euler sweeps in operator form. Source: Jain II (1), (2), (10).

α = φ* (H* v̇ + a)        f = φ (M α + b)        τ = H f + Γ v̇

α is the rate of the angular velocity and the acceleration of the body's origin, gravity taken as an acceleration of the
ground. With it neither a nor b holds a linear velocity, so that only ω is swept to the tips, not V.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.rigid import joint_maps, joints, weights
from kinetree.algebra.sweeps import each, gather, rows, scatter, split, stacked
from kinetree.algorithms.kinematics import poses
from kinetree.model import Joint, LeanModel, Model, Pose
from kinetree.spatial.points import field_gradient, wrench
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift

NO_FORCE = np.zeros(6)
ZERO = np.zeros(3)
Motion = tuple[Array, Array, Array]
"""Angular velocity, its rate, and the acceleration of the origin, each (3,), body axes."""


def motion(parent: Motion, joint: Joint, phi: Shift, H: Array, q: Array, v: Array, vdot: Array) -> Motion:
    """The motion of a body from its parent's, from the base to the tips."""
    omega_parent, omega_rate, acceleration = parent
    R, S = phi.R, field_gradient(omega_parent, omega_rate)
    omega = R.T @ omega_parent
    own, rate = H.T @ v, H.T @ vdot + joint.H_rate(q, v).T @ v  # V − φ* V_p and its rate in body axes, H* v̇ + Ḣ* v
    return (
        omega + own[:3],
        R.T @ omega_rate + rate[:3] + cross(omega, own[:3]),
        R.T @ (acceleration + S @ phi.d) + rate[3:] + cross(omega + omega + own[:3], own[3:]),
    )


def loads(lean: LeanModel, external: Array | None) -> Any:
    """Wrench (6,) from outside on each body, in its lean frame."""
    if external is None:
        return [NO_FORCE] * len(lean.bodies)

    def node(frame: Pose, W: Array) -> Array:
        R, moment, force = frame.rotation.T, W[:3], W[3:]
        return np.concatenate([R @ (moment - cross(frame.translation, force)), R @ force])

    return each(node, lean.frames, rows(external))


def inertial_force(J: Array, motion: Motion, load: Array) -> Array:
    """M α + b − W (6,) of a body."""
    omega, omega_rate, acceleration = motion
    return wrench(J, field_gradient(omega, omega_rate), acceleration) - load


def inverse_dynamics(model: Model, q: Array, v: Array, a: Array, external: Array | None = None) -> Array:
    """τ (nv,) that produces the acceleration a."""
    lean, tree = model.lean.grouped, model.tree
    phi, H = weights(lean, q), joint_maps(lean, q)
    own = split(model.q_slices, q), split(model.v_slices, v), split(model.v_slices, a)
    motions = scatter(tree, motion, (ZERO, ZERO, -model.gravity), joints(lean), phi, H, *own)
    loaded = each(inertial_force, lean.pseudo_inertias, motions, loads(lean, external))

    def forces(received: Array, phi: Shift, H: Array, own: Array, Gamma: Array, vdot: Array) -> tuple[Array, Array]:
        f = received + own  # f = Σ φ f_j + M α + b
        return H @ f + Gamma @ vdot, phi @ f  # τ = H f + Γ v̇

    return stacked(gather(tree, forces, NO_FORCE, phi, H, loaded, lean.joint_inertias, own[2]))


def bias_force(model: Model, q: Array, v: Array, external: Array | None = None) -> Array:
    """C v + gravity: τ at zero acceleration."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv), external)


def gravity_force(model: Model, q: Array) -> Array:
    """∂U/∂q: τ at rest. Source: Lagrange (24)."""
    return inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))


def drift(model: Model, q: Array, v: Array, *, body: int, point: tuple[float, ...]) -> Array:
    """J̇ v (3,), world axes: how a point of a body accelerates at v̇ = 0."""
    phi, H = weights(model, q), joint_maps(model, q)
    own = split(model.q_slices, q), split(model.v_slices, v), split(model.v_slices, np.zeros(model.nv))
    omega, omega_rate, a = scatter(model.tree, motion, (ZERO, ZERO, ZERO), joints(model), phi, H, *own)[body]
    R, _ = poses(model, q)[body]
    return R @ (a + field_gradient(omega, omega_rate) @ np.array(point))
