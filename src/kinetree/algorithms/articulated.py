"""Forward dynamics and the inverse mass matrix by articulated-body inertias. Source: Jain II (33), (50), (51), (58).

M_q⁻¹ = (1 − H ψ K)* D⁻¹ (1 − H ψ K)
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments import per_joint
from kinetree.algorithms.inverse import NO_FORCE, ground_acceleration, gyroscopic_forces
from kinetree.algorithms.kinematics import acceleration_biases, joint_maps, velocities, weights
from kinetree.model import Model
from kinetree.operators.sweeps import gather, scatter
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, congruence, solve, symmetric

NOTHING = np.zeros((6, 6))


def articulated_inertia(received: Array, phi: Shift, H: Array, M: Array) -> tuple[tuple[Array, Array, Array], Array]:
    """One step of the Riccati equation, from the tips to the base."""
    P = received + M  # P  = Σ φ P⁺ φ* + M      (33)
    HP = H @ P
    D = symmetric(HP @ H.T)  # D  = H P H*
    G = solve(D, HP).T  # G  = P H* D⁻¹
    return (P, D, G), congruence(phi, symmetric(P - G @ HP))  # P⁺ = (1 − G H) P


def articulated_inertias(model: Model, phi: list[Shift], H: list[Array]) -> tuple[list[Array], list[Array], list[Array]]:
    """P (6, 6), D (nv_k, nv_k) and G (6, nv_k) of each body."""
    swept = gather(model.tree, articulated_inertia, NOTHING, phi, H, model.inertias)
    P, D, G = zip(*swept, strict=True)
    return list(P), list(D), list(G)


def residual(received: Array, phi: Shift, H: Array, D: Array, G: Array, tau: Array, load: Array):
    """What is left of the joint forces once the bodies beyond have taken theirs, from the tips to the base."""
    z = received + load  # z  = Σ φ z⁺ + P a + b      (58a)
    eps = tau - H @ z  # ε  = τ − H z               (58c)
    return solve(D, eps), phi @ (z + G @ eps)  # ν  = D⁻¹ ε,  z⁺ = z + G ε (58d, b)


def acceleration(parent: tuple[Array, Array], phi: Shift, H: Array, G: Array, nu: Array, bias: Array):
    """Acceleration of a body once its parent's is known, from the base to the tips."""
    alpha_plus = phi.T @ parent[0]  # α⁺ = φ* α_p                (58e)
    a = nu - G.T @ alpha_plus  # v̇  = ν − G* α⁺             (58f)
    return alpha_plus + H.T @ a + bias, a  # α  = α⁺ + H* v̇ + a         (58g)


def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None) -> Array:
    """v̇ (nv,) under the joint forces τ."""
    phi, H = weights(model, q), joint_maps(model, q)
    V = velocities(model, phi, H, v)
    bias = acceleration_biases(model, q, v, V, H)
    b = gyroscopic_forces(model, V, external)
    P, D, G = articulated_inertias(model, phi, H)
    loads = [P_k @ bias_k + b_k for P_k, bias_k, b_k in zip(P, bias, b, strict=True)]
    nu = gather(model.tree, residual, NO_FORCE, phi, H, D, G, per_joint(model.v_slices, tau), loads)
    swept = scatter(model.tree, acceleration, (ground_acceleration(model), None), phi, H, G, nu, bias)
    return np.concatenate([a for _, a in swept])


def inverse_mass_matrix(model: Model, q: Array) -> Array:
    """M_q⁻¹ (nv, nv): the same sweeps on every unit joint force at once, from rest and without gravity."""
    phi, H = weights(model, q), joint_maps(model, q)
    _, D, G = articulated_inertias(model, phi, H)
    still = [np.zeros((6, model.nv))] * model.nbodies
    unit_forces = per_joint(model.v_slices, np.eye(model.nv))
    nu = gather(model.tree, residual, still[0], phi, H, D, G, unit_forces, still)
    swept = scatter(model.tree, acceleration, (still[0], None), phi, H, G, nu, still)
    return symmetric(np.concatenate([a for _, a in swept]))
