"""The Coriolis matrix and the Christoffel symbols, as operators. Source: Lagrange (17)–(22).

With J = φ* H* and all motions in body axes, V~ = diag(V×):

    J̇ = φ* (Ḣ* + V~ H*) − V~ J           because V~ E* − E* V~ = Δ~ E*, Δ = H* v
    C = J* (M J̇ + B J)                    B skew, B V = V ×* M V
      = H φ M φ* (Ḣ* + V~ H*) + H φ N φ* H*        N = B − M V~ = ½ ((V ×*) M + (M V) ×̄* − M (V ×))

Any skew B makes ℳ˙ − 2 C skew; this one makes C v the Christoffel symbols of ℳ (Echeandia and Wensing, 2021).
"""

from __future__ import annotations

import numpy as np

from kinetree.algebra.elements import Diagonal
from kinetree.algebra.expression import Operator
from kinetree.algebra.rigid import joint_maps, joints, sko_model, weights
from kinetree.algebra.sweeps import each, split
from kinetree.algorithms.kinematics import velocities
from kinetree.model import Joint, Model
from kinetree.spatial.rotations import skew
from kinetree.spatial.scalars import Array


def coriolis_matrix(model: Model, q: Array, v: Array) -> Array:
    """C (nv, nv), linear in v: C v is what v̇ = 0 takes without gravity, and ℳ˙ − 2 C is skew."""
    return _coriolis(model, q, v).dense()


def coriolis_product(model: Model, q: Array, v: Array, x: Array) -> Array:
    """C x (nv,), four sweeps."""
    return _coriolis(model, q, v) @ x


def _coriolis(model: Model, q: Array, v: Array) -> Operator:
    lean = model.lean.grouped
    V = velocities(lean, weights(lean, q), joint_maps(lean, q), v)

    def rates(joint: Joint, H: Array, q: Array, v: Array, V: Array) -> Array:
        return joint.H_rate(q, v) + H @ cross_matrix(V).T

    def factors(M: Array, V: Array) -> Array:
        X = cross_matrix(V)
        return 0.5 * (momentum_matrix(M @ V) - X.T @ M - M @ X)

    s = sko_model(lean, q)
    own = split(model.q_slices, q), split(model.v_slices, v)
    A = Diagonal("A", s.joints, s.bodies, s, lambda: each(rates, joints(lean), joint_maps(lean, q), *own, V))
    N = Diagonal("N", s.bodies, s.bodies, s, lambda: each(factors, lean.inertias, V))
    return s.H @ s.phi @ s.M @ s.phi.T @ A.T + s.H @ s.phi @ N @ s.phi.T @ s.H.T


def christoffel(model: Model, q: Array) -> Array:
    """c (nv, nv, nv): c[i, j, k] = C[i, j] for v = 1 along k and 0 else."""
    return np.stack([coriolis_matrix(model, q, unit) for unit in np.eye(model.nv)], axis=-1)


def cross_matrix(V: Array) -> Array:
    """V × (6, 6), of motions; V ×* is less its transpose."""
    w, v = skew(V[:3]), skew(V[3:])
    return np.concatenate([np.concatenate([w, np.zeros((3, 3))], axis=1), np.concatenate([v, w], axis=1)])


def momentum_matrix(F: Array) -> Array:
    """F ×̄* (6, 6): F ×̄* V = V ×* F."""
    n, f = -skew(F[:3]), -skew(F[3:])
    return np.concatenate([np.concatenate([n, f], axis=1), np.concatenate([f, np.zeros((3, 3))], axis=1)])
