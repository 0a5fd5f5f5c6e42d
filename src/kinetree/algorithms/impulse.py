"""What a blow does anywhere on any tree. Source: Chain Impulse (11)–(14), (19), (24), (27); Jain II (33), (58), (60).

Δv = ℳ⁻¹ H φ W        ΔV = φ* H* Δv = Ω W        f = φ (M ΔV − W)

W are impulses on the bodies, f those that the joints pass on. One gather and one scatter: with the residual z = −ψ W of what
the bodies beyond have taken already, f = P ΔV + z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.riccati import articulated
from kinetree.algebra.rigid import joint_maps, weights
from kinetree.algebra.sweeps import each, everywhere, gather, piled, rows, scatter, split, stacked, unzip
from kinetree.algorithms.inverse import NO_FORCE
from kinetree.algorithms.kinematics import AT_REST, poses
from kinetree.model import Model
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, solve


def passed_on(received: Array, phi: Shift, H: Array, D: Array, G: Array, W: Array) -> tuple[Any, Array]:
    """ν and z of a body, and what it passes on to its parent, from the tips to the base."""
    z = received - W  # z  = Σ φ z⁺ − W
    eps = -(H @ z)  # ε  = −H z
    return (solve(D, eps), z), phi @ (z + G @ eps)  # ν = D⁻¹ ε,  z⁺ = z + G ε


def jump(parent: tuple[Array, Any, Any], phi: Shift, H: Array, P: Array, G: Array, nu: Array, z: Array) -> tuple[Array, ...]:
    """How a body's motion jumps once that of its parent is known, and what its joint passes on, from the base to the tips."""
    carried = phi.T @ parent[0]  # φ* ΔV_p
    dv = nu - G.T @ carried  # Δv = ν − G* φ* ΔV_p
    dV = carried + H.T @ dv  # ΔV = φ* ΔV_p + H* Δv
    return dV, dv, P @ dV + z


def impulse_response(model: Model, q: Array, wrenches: Array) -> tuple[Array, Array, Array]:
    """Δv (nv,), ΔV (nbodies, 6) and f (nbodies, 6) under impulses [moment; force] on the bodies, all in body axes."""
    return _response(model, q, rows(wrenches))


def blow(model: Model, q: Array, point: Array, impulse: Array, *, body: int) -> tuple[Array, Array, Array]:
    """The same of one impulse [moment; force] (6,), world axes, at a point (3,) of one body, in its axes."""

    def wrench(pose: tuple[Array, Array], is_hit: float, r: Array, F: Array) -> Array:
        R, _ = pose
        force = R.T @ F[3:]
        return is_hit * np.concatenate([R.T @ F[:3] + cross(r, force), force])

    hit = [float(k == body) for k in range(model.nbodies)]
    given = everywhere(model.tree, point), everywhere(model.tree, impulse)
    return _response(model, q, each(wrench, poses(model, q), hit, *given))


def struck(model: Model, q: Array, v: Array, impulses: Array, *, bodies: tuple[int, ...]) -> tuple[Array, Array]:
    """v + Δv (nv,) and f (nbodies, 6) under impulses [moment; force] on some bodies, end to end (6k,), in body axes."""
    own = [np.array([float(k == body) for body in bodies]) for k in range(model.nbodies)]
    W = each(lambda own, given: own @ given.reshape(-1, 6), own, everywhere(model.tree, impulses))
    dv, _, f = _response(model, q, W)
    return stacked(each(lambda v, dv: v + dv, split(model.v_slices, v), split(model.v_slices, dv)), model.v_slices), f


def _response(model: Model, q: Array, W: Any) -> tuple[Array, Array, Array]:
    phi, H = weights(model, q), joint_maps(model, q)
    P, D, G = articulated(model.tree, phi, H, model.inertias, model.joint_inertias)
    nu, z = unzip(gather(model.tree, passed_on, NO_FORCE, phi, H, D, G, W), 2)
    dV, dv, f = unzip(scatter(model.tree, jump, (AT_REST, None, None), phi, H, P, G, nu, z), 3)
    return stacked(dv, model.v_slices), piled(dV), piled(f)
