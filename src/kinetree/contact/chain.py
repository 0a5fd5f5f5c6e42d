"""A blow to the last link of a serial chain, as the document has it. Source: Chain Impulse (1)–(29), errata E-001-1 to E-001-8.

Twists [angular; linear] are referred to the world's origin, where all links share one: the weights from link to link are 1.
Vectors grow with the distance from the origin and cancel again: the impulse on a chain of five links is off by 2e-10 of itself
at 100 m, 1e-6 at a kilometre, 6e-4 at ten. `impulse_response` refers each body to its own joint and loses nothing.

>>> chain = origin_chain(model, q)
>>> blow = chain.blow(v, contact_wrench(point, normal), restitution=0.5)
>>> blow.magnitude, blow.dv, blow.joint_impulses
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import InputError
from kinetree.functions import forward_kinematics
from kinetree.model import GROUND, Model
from kinetree.spatial.scalars import Array

LOST = 1e-12
"""Of the terms that make up n* A⁻¹ n: below, they cancel, and no impulse along n moves the last link."""


@final
@dataclass(frozen=True, eq=False)
class Blow:
    """What an impulse n J on the last link did, as if it had hit something fixed: it feels −n J.

    magnitude (...) J [N s]; joint_impulses (..., N, 6) ℓ_i; dv (..., nv) jumps of the joints; twists (..., N, 6) ΔV_i.
    """

    magnitude: Array
    joint_impulses: Array
    dv: Array
    twists: Array


@final
@dataclass(frozen=True, eq=False)
class OriginChain:
    """A serial chain at some coordinates, twists at the world's origin, world axes.

    Attributes
    ----------
    s : joint twists, (..., 6, n_i) of each link
    I : spatial inertias (..., N, 6, 6)
    A_inv : constrained inverse inertias A_i⁻¹ (..., N, 6, 6), the compliance of link i with all links beyond it taken off
    Phi : propagation matrices Φ_i (..., N, 6, 6)
    """

    s: Sequence[Array]
    I: Array
    A_inv: Array
    Phi: Array

    def blow(self, v: ArrayLike, n: ArrayLike, restitution: ArrayLike = 0.0) -> Blow:
        """The link that carries all others' weight, the last, hits something fixed along the wrench n (..., 6).

        Raises InputError if no impulse along n moves the last link, as when a stretched chain is pushed along itself.
        """
        n, v, s = np.asarray(n, dtype=float), np.asarray(v, dtype=float), self.s
        ends = np.cumsum([x.shape[-1] for x in s])
        rates = np.split(v, ends[:-1], axis=-1)
        V = sum(_of(x, rate) for x, rate in zip(s, rates, strict=True))  # (7)
        A_n = _of(self.A_inv[..., -1, :, :], n)
        softness = (n * A_n).sum(-1)
        if (softness <= LOST * (np.abs(n) * _of(np.abs(self.A_inv[..., -1, :, :]), np.abs(n))).sum(-1)).any():
            raise InputError("n* A⁻¹ n is zero: no impulse along n moves the last link. Push it in another direction.")
        J = (1.0 + np.asarray(restitution)) * (n * V).sum(-1) / softness  # (22)
        nJ = n * J[..., None]
        ell = _of(self.Phi, nJ[..., None, :])  # (24)
        dV, dv, twists = np.zeros_like(nJ), [], []
        for i in range(len(s)):
            s_I = _T(s[i]) @ self.I[..., i, :, :]
            beyond = ell[..., i + 1, :] if i + 1 < len(s) else nJ
            dv.append(-np.linalg.solve(s_I @ s[i], (_of(_T(s[i]), beyond) + _of(s_I, dV))[..., None])[..., 0])  # (27)
            dV = dV + _of(s[i], dv[i])  # (28)
            twists.append(dV)
        return Blow(J, ell, np.concatenate(dv, axis=-1), np.stack(twists, axis=-2))


def origin_chain(model: Model, q: ArrayLike) -> OriginChain:
    """The chain at q (..., nq). Raises InputError if the model branches or has armatures. Cost: O(N)."""
    if list(model.parents) != [GROUND, *range(model.nbodies - 1)]:
        branching = next(k for k, parent in enumerate(model.parents) if parent != k - 1)
        raise InputError(
            f"{model.name!r} is no serial chain: body {model.body_names[branching]!r} does not hang on the body before it. "
            "kinetree.impulse_response takes any tree."
        )
    geared = [name for name, X in zip(model.joint_names, model.joint_inertias, strict=True) if X.any()]
    if geared:
        raise InputError(
            f"joint {geared[0]!r} has an armature, which the document knows nothing of. kinetree.impulse_response takes it."
        )
    R, p = forward_kinematics(model, q)
    X = np.zeros((*p.shape[:-1], 6, 6))  # motions at the joint frames, body axes, to those at the origin
    X[..., :3, :3], X[..., 3:, 3:] = R, R
    X[..., 3:, :3] = np.cross(p[..., None, :], _T(R)).swapaxes(-1, -2)
    s = [X[..., i, :, :] @ _joint_map(model, i, q) for i in range(model.nbodies)]
    X_inv = np.linalg.inv(X)
    I = _T(X_inv) @ np.stack(model.inertias) @ X_inv
    A_inv, Phi = np.zeros_like(I), np.zeros_like(I)
    inner, one = np.zeros_like(I[..., 0, :, :]), np.eye(6)
    for i in range(model.nbodies):
        s_I = _T(s[i]) @ I[..., i, :, :]
        own = s[i] @ np.linalg.inv(s_I @ s[i])
        Psi = (one - own @ s_I) @ inner  # (15)
        inner = np.linalg.solve(one + Psi @ I[..., i, :, :], own @ _T(s[i]) + Psi)  # (16)
        A_inv[..., i, :, :] = inner
    passed = np.broadcast_to(one, inner.shape)
    for i in reversed(range(model.nbodies)):
        passed = (one - I[..., i, :, :] @ A_inv[..., i, :, :]) @ passed  # (25)
        Phi[..., i, :, :] = passed
    return OriginChain(s, I, A_inv, Phi)


def contact_wrench(point: ArrayLike, normal: ArrayLike) -> Array:
    """n (..., 6) = [r × n̂; n̂] of a unit impulse along a normal (..., 3) at a point (..., 3) [m] of the world."""
    point, normal = np.broadcast_arrays(np.asarray(point, dtype=float), np.asarray(normal, dtype=float))
    return np.concatenate([np.cross(point, normal), normal], axis=-1)


def _joint_map(model: Model, k: int, q: ArrayLike) -> Array:
    """H* (..., 6, n) of a joint, body axes."""
    own = np.asarray(q, dtype=float)[..., model.q_slices[k]]
    flat = own.reshape(-1, own.shape[-1])
    maps = np.stack([np.asarray(model.bodies[k].joint.H(x), dtype=float).T for x in flat])
    return maps.reshape(*own.shape[:-1], 6, -1)


def _T(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _of(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]
