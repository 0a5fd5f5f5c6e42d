"""Laws of restitution in compiled loops: the impulses of an impact, from contact space.

    newton      w_n = A x + u + ε u_n⁻, one solve
    poisson     compression, b = u; decompression, b = u + A x₁ and normal impulses of at least ε x₁
    energetic   decompression with κ ε x₁, κ by bisection such that its work is Σ ε² of what compression took

Where energy would be gained, x lies between the impulses of ε = 0, which take energy, and those asked for, as near to these as
it may. Where no impulses do what is asked, as Newton's law may at contacts that a single joint moves, those of ε = 0 are taken.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, final

import numpy as np

from kinetree.compiler.graph import sqrt, where
from kinetree.compiler.kernel import build_once
from kinetree.compiler.parts import Written
from kinetree.compiler.routines import Area, Block, Routines
from kinetree.contact.laws import maximum, positive
from kinetree.contact.solver import Solver
from kinetree.spatial.scalars import Array, Scalar

GROWTH = 1e-12
"""Of the kinetic energy that the contacts exchange: what counts as rounding, not as growth."""
ASTRAY = 1e-6
"""Of the energy that is exchanged: what impulses may miss the laws by; no impulses obey them where it is more."""
SEARCHES, WORK, MOST_RETURNED = 40, 1e-10, 2.0
"""Halvings for Stronge's law, how exact its work is to be, and the largest multiple of ε that is looked at."""
ONE = Block()


def impulses_of(
    law: str, u: Array, A: Array, eps: Array, mu: Array, lost: Array, rank: int | None = None
) -> tuple[Array, Array, Array]:
    """x (B, 3m) [N s], residuals (B, 5) and how much of ε was possible (B,), by one of the laws.

    Velocities u (B, 3m), Delassus' matrix A (B, 3m, 3m), restitution and friction (B, m), and which directions give no way
    (B, 3m). Residuals: signorini, complementarity, cone,
    dissipation, energy, as in `Residuals`.
    """
    return _kernel(law, mu.shape[-1], rank)(u, A, eps, mu, np.asarray(lost, dtype=float))


@cache
def _kernel(law: str, m: int, rank: int | None) -> np.ufunc:
    def sources() -> Any:
        n, routines = 3 * m, Routines()
        found = routines.area(n, strides=(3,)), routines.area(5), routines.area(1)
        u, A = Area("%in", 0, (3,)), Area("%in", n, (3 * n, 3))
        eps, mu, lost = (Area("%in", n + n * n + at, strides) for at, strides in ((0, (1,)), (m, (1,)), (2 * m, (3,))))
        restituted = Restitution(routines, law, m, u, A, eps, mu, lost, *found, rank=rank)
        with restituted.parts.procedure("body", loops=True) as body:
            body.run(restituted.whole)
        return routines.source([(n,), (n, n), (m,), (m,), (n,)], [(n,), (5,), ()]), None

    doc = f"Impulses of an impact by {law}'s law: (u, A, eps, mu, lost)."
    return build_once("impact_impulses", doc, (_kernel.__wrapped__, law, m, rank), sources, warn=False)


@final
class Restitution:
    """The procedure `solve` that finds impulses x by blocks (d,), five residuals, and how much of ε was possible.

    Parameters
    ----------
    u, A, eps, mu, lost : Area
        What is given: u and lost by blocks (d,), A by blocks (d, d), the other two by numbers.
    x, residuals, possible : Area
        Where the results go.
    d, rank : int
        3, or 1 without friction: normals only; and what the rank of A is at most, if known.
    """

    def __init__(
        self,
        routines: Routines,
        law: str,
        m: int,
        u: Area,
        A: Area,
        eps: Area,
        mu: Area,
        lost: Area,
        x: Area,
        residuals: Area,
        possible: Area,
        d: int = 3,
        rank: int | None = None,
    ) -> None:
        n, self.each = d * m, Block(d)
        self.routines, self.m, self.u, self.eps, self.mu = routines, m, u, eps, mu
        self.x, self.residuals, self.possible = x, residuals, possible
        self.b, self.first, self.second, self.after = (routines.area(n, strides=(d,)) for _ in range(4))
        self.least, self.work, self.wanted = routines.area(m), routines.area(1), routines.area(1)
        self.solver = Solver(routines, m, A, self.b, self.least, mu, lost, d, rank)
        self.parts = self.solver.parts
        self.compress, self.judge = self._compress(), self._judge()
        phases: Final = {"newton": self._newton, "poisson": self._poisson, "energetic": self._energetic}[law]()
        guard, look = self._guard(), self._look()
        with self.parts.procedure("impact", loops=True) as p:
            p.run(self.solver.prepare)
            p.run(phases)
            p.run(guard)
            p.run(look)
        self.whole, self.solve = p, p.looped

    def _compress(self) -> Written:
        """b = u, and no least impulses."""
        solver = self.solver
        with self.parts.procedure("compress") as p:
            for c in p.each(0, self.m):
                p.call(solver.copy, self.u[c], self.b[c])
                p.call(solver.zero, self.least[c])
        return p

    def _judge(self) -> Written:
        """How well the phase just solved obeys the laws, kept if worse than before, and the work of its normal impulses."""
        solver, part = self.solver, self.parts.part
        worst = part("worst", _worst, [self.each, self.each, ONE, ONE, Block(5)], [Block(5)])
        worked = part("worked", _worked, [self.each, self.each, self.each, ONE], [ONE])
        with self.parts.procedure("judge") as p:
            p.call(solver.zero, self.work[0])
            for c in p.each(0, self.m):
                own = solver.best[c], solver.velocities[c]
                p.call(worst, *own, self.least[c], self.mu[c], self.residuals[0], self.residuals[0])
                p.call(worked, *own, self.b[c], self.work[0], self.work[0])
        return p

    def _newton(self) -> Written:
        solver, part = self.solver, self.parts.part
        returned = part("returned", _returned, [self.each, ONE], [self.each])
        none = part("none", lambda: np.zeros(5), [], [Block(5)])
        whole = part("whole", lambda w, b, u: w - (b - u), [self.each] * 3, [self.each])
        with self.parts.procedure("returning") as returning:
            returning.call(none, self.residuals[0])
            for c in returning.each(0, self.m):
                returning.call(returned, self.u[c], self.eps[c], self.b[c])
                returning.call(solver.zero, self.least[c])
            returning.call(solver.unity, solver.active[0])
        with self.parts.procedure("returned") as ended:
            ended.run(self.judge)
            for c in ended.each(0, self.m):
                ended.call(solver.copy, solver.best[c], self.x[c])
                ended.call(whole, solver.velocities[c], self.b[c], self.u[c], self.after[c])
        with self.parts.procedure("phases", loops=True) as p:
            p.run(returning)
            p.run(solver.solve)
            p.run(ended)
        return p

    def _poisson(self, energetic: bool = False) -> Written:
        solver, part = self.solver, self.parts.part
        none = part("none", lambda: np.zeros(5), [], [Block(5)])
        plus = part("plus", lambda a, b: a + b, [self.each, self.each], [self.each])
        asked = part("asked", lambda x, eps: eps * x[0], [self.each, ONE], [ONE])
        share = part("share", _share, [self.each, self.each, self.each, ONE, ONE], [ONE])
        search = self._search() if energetic else None
        with self.parts.procedure("between.phases") as middle:
            middle.run(self.judge)
            middle.call(solver.zero, self.wanted[0])
            for c in middle.each(0, self.m):
                own = solver.best[c], solver.velocities[c]
                middle.call(share, *own, self.b[c], self.eps[c], self.wanted[0], self.wanted[0])
                middle.call(asked, solver.best[c], self.eps[c], self.least[c])
                middle.call(solver.copy, solver.best[c], self.first[c])
                middle.call(solver.copy, solver.velocities[c], self.b[c])
            middle.call(solver.unity, solver.active[0])
        with self.parts.procedure("both.phases") as ended:
            ended.run(self.judge)
            for c in ended.each(0, self.m):
                ended.call(plus, self.first[c], solver.best[c], self.x[c])
                ended.call(solver.copy, solver.velocities[c], self.after[c])
        with self.parts.procedure("phases", loops=True) as p:
            p.run(self.compress)
            p.call(none, self.residuals[0])
            p.call(solver.unity, solver.active[0])
            p.run(solver.solve)
            p.run(middle)
            p.run(solver.solve)
            if search is not None:
                p.run(search)
            p.run(ended)
        return p

    def _energetic(self) -> Written:
        return self._poisson(energetic=True)

    def _search(self) -> Written:
        """The decompression whose work is what is wanted, by halving the interval of κ; left in the solver's results."""
        solver, part, routines = self.solver, self.parts.part, self.routines
        off, low, high, middle = (routines.area(1) for _ in range(4))
        found, moved = routines.area(self.m), routines.area(self.m * solver.d, strides=(solver.d,))
        begin = part("widest", lambda: (1.0, 0.0, MOST_RETURNED), [], [ONE] * 3)
        wrong = part("wrong", _wrong, [ONE, ONE, ONE], [ONE])
        halve = part("halve", lambda low, high: 0.5 * (low + high), [ONE, ONE], [ONE])
        narrow = part("narrow", _narrow, [ONE] * 6, [ONE, ONE])
        asked = part("asked.part", lambda x, eps, part: part * eps * x[0], [self.each, ONE, ONE], [ONE])
        worked = part("worked.again", _worked, [self.each, self.each, self.each, ONE], [ONE])
        number = part("choose.least", where, [ONE] * 3, [ONE])
        kept = (solver.best, self.second), (solver.velocities, moved)
        with self.parts.procedure("work") as work:
            work.call(solver.zero, self.work[0])
            for c in work.each(0, self.m):
                work.call(worked, solver.best[c], solver.velocities[c], self.b[c], self.work[0], self.work[0])
        with self.parts.procedure("search", loops=True) as p:
            p.run(work)
            p.call(begin, off[0], low[0], high[0])
            p.call(wrong, off[0], self.work[0], self.wanted[0], off[0])
            for c in p.each(0, self.m):
                for new, old in kept:
                    p.call(solver.copy, new[c], old[c])
                p.call(solver.same, self.least[c], found[c])
            with p.while_any(off[0], SEARCHES, usual=5):
                p.call(halve, low[0], high[0], middle[0])
                for c in p.each(0, self.m):
                    p.call(asked, self.first[c], self.eps[c], middle[0], self.least[c])
                p.call(solver.same, off[0], solver.active[0])
                p.run(solver.solve)
                p.run(work)
                for c in p.each(0, self.m):
                    for new, old in kept:
                        p.call(solver.choose, off[0], new[c], old[c], old[c])
                    p.call(number, off[0], self.least[c], found[c], found[c])
                p.call(narrow, off[0], self.work[0], self.wanted[0], middle[0], low[0], high[0], low[0], high[0])
                p.call(wrong, off[0], self.work[0], self.wanted[0], off[0])
            for c in p.each(0, self.m):
                for new, old in kept:
                    p.call(solver.copy, old[c], new[c])
                p.call(solver.same, found[c], self.least[c])
        return p

    def _guard(self) -> Written:
        """No energy is gained, and what cannot be is not asked for."""
        solver, part = self.solver, self.parts.part
        energy, swing, gains, a, half, alone, short, astray = (self.routines.area(1) for _ in range(8))
        exchanged = part("exchanged", _exchanged, [self.each, self.each, self.each, ONE, ONE], [ONE, ONE])
        gained = part("gained", _gained, [ONE, ONE, ONE, ONE, Block(5)], [ONE, ONE, ONE])
        lacking = part("lacking", _lacking, [self.each, Block(2), ONE], [ONE])
        singly = part("singly", _singly, [self.each, Block(2), ONE], [ONE])
        anew = part("anew", _anew, [ONE, Block(5)], [Block(5)])
        worst = part("worst.plastic", _worst_again, [ONE, self.each, self.each, ONE, ONE, Block(5)], [Block(5)])
        apart = part("apart", _apart, [self.each] * 4 + [ONE] * 2, [ONE] * 2)
        share = part("possible", _possible, [ONE] * 6, [ONE])
        between = part("between", _between, [ONE, ONE, self.each, self.each], [self.each])
        with self.parts.procedure("gains") as grown:
            grown.call(solver.zero, energy[0])
            grown.call(solver.zero, swing[0])
            grown.call(solver.zero, alone[0])
            grown.call(solver.zero, short[0])
            for c in grown.each(0, self.m):
                own = self.x[c], self.u[c], self.after[c]
                grown.call(exchanged, *own, energy[0], swing[0], energy[0], swing[0])
                grown.call(singly, self.u[c], solver.steps[c], alone[0], alone[0])
                grown.call(lacking, solver.velocities[c], solver.steps[c], short[0], short[0])
            sizes = energy[0], swing[0], alone[0], short[0], self.residuals[0]
            grown.call(gained, *sizes, gains[0], astray[0], self.possible[0])
        with self.parts.procedure("guard", loops=True) as p:
            p.run(grown)
            with p.while_any(gains[0], 1, usual=0.1):
                p.run(self.compress)
                p.call(solver.same, gains[0], solver.active[0])
                p.run(solver.solve)
                for each in (energy, swing, a, half):
                    p.call(solver.zero, each[0])
                for c in p.each(0, self.m):
                    own = solver.best[c], self.u[c], solver.velocities[c]
                    p.call(exchanged, *own, energy[0], swing[0], energy[0], swing[0])
                    ends = self.x[c], solver.best[c], self.after[c], solver.velocities[c]
                    p.call(apart, *ends, a[0], half[0], a[0], half[0])
                p.call(share, gains[0], astray[0], a[0], half[0], energy[0], self.possible[0], self.possible[0])
                p.call(anew, astray[0], self.residuals[0], self.residuals[0])
                for c in p.each(0, self.m):
                    own = solver.best[c], solver.velocities[c], self.least[c], self.mu[c]
                    p.call(worst, astray[0], *own, self.residuals[0], self.residuals[0])
                for c in p.each(0, self.m):
                    for plastic, new in ((solver.best, self.x), (solver.velocities, self.after)):
                        p.call(between, gains[0], self.possible[0], plastic[c], new[c], new[c])
        return p

    def _look(self) -> Written:
        """The residuals of the whole."""
        final = self.parts.part("final", _final, [self.each, self.each, self.each, Block(5)], [Block(5)])
        with self.parts.procedure("look") as p:
            for c in p.each(0, self.m):
                own = self.x[c], self.u[c], self.after[c]
                p.call(final, *own, self.residuals[0], self.residuals[0])
        return p


def _returned(u: Array, eps: Scalar) -> Array:
    return np.array([u[0] - eps * maximum(-u[0], 0.0), *u[1:]], dtype=object)  # w_n = u_n⁺ + ε u_n⁻ ≥ 0


def _worst(x: Array, w: Array, least: Scalar, mu: Scalar, found: Array) -> Array:
    new = [abs((x[0] - least) * w[0])]
    if len(x) > 1:
        limit = mu * x[0]
        tangential, slip = sqrt(x[1] * x[1] + x[2] * x[2]), sqrt(w[1] * w[1] + w[2] * w[2])
        new += [maximum(tangential - limit, 0.0), abs(limit * slip + x[1] * w[1] + x[2] * w[2])]
    found = np.array(found, dtype=object)
    for k, each in enumerate(new, start=1):
        found[k] = maximum(found[k], each)
    return found


def _worked(x: Array, w: Array, b: Array, work: Scalar) -> Scalar:
    return work + 0.5 * x[0] * (b[0] + w[0])  # ½ x_n (w_n before + w_n after)


def _share(x: Array, w: Array, b: Array, eps: Scalar, wanted: Scalar) -> Scalar:
    return wanted - eps * eps * 0.5 * x[0] * (b[0] + w[0])


def _wrong(off: Scalar, work: Scalar, wanted: Scalar) -> Scalar:
    return where(off, where(positive(abs(work - wanted) - WORK * abs(wanted)), 1.0, 0.0), 0.0)


def _narrow(off: Scalar, work: Scalar, wanted: Scalar, middle: Scalar, low: Scalar, high: Scalar) -> tuple[Scalar, Scalar]:
    less = where(positive(wanted - work), 1.0, 0.0)
    return where(off, where(less, middle, low), low), where(off, where(less, high, middle), high)


def _exchanged(x: Array, u: Array, w: Array, energy: Scalar, swing: Scalar) -> tuple[Scalar, Scalar]:
    return energy + 0.5 * (x @ (u + w)), swing + sum(abs(a * b) for a, b in zip(x, u, strict=True))


def _apart(x: Array, plastic: Array, w: Array, after: Array, a: Scalar, half: Scalar) -> tuple[Scalar, Scalar]:
    """½ d·A d and ½ d·w₀ of d = x − x₀: energy is ½ (d·A d) s² + (d·w₀) s + E₀ at x₀ + s d."""
    d = x - plastic
    return a + 0.5 * (d @ (w - after)), half + 0.5 * (d @ after)


def _singly(u: Array, steps: Array, alone: Scalar) -> Scalar:
    """The energies that contacts would exchange alone."""
    return alone + sum((step * v * v for step, v in zip((steps[0], steps[1], steps[1]), u, strict=False)), start=0.0)


def _lacking(w: Array, steps: Array, short: Scalar) -> Scalar:
    """The energies it would take alone to bring contacts to what the law asks for."""
    lack = maximum(-w[0], 0.0)
    return short + steps[0] * lack * lack


def _gained(energy: Scalar, swing: Scalar, alone: Scalar, short: Scalar, residuals: Array) -> tuple[Scalar, Scalar, Scalar]:
    """Whether it cannot stay so; whether for the laws; and how much of ε is possible if it can."""
    missed = residuals[1] + residuals[3] + short - ASTRAY * (abs(energy) + alone)
    astray = where(positive(missed), 1.0, 0.0)
    return where(positive(energy - GROWTH * swing), 1.0, astray), astray, 1.0


def _anew(astray: Scalar, found: Array) -> Array:
    return np.array([where(astray, 0.0, x) for x in found], dtype=object)  # a product would keep what is no number


def _worst_again(astray: Scalar, x: Array, w: Array, least: Scalar, mu: Scalar, found: Array) -> Array:
    new = _worst(x, w, least, mu, found)
    return np.array([where(astray, a, b) for a, b in zip(new, found, strict=True)], dtype=object)


def _possible(gains: Scalar, astray: Scalar, a: Scalar, half: Scalar, energy: Scalar, before: Scalar) -> Scalar:
    """The root s that is not negative; E₀ ≤ 0."""
    root = sqrt(maximum(half * half - a * energy, 0.0)) - half
    share = root / where(positive(a), a, 1.0) * (1.0 - 1e-9)
    return where(gains, where(astray, 0.0, maximum(1.0 - maximum(1.0 - share, 0.0), 0.0)), before)


def _between(gains: Scalar, share: Scalar, plastic: Array, x: Array) -> Array:
    mixed = [where(share, p + share * (y - p), p) for p, y in zip(plastic, x, strict=True)]
    return np.array([where(gains, new, y) for new, y in zip(mixed, x, strict=True)], dtype=object)


def _final(x: Array, u: Array, w: Array, found: Array) -> Array:
    return np.array([maximum(found[0], -w[0]), *found[1:4], found[4] + 0.5 * (x @ (u + w))], dtype=object)
