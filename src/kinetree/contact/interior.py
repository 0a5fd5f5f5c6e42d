"""Impulses of contacts with friction by an interior-point method, which takes about as many steps for any state.

Coulomb's law makes impulses and velocities complementary on a cone if the normal velocity is raised by μ |w_t| (De Saxcé). In
units s of each contact, and with tangents times μ, both lie in the circular cone L::

    x ∈ L, z ∈ L, x·z = 0          z = w + N(z) e          w = A x + b,  e along the normal

with N(z) = √(c z_n² + (1 − c) z_t²): at a contact that slips z_n = |z_t|, and N is |z_t|, as De Saxcé has it; one that sticks
has z = 0; and one that separates has w_n > 0 either way. Unlike |z_t|, N bends gently near z = 0, on the way to sticking.

Steps follow the central path x ∘ z = γ e from far out, predictor and corrector after Mehrotra with the scaling of Nesterov
and Todd, W x = W⁻¹ z = λ, and z is not asked to be what x makes it before the end. With A = G Gᵀ of low rank, in scaled
directions::

    (1 + M Nᵀ) W dx = c + W⁻¹ B⁻¹ r          W⁻¹ dz = c − W dx          r = z − w − N(z) e

    N = W⁻¹ G,  M = W⁻¹ B⁻¹ G,  B = 1 − e ∇Nᵀ          (1 + M Nᵀ)⁻¹ = 1 − M (1 + Nᵀ M)⁻¹ Nᵀ

Without W, what cancels in the last line would cost all digits near the end. N(z) makes the problem one without convexity: where
a step is short, the next one leaves ∇N out and returns to the path's middle.

Source: Acary, Cadoux, Lemaréchal, Malick, A formulation of the linear discrete Coulomb friction problem via convex
optimization (2011); the scaling from Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010). N and the steps
that leave ∇N out are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.compiler.graph import sqrt, where
from kinetree.compiler.parts import Written
from kinetree.compiler.routines import Block
from kinetree.contact.laws import TINY, finite, maximum, positive
from kinetree.contact.lowrank import LowRank
from kinetree.spatial.scalars import Array, Scalar

if TYPE_CHECKING:
    from kinetree.contact.solver import Solver

STEPS, CLOSE = 30, 1e-9
"""How many at most; and of the largest velocity that comes in, how far from the laws they end."""
BEGINNINGS = 10.0, 0.1, 0.01
"""Where they begin, first and where what came before did not lead to a solution: x and z, in units in which the largest b is
1."""
BLEND, WAY = 0.8, 0.95
"""c, and how much of the way to the cone's boundary they go."""
SHORT, MIDDLE = 0.1, 0.8
"""The step after which ∇N is left out, and how much of the gap is then kept."""
ONE, THREE = Block(), Block(3)


@final
class Interior:
    """The procedure `approach` that leaves impulses near a solution in `solver.x`, or where it got to, from `far` out.

    Lanes in which some contact has a least impulse are left alone. The rank of A is at most `rank`.
    """

    def __init__(self, solver: Solver, rank: int) -> None:
        self.solver, routines, m = solver, solver.routines, solver.m
        n, part = 3 * m, solver.parts.part
        self.root = LowRank(solver, rank)
        self.scale, self.b, self.y, self.z, self.middle, self.rest, self.p, self.turned, self.dy, self.dz = (
            routines.area(n, strides=(3,)) for _ in range(10)
        )
        self.point, self.bend = routines.area(m, 4, strides=(4,)), routines.area(m, 3, strides=(3,))
        (
            self.unit,
            self.gap,
            self.off,
            self.way,
            self.kept,
            self.plain,
            self.on,
            self.first,
            self.second,
            self.tried,
            self.far,
        ) = (routines.area(1) for _ in range(11))
        start, iterate = self._start(), self._iterate()
        back = part("interior.back", _back, [THREE, THREE, ONE, ONE, THREE], [THREE])
        with solver.parts.procedure("approach", loops=True) as self.approach:
            p = self.approach
            p.run(start)
            with p.while_any(self.on[0], STEPS, usual=14):
                p.run(iterate)
            for c in p.each(0, m):
                p.call(back, self.scale[c], self.y[c], self.unit[0], self.tried[0], solver.x[c], solver.x[c])

    def _start(self) -> Written:
        s, part, root = self.solver, self.solver.parts.part, self.root
        scaled = part("interior.scaled", _scaled, [s.square, THREE, ONE, THREE, ONE], [THREE, THREE, THREE, ONE])
        free = part("interior.free", lambda least, on: where(least, 0.0, on), [ONE, ONE], [ONE])
        begin = part("interior.begin", _begin, [THREE, ONE, ONE], [THREE, THREE, THREE])
        with s.parts.procedure("interior.start") as p:
            p.call(s.zero, self.unit[0])
            p.call(s.zero, self.plain[0])
            p.call(s.same, s.active[0], self.on[0])
            for c in p.each(0, s.m):
                given = s.A[c, c], s.lost[c], s.mu[c], s.b[c], self.unit[0]
                p.call(scaled, *given, root.size[c], self.scale[c], self.b[c], self.unit[0])
                p.call(free, s.least[c], self.on[0], self.on[0])
            p.call(s.same, self.on[0], self.tried[0])
            for c in p.each(0, s.m):
                p.call(begin, self.b[c], self.unit[0], self.far[0], self.b[c], self.y[c], self.z[c])
            p.run(root.factor)
        return p

    def _iterate(self) -> Written:
        s, part, parts, m, root = self.solver, self.solver.parts.part, self.solver.parts, self.solver.m, self.root
        u, h, wide, all = root.inner.right, root.along, root.wide, Block(root.rank)
        gathered = part("interior.gathered", lambda G, y, h: h + y @ G, [wide, THREE, all], [all])
        blank = part("interior.blank", lambda: np.zeros(root.rank), [], [all])
        gauge = part("interior.gauge", _gauge, [wide, all, *[THREE] * 3, *[ONE] * 3], [Block(4), *[THREE] * 4, ONE, ONE])
        goes = part("interior.goes", lambda *x: _goes(m, *x), [ONE] * 3, [ONE])
        factors = part("interior.factors", _factors, [wide, Block(4), THREE], [wide, wide])
        none = part("interior.none", lambda: (1.0, 0.0, 0.0), [], [ONE] * 3)
        predicted = part("interior.predicted", _predicted, [wide, all, *[THREE] * 4, Block(4), *[ONE] * 3], [THREE, *[ONE] * 3])
        share = part("interior.share", lambda *x: _share(m, *x), [ONE] * 5, [ONE, ONE])
        corrected = part("interior.corrected", _corrected, [*[THREE] * 3, ONE, ONE], [THREE, THREE])
        most = part("interior.most", lambda: 1.0 / WAY, [], [ONE])
        length = part("interior.length", _length, [wide, all, *[THREE] * 4, Block(4), ONE], [THREE, THREE, ONE])
        taken = part("interior.taken", _taken, [ONE] * 3, [ONE, ONE])
        move = part("interior.move", lambda x, way, d: where(way, x + way * d, x), [THREE, ONE, THREE], [THREE])
        with parts.procedure("interior.measure") as p:
            for x in (self.gap, self.off):
                p.call(s.zero, x[0])
            for x in (h, u):
                p.call(blank, x[0])
            for c in p.each(0, m):
                p.call(gathered, root.G[c, 0], self.y[c], h[0], h[0])
            for c in p.each(0, m):
                own = self.b[c], self.y[c], self.z[c], self.plain[0], self.gap[0], self.off[0]
                made = self.point[c], self.bend[c], self.middle[c], self.rest[c], self.p[c], self.gap[0], self.off[0]
                p.call(gauge, root.G[c, 0], h[0], *own, *made)
                p.call(factors, root.G[c, 0], self.point[c], self.bend[c], root.N[c, 0], root.M[c, 0])
                p.call(gathered, root.N[c, 0], self.p[c], u[0], u[0])
            p.call(goes, self.gap[0], self.off[0], self.on[0], self.on[0])
        with parts.procedure("interior.predict") as predict:
            sums = self.way[0], self.first[0], self.second[0]
            predict.call(none, *sums)
            for c in predict.each(0, m):
                ends = self.middle[c], self.p[c], self.y[c], self.z[c], self.point[c]
                predict.call(predicted, root.M[c, 0], u[0], *ends, *sums, self.turned[c], *sums)
            predict.call(share, self.gap[0], *sums, self.plain[0], self.kept[0], self.way[0])
            predict.call(blank, u[0])
            for c in predict.each(0, m):
                ends = self.middle[c], self.turned[c], self.rest[c], self.kept[0], self.way[0]
                predict.call(corrected, *ends, self.turned[c], self.p[c])
                predict.call(gathered, root.N[c, 0], self.p[c], u[0], u[0])
        with parts.procedure("interior.move") as moved:
            moved.call(most, self.way[0])
            for c in moved.each(0, m):
                ends = self.turned[c], self.p[c], self.y[c], self.z[c], self.point[c], self.way[0]
                moved.call(length, root.M[c, 0], u[0], *ends, self.dy[c], self.dz[c], self.way[0])
            moved.call(taken, self.way[0], self.plain[0], self.on[0], self.way[0], self.plain[0])
            for c in moved.each(0, m):
                moved.call(move, self.y[c], self.way[0], self.dy[c], self.y[c])
                moved.call(move, self.z[c], self.way[0], self.dz[c], self.z[c])
        with parts.procedure("interior.step", loops=True) as step:
            step.run(p)
            step.run(root.gram)
            step.run(root.inner.factor)
            step.run(root.inner.substitute)
            step.run(predict)
            step.run(root.inner.substitute)
            step.run(moved)
        return step


def _scaled(A: Array, lost: Array, mu: Scalar, b: Array, unit: Scalar) -> tuple[Any, ...]:
    """What impulses of a contact are multiplied by (3,), without μ and with it, its b, and the largest velocity yet."""
    stiff = (A[0, 0] + A[1, 1] + A[2, 2]) * (1.0 / 3.0)
    size = where(lost[0], 0.0, 1.0 / sqrt(where(lost[0], 1.0, stiff)))
    sizes = np.array([size, *(where(lost[k], 0.0, size) for k in (1, 2))], dtype=object)
    scale = sizes * np.array([1.0, mu, mu], dtype=object)
    b = scale * b
    for each in b:
        unit = maximum(unit, abs(each))
    return sizes, scale, b, unit


def _begin(b: Array, unit: Scalar, far: Scalar) -> tuple[Array, Array, Array]:
    start = np.array([far, 0.0, 0.0], dtype=object)
    return b * (1.0 / where(unit, unit, 1.0)), start, start


def _back(scale: Array, y: Array, unit: Scalar, tried: Scalar, x: Array) -> Array:
    """Impulses (3,) [N s]."""
    found = [where(finite(one), one, 0.0) for one in scale * y * unit]
    return np.array([where(tried, one, old) for one, old in zip(found, x, strict=True)], dtype=object)


def _blend(z: Array) -> tuple[Scalar, Array]:
    """N and its gradient (3,)."""
    size = sqrt(BLEND * z[0] * z[0] + (1.0 - BLEND) * (z[1] * z[1] + z[2] * z[2]))
    over = 1.0 / maximum(size, TINY)
    return size, np.array([BLEND * z[0] * over, *((1.0 - BLEND) * z[k] * over for k in (1, 2))], dtype=object)


def _gauge(
    G: Array, h: Array, b: Array, y: Array, z: Array, plain: Scalar, gap: Scalar, off: Scalar
) -> tuple[Array, Array, Array, Array, Array, Scalar, Scalar]:
    """The scaling (4,), ∇N, λ, W⁻¹ B⁻¹ r and the right-hand side of a step to x ∘ z = 0 (3,); what is added to y·z, and the
    largest of r."""
    size, gradient = _blend(z)
    r = z - G @ h - b
    r[0] = r[0] - size
    for each in r:
        off = maximum(off, abs(each))
    one, two = sqrt(_determinant(y)), sqrt(_determinant(z))
    u, v = y * (1.0 / one), z * (1.0 / two)
    half = 0.5 / sqrt(0.5 + 0.5 * (u @ v))
    axis = [(v[0] + u[0]) * half, *((v[k] - u[k]) * half for k in (1, 2))]
    point = np.array([*axis, sqrt(two / one)], dtype=object)
    bend = np.array([where(plain, 0.0, g) for g in gradient], dtype=object)
    middle, rest = _halfway(point, y), _halfway(point, _untwisted(bend, r), back=True)
    return point, bend, middle, rest, rest - middle, gap + y @ z, off


def _factors(G: Array, point: Array, bend: Array) -> tuple[Array, Array]:
    """N and M (3, rank) of a contact."""
    axis = _halfway(point, np.array([1.0 / (1.0 - bend[0]), 0.0, 0.0], dtype=object), back=True)
    N = np.array([_halfway(point, column, back=True) for column in G.T], dtype=object).T
    return N, N + np.outer(axis, bend @ G)


def _goes(m: int, gap: Scalar, off: Scalar, on: Scalar) -> Scalar:
    far = where(positive(maximum(gap * (1.0 / m), off) - CLOSE), 1.0, 0.0)
    return where(on, far * finite(gap + off), 0.0)


def _determinant(x: Array) -> Scalar:
    length = sqrt(x[1] * x[1] + x[2] * x[2])
    return (x[0] - length) * (x[0] + length)


def _product(a: Array, b: Array) -> Array:
    return np.array([a @ b, *(a[0] * b[k] + b[0] * a[k] for k in (1, 2))], dtype=object)


def _halfway(point: Array, x: Array, back: bool = False) -> Array:
    """W x, or W⁻¹ x, with H = W W: the point has the axis of W (3,) and its size."""
    size, a = point[3], -point[1:3] if back else point[1:3]
    along = a @ x[1:]
    turned = (x[0] + along / (1.0 + point[0])) * a + x[1:]
    return np.array([point[0] * x[0] + along, *turned], dtype=object) * (1.0 / size if back else size)


def _untwisted(bend: Array, x: Array) -> Array:
    """B⁻¹ x."""
    return np.array([x[0] + (bend @ x) / (1.0 - bend[0]), x[1], x[2]], dtype=object)


def _farthest(x: Array, d: Array) -> Scalar:
    """The largest step along d that stays in the cone, or more than 1: the root of a quadratic."""
    a, c = _determinant(d), _determinant(x)
    b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2]
    below = sqrt(maximum(b * b - a * c, 0.0)) - b
    root = where(positive(below), c / where(positive(below), below, 1.0), 2.0)
    down = where(positive(-d[0]), -x[0] / where(positive(-d[0]), d[0], 1.0), 2.0)
    return where(positive(root - down), down, root)


def _lesser(way: Scalar, x: Array, dx: Array, z: Array, dz: Array) -> Scalar:
    for far in (_farthest(x, dx), _farthest(z, dz)):
        way = where(positive(way - far), far, way)
    return way


def _predicted(
    M: Array, u: Array, middle: Array, p: Array, y: Array, z: Array, point: Array, way: Scalar, first: Scalar, second: Scalar
) -> tuple[Array, Scalar, Scalar, Scalar]:
    """W⁻¹ dz ∘ W dx (3,), the step, and how x·z changes with it, to first and second order."""
    inner = p - M @ u
    outer = -middle - inner
    dy, dz = _halfway(point, inner, back=True), _halfway(point, outer)
    return _product(outer, inner), _lesser(way, y, dy, z, dz), first + y @ dz + z @ dy, second + dy @ dz


def _share(m: int, gap: Scalar, way: Scalar, first: Scalar, second: Scalar, plain: Scalar) -> tuple[Scalar, Scalar]:
    """How much of the gap of a contact to keep, and of the correction to make."""
    left = maximum(gap + way * (first + way * second), 0.0) / gap
    cube = left * left * left
    cube = where(positive(cube - 1.0), 1.0, cube)
    kept = where(plain, maximum(cube, MIDDLE), cube)
    return kept * gap * (1.0 / m), where(plain, 0.0, way)


def _corrected(middle: Array, turned: Array, rest: Array, kept: Scalar, way: Scalar) -> tuple[Array, Array]:
    """c (3,) that solves λ ∘ c = kept e − λ ∘ λ − way · turned, and the right-hand side (3,)."""
    t = -way * turned - _product(middle, middle)
    t[0] = t[0] + kept
    head = (middle[0] * t[0] - middle[1:] @ t[1:]) * (1.0 / _determinant(middle))
    c = np.array([head, *((t[k] - middle[k] * head) / middle[0] for k in (1, 2))], dtype=object)
    return c, c + rest


def _length(
    M: Array, u: Array, c: Array, p: Array, y: Array, z: Array, point: Array, way: Scalar
) -> tuple[Array, Array, Scalar]:
    """dx and dz (3,), and the step."""
    inner = p - M @ u
    dy, dz = _halfway(point, inner, back=True), _halfway(point, c - inner)
    return dy, dz, _lesser(way, y, dy, z, dz)


def _taken(way: Scalar, plain: Scalar, on: Scalar) -> tuple[Scalar, Scalar]:
    """The step that is made; and whether the next one leaves ∇N out."""
    way = way * WAY
    return where(on, way, 0.0), where(plain, 0.0, where(positive(SHORT - way), 1.0, 0.0))
