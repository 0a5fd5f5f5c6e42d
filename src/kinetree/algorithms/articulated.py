"""Forward dynamics and the inverse mass matrix by articulated-body inertias. Source: Jain II (33), (50), (51), (58).

M_q⁻¹ = (1 − H ψ K)* D⁻¹ (1 − H ψ K)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.riccati import articulated
from kinetree.algebra.rigid import joint_maps, lean_model, weights
from kinetree.algebra.sweeps import gather, scatter, split, stacked, unzip
from kinetree.algorithms.inverse import NO_FORCE, inertial_forces
from kinetree.algorithms.kinematics import AT_REST
from kinetree.model import Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, solve


def residual(received: Array, phi: Shift, H: Array, D: Array, G: Array, tau: Array, load: Array):
    """What is left of the joint forces once the bodies beyond have taken theirs, from the tips to the base."""
    z = received + load  # z  = Σ φ z⁺ + M α₀ + b   (58a)
    eps = tau - H @ z  # ε  = τ − H z               (58c)
    return solve(D, eps), phi @ (z + G @ eps)  # ν  = D⁻¹ ε,  z⁺ = z + G ε (58d, b)


def acceleration(parent: tuple[Array, Any], phi: Shift, H: Array, G: Array, nu: Array):
    """Acceleration of a body beyond α₀ once its parent's is known, from the base to the tips."""
    alpha_plus = phi.T @ parent[0]  #   α⁺ = φ* α_p                (58e)
    a = nu - G.T @ alpha_plus  # v̇  = ν − G* α⁺             (58f)
    return alpha_plus + H.T @ a, a  # α  = α⁺ + H* v̇            (58g)


def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None) -> Array:
    """v̇ (nv,) under the joint forces τ.

    Accelerations count from α₀, which the bodies would have at v̇ = 0. It takes the place of a in (58): P a is then nowhere
    needed, and the loads M α₀ + b are those of inverse dynamics.
    """
    phi, H = weights(model, q), joint_maps(model, q)
    loads = inertial_forces(model, phi, H, q, v, np.zeros(model.nv), external)
    _, D, G = articulated(model.tree, phi, H, model.grouped_inertias)
    nu = gather(model.tree, residual, NO_FORCE, phi, H, D, G, split(model.v_slices, tau), loads)
    swept = scatter(model.tree, acceleration, (AT_REST, None), phi, H, G, nu)
    return stacked(unzip(swept, 2)[1], model.v_slices)


def inverse_mass_matrix(model: Model, q: Array) -> Array:
    """M_q⁻¹ (nv, nv)."""
    return lean_model(model, q).mass.inv.dense()


def logdet_mass_matrix(model: Model, q: Array) -> Array:
    """log det M_q = Σ log det D(k), (53)."""
    return lean_model(model, q).mass.logdet()


def inverse_mass_product(model: Model, q: Array, x: Array) -> Array:
    """M_q⁻¹ x (nv,)."""
    return lean_model(model, q).mass.inv @ x
