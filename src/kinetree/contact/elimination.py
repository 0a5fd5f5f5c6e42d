"""Linear equations of contacts, d for each, in compiled loops: Gauss' elimination without exchange of rows.

The matrices are A with its rows scaled, or rows of the identity, or what lies between where a contact slips, and a little more
on the diagonal; none of these asks for an exchange, and what rounding costs, the next step of Newton's method returns. Their
diagonals are about 1: a pivot that is nothing but rounding is taken to be larger, which leaves out what redundant contacts add.
"""

from __future__ import annotations

from typing import final

import numpy as np

from kinetree.compiler.graph import where
from kinetree.compiler.parts import Parts
from kinetree.compiler.routines import Area, Block
from kinetree.contact.laws import positive
from kinetree.spatial.scalars import Array

SIZES = 4, 3, 2, 1
"""Of the blocks that are worked on."""
NOTHING, INSTEAD = 1e-13, 1e-9
"""What is rounding, and what is taken for it."""


@final
class Elimination:
    """Procedures that factor J (dm, dm) in place, and replace the right-hand side (dm,) by the solution.

    Attributes
    ----------
    matrix : Area
        Its blocks (d, d).
    right : Area
        Blocks (d,) of the right-hand side.
    factor, substitute : Written
    """

    def __init__(self, parts: Parts, m: int, d: int, name: str = "") -> None:
        n, routines = d * m, parts.routines
        self.matrix, self.right = routines.area(n, n, strides=(d * n, d)), routines.area(n, strides=(d,))
        d = next(size for size in SIZES if n % size == 0)  # the work per number that is read is most in large blocks
        m, square, some = n // d, Block(d, d, stride=n), Block(d)
        J, b = (Area(x.base, x.slot, strides) for x, strides in ((self.matrix, (d * n, d)), (self.right, (d,))))
        pivot = parts.part(f"{name}pivot", pivots, [square], [square])
        across = parts.part(f"{name}across", _forward, [square, square], [square])
        below = parts.part(f"{name}below", _below, [square, square], [square])
        update = parts.part(f"{name}update", lambda L, U, J: J - L @ U, [square] * 3, [square])
        forward = parts.part(f"{name}forward", _forward, [square, some], [some])
        back = parts.part(f"{name}back", _back, [square, some], [some])
        less = parts.part(f"{name}less", lambda J, x, b: b - J @ x, [square, some, some], [some])
        half = (m - 1) / 2
        with parts.procedure(f"{name}factor") as f:
            for c in f.each(0, m):
                after = f.plus(c, 1)
                f.call(pivot, J[c, c], J[c, c])
                for e in f.each(after, m, usual=half):
                    f.call(across, J[c, c], J[c, e], J[c, e])
                for r in f.each(after, m, usual=half):
                    f.call(below, J[c, c], J[r, c], J[r, c])
                    for e in f.each(after, m, usual=2 * half / 3):
                        f.call(update, J[r, c], J[c, e], J[r, e], J[r, e])
        with parts.procedure(f"{name}substitute") as s:
            for c in s.each(0, m):
                s.call(forward, J[c, c], b[c], b[c])
                for r in s.each(s.plus(c, 1), m, usual=half):
                    s.call(less, J[r, c], b[c], b[r], b[r])
            for k in s.each(0, m):
                c = s.minus(m - 1, k)
                s.call(back, J[c, c], b[c], b[c])
                for r in s.each(0, c, usual=half):
                    s.call(less, J[r, c], b[c], b[r], b[r])
        self.factor, self.substitute = f, s


def pivots(J: Array) -> Array:
    """L below the diagonal, U above, and the reciprocals of the pivots on it."""
    J, d = np.array(J, dtype=object), len(J)
    for k in range(d):
        J[k, k] = 1.0 / where(positive(NOTHING - abs(J[k, k])), INSTEAD, J[k, k])
        for i in range(k + 1, d):
            J[i, k] = J[i, k] * J[k, k]
            for j in range(k + 1, d):
                J[i, j] = J[i, j] - J[i, k] * J[k, j]
    return J


def _forward(P: Array, x: Array) -> Array:
    """L⁻¹ x."""
    x = np.array(x, dtype=object)
    for i in range(1, len(x)):
        for k in range(i):
            x[i] = x[i] - P[i, k] * x[k]
    return x


def _back(P: Array, x: Array) -> Array:
    """U⁻¹ x."""
    x = np.array(x, dtype=object)
    for i in reversed(range(len(x))):
        for k in range(i + 1, len(x)):
            x[i] = x[i] - P[i, k] * x[k]
        x[i] = x[i] * P[i, i]
    return x


def _below(P: Array, X: Array) -> Array:
    """X U⁻¹."""
    X = np.array(X, dtype=object)
    for j in range(len(P)):
        for k in range(j):
            X[:, j] = X[:, j] - X[:, k] * P[k, j]
        X[:, j] = X[:, j] * P[j, j]
    return X
