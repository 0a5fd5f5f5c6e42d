"""Forward dynamics of a serial chain that is cut into segments, all swept at once and joined by a small solve.

A segment has two handles: what its base is made to accelerate by, α_b, and the wrench f that the chain beyond exerts on its
last body. Its bodies answer by what a sweep from its tip finds with the tip free::

    force on the base   P α_b + z + A f          (A: how much of f the free joints between let through)
    tip's acceleration  A* α_b + c − Ω f         Ω = Σ (H A)* D⁻¹ (H A),   c = Σ (H A)* ν

and the chain beyond presents itself as P' α + z' to the tip. Jain II (33), (58) are the rows without f; Ω is the segment's own
part of the extended operational-space compliance (55).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.rigid import joint_maps, joints, weights
from kinetree.algebra.segments import at_base, at_tip, gather_segments, scatter_segments
from kinetree.algebra.sweeps import each, gather, scatter, split, stacked, unzip
from kinetree.algorithms.articulated import REFERENCE_DEPTH, reference
from kinetree.algorithms.inverse import NO_FORCE, ZERO, inertial_force, loads
from kinetree.algorithms.kinematics import AT_REST
from kinetree.model import Joint
from kinetree.spatial.scalars import Array, Scalar
from kinetree.spatial.sixvectors import Shift, congruence, solve, solve_any, symmetric

FREE_TIP = np.zeros((6, 6)), np.eye(6), np.zeros((6, 6)), NO_FORCE, AT_REST
"""P, A, Ω, z, c beyond the last body of a segment."""


def chosen(active: Scalar, new: Any, old: Any) -> Any:
    """What a body makes of the old, or the old itself where the body is not active (1 or 0)."""
    if isinstance(new, tuple):
        return tuple(chosen(active, *pair) for pair in zip(new, old, strict=True))
    return active * new + (1.0 - active) * old


def turn(parent: Any, phi: Shift, H: Array, v: Array, active: Scalar) -> Any:
    """Rotation of a body seen from the segment's base, and its angular velocity less the base's."""
    R, omega = parent
    return chosen(active, (R @ phi.R, phi.R.T @ omega + (H.T @ v)[:3]), parent)


def base_turn(before: Any, R_omega: Any) -> Any:
    """Angular velocity of a segment's tip and of its base."""
    omega_base, _ = before
    R, omega = R_omega
    return R.T @ omega_base + omega, omega_base


def moved(parent: Any, joint: Joint, phi: Shift, H: Array, q: Array, v: Array, still: Array, kept: float, active: Scalar):
    """The motion at v̇ = 0, as in `articulated.reference`."""
    own, r = reference((parent, None), joint, phi, H, q, v, still, kept)
    return chosen(active, own, parent), chosen(active, r, AT_REST)


def articulated(
    received: Any, phi: Shift, H: Array, M: Array, Gamma: Array, tau: Array, load: Array, r: Array, active: Scalar
) -> Any:
    """How a body and all the segment has beyond answer to both handles, from the tip to the base."""
    P, A, Omega, z, c = received
    P, z = P + M, z + load  #                        (33), (58a)
    HP, HA, eps = H @ P, H @ A, tau - H @ z  #       ε  = τ − H z               (58c)
    D = symmetric(HP @ H.T + Gamma)
    G = solve(D, HP).T
    nu, nu_A = solve(D, eps), solve(D, HA)
    P_plus, A_plus = symmetric(P - G @ HP), A - G @ HA
    z_plus = z + G @ eps + P_plus @ r
    message = (
        congruence(phi, P_plus),
        np.stack([phi @ a for a in A_plus.T], axis=1),  # A  = φ (1 − G H) A
        Omega + symmetric(HA.T @ nu_A),
        phi @ z_plus,
        c + nu_A.T @ eps + A_plus.T @ r,
    )
    message = chosen(active, message, received)
    return (G, nu, nu_A, message), message


def joined(received: Any, ends: Any, tip_motion: Any) -> Any:
    """How a segment and all beyond it answer to its base alone: f = P' α + z' at its tip, α = A* α_b + c − Ω f."""
    P_beyond, z_beyond = received
    P, A, Omega, z, c = ends
    _, *tip = tip_motion
    z_beyond = z_beyond + P_beyond @ np.concatenate(tip)  # counted from the tip's reference
    S = solve_any(np.eye(6) + Omega @ P_beyond, np.concatenate([A.T, (c - Omega @ z_beyond)[:, None]], axis=1))
    SA, Sc = S[:, :6], S[:, 6]  # (1 + Ω P')⁻¹ times what acts on the tip
    message = P + symmetric(A @ P_beyond @ SA), z + A @ (z_beyond + P_beyond @ Sc)
    return (P_beyond, z_beyond, SA, Sc), message


def handles(before: Any, known: Any, tip_motion: Any) -> Any:
    """Acceleration of a segment's tip, and its handles α_b and f."""
    alpha_base, _, _ = before
    P_beyond, z_beyond, SA, Sc = known
    _, *tip = tip_motion
    alpha = SA @ alpha_base + Sc
    return alpha + np.concatenate(tip), alpha_base, P_beyond @ alpha + z_beyond


def acceleration(parent: Any, f: Array, phi: Shift, H: Array, G: Array, nu: Array, nu_A: Array, r: Array, active: Scalar):
    """What a body accelerates beyond the reference, from the base to the tip."""
    alpha_plus = phi.T @ parent[0] + r  #            α⁺ = φ* α_p + r            (58e)
    vdot = nu - nu_A @ f - G.T @ alpha_plus  #       v̇  = ν − D⁻¹ H A f − G* α⁺ (58f)
    return chosen(active, alpha_plus + H.T @ vdot, parent[0]), vdot


def forward_dynamics(part: Any, q: Array, v: Array, tau: Array, external: Array | None = None) -> Array:
    """v̇ (nv,) of the bodies of each segment; `part` is the segment as if it were a model, of which bodies may be inactive."""
    lean, tree, active = part.lean, part.tree, part.active
    phi, H = weights(lean, q), joint_maps(lean, q)
    own_q, own_v, still = split(part.q_slices, q), split(part.v_slices, v), split(part.v_slices, np.zeros(part.nv))
    turned = scatter(tree, turn, (np.eye(3), ZERO), phi, H, own_v, active)
    _, omega = unzip(scatter_segments(base_turn, (ZERO, ZERO), at_tip(turned)), 2)

    kept = [float(depth % REFERENCE_DEPTH != 0) for depth in tree.depths]
    ground = (omega, ZERO, ZERO), AT_REST
    swept = scatter(
        tree, lambda parent, *own: moved(parent[0], *own), ground, joints(lean), phi, H, own_q, own_v, still, kept, active
    )
    motions, r = unzip(swept, 2)
    forces = each(inertial_force, lean.pseudo_inertias, motions, loads(lean, external))
    own_tau = split(part.v_slices, tau)
    found = gather(tree, articulated, FREE_TIP, phi, H, lean.inertias, lean.joint_inertias, own_tau, forces, r, active)
    G, nu, nu_A, ends = unzip(found, 4)

    known = gather_segments(joined, (np.zeros((6, 6)), NO_FORCE), at_base(ends), at_tip(motions))
    start = np.concatenate([ZERO, -part.gravity]), AT_REST, NO_FORCE
    _, alpha, f = unzip(scatter_segments(handles, start, known, at_tip(motions)), 3)
    swept = scatter(tree, acceleration, (alpha, None), f, phi, H, G, nu, nu_A, r, active)
    return stacked(unzip(swept, 2)[1], part.v_slices)
