"""Linear equations of contacts, three by each, in compiled loops: Gauss' elimination without exchange of rows.

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
    """Procedures that factor J (3m, 3m) in place, and replace the right-hand side (3m,) by the solution.

    Attributes
    ----------
    matrix : Area
        Its blocks (3, 3).
    right : Area
        Blocks (3,) of the right-hand side.
    factor, substitute : Procedure
    """

    def __init__(self, routines: Routines, m: int) -> None:
        n = 3 * m
        square, three = Block(3, 3, stride=n), Block(3)
        self.matrix, self.right = routines.area(n, n, strides=(3 * n, 3)), routines.area(n, strides=(3,))
        J, b = self.matrix, self.right
        pivot = routines.piece("pivot", pivots, [square], [square])
        across = routines.piece("across", _forward, [square, square], [square])
        below = routines.piece("below", _below, [square, square], [square])
        update = routines.piece("update", lambda L, U, J: J - L @ U, [square] * 3, [square])
        forward = routines.piece("forward", _forward, [square, three], [three])
        back = routines.piece("back", _back, [square, three], [three])
        less = routines.piece("less", lambda J, x, b: b - J @ x, [square, three, three], [three])
        half = (m - 1) / 2
        with routines.procedure("factor") as self.factor, self.factor.loop(0, m) as c:
            f = self.factor
            after = f.plus(c, 1)
            f.call(pivot, J[c, c], J[c, c])
            with f.loop(after, m, usual=half) as e:
                f.call(across, J[c, c], J[c, e], J[c, e])
            with f.loop(after, m, usual=half) as d:
                f.call(below, J[c, c], J[d, c], J[d, c])
                with f.loop(after, m, usual=2 * half / 3) as e:
                    f.call(update, J[d, c], J[c, e], J[d, e], J[d, e])
        with routines.procedure("substitute") as self.substitute:
            s: Procedure = self.substitute
            with s.loop(0, m) as c:
                s.call(forward, J[c, c], b[c], b[c])
                with s.loop(s.plus(c, 1), m, usual=half) as d:
                    s.call(less, J[d, c], b[c], b[d], b[d])
            with s.loop(0, m) as k:
                c = s.minus(m - 1, k)
                s.call(back, J[c, c], b[c], b[c])
                with s.loop(0, c, usual=half) as d:
                    s.call(less, J[d, c], b[c], b[d], b[d])


def pivots(J: Array) -> Array:
    """L below the diagonal, U above, and the reciprocals of the pivots on it."""
    J = np.array(J, dtype=object)
    for k in range(3):
        J[k, k] = 1.0 / J[k, k]
        for i in range(k + 1, 3):
            J[i, k] = J[i, k] * J[k, k]
            for j in range(k + 1, 3):
                J[i, j] = J[i, j] - J[i, k] * J[k, j]
    return J


def _forward(P: Array, x: Array) -> Array:
    """L⁻¹ x."""
    x = np.array(x, dtype=object)
    x[1] = x[1] - P[1, 0] * x[0]
    x[2] = x[2] - P[2, 0] * x[0] - P[2, 1] * x[1]
    return x


def _back(P: Array, x: Array) -> Array:
    """U⁻¹ x."""
    x = np.array(x, dtype=object)
    x[2] = x[2] * P[2, 2]
    x[1] = (x[1] - P[1, 2] * x[2]) * P[1, 1]
    x[0] = (x[0] - P[0, 1] * x[1] - P[0, 2] * x[2]) * P[0, 0]
    return x


def _below(P: Array, X: Array) -> Array:
    """X U⁻¹."""
    X = np.array(X, dtype=object)
    X[:, 0] = X[:, 0] * P[0, 0]
    X[:, 1] = (X[:, 1] - X[:, 0] * P[0, 1]) * P[1, 1]
    X[:, 2] = (X[:, 2] - X[:, 0] * P[0, 2] - X[:, 1] * P[1, 2]) * P[2, 2]
    return X
