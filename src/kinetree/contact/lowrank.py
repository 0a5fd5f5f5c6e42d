"""Delassus' matrix of low rank as a product: many contacts of few bodies share few ways to move.

A = G Gᵀ, G (n, r), from r sums of its columns, Q a sparse matrix of signs that is always the same (Nyström)::

    Y = A Q          C = Qᵀ Y = L Lᵀ          G = Y L⁻ᵀ

exact but for rounding where the rank of A is at most r; where it is less, the columns that C does not have are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from kinetree.compiler.graph import sqrt, where
from kinetree.compiler.parts import Parts, Written
from kinetree.compiler.routines import Block
from kinetree.contact.elimination import Elimination
from kinetree.contact.laws import maximum, positive
from kinetree.spatial.scalars import Array, Scalar

if TYPE_CHECKING:
    from kinetree.contact.solver import Solver

EACH = 4
"""Sums that a column takes part in."""
NONE = 1e-13
"""Of the largest diagonal: pivots of C below are rounding."""
SHORT = 12
"""The rank up to which equations in r are straight-line code."""


@final
class LowRank:
    """Procedures that find G, and 1 + Nᵀ M of what is made of it.

    Attributes
    ----------
    rank : int
        r, a multiple of 3.
    size : Area
        What A is scaled by on both sides first, by blocks (3,).
    G, N, M : Area
        By blocks (3, r), `wide`.
    factor, gram : Written
    inner : Elimination
        Of 1 + Nᵀ M, left in its matrix by `gram`.
    """

    def __init__(self, solver: Solver, rank: int) -> None:
        m, routines = solver.m, solver.routines
        n = 3 * m
        self.solver, self.rank = solver, min(n, 3 * -(-rank // 3))
        r = self.rank
        self.few = Parts(routines, r <= SHORT)
        self.size, self.most = routines.area(n, strides=(3,)), routines.area(1)
        self.G, self.N, self.M = (routines.area(m, 3, r, strides=(3 * r, 3)) for _ in range(3))
        self.wide, self.square = Block(3, r), Block(3, 3, stride=r)
        self.along, self.inner = routines.area(r, strides=(3,)), Elimination(self.few, r // 3, 3, "inner.")
        product = self._product()
        self.gram, self.factor = self._gram(product), self._factor(product, self._triangle())

    def _product(self) -> Written:
        """Nᵀ M, left in the matrix of `inner`."""
        S, r, parts = self.inner.matrix, self.rank, self.solver.parts
        width = next(w for w in (9, 6, 3) if r % w == 0)  # what fits into registers
        wide, some = Block(3, width, stride=r), width // 3
        blank = parts.part("rank.blank", lambda: np.zeros((3, width)), [], [wide])
        more = parts.part("rank.more", lambda N, M, S: S + N.T @ M, [self.square, wide, wide], [wide])
        with parts.procedure("rank.product") as p:
            for j in p.each(0, r // 3):
                for k in range(0, r // 3, some):
                    p.call(blank, S[j, k])
            for c in p.each(0, self.solver.m):
                for j in p.each(0, r // 3):
                    for k in range(0, r // 3, some):
                        p.call(more, self.N[c, j], self.M[c, k], S[j, k], S[j, k])
        return p

    def _gram(self, product: Written) -> Written:
        S, parts = self.inner.matrix, self.solver.parts
        unit = parts.part("rank.gram.unit", lambda S: S + np.eye(3), [self.square], [self.square])
        with parts.procedure("rank.gram") as p:
            p.run(product)
            for j in p.each(0, self.rank // 3):
                p.call(unit, S[j, j], S[j, j])
        return p

    def _triangle(self) -> Written:
        """L of C below the diagonal, with the reciprocals of its diagonal on it, in place."""
        L, parts, square, one = self.inner.matrix, self.few, self.square, Block()
        largest = parts.part("rank.root.largest", _largest, [square, one], [one])
        pivot = parts.part("rank.root.pivot", _pivot, [square, one], [square])
        below = parts.part("rank.root.below", _below, [square, square], [square])
        update = parts.part("rank.root.update", lambda A, B, C: C - A @ B.T, [square] * 3, [square])
        count = self.rank // 3
        with parts.procedure("rank.triangle") as p:
            p.call(self.solver.zero, self.most[0])
            for c in p.each(0, count):
                p.call(largest, L[c, c], self.most[0], self.most[0])
            for c in p.each(0, count):
                p.call(pivot, L[c, c], self.most[0], L[c, c])
                for k in p.each(p.plus(c, 1), count, usual=count / 2):
                    p.call(below, L[c, c], L[k, c], L[k, c])
                for k in p.each(p.plus(c, 1), count, usual=count / 2):
                    for e in p.each(p.plus(c, 1), p.plus(k, 1), usual=count / 3):
                        p.call(update, L[k, c], L[e, c], L[k, e], L[k, e])
        return p

    def _factor(self, product: Written, triangle: Written) -> Written:
        s, r, L = self.solver, self.rank, self.inner.matrix
        n, part, three = 3 * s.m, s.parts.part, Block(3)
        signs = _signs(n, r)
        sums = part("rank.root.sums", lambda: signs, [], [Block(n, r)])
        sketch = part(
            "root.sketch", lambda A, own, all: (A * own[:, None] * all) @ signs, [s.rows, three, Block(n)], [self.wide]
        )
        less = part("rank.root.less", lambda G, L, Y: Y - G @ L.T, [self.square] * 3, [self.square])
        solved = part("rank.root.solved", _below, [self.square, self.square], [self.square])
        rubbed = part(
            "root.rubbed", lambda G, mu: G * np.array([[1.0], [mu], [mu]], dtype=object), [self.wide, Block()], [self.wide]
        )
        with s.parts.procedure("rank.root") as p:
            p.call(sums, self.N[0, 0])
            for c in p.each(0, s.m):
                p.call(sketch, s.A[c, 0], self.size[c], self.size[0], self.M[c, 0])
            p.run(product)
            p.run(triangle)
            for c in p.each(0, s.m):
                for j in p.each(0, r // 3):
                    for k in p.each(0, j, usual=r / 6):
                        p.call(less, self.M[c, k], L[j, k], self.M[c, j], self.M[c, j])
                    p.call(solved, L[j, j], self.M[c, j], self.M[c, j])
                p.call(rubbed, self.M[c, 0], s.mu[c], self.G[c, 0])
        return p


def _signs(n: int, r: int) -> Array:
    """Q (n, r): each column of it in some sums of the others; or each alone, if there are as many sums."""
    if r == n:
        return np.eye(n)
    rng = np.random.default_rng(1)
    chosen = np.argsort(rng.random((n, r)), axis=1) < min(EACH, r)
    return np.where(chosen, rng.choice([-1.0, 1.0], (n, r)), 0.0)


def _largest(C: Array, most: Scalar) -> Scalar:
    for k in range(len(C)):
        most = maximum(most, C[k, k])
    return most


def _pivot(C: Array, most: Scalar) -> Array:
    """L (3, 3), reciprocals on the diagonal; 0 for what is rounding."""
    C = np.array(C, dtype=object)
    for k in range(len(C)):
        sound = positive(C[k, k] - NONE * most)
        C[k, k] = where(sound, 1.0 / sqrt(where(sound, C[k, k], 1.0)), 0.0)
        for i in range(k + 1, len(C)):
            C[i, k] = C[i, k] * C[k, k]
        for i in range(k + 1, len(C)):
            for j in range(k + 1, i + 1):
                C[i, j] = C[i, j] - C[i, k] * C[j, k]
    return C


def _below(L: Array, X: Array) -> Array:
    """X L⁻ᵀ."""
    X = np.array(X, dtype=object)
    for j in range(len(L)):
        for k in range(j):
            X[:, j] = X[:, j] - X[:, k] * L[j, k]
        X[:, j] = X[:, j] * L[j, j]
    return X
