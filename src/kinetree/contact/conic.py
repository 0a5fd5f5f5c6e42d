"""Impacts by a conic solver, from dense matrices: slow and exact, to judge other ways by. `pip install "kinetree[conic]"`.

    x = argmin ½ x·A x + (b + s)·x  over  |x_t| ≤ μ x_n,  x_n ≥ x_min          s = μ |w_t| along n          w = A x + b

For a given s a convex program, which Clarabel solves; its optimality conditions are Signorini's and Coulomb's laws (De Saxcé
and Feng, 1998) once s is that of its own solution, which is sought by iterating. Without friction s is zero: one program does.

A = J ℳ⁻¹ J* comes from the bodies' Jacobians and the mass matrix, nothing of `kinetree.contact.space`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.contact.contacts import Contact, arranged
from kinetree.contact.impact import coefficients
from kinetree.errors import InputError, KinetreeError, MissingExtraError
from kinetree.evaluation import checked_arguments
from kinetree.functions import forward_kinematics, jacobian, mass_matrix
from kinetree.model import Model
from kinetree.spatial.scalars import Array

ACCURACIES = 1e-13, 1e-12, 1e-11, 1e-10, 1e-9
"""Asked of the solver, in impulses and velocities scaled to the size of one, until it says that it got there."""
STEADY = 1e-9
"""Of the largest velocity: change of s that ends the iteration."""
ITERATIONS = 200


@final
@dataclass(frozen=True, eq=False)
class ConicImpact:
    """v (nv,) after an impact; impulses (m, 3) [N s] on the first body of each contact, world axes; and how far s still moves.

    change [m/s] is not small where the iteration did not settle: the laws may have no solution there, or several.
    """

    v: Array
    impulses: Array
    change: float


def conic_impact(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contact | Sequence[Contact],
    restitution: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
) -> ConicImpact:
    """What `kinetree.impact` finds with Newton's law of restitution, of one state, whether or not that gains energy.

    Parameters
    ----------
    q (nq,), v (nv,) : the state before
    contacts : m contacts with the world or between bodies
    restitution, friction : ε and μ, for all contacts or for each (m,)

    Raises
    ------
    MissingExtraError : Clarabel is not installed
    InputError : a batch of states; see `kinetree.impact`
    KinetreeError : Clarabel finds no solution, whatever accuracy it is asked for

    Cost: O(nv³ + m³) for each of some programs
    """
    q, v = checked_arguments(conic_impact, model, (q, v)).values()
    if q.shape != (model.nq,) or v.shape != (model.nv,):
        raise InputError(
            f"conic_impact takes one state, q ({model.nq},) and v ({model.nv},), found {q.shape} and {v.shape}. "
            "kinetree.impact takes batches."
        )
    listed = list(contacts) if isinstance(contacts, Sequence) else [contacts]
    frames = arranged(model, listed).frames
    m = len(listed)
    eps, mu = coefficients(restitution, m, "restitution", 1.0), coefficients(friction, m, "friction", np.inf)
    J = contact_jacobian(model, q, listed, frames)
    back = np.linalg.solve(mass_matrix(model, q), J.T)
    b = J @ v
    b[::3] += eps * np.minimum(b[::3], 0.0)  # w_n = u_n⁺ + ε u_n⁻
    x, change = impulses(J @ back, b, np.zeros(m), mu)
    return ConicImpact(v + back @ x, np.einsum("ci,cij->cj", x.reshape(m, 3), frames), change)


def contact_jacobian(model: Model, q: Array, contacts: list[Contact], frames: Array) -> Array:
    """J (3m, nv): velocities of contacts along their normals and tangents, from the Jacobians of bodies."""
    R, p = forward_kinematics(model, q)
    rows = []
    for contact, N in zip(contacts, frames, strict=True):
        own, point = model.body_index(contact.body), np.asarray(contact.point, dtype=float)
        J = jacobian(model, q, own, point=point)[3:]
        if contact.other is not None:
            other = model.body_index(contact.other)
            J = J - jacobian(model, q, other, point=R[other].T @ (p[own] + R[own] @ point - p[other]))[3:]
        rows.append(N @ J)
    return np.concatenate(rows)


def impulses(A: Array, b: Array, least: Array, mu: Array) -> tuple[Array, float]:
    """x (3m,) [N s] of A (3m, 3m), b (3m,), least normal impulses and friction (m,); and the last change of s [m/s]."""
    s, share, last = np.zeros_like(least), 1.0, np.inf
    x, change = np.zeros_like(b), np.inf
    for _ in range(ITERATIONS):
        x = program(A, b + np.kron(s, [1.0, 0.0, 0.0]), least, mu)
        w = (A @ x + b).reshape(-1, 3)
        wanted = mu * np.linalg.norm(w[:, 1:], axis=1)
        change = float(np.abs(wanted - s).max())
        if change <= STEADY * np.abs(b).max():
            break
        share = 0.5 * share if change > last else share
        s, last = s + share * (wanted - s), change
    return x, change


def program(A: Array, b: Array, least: Array, mu: Array) -> Array:
    """x (3m,) that makes ½ x·A x + b·x least over |x_t| ≤ μ x_n, x_n ≥ the least: convex, and A x is unique."""
    clarabel, sparse = _solver()
    m = len(mu)
    stiff = np.abs(np.diagonal(A).reshape(m, 3)).max(axis=1)
    size = 1.0 / np.sqrt(np.where(stiff > 0.0, stiff, 1.0))
    speed = max(float(np.abs(b * np.repeat(size, 3)).max()), float((least / size).max()), 1e-300)
    S = np.repeat(size, 3)
    P, linear = S[:, None] * A * S, S * b / speed
    pressed = np.eye(3 * m)[::3]
    cones = [np.diag([mu[c], 1.0, 1.0]) @ np.eye(3 * m)[3 * c : 3 * c + 3] for c in range(m)]
    rows = sparse.csc_matrix(-np.concatenate([pressed, *cones]))
    bounds = np.concatenate([-least / size / speed, np.zeros(3 * m)])
    kinds = [clarabel.NonnegativeConeT(m), *(clarabel.SecondOrderConeT(3) for _ in range(m))]
    settings, status = clarabel.DefaultSettings(), ""
    settings.verbose = False
    for accuracy in ACCURACIES:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
        found = clarabel.DefaultSolver(sparse.triu(P, format="csc"), linear, rows, bounds, kinds, settings).solve()
        status = str(found.status)
        if status == "Solved":
            return speed * S * np.array(found.x)
    raise KinetreeError(f"Clarabel found no impulses of {m} contacts, its status is {status}. kinetree.impact may.")


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel  # pyright: ignore[reportMissingImports]
        from scipy import sparse
    except ImportError:
        raise MissingExtraError('kinetree.contact.conic needs Clarabel: pip install "kinetree[conic]".') from None
    return clarabel, sparse
