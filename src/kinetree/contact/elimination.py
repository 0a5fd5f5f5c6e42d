"""Linear equations of contacts, d for each, in compiled loops: Gauss' elimination without exchange of rows.

The matrices are A with its rows scaled, or rows of the identity, or what lies between where a contact slips, and a little more
on the diagonal; none of these asks for an exchange, and what rounding costs, the next step of Newton's method returns.
"""

from __future__ import annotations

from typing import final

import numpy as np

from kinetree.compiler.routines import Block, Procedure, Routines
from kinetree.spatial.scalars import Array


@final
class Elimination:
    """Procedures that factor J (dm, dm) in place, and replace the right-hand side (dm,) by the solution.

    Attributes
    ----------
    matrix : Area
        Its blocks (d, d).
    right : Area
        Blocks (d,) of the right-hand side.
    factor, substitute : Procedure
    """

    def __init__(self, routines: Routines, m: int, d: int) -> None:
        n = d * m
        square, some = Block(d, d, stride=n), Block(d)
        self.matrix, self.right = routines.area(n, n, strides=(d * n, d)), routines.area(n, strides=(d,))
        J, b = self.matrix, self.right
        pivot = routines.piece("pivot", pivots, [square], [square])
        across = routines.piece("across", _forward, [square, square], [square])
        below = routines.piece("below", _below, [square, square], [square])
        update = routines.piece("update", lambda L, U, J: J - L @ U, [square] * 3, [square])
        forward = routines.piece("forward", _forward, [square, some], [some])
        back = routines.piece("back", _back, [square, some], [some])
        less = routines.piece("less", lambda J, x, b: b - J @ x, [square, some, some], [some])
        half = (m - 1) / 2
        with routines.procedure("factor") as self.factor, self.factor.loop(0, m) as c:
            f = self.factor
            after = f.plus(c, 1)
            f.call(pivot, J[c, c], J[c, c])
            with f.loop(after, m, usual=half) as e:
                f.call(across, J[c, c], J[c, e], J[c, e])
            with f.loop(after, m, usual=half) as r:
                f.call(below, J[c, c], J[r, c], J[r, c])
                with f.loop(after, m, usual=2 * half / 3) as e:
                    f.call(update, J[r, c], J[c, e], J[r, e], J[r, e])
        with routines.procedure("substitute") as self.substitute:
            s: Procedure = self.substitute
            with s.loop(0, m) as c:
                s.call(forward, J[c, c], b[c], b[c])
                with s.loop(s.plus(c, 1), m, usual=half) as r:
                    s.call(less, J[r, c], b[c], b[r], b[r])
            with s.loop(0, m) as k:
                c = s.minus(m - 1, k)
                s.call(back, J[c, c], b[c], b[c])
                with s.loop(0, c, usual=half) as r:
                    s.call(less, J[r, c], b[c], b[r], b[r])


def pivots(J: Array) -> Array:
    """L below the diagonal, U above, and the reciprocals of the pivots on it."""
    J, d = np.array(J, dtype=object), len(J)
    for k in range(d):
        J[k, k] = 1.0 / J[k, k]
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
