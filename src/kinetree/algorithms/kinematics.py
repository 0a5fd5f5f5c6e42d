"""Where bodies are and how they move: joint maps, weights, velocities, Jacobians, energies.

V(k) = φ*(p, k) V(p) + H*(k) v(k)            V = φ* H* v
"""

from __future__ import annotations

import numpy as np

from kinetree.algebra.rigid import Mechanism, joint_maps, joints, sko_model, weights
from kinetree.algebra.sweeps import each, piled, rows, scatter, split, stacked, total, unzip
from kinetree.model import Model
from kinetree.spatial.scalars import Array, Scalar
from kinetree.spatial.sixvectors import Shift

AT_REST = np.zeros(6)
ORIGIN = (np.eye(3), np.zeros(3))


def velocities(model: Mechanism, phi: list[Shift], H: list[Array], v: Array) -> list[Array]:
    """V(k) (6,) of each body, body axes."""

    def node(V_parent: Array, phi: Shift, H: Array, v: Array) -> Array:
        return phi.T @ V_parent + H.T @ v  # V = φ* V_p + H* v

    return scatter(model.tree, node, AT_REST, phi, H, split(model.v_slices, v))


def poses(model: Model, q: Array) -> list[tuple[Array, Array]]:
    """Rotation (3, 3) and origin (3,) of each body in the world."""

    def node(parent: tuple[Array, Array], phi: Shift) -> tuple[Array, Array]:
        R, p = parent
        return R @ phi.R, p + R @ phi.d

    return scatter(model.tree, node, ORIGIN, weights(model, q))


def forward_kinematics(model: Model, q: Array) -> tuple[Array, Array]:
    """Rotations (nbodies, 3, 3) and origins (nbodies, 3)."""
    R, p = unzip(poses(model, q), 2)
    return piled(R), piled(p)


def body_motions(model: Model, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Rotations (nbodies, 3, 3) and origins (nbodies, 3) in the world, and velocities (nbodies, 6) in body axes."""
    return *forward_kinematics(model, q), piled(velocities(model, weights(model, q), joint_maps(model, q), v))


def some_motions(model: Model, q: Array, v: Array, *, bodies: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The same of some bodies."""
    picked = [np.array([float(k == body) for body in bodies]) for k in range(model.nbodies)]
    R, p = unzip(poses(model, q), 2)
    V = velocities(model, weights(model, q), joint_maps(model, q), v)

    def of(values: list[Array]) -> Array:
        return total(each(lambda x, own: np.multiply.outer(own, x), values, picked))

    return of(R), of(p), of(V)


def center_of_mass(model: Model, q: Array) -> Array:
    """Σ m (p + R s) / Σ m."""
    return first_moment(model, q) * (1.0 / sum(body.inertia.mass for body in model.bodies))


def first_moment(model: Model, q: Array) -> Array:
    """Σ m (p + R s)."""

    def node(pose: tuple[Array, Array], mass: float, com: Array) -> Array:
        R, p = pose
        return (p + R @ com) * mass

    inertias = [body.inertia for body in model.bodies]
    return total(each(node, poses(model, q), [x.mass for x in inertias], [x.com for x in inertias]))


def potential_energy(model: Model, q: Array) -> Array:
    """U = −Σ m g·r, Lagrange (23)."""
    return np.asarray(-(model.gravity @ first_moment(model, q)))


def kinetic_energy(model: Model, q: Array, v: Array) -> Array:
    """T = ½ Σ V* M V + v* Γ v."""
    V = velocities(model, weights(model, q), joint_maps(model, q), v)
    doubled = each(_double_energy, V, model.inertias, split(model.v_slices, v), model.joint_inertias)
    return np.asarray(0.5 * total(doubled))


def _double_energy(V: Array, M: Array, v: Array, Gamma: Array) -> Scalar:
    return V @ (M @ V) + v @ (Gamma @ v)


def jacobian(model: Model, q: Array, *, body: int, frame: str) -> Array:
    """J (6, nv), from J* = H φ applied to the unit wrenches of one body: nonzero on its path to the root only."""
    phi, H = weights(model, q), joint_maps(model, q)
    J = np.zeros((6, model.nv), dtype=object)
    R, _ = poses(model, q)[body] if frame == "world" else ORIGIN
    X = np.concatenate([np.concatenate([R.T, np.zeros((3, 3))], 1), np.concatenate([np.zeros((3, 3)), R.T], 1)])
    for k in model.tree.path_to_root(body):
        J[:, model.v_slices[k]] = (H[k] @ X).T
        X = phi[k] @ X
    return J


def joint_forces(model: Model, q: Array, wrenches: Array) -> Array:
    """H φ f (nv,): what the joints feel of wrenches (nbodies, 6) on the bodies."""
    ops = sko_model(model, q)
    return stacked((ops.H @ ops.phi).apply(rows(wrenches)))


def integrate(model: Model, q: Array, v_dt: Array) -> Array:
    """q moved by the velocity step v_dt on the configuration manifold."""
    moved = each(
        lambda joint, q, dv: joint.integrate(q, dv),
        joints(model),
        split(model.q_slices, q),
        split(model.v_slices, v_dt),
    )
    return stacked(moved, model.q_slices)


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """v_dt that takes q0 to q1."""
    steps = each(
        lambda joint, q0, q1: joint.difference(q0, q1),
        joints(model),
        split(model.q_slices, q0),
        split(model.q_slices, q1),
    )
    return stacked(steps)
