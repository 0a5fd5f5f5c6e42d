"""Impulses of contacts in contact space, found in compiled loops, each state on a lane that stops for itself.

Sweeps of projected Gauss–Seidel, then steps of a semismooth Newton method on the equation of `laws`, and again from where these
end, with another damping each time: what one combination leaves, the next mostly solves. Redundant contacts make Newton's
matrix singular; the damping λ 1 then picks the step.

    x ← sweeps of x          (J + λ 1) d = −F, x ← x + d, x + d/2 or x + d/4, whichever first lessens |F|, or the last
"""

from __future__ import annotations

from functools import cache
from typing import Any, final

import numpy as np

from kinetree.compiler.graph import where
from kinetree.compiler.kernel import build_once
from kinetree.compiler.routines import Area, Block, Place, Procedure, Routines
from kinetree.contact.elimination import Elimination
from kinetree.contact.laws import derivatives, finite, maximum, positive, sides, step_sizes, swept, velocities
from kinetree.contact.redundant import shortest
from kinetree.spatial.scalars import Array, Scalar

TOLERANCE = 1e-10
"""Of the largest impulse that some contact alone would need: how far from the laws impulses may be."""
FINE = 1e-2
"""Of that: where Newton's steps end, if they come so far."""
SWEEPS, STEPS, TRIALS, ROUNDS = 30, 12, 3, 2
"""Of Gauss–Seidel, of Newton after them, fractions of a step that are tried, and how often all turns are taken."""
TURNS = (
    (1, 1e-9, 1.0),
    (1, 1e-4, 0.5),
    (1, 1e-2, 1.0),
    (1, 1e-3, 0.5),
    (10, 1e-5, 1.0),
    (1, 1e-2, 0.25),
    (10, 1e-3, 1.0),
    (1, 1e-9, 0.25),
)
"""How many times the sweeps, the damping of Newton's steps, and by how much of what its law wants a sweep changes a contact."""
FAR = 1e12
"""Times the goal: where Newton ended so far off, sweeps begin from zero."""
ONE = Block()
LAW = [Block(2), ONE, ONE]


def solved(A: Array, b: Array, least: Array, mu: Array, lost: Array) -> Array:
    """x (B, 3m) [N s]: impulses that obey Signorini's and Coulomb's laws with the velocities A x + b after them.

    A (B, 3m, 3m), b (B, 3m), least normal impulses (B, m), friction (B, m), and which directions give no way (B, 3m). Where
    several do, contacts being redundant, a short one. Where none is found, the nearest of those looked at.
    """
    return _kernel(mu.shape[-1])(A, b, least, mu, np.asarray(lost, dtype=float))


@cache
def _kernel(m: int) -> np.ufunc:
    def sources() -> Any:
        n, routines = 3 * m, Routines()
        found = routines.area(n, strides=(3,))
        A, b, lost = (Area("%in", slot, strides) for slot, strides in ((0, (3 * n, 3)), (n * n, (3,)), (n * n + 5 * m, (3,))))
        least, mu = (Area("%in", n * n + n + k * m, (1,)) for k in range(2))
        solver = Solver(routines, m, A, b, least, mu, lost)
        with routines.procedure("body") as body:
            body.run(solver.prepare)
            body.call(solver.unity, solver.active[0])
            body.run(solver.solve)
            with body.loop(0, m) as c:
                body.call(solver.copy, solver.best[c], found[c])
        return routines.source([(n, n), (n,), (m,), (m,), (n,)], [(n,)]), None

    doc = "Impulses that obey the laws of contact: (A, b, least, mu, lost)."
    return build_once("contact_impulses", doc, (_kernel.__wrapped__, m), sources, warn=False)


@final
class Solver:
    """Procedures that find impulses, and where they leave them.

    Parameters
    ----------
    A, b, least, mu, lost : Area
        What is given: A by blocks (d, d), b and lost by blocks (d,), the other two by numbers.
    d : int
        3, or 1 without friction: normals only.

    Attributes
    ----------
    best, active : Area
        The impulses by blocks (d,); and, one number, which lanes are to be computed (not zero), from which those that are
        done are taken out.
    prepare, solve : Procedure
        What follows from A and lost alone; the impulses of the active lanes.
    """

    def __init__(self, routines: Routines, m: int, A: Area, b: Area, least: Area, mu: Area, lost: Area, d: int = 3) -> None:
        self.routines, self.m, self.d, self.A, self.b, self.least, self.mu, self.lost = routines, m, d, A, b, least, mu, lost
        n, self.each = d * m, Block(d)
        self.best, self.x, self.w, self.F, self.tried, self.w_tried, self.F_tried = (
            routines.area(n, strides=(d,)) for _ in range(7)
        )
        self.steps = routines.area(m, 2, strides=(2,))
        self.active, self.running, self.searching, self.taken, self.fraction = (routines.area(1) for _ in range(5))
        self.size, self.size_tried, self.best_size, self.goal = (routines.area(1) for _ in range(4))
        self.damping, self.part = routines.area(1), routines.area(1)
        self.rows, self.square, self.elimination = Block(d, n), Block(d, d, stride=n), Elimination(routines, m, d)
        piece = routines.piece
        each = self.each
        self.zero, self.unity = piece("zero", lambda: 0.0, [], [ONE]), piece("unity", lambda: 1.0, [], [ONE])
        self.still, self.copy = piece("still", lambda: np.zeros(d), [], [each]), piece("copy", lambda x: x, [each], [each])
        self.same = piece("same", lambda x: x, [ONE], [ONE])
        self.choose = piece("choose", where, [ONE, each, each], [each])
        self.equation = piece("equation", _equation, [self.rows, Block(n), each, each, *LAW, ONE], [each, each, ONE])
        self.prepare = self._prepare()
        self.evaluate = self._evaluate("evaluate", self.x, self.w, self.F, self.size)
        self.evaluate_tried = self._evaluate("evaluate.tried", self.tried, self.w_tried, self.F_tried, self.size_tried)
        self.keep = self._keep()
        self.solve = self._solve(self._sweeps(), self._steps(self._step()), shortest(self) if m > 1 else None)

    def law(self, c: str) -> tuple[Place, Place, Place]:
        """ρ and r, the least impulse and friction of a contact."""
        return self.steps[c], self.least[c], self.mu[c]

    def _prepare(self) -> Procedure:
        sizes = self.routines.piece("steps", step_sizes, [self.square, self.each], [Block(2)])
        with self.routines.procedure("prepare") as p, p.loop(0, self.m) as c:
            p.call(sizes, self.A[c, c], self.lost[c], self.steps[c])
        return p

    def _evaluate(self, name: str, x: Area, w: Area, F: Area, size: Area) -> Procedure:
        """w, F and |F|² of x."""
        with self.routines.procedure(name) as p:
            p.call(self.zero, size[0])
            with p.loop(0, self.m) as c:
                p.call(self.equation, self.A[c, 0], x[0], x[c], self.b[c], *self.law(c), size[0], w[c], F[c], size[0])
        return p

    def _keep(self) -> Procedure:
        """Keeps the best impulses so far, and says which lanes still have steps to do."""
        judged = self.routines.piece("judged", _judged, [ONE] * 4, [ONE] * 3)
        with self.routines.procedure("keep") as p:
            best, running = self.best_size[0], self.running[0]
            p.call(judged, self.size[0], best, self.goal[0], running, self.taken[0], best, running)
            with p.loop(0, self.m) as c:
                p.call(self.choose, self.taken[0], self.x[c], self.best[c], self.best[c])
        return p

    def _sweeps(self) -> Procedure:
        inputs = [self.rows, self.square, Block(self.d * self.m), self.each, self.each, *LAW, ONE]
        sweep = self.routines.piece("sweep", swept, inputs, [self.each])
        with self.routines.procedure("sweeps") as p, p.loop(0, SWEEPS), p.loop(0, self.m) as c:
            own = self.A[c, 0], self.A[c, c], self.x[0], self.x[c]
            p.call(sweep, *own, self.b[c], *self.law(c), self.part[0], self.x[c])
        return p

    def _step(self) -> Procedure:
        """A step of Newton's method."""
        piece, J, d = self.routines.piece, self.elimination.matrix, self.elimination.right
        row = piece("row", _row, [self.rows, self.each, self.each, *LAW, self.each], [self.rows, self.each])
        diagonal = piece("diagonal", _diagonal, [self.square, self.each, self.each, *LAW, ONE], [self.square])
        begin = piece("begin", lambda running: (1.0, where(running, 1.0, 0.0)), [ONE], [ONE, ONE])
        along = piece("along", lambda x, part, d: x + part * d, [self.each, ONE, self.each], [self.each])
        decided = piece("decided", _decided, [ONE] * 5, [ONE] * 5)
        with self.routines.procedure("step") as p:
            with p.loop(0, self.m) as c:
                p.call(row, self.A[c, 0], self.x[c], self.w[c], *self.law(c), self.F[c], J[c, 0], d[c])
                p.call(diagonal, J[c, c], self.x[c], self.w[c], *self.law(c), self.damping[0], J[c, c])
            p.run(self.elimination.factor)
            p.run(self.elimination.substitute)
            p.call(begin, self.running[0], self.fraction[0], self.searching[0])
            with p.while_any(self.searching[0], TRIALS, usual=1.5):
                with p.loop(0, self.m) as c:
                    p.call(along, self.x[c], self.fraction[0], d[c], self.tried[c])
                p.run(self.evaluate_tried)
                state = self.size[0], self.fraction[0], self.searching[0], self.running[0]
                p.call(decided, self.size_tried[0], *state, self.taken[0], *state)
                with p.loop(0, self.m) as c:
                    for new, old in ((self.tried, self.x), (self.w_tried, self.w), (self.F_tried, self.F)):
                        p.call(self.choose, self.taken[0], new[c], old[c], old[c])
            p.run(self.keep)
        return p

    def _steps(self, step: Procedure) -> Procedure:
        """Newton's steps, until they are there or many; which lanes are to go on; and where those begin that went astray."""
        piece = self.routines.piece
        ended = piece("ended", _ended, [ONE] * 4, [ONE] * 2)
        reset = piece("reset", lambda off, x: where(off, 0.0, x), [ONE, self.each], [self.each])
        with self.routines.procedure("steps") as p:
            p.run(self.evaluate)
            p.call(self.same, self.active[0], self.running[0])
            p.run(self.keep)
            with p.while_any(self.running[0], STEPS, usual=5):
                p.run(step)
            p.call(ended, self.active[0], self.best_size[0], self.size[0], self.goal[0], self.active[0], self.taken[0])
            with p.loop(0, self.m) as c:
                p.call(reset, self.taken[0], self.x[c], self.x[c])
        return p

    def _solve(self, sweeps: Procedure, steps: Procedure, shorter: Procedure | None) -> Procedure:
        piece, alone = self.routines.piece, self.routines.area(1)
        most = piece("most", _most, [self.each, *LAW[:2], ONE], [ONE])
        wanted = piece("wanted", lambda x: (TOLERANCE * TOLERANCE * x * x, 1e300), [ONE], [ONE, ONE])
        turns = [piece(f"turn{k}", lambda turn=turn: turn[1:], [], [ONE, ONE]) for k, turn in enumerate(TURNS)]
        with self.routines.procedure("solve") as p:
            p.call(self.zero, alone[0])
            with p.loop(0, self.m) as c:
                p.call(most, self.b[c], self.steps[c], self.least[c], alone[0], alone[0])
                p.call(self.still, self.x[c])
                p.call(self.still, self.best[c])
            p.call(wanted, alone[0], self.goal[0], self.best_size[0])
            with p.while_any(self.active[0], ROUNDS):
                for k, (times, *_) in enumerate(TURNS):
                    with p.while_any(self.active[0], 1, usual=0.1 if k else 1.0):
                        p.call(turns[k], self.damping[0], self.part[0])
                        with p.loop(0, times):
                            p.run(sweeps)
                        p.run(steps)
            if shorter is not None:
                p.run(shorter)
        return p


def _equation(rows: Array, x: Array, own: Array, b: Array, steps: Array, least: Scalar, mu: Scalar, size: Scalar):
    w = velocities(rows, x, b)
    F = sides(own, w, steps, least, mu)
    return w, F, size + F @ F


def _judged(size: Scalar, best: Scalar, goal: Scalar, running: Scalar) -> tuple[Scalar, ...]:
    """Whether this is the best yet, what the best is, whether to go on."""
    better = where(running, where(positive(best - size), finite(size), 0.0), 0.0)
    on = where(running, where(positive(size - FINE * FINE * goal), finite(size), 0.0), 0.0)
    return better, where(better, size, best), on


def _row(rows: Array, x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar, F: Array) -> tuple[Array, Array]:
    return derivatives(x, w, steps, least, mu)[0] @ rows, -F


def _diagonal(J: Array, x: Array, w: Array, steps: Array, least: Scalar, mu: Scalar, damping: Scalar) -> Array:
    return J + derivatives(x, w, steps, least, mu)[1] + damping * np.eye(len(x))


def _decided(tried: Scalar, size: Scalar, fraction: Scalar, searching: Scalar, running: Scalar) -> tuple[Scalar, ...]:
    """Whether the step is taken; then |F|², the next fraction, whether to try it, and whether to go on at all."""
    enough = (1.0 - 0.1 * fraction) * (1.0 - 0.1 * fraction) * size
    last = where(positive(fraction - 0.5 ** (TRIALS - 1.5)), 0.0, 1.0)
    good = where(positive(tried - enough), last * finite(tried), 1.0)
    taken = where(searching, good, 0.0)
    hopeless = where(searching, last * (1.0 - good), 0.0)
    return (
        taken,
        where(taken, tried, size),
        0.5 * fraction,
        where(searching, (1.0 - good) * (1.0 - last), 0.0),
        where(hopeless, 0.0, running),
    )


def _ended(active: Scalar, best: Scalar, size: Scalar, goal: Scalar) -> tuple[Scalar, Scalar]:
    """Whether there is more to do, and whether it went astray."""
    return where(active, where(positive(best - goal), 1.0, 0.0), 0.0), where(positive(size - FAR * FAR * goal), 1.0, 0.0)


def _most(b: Array, steps: Array, least: Scalar, most: Scalar) -> Scalar:
    """The largest impulses yet of a contact alone, and of those that are asked for."""
    alone = steps[0] * abs(b[0])
    for each in b[1:]:
        alone = maximum(alone, steps[1] * abs(each))
    return maximum(most, alone + least)
