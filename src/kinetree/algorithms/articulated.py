"""Forward dynamics and the inverse mass matrix by articulated-body inertias. Source: Jain II (33), (50), (51), (58).

M_q⁻¹ = (1 − H ψ K)* D⁻¹ (1 − H ψ K)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.riccati import articulated
from kinetree.algebra.rigid import joint_maps, joints, sko_model, weights
from kinetree.algebra.sweeps import each, gather, scatter, split, stacked, unzip
from kinetree.algorithms.inverse import NO_FORCE, ZERO, inertial_force, loads, motion
from kinetree.algorithms.kinematics import AT_REST
from kinetree.model import Joint, Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, solve, symmetric

REFERENCE_DEPTH = 16
"""After so many bodies on a path the reference motion starts anew, lest it grows beyond the motion itself."""


def reference(parent: Any, joint: Joint, phi: Shift, H: Array, q: Array, v: Array, still: Array, kept: float):
    """The motion at v̇ = 0 from what is kept of the parent's, and what it lacks for the rest, from the base to the tips."""
    (omega, *accelerations), _ = parent
    own = motion((omega, *(kept * x for x in accelerations)), joint, phi, H, q, v, still)
    return own, (1.0 - kept) * (phi.T @ np.concatenate(accelerations))  # α₀, r = φ* α₀_p + a − α₀


def residual(received: Array, phi: Shift, H: Array, P: Array, D: Array, G: Array, tau: Array, load: Array, r: Array):
    """What is left of the joint forces once the bodies beyond have taken theirs, from the tips to the base."""
    z = received + load  # z  = Σ φ z⁺ + M α₀ + b   (58a)
    eps = tau - H @ z  # ε  = τ − H z               (58c)
    P_plus = symmetric(P - G @ (H @ P))  # P⁺ = (1 − G H) P             (33)
    return solve(D, eps), phi @ (z + G @ eps + P_plus @ r)  # ν = D⁻¹ ε,  z⁺ = z + G ε + P⁺ r (58d, b)


def acceleration(parent: tuple[Array, Any], phi: Shift, H: Array, G: Array, nu: Array, r: Array):
    """What a body accelerates beyond the reference once that is known of its parent, from the base to the tips."""
    alpha_plus = phi.T @ parent[0] + r  # α⁺ = φ* α_p + r            (58e)
    vdot = nu - G.T @ alpha_plus  # v̇  = ν − G* α⁺             (58f)
    return alpha_plus + H.T @ vdot, vdot  # α  = α⁺ + H* v̇            (58g)


def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None) -> Array:
    """v̇ (nv,) under the joint forces τ."""
    return accelerations(model, q, v, tau, external, model.joint_inertias)


def accelerations(model: Model, q: Array, v: Array, tau: Array, external: Array | None, Gamma: Any) -> Array:
    """v̇ (nv,) under the joint forces τ, with Γ (nv_k, nv_k) of each joint.

    Accelerations count from a reference α₀, the motion at v̇ = 0, which takes the bias a of (58) in; P a is nowhere needed.
    """
    lean, tree = model.lean, model.tree
    phi, H = weights(lean, q), joint_maps(lean, q)
    own = split(model.q_slices, q), split(model.v_slices, v), split(model.v_slices, np.zeros(model.nv))
    kept = [float(depth % REFERENCE_DEPTH != 0) for depth in tree.depths]
    ground = (ZERO, ZERO, -model.gravity), None
    motions, r = unzip(scatter(tree, reference, ground, joints(lean), phi, H, *own, kept), 2)
    forces = each(inertial_force, lean.pseudo_inertias, motions, loads(lean, external))
    P, D, G = articulated(tree, phi, H, lean.inertias, Gamma)
    nu = gather(tree, residual, NO_FORCE, phi, H, P, D, G, split(model.v_slices, tau), forces, r)
    swept = scatter(tree, acceleration, (AT_REST, None), phi, H, G, nu, r)
    return stacked(unzip(swept, 2)[1], model.v_slices)


def inverse_mass_matrix(model: Model, q: Array) -> Array:
    """M_q⁻¹ (nv, nv)."""
    return sko_model(model.lean, q).mass.inv.dense()


def logdet_mass_matrix(model: Model, q: Array) -> Array:
    """log det M_q = Σ log det D(k), (53)."""
    return sko_model(model.lean, q).mass.logdet()
