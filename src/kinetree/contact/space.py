"""Contact space: how contacts move, and how impulses at one move all others.

u = F φ* H* v          A = F Ω F*

F (3m, 6k) takes the motions of the k bodies to the velocities of m contacts along normal and tangents; A is Delassus' matrix.
In compiled loops over contacts, so that the code is as short for many as for one.
"""

from __future__ import annotations

from typing import final

import numpy as np

from kinetree.compiler.routines import Area, Block, Routines
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array

LOST = 1e-12
"""Of the terms that make up nᵀ Ω n: below, they cancel, and no impulse moves the contact in that direction."""
Sides = tuple[tuple[int, int], ...]
THREE, TURN = Block(3), Block(3, 3)


def inputs_of(k: int, m: int) -> list[tuple[int, ...]]:
    """Core shapes of what `Space` is given."""
    return [(6 * k, 6 * k), (k, 3, 3), (k, 3), (k, 6), (m, 3), (m, 3, 3)]


@final
class Space:
    """The procedure `solve` that finds velocities u [m/s] and Delassus' matrix A [1/kg] from arguments as in `inputs_of`.

    Of normals and tangents, d = 3, or of normals alone, d = 1. size is the sum of the magnitudes that make up the diagonal of
    A, which says how much of it is rounding.

    Attributes
    ----------
    u, A, size, rows : Area
        By blocks (d,) and (d, d); of F the blocks (d, 6) as `block`, [contact, side], zero for the world.
    frames : Area
        The blocks (3, 3) of the argument.
    each, block, directions : Block
        (d,), of F, and of frames.
    """

    def __init__(self, routines: Routines, k: int, sides: Sides, d: int = 3) -> None:
        m, n = len(sides), d * len(sides)
        self.u, self.A = routines.area(n, strides=(d,)), routines.area(n, n, strides=(d * n, d))
        self.size, self.rows = routines.area(n, strides=(d,)), routines.area(n, 2, 6, strides=(12 * d, 6))
        self.each, self.block, self.directions = Block(d), Block(d, 6, stride=12), Block(d, 3)
        u, A, size, each, rows, reach_of = self.u, self.A, self.size, self.each, self.block, Block(d, 6)
        two = any(other >= 0 for _, other in sides)
        starts = np.cumsum([0, *(int(np.prod(shape)) for shape in inputs_of(k, m))])
        C = Area("%in", 0, (36 * k, 6))
        R, p, V, points, self.frames = (
            Area("%in", int(at), (size,)) for at, size in zip(starts[1:], (9, 3, 6, 3, 9), strict=False)
        )
        reached = routines.area(k, d, 6, strides=(6 * d,))
        places = [routines.table(f"side{k}", [max(side[k], 0) for side in sides]) for k in range(2)]
        ends = routines.table("ends", [1 + (other >= 0) for _, other in sides])
        piece, six = routines.piece, Block(6, 6, stride=6 * k)
        here = piece("here", _here, [TURN, THREE, self.directions], [rows])
        there = piece("there", _there, [TURN, THREE, TURN, THREE, self.directions, THREE], [rows])
        speed = piece("speed", lambda F, V: F @ V, [rows, Block(6)], [each])
        more_speed = piece("more.speed", lambda F, V, u: u + F @ V, [rows, Block(6), each], [each])
        reach = piece("reach", lambda F, C: F @ C, [rows, six], [reach_of])
        more_reach = piece("more.reach", lambda F, C, X: X + F @ C, [rows, six, reach_of], [reach_of])
        square = Block(d, d, stride=n)
        block = piece("block", lambda X, F: X @ F.T, [reach_of, rows], [square])
        more_block = piece("more.block", lambda X, F, A: A + X @ F.T, [reach_of, rows, square], [square])
        mirror = piece("mirror", lambda A: A.T, [square], [square])
        symmetric = piece("symmetric", _symmetric, [square], [square])
        terms = piece("terms", _terms, [rows, six, rows, each], [each])
        nothing, no_rows = (
            piece("no.terms", lambda: np.zeros(d), [], [each]),
            piece("no.rows", lambda: np.zeros((d, 6)), [], [rows]),
        )
        with routines.procedure("space") as self.solve:
            s = self.solve
            with s.loop(0, m) as c:
                own = s.lookup(places[0], c)
                s.call(here, R[own], points[c], self.frames[c], self.rows[c, 0])
                s.call(no_rows, self.rows[c, 1])
                s.call(speed, self.rows[c, 0], V[own], u[c])
                if two:
                    with s.loop(1, s.lookup(ends, c), usual=0.5):
                        other = s.lookup(places[1], c)
                        s.call(there, R[own], p[own], R[other], p[other], self.frames[c], points[c], self.rows[c, 1])
                        s.call(more_speed, self.rows[c, 1], V[other], u[c], u[c])
            with s.loop(0, m) as c:
                own = s.lookup(places[0], c)
                s.call(nothing, size[c])
                with s.loop(0, k) as j:
                    s.call(reach, self.rows[c, 0], C[own, j], reached[j])
                s.call(terms, self.rows[c, 0], C[own, own], self.rows[c, 0], size[c], size[c])
                if two:
                    with s.loop(1, s.lookup(ends, c), usual=0.5):
                        other = s.lookup(places[1], c)
                        with s.loop(0, k) as j:
                            s.call(more_reach, self.rows[c, 1], C[other, j], reached[j], reached[j])
                        for a, i, b, j in ((0, own, 1, other), (1, other, 0, own), (1, other, 1, other)):
                            s.call(terms, self.rows[c, a], C[i, j], self.rows[c, b], size[c], size[c])
                with s.loop(0, s.plus(c, 1), usual=(m + 1) / 2) as e:
                    s.call(block, reached[s.lookup(places[0], e)], self.rows[e, 0], A[c, e])
                    if two:
                        with s.loop(1, s.lookup(ends, e), usual=0.5):
                            other = s.lookup(places[1], e)
                            s.call(more_block, reached[other], self.rows[e, 1], A[c, e], A[c, e])
                    s.call(mirror, A[c, e], A[e, c])
                s.call(symmetric, A[c, c], A[c, c])


def _here(R: Array, r: Array, N: Array) -> Array:
    D = N @ R  # directions in body axes
    return np.array([[*cross(r, d), *d] for d in D])


def _there(R: Array, p: Array, R_other: Array, p_other: Array, N: Array, r: Array) -> Array:
    lever = R_other.T @ (p - p_other + R @ r)
    return np.array([[*cross(lever, d), *d] for d in -(N @ R_other)])


def _symmetric(A: Array) -> Array:
    return np.array([[A[max(i, j), min(i, j)] for j in range(len(A))] for i in range(len(A))])


def _terms(F: Array, C: Array, G: Array, size: Array) -> Array:
    """Magnitudes that the diagonal of A is made of."""
    return size + ((np.abs(F) @ np.abs(C)) * np.abs(G)).sum(axis=1)
