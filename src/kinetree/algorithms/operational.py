"""Operational-space compliance by blocks of Ω. Source: Jain II (59), (60).

J M_q⁻¹ J* = blocks of Ω = ψ* H* D⁻¹ H ψ, of one or two bodies as that product itself, ψ applied to unit wrenches on them by one
gather; of more by the backward Lyapunov equation (25).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algebra.riccati import articulated
from kinetree.algebra.rigid import joint_maps, sko_model, weights
from kinetree.algebra.sweeps import each, gather, piled, rows, total, unzip
from kinetree.algorithms.kinematics import poses
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, plain_matrices, solve, symmetric

RANK = 1e-12
"""Eigenvalue, relative to the unit diagonal it is scaled to, below which a direction of the compliance is lost."""
MOST_GATHERED = 2
"""Bodies up to which the product is cheaper than the blocks: every body on the way adds to all blocks."""


def compliance(model: Model, q: Array, *, bodies: tuple[int, ...], frame: str) -> Array:
    """Blocks (i, j) of Ω for i, j among m bodies (6m, 6m)."""
    found = gathered if len(bodies) <= MOST_GATHERED else _blocks
    return found(model, q, bodies, frame)


def answers(model: Model, q: Array, units: list[Array]) -> tuple[list[Array], list[Array], list[Array]]:
    """H ψ F* and D⁻¹ H ψ F* of each body (n_k, c), F* (6, c) being unit wrenches on each; and (c,) how large the terms are
    that make up Σ (H ψ F*)* D⁻¹ H ψ F* = F Ω F*, before those of moments cancel.
    """
    phi, H = weights(model, q), joint_maps(model, q)
    _, D, G = articulated(model.tree, phi, H, model.inertias, model.joint_inertias)

    def through(received: Array, phi: Any, H: Array, D: Array, G: Array, F: Array) -> tuple[tuple[Array, Array], Array]:
        HX, answer, left = taken(received + F, H, D, G)
        return (HX, answer), phi @ left

    def reach(received: Array, phi: Any, H: Array, D: Array, F: Array) -> tuple[Array, Array]:
        moment, force = received + np.abs(F).reshape(2, 3, -1).sum(axis=1)
        H = np.abs(H).reshape(-1, 2, 3).sum(axis=2)
        y = H @ np.array([moment, force])
        far = np.abs(phi.d).sum()
        return (y * y * (1.0 / np.diagonal(D))[:, None]).sum(axis=0), np.array([moment + far * force, force])

    y, z = unzip(gather(model.tree, through, np.zeros_like(units[0]), phi, H, D, G, units), 2)
    nothing = np.zeros((2, units[0].shape[1]))
    return y, z, gather(model.tree, reach, nothing, phi, H, D, units)


def passed_on(received: Array, phi: Shift, H: Array, D: Array, G: Array, units: Array) -> tuple[Array, Array]:
    """What a body adds to Ω, and what it passes on to its parent of m unit wrenches (6, 6m), from the tips to the base."""
    HX, answer, left = taken(received + units, H, D, G)  # X = Σ ψ X + 1
    return symmetric(HX.T @ answer), phi @ left  # X* H* D⁻¹ H X,  ψ X = φ (1 − G H) X


def taken(X: Array, H: Array, D: Array, G: Array) -> tuple[Array, Array, Array]:
    """H X and D⁻¹ H X, what a joint feels of wrenches and how it answers; (1 − G H) X, what it leaves of them."""
    HX = H @ X
    return HX, solve(D, HX), X - G @ HX


def gathered(model: Model, q: Array, bodies: tuple[int, ...], frame: str) -> Array:
    """As `compliance`, by one gather of 6m unit wrenches over all bodies: sweeps alone, whatever m is."""
    phi, H = weights(model, q), joint_maps(model, q)
    _, D, G = articulated(model.tree, phi, H, model.inertias, model.joint_inertias)
    units = [np.kron([[float(k == body) for body in bodies]], np.eye(6)) for k in range(model.nbodies)]
    if frame == "world":
        units = each(lambda pose, W: _twice(pose[0]).T @ W, poses(model, q), units)
    nothing = np.zeros((6, 6 * len(bodies)))
    return total(gather(model.tree, passed_on, nothing, plain_matrices(phi), H, D, G, units))


def _blocks(model: Model, q: Array, bodies: tuple[int, ...], frame: str) -> Array:
    Omega = sko_model(model, q).Omega
    found = np.zeros((6 * len(bodies), 6 * len(bodies)), dtype=object)
    turned = _turns(model, q, bodies) if frame == "world" else [np.eye(6)] * len(bodies)
    for a, i in enumerate(bodies):
        for b, j in enumerate(bodies[: a + 1]):
            block = turned[a] @ Omega.blocks(i, j) @ turned[b].T
            rows, columns = slice(6 * a, 6 * a + 6), slice(6 * b, 6 * b + 6)
            found[columns, rows], found[rows, columns] = block.T, block
    return symmetric(found)


def compliance_product(model: Model, q: Array, wrenches: Array) -> Array:
    """Ω f (nbodies, 6): accelerations of all bodies under wrenches on all."""
    return piled(sko_model(model, q).Omega.apply(rows(wrenches)))


def _turns(model: Model, q: Array, bodies: tuple[int, ...]) -> list[Array]:
    """diag(R, R) of each body: motions in body axes to world axes."""
    placed = poses(model, q)
    return [_twice(placed[k][0]) for k in bodies]


def _twice(R: Array) -> Array:
    zero = np.zeros((3, 3))
    return np.block([[R, zero], [zero, R]])


def inverse_compliance(model: Model, bodies: tuple[int, ...], C: Array) -> Array:
    """Λ = C⁻¹ (..., 6m, 6m) of a compliance, or `InputError` naming the directions in which it is zero."""
    own = np.diagonal(C, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(own > RANK * own.max(axis=-1, keepdims=True), own, 1.0))
    # Scaled, so that metres and radians weigh alike.
    scaled = C / (scale[..., :, None] * scale[..., None, :])
    values, vectors = np.linalg.eigh(scaled)
    singular = values[..., 0] <= RANK
    if singular.any():
        state = tuple(map(int, np.argwhere(singular)[0]))
        lost = vectors[state][:, values[state] <= RANK] / scale[state][:, None]
        names = ", ".join(model.body_names[k] for k in bodies)
        rank = C.shape[-1] - lost.shape[1]
        at = f" at index {state} of the batch" if state else ""
        raise InputError(
            f"operational_space_inertia of {model.name!r}: the stacked Jacobian of {names} has rank "
            f"{rank} of {C.shape[-1]}{at}: nothing accelerates under {_directions(model, bodies, lost)}. "
            "Ask for fewer bodies, or use compliance, which exists always."
        )
    inverse = np.linalg.inv(scaled) / (scale[..., :, None] * scale[..., None, :])
    return 0.5 * (inverse + np.swapaxes(inverse, -1, -2))


def _directions(model: Model, bodies: tuple[int, ...], lost: Array) -> str:
    """The wrench combinations that do nothing, each by its largest parts."""
    axes = ("moment x", "moment y", "moment z", "force x", "force y", "force z")
    described = []
    for w in _plain_basis(lost.T)[:4]:
        parts = sorted((n for n in range(w.size) if abs(w[n]) > 0.01), key=lambda n: -abs(w[n]))[:4]
        told = [f"{axes[n % 6]} on {model.body_names[bodies[n // 6]]}" for n in parts]
        described.append(" ".join(part if w[n] == 1 else f"{w[n]:+.2g} {part}" for n, part in zip(parts, told, strict=True)))
    more = f"; and {lost.shape[1] - 4} more" if lost.shape[1] > 4 else ""
    return "; ".join(described) + more


def _plain_basis(W: Array) -> Array:
    """Rows that span the same space, each with a 1 where all others have 0: directions a person can read."""
    W = W.copy()
    for k in range(len(W)):
        pivot = k + int(np.argmax(np.abs(W[k:]).max(axis=1)))
        W[[k, pivot]] = W[[pivot, k]]
        column = int(np.argmax(np.abs(W[k])))
        W[k] /= W[k, column]
        others = np.arange(len(W)) != k
        W[others] -= np.outer(W[others, column], W[k])
    return W
