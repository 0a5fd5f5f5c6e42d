"""Contact space: how contacts move, and how impulses at one move all others.

u = F φ* H* v          A = F Ω F*

F (3m, 6k) takes the motions of the k bodies to the velocities of m contacts along normal and tangents; A is Delassus' matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np

from kinetree.algorithms import kinematics, operational
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.contact.contacts import Arranged
from kinetree.evaluation import evaluate
from kinetree.model import Model
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import symmetric

Sides = tuple[tuple[int, int], ...]


@final
@dataclass(frozen=True, eq=False)
class ContactSpace:
    """Velocities u (..., 3m) [m/s] and Delassus' matrix A (..., 3m, 3m) [1/kg], of each contact normal, tangent, tangent.

    size (..., 3m) is the sum of the magnitudes that make up the diagonal of A, which says how much of it is rounding;
    wrenches (..., 3m, 2, 6) the impulse on the two bodies of a contact, body axes, for a unit impulse.
    """

    u: Array
    A: Array
    size: Array
    wrenches: Array


def contact_space(model: Model, q: Any, v: Any, contacts: Arranged) -> ContactSpace:
    """Contact space of a model at q (..., nq), moving with v (..., nv)."""
    bodies = list(contacts.bodies)
    C = evaluate(operational.compliance, model, q, bodies=contacts.bodies, frame="body")
    R, p, V = evaluate(kinematics.body_motions, model, q, v)
    moving = C, R[..., bodies, :, :], p[..., bodies, :], V[..., bodies, :]
    return ContactSpace(*_kernel(len(bodies), contacts.sides)(*moving, contacts.points, contacts.frames))


def jacobian_rows(sides: Sides, R: Array, p: Array, points: Array, frames: Array) -> list[dict[int, Array]]:
    """F: for each contact, the rows (3, 6) that belong to the places of its bodies; the world has none."""
    rows = []
    for (own, other), r, N in zip(sides, points, frames, strict=True):
        D = N @ R[own]  # directions in body axes
        found = {own: np.array([[*cross(r, d), *d] for d in D])}
        if other >= 0:
            lever, D = R[other].T @ (p[own] - p[other] + R[own] @ r), -(N @ R[other])
            found[other] = np.array([[*cross(lever, d), *d] for d in D])
        rows.append(found)
    return rows


def delassus(rows: list[dict[int, Array]], C: Array, V: Array) -> tuple[Array, Array, Array]:
    """u (3m,), A (3m, 3m) and the magnitudes that its diagonal is made of (3m,)."""
    m, k = len(rows), len(V)
    places = [slice(6 * j, 6 * j + 6) for j in range(k)]
    u, A, size = np.zeros(3 * m, dtype=object), np.zeros((3 * m, 3 * m), dtype=object), np.zeros(3 * m, dtype=object)
    for c, F in enumerate(rows):
        at = slice(3 * c, 3 * c + 3)
        u[at] = sum(F[j] @ V[j] for j in F)
        FC = [sum(F[i] @ C[places[i], places[j]] for i in F) for j in range(k)]
        for d in range(c + 1):
            A[at, 3 * d : 3 * d + 3] = sum(FC[j] @ rows[d][j].T for j in rows[d])
        sizes = {j: sum(abs(F[i]) @ abs(C[places[i], places[j]]) for i in F) for j in F}
        size[at] = sum((sizes[j] * abs(F[j])).sum(axis=1) for j in F)
    return u, symmetric(A.T), size


@cache
def _kernel(k: int, sides: Sides) -> np.ufunc:
    m = len(sides)

    def sources() -> Any:
        graph = Graph()
        shapes = (6 * k, 6 * k), (k, 3, 3), (k, 3), (k, 6), (m, 3), (m, 3, 3)
        C, R, p, V, points, frames = inputs = [graph.input(shape) for shape in shapes]
        rows = jacobian_rows(sides, R, p, points, frames)
        wrenches = np.zeros((3 * m, 2, 6), dtype=object)
        for c, F in enumerate(rows):
            for place, j in enumerate(F):
                wrenches[3 * c : 3 * c + 3, place] = F[j]
        return straight_source(graph, inputs, [*delassus(rows, C, V), wrenches]), None

    return build_once("contact_space", "Contact space of bodies.", (_kernel.__wrapped__, k, sides), sources, warn=False)
