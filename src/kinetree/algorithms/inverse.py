"""Inverse dynamics, the Newton–Euler sweeps in operator form. Source: Jain II (1), (2), (10).

V = φ* H* v        α = φ* (H* v̇ + a)        f = φ (M α + b)        τ = H f
"""

from __future__ import annotations

import numpy as np

from kinetree.algebra.rigid import joint_maps, weights
from kinetree.algebra.sweeps import each, gather, rows, scatter, split, stacked
from kinetree.algorithms.kinematics import acceleration_biases, velocities
from kinetree.model import Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, cross_force

NO_FORCE = np.zeros(6)


def ground_acceleration(model: Model) -> Array:
    """Gravity as an upward acceleration of the ground, which is the same to every body."""
    return np.concatenate([np.zeros(3), -model.gravity])


def gyroscopic_forces(model: Model, V: list[Array], external: Array | None) -> list[Array]:
    """b(k) (6,): V ×* M V less the external wrench."""
    loads = [NO_FORCE] * model.nbodies if external is None else rows(external)

    def node(V: Array, M: Array, load: Array) -> Array:
        return cross_force(V, M @ V) - load  # b = V ×* M V − W

    return each(node, V, model.inertias, loads)


def inverse_dynamics(model: Model, q: Array, v: Array, a: Array, external: Array | None = None) -> Array:
    """τ (nv,) that produces the acceleration a."""
    phi, H = weights(model, q), joint_maps(model, q)
    V = velocities(model, phi, H, v)
    bias = acceleration_biases(model, q, v, V, H)
    b = gyroscopic_forces(model, V, external)

    def accelerations(alpha_parent: Array, phi: Shift, H: Array, a: Array, bias: Array) -> Array:
        return phi.T @ alpha_parent + H.T @ a + bias  # α = φ* α_p + H* v̇ + a

    def forces(received: Array, phi: Shift, H: Array, M: Array, alpha: Array, b: Array) -> tuple[Array, Array]:
        f = received + M @ alpha + b  # f = Σ φ f_j + M α + b
        return H @ f, phi @ f  # τ = H f

    accelerated = split(model.v_slices, a)
    alpha = scatter(model.tree, accelerations, ground_acceleration(model), phi, H, accelerated, bias)
    return stacked(gather(model.tree, forces, NO_FORCE, phi, H, model.inertias, alpha, b))


def bias_force(model: Model, q: Array, v: Array, external: Array | None = None) -> Array:
    """C v + gravity: τ at zero acceleration."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv), external)


def gravity_force(model: Model, q: Array) -> Array:
    """∂U/∂q: τ at rest. Source: Lagrange (24)."""
    return inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))
