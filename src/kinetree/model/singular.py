"""Whether a joint moves no inertia, so that the mass matrix is singular and an acceleration unbounded."""

from collections.abc import Sequence

import numpy as np

from kinetree.model.bodies import Body
from kinetree.spatial.sixvectors import Shift, congruence
from kinetree.spatial.turns import placed

SINGULAR = 1e-12
"""Articulated inertia along a joint, as a part of the inertia with all joints behind it locked, that counts as none."""


def joint_without_inertia(bodies: Sequence[Body]) -> Body | None:
    """The first body from the tips whose joint moves no inertia in some direction while those behind it are free to move.

    det(mass matrix) = Π det D, so it is singular where some D = H P H* + Γ is; P⁺ = P − P H* D⁻¹ H P, R⁺ = R (Jain II (33)).
    Judged at a random configuration: what is singular everywhere is singular there. Nothing is computed where each
    body by itself resists every motion.
    """
    tensors = np.array([body.inertia.tensor for body in bodies])
    resists = np.linalg.eigvalsh(tensors)[:, 0] > SINGULAR * np.abs(tensors).max(axis=(1, 2))
    if resists.all() and all(body.inertia.mass > 0.0 for body in bodies):
        return None
    rng = np.random.default_rng(0)
    P = {body.name: body.inertia.matrix for body in bodies}
    R = dict(P)
    for body in reversed(bodies):
        joint, own = body.joint, body.name
        q = joint.random(rng, (), -np.ones(joint.nv), np.ones(joint.nv))
        H = joint.H(q)
        D, locked = (H @ X[own] @ H.T + np.diag(body.dynamics.armature) for X in (P, R))
        if joint.nv and np.linalg.eigvalsh(D)[0] <= SINGULAR * np.trace(locked):
            return body
        if body.parent is not None:
            turn, shift = joint.displacement(q)
            placement = body.placement
            phi = Shift(placed(placement.rotation, turn), placement.rotation @ shift + placement.translation)
            G = np.linalg.solve(D, H @ P[own]).T
            P[body.parent] = P[body.parent] + congruence(phi, P[own] - G @ H @ P[own])
            R[body.parent] = R[body.parent] + congruence(phi, R[own])
    return None
