"""What contacts do to velocities: in an impact, and over a time-step.

    v⁺ = v + ℳ⁻¹ J* x          u⁺ = J v⁺ = u + A x          A = J ℳ⁻¹ J*

Rows of J are gathered from unit wrenches and ℳ⁻¹ J* is the factored solve, both for all rows in one kernel: O(N) a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinetree.algebra.rigid import sko_model
from kinetree.algebra.sweeps import each, rows, split, stacked
from kinetree.algorithms.momentum import velocity
from kinetree.algorithms.passive import held_inertias
from kinetree.compiler.compile import kernel_of
from kinetree.contact.impact import LOST
from kinetree.contact.restitution import impulses_of
from kinetree.contact.solver import solved
from kinetree.model import Model
from kinetree.simulation.contact.directions import Directions
from kinetree.simulation.contact.judgement import CLOSED, Judgement
from kinetree.simulation.contact.unilateral import Seen, Unilateral
from kinetree.simulation.impacts import Blow
from kinetree.spatial.scalars import Array, Scalar

DEEP = 0.1 * CLOSED
"""Gap or penetration [m or rad] below which nothing is corrected."""


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """J (3k, nv), (ℳ⁻¹ J*)* (3k, nv) and A (3k, 3k) of k constraints; lost (3k,) are directions in which nothing gives way;
    the rank of A is at most `rank`.
    """

    directions: Directions
    J: Array
    B: Array
    A: Array
    lost: Array
    rank: int


@final
class Contacts:
    """Constraints of a model, and what they do to its motion."""

    def __init__(self, model: Model, unilateral: Unilateral, law: str) -> None:
        self.unilateral, self._law = unilateral, law
        self._shape, self._answer = (model.nbodies, model.nv), kernel_of(answers, model)
        self._held = kernel_of(held_answers, model) if model.resists else None

    def rows(self, seen: Seen, which: Array) -> Rows:
        """Those of some constraints."""
        directions = self.unilateral.directions(seen, which)
        J, B = self._answer(seen.q, *directions.loads(*self._shape))
        A = J @ B.T
        size = (np.abs(J) * np.abs(B)).sum(axis=1)
        return Rows(directions, J, B, 0.5 * (A + A.T), np.diagonal(A) <= LOST * size, min(directions.rank, J.shape[1]))

    def ahead(self, rows: Rows, seen: Seen, h: float) -> Rows:
        """With A = J (ℳ + h B' + h² K')⁻¹ J*: what of a blow is left after a time h in which joints damp and have springs."""
        if self._held is None or not len(rows.J):
            return rows
        A = rows.J @ self._held(seen.q, seen.v, rows.J, h).T
        return replace(rows, A=0.5 * (A + A.T))

    def blow(self, t: float, seen: Seen, v: Array, judgement: Judgement) -> Blow:
        """The impact of everything that is closed."""
        closed = self.unilateral.essential(seen, np.flatnonzero(judgement.closed))
        rows, lists = self.rows(seen, closed), self.unilateral
        u, eps = rows.J @ v, judgement.eps[closed]
        rank, A, b, lost, mu, some = _with_room(rows, u, lists.friction[closed], eps)
        x = impulses_of(self._law, b, A, some, mu, lost, rank=rank)[0][0, : len(u)]
        impulses = rows.directions.world(x)
        took = np.flatnonzero(x.reshape(-1, 3).any(axis=1))
        energy = float(0.5 * x @ (2.0 * u + rows.A @ x))
        return Blow(t, seen.q, v, v + x @ rows.B, energy, closed[took], impulses[took])

    def kick(self, rows: Rows, which: Array, b: Array) -> Array:
        """x (3k,) that obeys the laws of contact with b (3k,)."""
        rank, A, some, lost, mu = _with_room(rows, b, self.unilateral.friction[which])
        return solved(A, some, np.zeros_like(mu), mu, lost, rank)[0, : len(b)]

    def lift(self, rows: Rows, depth: Array) -> Array:
        """The least displacement (nv,), in the metric of ℳ, that takes back penetrations, those of `depth` (k,) < 0."""
        b = np.zeros(len(rows.A))
        b[::3] = depth
        rank, A, some, lost, none = _with_room(rows, b, np.zeros(len(depth)))
        across = np.arange(lost.shape[-1]) % 3 > 0
        return solved(A, some, none, none, lost | across, rank)[0, : len(b)] @ rows.B


def answers(model: Model, q: Array, wrenches: Array, p: Array) -> tuple[Array, Array]:
    """J* x (nv,) and ℳ⁻¹ J* x (nv,) of impulses on bodies (nbodies, 6) and in joints (nv,)."""
    ops = sko_model(model, q)
    felt = (ops.H @ ops.phi).apply(rows(wrenches))  # J* x  = H φ W + p
    total = stacked(each(lambda a, b: a + b, felt, split(model.v_slices, p)), model.v_slices)
    return total, velocity(model, q, total)


def held_answers(model: Model, q: Array, v: Array, p: Array, h: Scalar) -> Array:
    """(ℳ + h B' + h² K')⁻¹ p (nv,), with the slopes of what joints do by themselves at (q, v)."""
    return sko_model(model.lean, q, Gamma=held_inertias(model, q, v, h)).mass.inv @ p


def _with_room(rows: Rows, b: Array, *coefficients: Array) -> tuple[Any, ...]:
    """The rank r, A (1, 3m, 3m), b and lost (1, 3m), coefficients (1, m) of k constraints and some that give no way.

    So that not every number of contacts, and rank, has a kernel of its own; at most a quarter more contacts.
    """
    k = len(b) // 3
    some = 1 << max(0, k.bit_length() - 3)
    m = -(-k // some) * some
    A, lost = np.zeros((1, 3 * m, 3 * m)), np.ones((1, 3 * m), dtype=bool)
    A[0, : 3 * k, : 3 * k], lost[0, : 3 * k] = rows.A, rows.lost
    padded = [np.concatenate([x, np.zeros(n - len(x))])[None] for x, n in ((b, 3 * m), *((c, m) for c in coefficients))]
    return min(3 * m, 6 * -(-rows.rank // 6)), A, padded[0], lost, *padded[1:]
