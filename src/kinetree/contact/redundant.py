"""Redundant contacts, more than it takes: of the impulses that do the same, the shortest.

Impulses that differ by what A maps to zero do the same to all velocities. The shortest of them are taken as far as the laws of
contact leave them free: four legs of a table then share its weight.

y with A_f y = A_f x, f the free ones, by y ← y + (A_f + ε 1)⁻¹ A_f (x − y) from y = 0: no part of y is ever one that A_f maps
to zero, and each time a share ε / (λ + ε) of what is missing of the others is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.compiler.graph import where
from kinetree.compiler.parts import Written
from kinetree.compiler.routines import Block
from kinetree.contact.laws import dot, maximum, positive
from kinetree.spatial.scalars import Array, Scalar

if TYPE_CHECKING:
    from kinetree.contact.solver import Solver

SOFT, REFINEMENTS = 1e-6, 8
"""ε over the stiffest direction, and how often."""
ONE = Block()
STILL = 10.0
"""Times the goal, both squared: what counts as no velocity."""


def shortest(solver: Solver) -> Written:
    """Makes `solver.best` shorter where it can: with all impulses free that move nothing, or else with those that press.

    Of lanes that `solver.redundant` says, and of those with contacts that move nothing without an impulse.
    """
    routines, parts, m, n, some = solver.routines, solver.parts, solver.m, solver.d * solver.m, solver.each
    J, d, square, rows = solver.elimination.matrix, solver.elimination.right, solver.square, solver.rows
    free, y, gap = (routines.area(n, strides=(solver.d,)) for _ in range(3))
    unit, redundant, wide, todo = (routines.area(1) for _ in range(4))
    best, w, taken, tried, part = solver.best, solver.velocities, solver.taken, solver.tried, parts.part
    freed = part("freed", _freed, [some, some, Block(2), ONE, ONE, ONE, ONE], [some])
    idle = part("idle", _idle, [some, some, Block(2), ONE, ONE, ONE, ONE], [ONE])
    stiffest = part("stiffest", _stiffest, [square, some, ONE], [ONE])
    masked = part(
        "masked", lambda rows, own, free, unit: rows * (own * unit)[:, None] * free, [rows, some, Block(n), ONE], [rows]
    )
    stiffened = part("stiffened", _stiffened, [square, some], [square])
    weak = part("weak.free", _weak, [square, some, ONE], [ONE])
    over = part("over", lambda most: where(most, 1.0 / where(most, most, 1.0), 0.0), [ONE], [ONE])
    missing = part("missing", lambda x, y, f: f * (x - y), [some] * 3, [some])
    right = part("right", _right, [rows, Block(n), some, ONE], [some])
    added = part("added", lambda y, d, f: y + f * d, [some] * 3, [some])
    mixed = part("mixed", lambda f, y, x: y + (1.0 - f) * x, [some] * 3, [some])
    accepted = part("accepted", _accepted, [ONE] * 4, [ONE] * 2)
    both = part("both", lambda a, b: a * b, [ONE, ONE], [ONE])
    with parts.procedure("seen") as seen:
        for c in seen.each(0, m):
            seen.call(idle, best[c], w[c], *solver.law(c), solver.goal[0], solver.redundant[0], solver.redundant[0])
        seen.call(solver.same, solver.redundant[0], todo[0])
        seen.call(solver.unity, wide[0])
    with parts.procedure("project", loops=True) as p:
        p.call(solver.zero, unit[0])
        p.call(solver.zero, redundant[0])
        for c in p.each(0, m):
            p.call(freed, best[c], w[c], *solver.law(c), solver.goal[0], wide[0], free[c])
            p.call(stiffest, solver.A[c, c], free[c], unit[0], unit[0])
            p.call(solver.still, y[c])
        p.call(over, unit[0], unit[0])
        for c in p.each(0, m):
            p.call(masked, solver.A[c, 0], free[c], free[0], unit[0], J[c, 0])
            p.call(stiffened, J[c, c], free[c], J[c, c])
        p.run(solver.elimination.factor)
        for c in p.each(0, m):
            p.call(weak, J[c, c], free[c], redundant[0], redundant[0])
        p.call(both, redundant[0], todo[0], todo[0])
        with p.while_any(todo[0], 1):
            for _ in p.each(0, REFINEMENTS):
                for c in p.each(0, m):
                    p.call(missing, best[c], y[c], free[c], gap[c])
                for c in p.each(0, m):
                    p.call(right, solver.A[c, 0], gap[0], free[c], unit[0], d[c])
                p.run(solver.elimination.substitute)
                for c in p.each(0, m):
                    p.call(added, y[c], d[c], free[c], y[c])
            for c in p.each(0, m):
                p.call(mixed, free[c], y[c], best[c], tried[c])
            p.run(solver.evaluate_tried)
            p.call(accepted, solver.size_tried[0], solver.best_size[0], solver.goal[0], todo[0], taken[0], todo[0])
            for c in p.each(0, m):
                p.call(solver.choose, taken[0], tried[c], best[c], best[c])
                p.call(solver.choose, taken[0], solver.w_tried[c], w[c], w[c])
    with parts.procedure("shortest", loops=True) as s:
        s.run(seen)
        with s.while_any(todo[0], 1, usual=0.1):
            s.run(p)
            s.call(solver.zero, wide[0])
            with s.while_any(todo[0], 1, usual=0.1):
                s.run(p)
    return s


def _freed(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar, goal: Scalar, wide: Scalar) -> Array:
    """Which impulses (3,) of a contact are free: if `wide`, those that move nothing; else normal ones above the least, and all
    three of a contact that sticks."""
    still = [
        where(positive(STILL * goal - s * s * v * v), 1.0, 0.0) for s, v in zip((steps[0], steps[1], steps[1]), w, strict=False)
    ]
    pressed = where(wide, still[0], where(positive(x[0] - least * (1.0 + 1e-10)), 1.0, 0.0))
    if len(x) == 1:
        return np.array([pressed], dtype=object)
    inside = where(positive(mu * mu * x[0] * x[0] - x[1] * x[1] - x[2] * x[2]), 1.0, 0.0)
    sticking = where(mu, pressed * where(wide, still[1] * still[2], inside), 0.0)
    return np.array([where(mu, sticking, pressed), sticking, sticking], dtype=object)


def _idle(x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar, goal: Scalar, found: Scalar) -> Scalar:
    """Whether a contact moves nothing though it has no more than the least impulse, or as much friction as it may have."""
    free = _freed(x, w, steps, least, mu, goal, 1.0)
    none = positive(STILL * goal - (x[0] - least) * (x[0] - least))
    if len(x) > 1:
        limit = mu * x[0] * (1.0 - 1e-9)
        none = where(positive(x[1] * x[1] + x[2] * x[2] - limit * limit), 1.0, none)
    return where(free[0], where(none, 1.0, found), found)


def _stiffest(A: Array, free: Array, most: Scalar) -> Scalar:
    for k in range(len(free)):
        most = maximum(most, free[k] * A[k, k])
    return most


def _stiffened(A: Array, free: Array) -> Array:
    return A + np.diag([where(f, SOFT, 1.0) for f in free])


def _weak(P: Array, free: Array, redundant: Scalar) -> Scalar:
    """Whether a pivot is hardly more than ε: P has their reciprocals."""
    found = redundant
    for k in range(len(free)):
        found = where(free[k], where(positive(8.0 * SOFT * P[k, k] - 1.0), 1.0, found), found)
    return found


def _right(rows: Array, gap: Array, own: Array, unit: Scalar) -> Array:
    return own * unit * np.array([dot(row, gap) for row in rows], dtype=object)


def _accepted(size: Scalar, best: Scalar, goal: Scalar, todo: Scalar) -> tuple[Scalar, Scalar]:
    """Whether the laws hold as before, and what is left to do."""
    worse = where(positive(size - maximum(best, goal)), 1.0, 0.0)
    taken = where(todo, 1.0 - worse, 0.0)
    return taken, where(todo, worse, 0.0)
