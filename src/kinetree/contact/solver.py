"""Impulses of contacts in contact space, found in compiled loops, each state on a lane that stops for itself.

First the way that mostly leads there: without friction, steps of a semismooth Newton method on the equation of `laws` from
zero; with friction `interior`, for few contacts after some sweeps and steps, and Newton's steps from where it ends. Then, for
the lanes that are left, sweeps of projected Gauss–Seidel and Newton's steps in turns, with another damping each time: what one
combination leaves, the next mostly solves. Redundant contacts make Newton's matrix singular; the damping λ 1 then picks the
step.

    x ← sweeps of x          (J + λ 1) d = −F, x ← x + d, x + d/2 or x + d/4, whichever first lessens |F|, or the last
"""

from __future__ import annotations

from functools import cache
from typing import Any, final

import numpy as np

from kinetree.compiler.graph import where
from kinetree.compiler.kernel import build_once
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.parts import Parts, Written
from kinetree.compiler.routines import Area, Block, Place, Routines
from kinetree.compiler.text import Lanes
from kinetree.contact.elimination import Elimination
from kinetree.contact.interior import BEGINNINGS, Interior
from kinetree.contact.laws import derivatives, finite, maximum, positive, sides, step_sizes, swept, velocities
from kinetree.contact.redundant import shortest
from kinetree.spatial.scalars import Array, Scalar

TOLERANCE = 1e-10
"""Of the largest impulse that some contact alone would need: how far from the laws impulses may be."""
FINE = 1e-2
"""Of that: where Newton's steps end, if they come so far."""
SWEEPS, STEPS, ENDING, TRIALS, ROUNDS = 30, 12, 6, 3, 2
"""Of Gauss–Seidel, of Newton after them and from where `interior` ends, fractions of a step that are tried, and how often all
turns are taken."""
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
FEW, MANY = 9, 4
"""Impulses up to which code is straight-line; contacts with friction beyond which nothing is tried before `interior`, if the
rank of A is at most half its size."""
SLIGHT, WEAK, KNOWN = (0.0, 1e-13, 1e-9), 1e-5, 1e-7
"""The damping of the first steps: for few contacts without friction, which are hardly ever redundant, for many, and with
friction; of the stiffest direction, what is a weak pivot, which redundant contacts have; and the damping up to which that can
be seen."""
FAR = 1e12
"""Times the goal: where Newton ended so far off, sweeps begin from zero."""
NARROW = Lanes(2)
"""For one state or two: they take half the time of a full vector."""
ONE = Block()
LAW = [Block(2), ONE, ONE]


def solved(A: Array, b: Array, least: Array, mu: Array, lost: Array, rank: int | None = None) -> Array:
    """x (B, 3m) [N s]: impulses that obey Signorini's and Coulomb's laws with the velocities A x + b after them.

    A (B, 3m, 3m), b (B, 3m), least normal impulses (B, m), friction (B, m), and which directions give no way (B, 3m). Where
    several do, contacts being redundant, a short one. Where none is found, the nearest of those looked at. `rank` is what
    the rank of A is at most, if known.
    """
    lanes = NARROW if mu.size <= NARROW.count * mu.shape[-1] else host_lanes()
    return _kernel(mu.shape[-1], rank, lanes)(A, b, least, mu, np.asarray(lost, dtype=float))


@cache
def _kernel(m: int, rank: int | None, lanes: Lanes) -> np.ufunc:
    def sources() -> Any:
        n, routines = 3 * m, Routines(lanes)
        found = routines.area(n, strides=(3,))
        A, b, lost = (Area("%in", slot, strides) for slot, strides in ((0, (3 * n, 3)), (n * n, (3,)), (n * n + 5 * m, (3,))))
        least, mu = (Area("%in", n * n + n + k * m, (1,)) for k in range(2))
        solver = Solver(routines, m, A, b, least, mu, lost, rank=rank)
        with solver.parts.procedure("body", loops=True) as body:
            body.run(solver.prepare)
            body.call(solver.unity, solver.active[0])
            body.run(solver.solve)
            for c in body.each(0, m):
                body.call(solver.copy, solver.best[c], found[c])
        return routines.source([(n, n), (n,), (m,), (m,), (n,)], [(n,)]), None

    doc = "Impulses that obey the laws of contact: (A, b, least, mu, lost)."
    return build_once("contact_impulses", doc, (_kernel.__wrapped__, m, rank, str(lanes)), sources, warn=False)


@final
class Solver:
    """Procedures that find impulses, and where they leave them.

    Parameters
    ----------
    A, b, least, mu, lost : Area
        What is given: A by blocks (d, d), b and lost by blocks (d,), the other two by numbers.
    d : int
        3, or 1 without friction: normals only.
    rank : int
        What the rank of A is at most, if known.

    Attributes
    ----------
    best, velocities, active : Area
        The impulses by blocks (d,), and A x + b of them; and, one number, which lanes are to be computed (not zero), from
        which those that are done are taken out.
    prepare, solve : Written
        What follows from A and lost alone; the impulses of the active lanes.
    """

    def __init__(
        self,
        routines: Routines,
        m: int,
        A: Area,
        b: Area,
        least: Area,
        mu: Area,
        lost: Area,
        d: int = 3,
        rank: int | None = None,
    ) -> None:
        self.rank = d * m if rank is None else rank
        self.routines, self.m, self.d, self.A, self.b, self.least, self.mu, self.lost = routines, m, d, A, b, least, mu, lost
        n, self.each = d * m, Block(d)
        self.parts = Parts(routines, n <= FEW)
        self.best, self.velocities, self.x, self.w, self.F, self.tried, self.w_tried, self.F_tried = (
            routines.area(n, strides=(d,)) for _ in range(8)
        )
        self.steps = routines.area(m, 2, strides=(2,))
        self.active, self.running, self.searching, self.taken, self.fraction = (routines.area(1) for _ in range(5))
        self.size, self.size_tried, self.best_size, self.goal = (routines.area(1) for _ in range(4))
        self.damping, self.part, self.stiff, self.redundant, self.weak = (routines.area(1) for _ in range(5))
        self.rows, self.square, self.elimination = Block(d, n), Block(d, d, stride=n), Elimination(self.parts, m, d)
        part = self.parts.part
        each = self.each
        self.zero, self.unity = part("zero", lambda: 0.0, [], [ONE]), part("unity", lambda: 1.0, [], [ONE])
        self.still, self.copy = part("still", lambda: np.zeros(d), [], [each]), part("copy", lambda x: x, [each], [each])
        self.same = part("same", lambda x: x, [ONE], [ONE])
        self.choose = part("choose", where, [ONE, each, each], [each])
        self.equation = part("equation", _equation, [self.rows, Block(n), each, each, *LAW, ONE], [each, each, ONE])
        self.prepare = self._prepare()
        self.evaluate = self._evaluate("evaluate", self.x, self.w, self.F, self.size)
        self.evaluate_tried = self._evaluate("evaluate.tried", self.tried, self.w_tried, self.F_tried, self.size_tried)
        self.keep = self._keep()
        self.solve = self._solve(self._sweeps(), *self._steps(self._step()))

    def law(self, c: Any) -> tuple[Place, Place, Place]:
        """ρ and r, the least impulse and friction of a contact."""
        return self.steps[c], self.least[c], self.mu[c]

    def _prepare(self) -> Written:
        sizes = self.parts.part("steps", step_sizes, [self.square, self.each], [Block(2)])
        stiffer = self.parts.part("stiffer", _stiffer, [self.square, ONE], [ONE])
        with self.parts.procedure("prepare") as p:
            p.call(self.zero, self.stiff[0])
            for c in p.each(0, self.m):
                p.call(sizes, self.A[c, c], self.lost[c], self.steps[c])
                p.call(stiffer, self.A[c, c], self.stiff[0], self.stiff[0])
        return p

    def _evaluate(self, name: str, x: Area, w: Area, F: Area, size: Area) -> Written:
        """w, F and |F|² of x."""
        with self.parts.procedure(name) as p:
            p.call(self.zero, size[0])
            for c in p.each(0, self.m):
                p.call(self.equation, self.A[c, 0], x[0], x[c], self.b[c], *self.law(c), size[0], w[c], F[c], size[0])
        return p

    def _keep(self) -> Written:
        """Keeps the best impulses so far, and says which lanes still have steps to do."""
        judged = self.parts.part("judged", _judged, [ONE] * 4, [ONE] * 3)
        with self.parts.procedure("keep") as p:
            best, running = self.best_size[0], self.running[0]
            p.call(judged, self.size[0], best, self.goal[0], running, self.taken[0], best, running)
            for c in p.each(0, self.m):
                p.call(self.choose, self.taken[0], self.x[c], self.best[c], self.best[c])
                p.call(self.choose, self.taken[0], self.w[c], self.velocities[c], self.velocities[c])
        return p

    def _sweeps(self) -> Written:
        inputs = [self.rows, self.square, Block(self.d * self.m), self.each, self.each, *LAW, ONE]
        swept_one = self.parts.part("sweep", swept, inputs, [self.each])
        with self.parts.procedure("sweep") as sweep:
            for c in sweep.each(0, self.m):
                own = self.A[c, 0], self.A[c, c], self.x[0], self.x[c]
                sweep.call(swept_one, *own, self.b[c], *self.law(c), self.part[0], self.x[c])
        with self.parts.procedure("sweeps", loops=True) as p:
            p.call(self.unity, self.redundant[0])
            for _ in p.each(0, SWEEPS):
                p.run(sweep)
        return p

    def _step(self) -> Written:
        """A step of Newton's method."""
        part, J, d = self.parts.part, self.elimination.matrix, self.elimination.right
        row = part("row", _row, [self.rows, self.each, self.each, *LAW, self.each], [self.rows, self.each])
        diagonal = part("diagonal", _diagonal, [self.square, self.each, self.each, *LAW, ONE], [self.square])
        begin = part("begin", lambda running: (1.0, where(running, 1.0, 0.0)), [ONE], [ONE, ONE])
        dim = part("dim", lambda damping: where(positive(damping - KNOWN), 1.0, 0.0), [ONE], [ONE])
        weak = part("weak", _weak, [self.square, Block(2), ONE, ONE], [ONE])
        number = part("choose.number", where, [ONE] * 3, [ONE])
        along = part("along", _along, [self.each, ONE, self.each, ONE, ONE], [self.each])
        decided = part("decided", _decided, [ONE] * 5, [ONE] * 5)
        with self.parts.procedure("direction", scratch=[(J, (self.d * self.m) ** 2)]) as direction:
            for c in direction.each(0, self.m):
                direction.call(row, self.A[c, 0], self.x[c], self.w[c], *self.law(c), self.F[c], J[c, 0], d[c])
                direction.call(diagonal, J[c, c], self.x[c], self.w[c], *self.law(c), self.damping[0], J[c, c])
            direction.run(self.elimination.factor)
            direction.run(self.elimination.substitute)
            direction.call(dim, self.damping[0], self.weak[0])
            for c in direction.each(0, self.m):
                direction.call(weak, J[c, c], self.steps[c], self.stiff[0], self.weak[0], self.weak[0])
            direction.call(number, self.running[0], self.weak[0], self.redundant[0], self.redundant[0])
            direction.call(begin, self.running[0], self.fraction[0], self.searching[0])
        with self.parts.procedure("try") as attempt:
            for c in attempt.each(0, self.m):
                attempt.call(along, self.x[c], self.fraction[0], d[c], self.least[c], self.goal[0], self.tried[c])
            attempt.run(self.evaluate_tried)
            state = self.size[0], self.fraction[0], self.searching[0], self.running[0]
            attempt.call(decided, self.size_tried[0], *state, self.taken[0], *state)
            for c in attempt.each(0, self.m):
                for new, old in ((self.tried, self.x), (self.w_tried, self.w), (self.F_tried, self.F)):
                    attempt.call(self.choose, self.taken[0], new[c], old[c], old[c])
        with self.parts.procedure("step", loops=True) as p:
            p.run(direction)
            with p.while_any(self.searching[0], TRIALS, usual=1.5):
                p.run(attempt)
            p.run(self.keep)
        return p

    def _steps(self, step: Written) -> tuple[Written, Written]:
        """Newton's steps, until they are there or many, or few; which lanes are to go on; and where those begin that went
        astray."""
        part = self.parts.part
        ended = part("ended", _ended, [ONE] * 4, [ONE] * 2)
        reset = part("reset", lambda off, x: where(off, 0.0, x), [ONE, self.each], [self.each])
        with self.parts.procedure("begun") as begun:
            begun.run(self.evaluate)
            begun.call(self.same, self.active[0], self.running[0])
            begun.run(self.keep)
        with self.parts.procedure("finished") as finished:
            state = self.active[0], self.best_size[0], self.size[0], self.goal[0]
            finished.call(ended, *state, self.active[0], self.taken[0])
            for c in finished.each(0, self.m):
                finished.call(reset, self.taken[0], self.x[c], self.x[c])
        found = []
        for name, most in (("steps", STEPS), ("ending", ENDING)):
            with self.parts.procedure(name, loops=True) as p:
                p.run(begun)
                with p.while_any(self.running[0], most, usual=min(most, 5)):
                    p.run(step)
                p.run(finished)
            found.append(p)
        return found[0], found[1]

    def _solve(self, sweeps: Written, steps: Written, ending: Written) -> Written:
        part, alone = self.parts.part, self.routines.area(1)
        most = part("most", _most, [self.each, *LAW[:2], ONE], [ONE])
        wanted = part("wanted", lambda x: (TOLERANCE * TOLERANCE * x * x, 1e300), [ONE], [ONE, ONE])
        gently = part("gently", lambda: SLIGHT[2 if self.d > 1 else self.m > MANY], [], [ONE])
        turns = [part(f"turn{k}", lambda turn=turn: turn[1:], [], [ONE, ONE]) for k, turn in enumerate(TURNS)]
        interior = Interior(self, self.rank) if self.d > 1 else None
        shorter = shortest(self) if self.m > 1 else None
        with self.parts.procedure("rest") as rest:
            rest.call(self.zero, alone[0])
            for c in rest.each(0, self.m):
                rest.call(most, self.b[c], self.steps[c], self.least[c], alone[0], alone[0])
                rest.call(self.still, self.x[c])
                rest.call(self.still, self.best[c])
                rest.call(self.copy, self.b[c], self.velocities[c])
            rest.call(wanted, alone[0], self.goal[0], self.best_size[0])
            rest.call(self.zero, self.redundant[0])
        with self.parts.procedure("turns", loops=True) as turning, turning.while_any(self.active[0], ROUNDS):
            for k, (times, *_) in enumerate(TURNS):
                with turning.while_any(self.active[0], 1, usual=0.1):
                    turning.call(turns[k], self.damping[0], self.part[0])
                    for _ in turning.each(0, times):
                        turning.run(sweeps)
                    turning.run(steps)
        with self.parts.procedure("solve", loops=True) as p:
            p.run(rest)
            soon = self.m > MANY and 2 * self.rank <= self.d * self.m
            if interior is not None and not soon:
                p.call(turns[0], self.damping[0], self.part[0])
                p.run(sweeps)
            p.call(gently, self.damping[0])
            if interior is None or not soon:
                p.run(steps)
            if interior is not None:
                for k, far in enumerate(BEGINNINGS):
                    with p.while_any(self.active[0], 1, usual=0.1 if k else 1.0):
                        p.call(part(f"far{k}", lambda far=far: far, [], [ONE]), interior.far[0])
                        p.run(interior.approach)
                        p.run(ending)
            with p.while_any(self.active[0], 1, usual=0.1):
                p.run(turning)
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


def _along(x: Array, part: Scalar, d: Array, least: Scalar, goal: Scalar) -> Array:
    """x + part d, with the least normal impulse where that is missed by rounding."""
    x = x + part * d
    below = least - x[0]
    return np.array([where(positive(below), where(positive(below * below - goal), x[0], least), x[0]), *x[1:]], dtype=object)


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


def _stiffer(A: Array, stiff: Scalar) -> Scalar:
    for k in range(len(A)):
        stiff = maximum(stiff, A[k, k])
    return stiff


def _weak(P: Array, steps: Array, stiff: Scalar, found: Scalar) -> Scalar:
    """Whether a pivot is weak, by their reciprocals in P; rows were scaled by ρ and r."""
    for k in range(len(P)):
        found = where(positive(WEAK * stiff * steps[min(k, 1)] * abs(P[k, k]) - 1.0), 1.0, found)
    return found


def _most(b: Array, steps: Array, least: Scalar, most: Scalar) -> Scalar:
    """The largest impulses yet of a contact alone, and of those that are asked for."""
    alone = steps[0] * abs(b[0])
    for each in b[1:]:
        alone = maximum(alone, steps[1] * abs(each))
    return maximum(most, alone + least)
