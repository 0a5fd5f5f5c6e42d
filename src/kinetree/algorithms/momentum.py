"""Hamilton's equations in O(N). Source: Hamilton [3]–[11], (P.1)–(P.5), for every joint.

V = φ* H* v        𝒦 = φ M V        p = H 𝒦 + Γ v        v = ℳ⁻¹ p

ṗ = τ + H (W − V ×* 𝒦) + Ḣ 𝒦        W = φ (gravity and external wrenches)

Γ v̇ is part of ṗ and of what τ does, so that Γ is not in the second equation: Γ is constant, and a joint with one has v = q̇.

𝒦(k) = [angular momentum about the joint frame of body k; linear momentum] of body k and all it carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.rigid import joint_maps, joints, sko_model, weights
from kinetree.algebra.sweeps import each, gather, piled, scatter, split, stacked, total, unzip
from kinetree.algorithms.inverse import NO_FORCE, loads
from kinetree.algorithms.kinematics import first_moment, velocities
from kinetree.model import Joint, Model
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, cross_force


def momentum(model: Model, q: Array, v: Array) -> Array:
    """p (nv,) = ℳ v, one sweep out and one back."""
    return sko_model(model.lean.grouped, q).mass @ v


def velocity(model: Model, q: Array, p: Array) -> Array:
    """v (nv,) = ℳ⁻¹ p by the factored form, (P.5b)."""
    return sko_model(model.lean, q).mass.inv @ p


def momenta(received: Array, phi: Shift, M: Array, V: Array, load: Array) -> tuple[Any, Any]:
    """𝒦 and W of a body and all it carries, from the tips to the base."""
    K, W = received[0] + M @ V, received[1] + load  # 𝒦 = Σ φ 𝒦_j + M V,  W = Σ φ W_j + w
    return (K, W), np.stack([phi @ K, phi @ W])


def weight(g_parent: Array, phi: Shift) -> Array:
    """Gravity (3,) in the axes of a body, from the base to the tips."""
    return phi.R.T @ g_parent


def momentum_rate(model: Model, q: Array, p: Array, tau: Array, external: Array | None = None) -> Array:
    """ṗ (nv,) under the joint forces τ."""
    return momentum_and_rate(model, q, velocity(model, q, p), tau, external)[1]


def momentum_and_rate(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None) -> tuple[Array, Array]:
    """p (nv,) = ℳ v and ṗ (nv,) of a motion at velocity v, one sweep out and one back."""
    lean, tree = model.lean.grouped, model.tree
    phi, H = weights(lean, q), joint_maps(lean, q)
    V = velocities(lean, phi, H, v)
    gravity = scatter(tree, weight, model.gravity, phi)
    acting = each(_force, lean.pseudo_inertias, gravity, loads(lean, external))
    K, W = unzip(gather(tree, momenta, np.stack([NO_FORCE, NO_FORCE]), phi, lean.inertias, V, acting), 2)

    def node(joint: Joint, H: Array, Gamma: Array, q: Array, v: Array, tau: Array, V: Array, K: Array, W: Array):
        return H @ K + Gamma @ v, tau + H @ (W - cross_force(V, K)) + joint.H_rate(q, v) @ K

    own = split(model.q_slices, q), split(model.v_slices, v), split(model.v_slices, tau)
    p, rate = unzip(each(node, joints(lean), H, lean.joint_inertias, *own, V, K, W), 2)
    return stacked(p, model.v_slices), stacked(rate, model.v_slices)


def hamiltonian(model: Model, q: Array, p: Array) -> Array:
    """H = ½ p* ℳ⁻¹ p − Σ m g·r."""
    v = velocity(model, q, p)
    kinetic = total(each(lambda p, v: 0.5 * (p @ v), split(model.v_slices, p), split(model.v_slices, v)))
    return np.asarray(kinetic + -(model.gravity @ first_moment(model, q)))


def _force(J: Array, gravity: Array, load: Array) -> Array:
    """The wrench (6,) of gravity and of what acts from outside on a body."""
    h, m = J[:3, 3], J[3, 3]
    return np.concatenate([cross(h, gravity), m * gravity]) + load


def spatial_momenta(model: Model, q: Array, v: Array) -> Array:
    """𝒦 = φ M φ* H* v (nbodies, 6): momenta of each body and all it carries, about its joint frame, body axes."""
    s = sko_model(model, q)
    return piled((s.phi @ s.M @ s.phi.T @ s.H.T).apply(split(model.v_slices, v)))
