"""Delassus' matrix A = F Ω F* of contacts, in two ways that cost differently.

By answers, where code is straight-line: Ω = ψ* H* D⁻¹ H ψ, and H ψ F* is one gather on the way from a contact to the base.
By blocks, where code is loops over the bodies: the blocks of Ω of the bodies that are touched, one gather for all contacts.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms import operational
from kinetree.compiler.cuts import Trace
from kinetree.compiler.routines import Area, Block, Procedure, Routines
from kinetree.contact.space import Space
from kinetree.model import Model
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import symmetric as mirrored


def by_answers(routines: Routines, trace: Trace, q: Array, model: Model, bodies: tuple[int, ...], space: Space) -> Procedure:
    """Fills `space.A` and `space.size` from `space.rows`: Y = H ψ F*, Z = D⁻¹ Y, A = Y* Z."""
    m, d = len(space.sides), space.d
    moved = sorted({k for body in bodies for k in model.tree.path_to_root(body)})
    count = sum(model.v_slices[k].stop - model.v_slices[k].start for k in moved)
    Y, Z = (routines.area(m, d, count, strides=(d * count,)) for _ in range(2))
    wide = Block(d, count)

    def answer(pair: tuple[int, int]):
        def found(*rows: Array) -> tuple[Array, Array, Array]:
            units = [np.zeros((6, d))] * model.nbodies
            for place, F in zip(pair, rows, strict=False):
                units[bodies[place]] = F.T
            y, z, size = operational.answers(model, q, units)
            of = [np.concatenate([x[k] for k in moved]).T for x in (y, z)]
            return of[0], of[1], np.sum(size, axis=0)

        return found

    product = routines.piece("product", lambda y, z: y @ z.T, [wide, wide], [space.square])
    mirror, symmetric = _finish(routines, space)
    with routines.procedure("delassus") as p:
        for n, pair in enumerate(dict.fromkeys(space.sides)):
            own = [c for c, sides in enumerate(space.sides) if sides == pair]
            which, ends = routines.table(f"pair{n}", own), 1 + (pair[1] >= 0)
            piece = trace.piece(f"answer{n}", answer(pair), [space.block] * ends, [wide, wide, space.each])
            with p.loop(0, len(own)) as i:
                c = p.lookup(which, i)
                p.call(piece, *(space.rows[c, side] for side in range(ends)), Y[c], Z[c], space.size[c])
        with p.loop(0, m) as c:
            with p.loop(0, p.plus(c, 1), usual=(m + 1) / 2) as e:
                p.call(product, Y[c], Z[e], space.A[c, e])
                p.call(mirror, space.A[c, e], space.A[e, c])
            p.call(symmetric, space.A[c, c], space.A[c, c])
    return p


def by_blocks(routines: Routines, C: Area, k: int, space: Space) -> Procedure:
    """Fills `space.A` and `space.size` from `space.rows` and the blocks of Ω (6k, 6k) of k bodies."""
    m, d, A, size, rows = len(space.sides), space.d, space.A, space.size, space.rows
    each, square, block, reach_of = space.each, space.square, space.block, Block(d, 6)
    reached = routines.area(k, d, 6, strides=(6 * d,))
    piece, six, places = routines.piece, Block(6, 6, stride=6 * k), space.places
    reach = piece("reach", lambda F, C: F @ C, [block, six], [reach_of])
    more_reach = piece("more.reach", lambda F, C, X: X + F @ C, [block, six, reach_of], [reach_of])
    product = piece("product", lambda X, F: X @ F.T, [reach_of, block], [square])
    more_product = piece("more.product", lambda X, F, A: A + X @ F.T, [reach_of, block, square], [square])
    terms = piece("terms", _terms, [block, six, block, each], [each])
    nothing = piece("no.terms", lambda: np.zeros(d), [], [each])
    mirror, symmetric = _finish(routines, space)
    with routines.procedure("delassus") as s, s.loop(0, m) as c:
        own = s.lookup(places[0], c)
        s.call(nothing, size[c])
        with s.loop(0, k) as j:
            s.call(reach, rows[c, 0], C[own, j], reached[j])
        s.call(terms, rows[c, 0], C[own, own], rows[c, 0], size[c], size[c])
        if space.two:
            with s.loop(1, s.lookup(space.ends, c), usual=0.5):
                other = s.lookup(places[1], c)
                with s.loop(0, k) as j:
                    s.call(more_reach, rows[c, 1], C[other, j], reached[j], reached[j])
                for a, i, b, j in ((0, own, 1, other), (1, other, 0, own), (1, other, 1, other)):
                    s.call(terms, rows[c, a], C[i, j], rows[c, b], size[c], size[c])
        with s.loop(0, s.plus(c, 1), usual=(m + 1) / 2) as e:
            s.call(product, reached[s.lookup(places[0], e)], rows[e, 0], A[c, e])
            if space.two:
                with s.loop(1, s.lookup(space.ends, e), usual=0.5):
                    other = s.lookup(places[1], e)
                    s.call(more_product, reached[other], rows[e, 1], A[c, e], A[c, e])
            s.call(mirror, A[c, e], A[e, c])
        s.call(symmetric, A[c, c], A[c, c])
    return s


def _finish(routines: Routines, space: Space):
    """The pieces that copy a block to the other triangle, and make one on the diagonal symmetric to the last bit."""
    return (
        routines.piece("mirror", lambda A: A.T, [space.square], [space.square]),
        routines.piece("symmetric", mirrored, [space.square], [space.square]),
    )


def _terms(F: Array, C: Array, G: Array, size: Array) -> Array:
    """Magnitudes that the diagonal of A is made of."""
    return size + ((np.abs(F) @ np.abs(C)) * np.abs(G)).sum(axis=1)
