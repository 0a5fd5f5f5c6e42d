"""Contact space: how contacts move, and how impulses at one move all others.

u = F φ* H* v          A = F Ω F*

F (3m, 6k) takes the motions of the k bodies that are touched to the velocities of m contacts along normal and tangents; A is
Delassus' matrix, for which see `delassus`. In compiled loops over contacts, so that the code is as short for many as for one.
"""

from __future__ import annotations

from typing import final

import numpy as np

from kinetree.compiler.graph import sqrt, where
from kinetree.compiler.routines import Area, Block, Routines
from kinetree.contact.laws import maximum, positive
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array, Scalar

Sides = tuple[tuple[int, int], ...]
"""Of each contact the place of its body, and of the other or -1 for the world, among the bodies that are touched."""
ONE, THREE, TURN = Block(), Block(3), Block(3, 3)


@final
class Space:
    """The procedure `solve` that finds frames, F and velocities u [m/s] of contacts.

    Of normals and tangents, d = 3, or of normals alone, d = 1.

    Parameters
    ----------
    R, p, V : Area
        Of the bodies that are touched: rotations (3, 3), origins (3,) and velocities (6,).
    points, normals : Area
        Of the contacts (3,), on the first body in its axes, and in the world.

    Attributes
    ----------
    u, A, size, rows : Area
        By blocks (d,) and (d, d); of F the blocks (d, 6) as `block`, [contact, side], zero for the world.
        What fills A also fills size, the magnitude of the terms that make up its diagonal: of that, some is rounding.
    frames : Area
        Rows n, t₁, t₂ (3, 3), world axes; NaN where a normal is zero.
    each, square, block, directions : Block
        (d,), of A, of F, and of frames.
    """

    def __init__(
        self, routines: Routines, sides: Sides, d: int, R: Area, p: Area, V: Area, points: Area, normals: Area
    ) -> None:
        m, n = len(sides), d * len(sides)
        self.sides, self.d = sides, d
        self.u, self.A = routines.area(n, strides=(d,)), routines.area(n, n, strides=(d * n, d))
        self.size, self.rows = routines.area(n, strides=(d,)), routines.area(n, 2, 6, strides=(12 * d, 6))
        self.frames = routines.area(m, 9, strides=(9,))
        self.each, self.square, self.block, self.directions = (
            Block(d),
            Block(d, d, stride=n),
            Block(d, 6, stride=12),
            Block(d, 3),
        )
        u, each, rows, piece = self.u, self.each, self.block, routines.piece
        self.two = any(other >= 0 for _, other in sides)
        self.places = [routines.table(f"side{k}", [max(side[k], 0) for side in sides]) for k in range(2)]
        self.ends = routines.table("ends", [1 + (other >= 0) for _, other in sides])
        axes = piece("frame", _frame, [THREE], [TURN])
        here = piece("here", _here, [TURN, THREE, self.directions], [rows])
        there = piece("there", _there, [TURN, THREE, TURN, THREE, self.directions, THREE], [rows])
        no_rows = piece("no.rows", lambda: np.zeros((d, 6)), [], [rows])
        speed = piece("speed", lambda F, V: F @ V, [rows, Block(6)], [each])
        more_speed = piece("more.speed", lambda F, V, u: u + F @ V, [rows, Block(6), each], [each])
        with routines.procedure("space") as self.solve, self.solve.loop(0, m) as c:
            s = self.solve
            own = s.lookup(self.places[0], c)
            s.call(axes, normals[c], self.frames[c])
            s.call(here, R[own], points[c], self.frames[c], self.rows[c, 0])
            s.call(speed, self.rows[c, 0], V[own], u[c])
            if self.two:
                s.call(no_rows, self.rows[c, 1])
                with s.loop(1, s.lookup(self.ends, c), usual=0.5):
                    other = s.lookup(self.places[1], c)
                    s.call(there, R[own], p[own], R[other], p[other], self.frames[c], points[c], self.rows[c, 1])
                    s.call(more_speed, self.rows[c, 1], V[other], u[c], u[c])


def _frame(normal: Array) -> Array:
    """As `contacts.frame`."""
    x, y, z = normal
    n = normal / maximum(maximum(abs(x), abs(y)), abs(z))
    x, y, z = n / sqrt(n @ n)
    sign: Scalar = where(positive(-z), -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[x, y, z], [1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]])


def _here(R: Array, r: Array, N: Array) -> Array:
    D = N @ R  # directions in body axes
    return np.array([[*cross(r, d), *d] for d in D])


def _there(R: Array, p: Array, R_other: Array, p_other: Array, N: Array, r: Array) -> Array:
    lever = R_other.T @ (p - p_other + R @ r)
    return np.array([[*cross(lever, d), *d] for d in -(N @ R_other)])
