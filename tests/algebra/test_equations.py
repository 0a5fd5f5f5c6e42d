"""Every equation of the documents on operators, by its number: what the code computes is what the equation says by hand.

`formulas` of the documents are written as functions of a model: of an `SKO` they are operators, of a `ByHand` matrices. A
recursion is written out as a loop over bodies. The last test says that no number of the list is left out.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import documents
import numpy as np
import pytest
from by_hand import ByHand, Matrix, assert_equal
from cases import RIGID, Case, case, skew

import kinetree as kt
from kinetree.algebra.expression import Operator

JAIN, MASS, HAMILTON, LAGRANGE = "Jain II", "Mass Matrix", "Hamilton", "Lagrange"

ANY = (
    "bush",
    "forest",
    "mixed chain",
    "003_tree6_multidof_joints",
    "002_fig3_5segment_tree12",
    "solo12",
    "002_abstract_sko_nonsquare",
    "abstract forest",
    "full forest",
    "no joint moves",
    "every joint free",
)
SERIAL = ("chain", "mixed chain", "abstract chain", "chain from the tip")
BODIES = tuple(name for name in RIGID if name not in ("massless within", "rotors", "rotors in a forest"))


@dataclass(frozen=True)
class Equation:
    """One or several numbered equations of a document and how they are tested on a model."""

    document: str
    numbers: str
    check: Callable[[Case], None]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.document} {self.numbers}"


EQUATIONS: list[Equation] = []


def equation(document: str, numbers: str, names: tuple[str, ...] = ANY):
    """Enter a function that asserts the equations on one model."""
    return lambda check: EQUATIONS.append(Equation(document, numbers, check, names)) or check


def both(document: str, numbers: str, *pairs: Callable, names: tuple[str, ...] = ANY):
    """Enter equations left = right, each side as the code has it against the other by hand."""

    @equation(document, numbers, names)
    def check(one: Case):
        for pair in pairs:
            for found, wanted, besides in zip(pair(one.sko), reversed(pair(one.hand)), pair(one.hand), strict=True):
                assert_equal(found.dense(), wanted, besides)
                assert_equal(found @ np.eye(found.shape[1]), wanted, besides)


def column(x: np.ndarray) -> Matrix:
    return Matrix(x[:, None], np.abs(x)[:, None], 0.0)


def assert_vector(found: np.ndarray, wanted: Matrix, besides: Matrix | None = None):
    assert_equal(found[:, None], wanted, besides)


def blockwise(blocks: list[np.ndarray], like: Matrix) -> Matrix:
    """Blocks (m,) of a stacked vector as a matrix with the rounding of another way to it."""
    return Matrix(np.concatenate(blocks)[:, None], like.size, like.error)


# Operators and their O(N) products.


@equation(MASS, "(Def. 1), (Def. 2)")
def _(one):
    s, d = one.sko, one.hand
    for i in d.nodes:
        for j in d.nodes:
            wanted = d.weights[i].T if d.parents[i] == j else np.zeros((d.sizes[i], d.sizes[j]))
            assert np.allclose(s.cdi.Phi_D.blocks(i, j), wanted, rtol=0, atol=d.gamma * (1 + np.abs(wanted).max(initial=0)))
            assert np.array_equal(s.cdi.Phi_D.T.blocks(j, i), s.cdi.Phi_D.blocks(i, j).T)
            assert s.cdi.Phi_D.pattern()[i, j] == (d.parents[i] == j)


@equation(MASS, "(nilpotency)", (*ANY, *RIGID))
def _(one):
    s, d = one.sko, one.hand
    longest = max(len(d.path(k)) for k in d.nodes)
    assert s.E.nilpotency == longest
    assert not (s.E**longest).dense().any()
    if one.model is not None or one.name == "full forest":  # no weight, and no product of weights along a path, vanishes
        assert (s.E ** (longest - 1)).dense().any()


@equation(MASS, "(E-000-6)", ("one node",))
def _(_):
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    s = kt.SKO([-1, 0, 1, 2], [None, A, A, A], [np.eye(2)] * 4, [np.eye(2)] * 4)
    assert s.E.nilpotency == 4
    assert (s.E**1).dense().any()
    assert not (s.E**2).dense().any()
    assert np.array_equal(s.phi.series().dense(), np.eye(8) + s.E.dense())


@equation(HAMILTON, "(Fig. 2)", ("003_fig2_tree10_revolute", "003_fig2_tree10_mixed_RP"))
def _(one):
    assert one.sko.E.nilpotency == documents.cases()[one.name]["expected"]["nilpotency"] == 5
    assert one.hand.parents == [p - 1 for p in (0, 1, 1, 3, 3, 5, 4, 7, 1, 9)]


@equation(HAMILTON, "(P3), (P4)")
@equation(MASS, "(series)")
def _(one):
    s, d = one.sko, one.hand
    made = power = d.E**0
    for _ in range(len(d.parents)):
        power = power @ d.E
        made = made + power
    assert_equal(s.phi.dense(), made)
    assert_equal(s.phi.series().dense(), made)
    assert_equal(s.cdi.Psi_D.dense(), made.T)
    assert_equal(s.phi.series().T.dense(), made.T)


@equation(HAMILTON, "(P1), (P2)")
@equation(MASS, "(1), (2)")
def _(one):
    s, d, x = one.sko, one.hand, one.vector("bodies")
    forward = [d.weights[i].T @ x[d.bodies[d.parents[i]]] if d.parents[i] >= 0 else np.zeros(d.sizes[i]) for i in d.nodes]
    backward = [sum((d.weights[j] @ x[d.bodies[j]] for j in d.children(i)), np.zeros(d.sizes[i])) for i in d.nodes]
    assert_vector(s.cdi.Phi_D @ x, blockwise(forward, d.E.T @ column(x)))
    assert_vector(s.cdi.Phi_D.T @ x, blockwise(backward, d.E @ column(x)))
    assert_vector(x @ s.cdi.Phi_D, blockwise(backward, d.E @ column(x)))


def gathered(d: ByHand, weights, x: np.ndarray) -> list[np.ndarray]:
    """Algorithm 2: z = x; for i = N … 2: z(p) += A(i)* z(i)."""
    z = [x[s].copy() for s in d.bodies]
    for i in reversed(d.base_to_tips):
        if d.parents[i] >= 0:
            z[d.parents[i]] += weights[i] @ z[i]
    return z


def scattered(d: ByHand, weights, x: np.ndarray) -> list[np.ndarray]:
    """Algorithm 1: for i = 1 … N: z(i) = A(i) z(p) + x(i)."""
    z = [np.zeros(0)] * len(d.parents)
    for i in d.base_to_tips:
        z[i] = x[d.bodies[i]] + (weights[i].T @ z[d.parents[i]] if d.parents[i] >= 0 else 0)
    return z


@equation(MASS, "(Alg. 1), (Alg. 2)")
@equation(JAIN, "(4), (5), (7), (8)")
def _(one):
    s, d, x = one.sko, one.hand, one.vector("bodies")
    assert_vector(s.phi @ x, blockwise(gathered(d, d.weights, x), d.phi @ column(x)))
    assert_vector(s.phi.T @ x, blockwise(scattered(d, d.weights, x), d.phi.T @ column(x)))
    articulated = articulated_weights(d)
    assert_vector(s.psi @ x, blockwise(gathered(d, articulated, x), d.psi @ column(x)))
    assert_vector(s.psi.T @ x, blockwise(scattered(d, articulated, x), d.psi.T @ column(x)))


@equation(JAIN, "(6), (9)")
def _(one):
    s, d, x = one.sko, one.hand, one.vector("bodies")
    inward = [
        sum((d.product(d.weights, k, j) @ x[d.bodies[j]] for j in d.nodes if d.is_above(k, j)), np.zeros(d.sizes[k]))
        for k in d.nodes
    ]
    outward = [
        sum((d.product(d.weights, j, k).T @ x[d.bodies[j]] for j in d.nodes if d.is_above(j, k)), np.zeros(d.sizes[k]))
        for k in d.nodes
    ]
    assert_vector(s.phi @ x, blockwise(inward, d.phi @ column(x)))
    assert_vector(s.phi.T @ x, blockwise(outward, d.phi.T @ column(x)))
    for k in d.nodes:
        for j in d.nodes:
            path = d.product(d.weights, k, j) if d.is_above(k, j) else np.zeros((d.sizes[k], d.sizes[j]))
            assert np.abs(s.phi.blocks(k, j) - path).max(initial=0.0) <= 2 * d.phi.bound


@equation(JAIN, "(Cor. 3.1)")
def _(one):
    s, d, x = one.sko, one.hand, one.vector("bodies")
    y = [np.zeros(m) for m in d.sizes]
    for k in reversed(d.base_to_tips):
        y[k] = sum((d.weights[j] @ (y[j] + x[d.bodies[j]]) for j in d.children(k)), y[k])
    z = [np.zeros(m) for m in d.sizes]
    for k in d.base_to_tips:
        if (p := d.parents[k]) >= 0:
            z[k] = d.weights[k].T @ (z[p] + x[d.bodies[p]])
    tilde = d.phi - 1
    for word in (s.phi @ s.E, s.E @ s.phi, s.phi - 1):
        assert_vector(word @ x, blockwise(y, tilde @ column(x)))
        assert_vector(word.T @ x, blockwise(z, tilde.T @ column(x)))


# The mass matrix.


def offsets(one: Case) -> Matrix:
    """S: from the joint of each body to its centre of mass."""
    e, o = np.eye(3), np.zeros((3, 3))
    return one.hand.diagonal([np.block([[e, o], [-skew(b.inertia.com), e]]) for b in one.model.bodies])


def centroidal(one: Case) -> Matrix:
    """M̄ = diag(I, m)."""
    o = np.zeros((3, 3))
    return one.hand.diagonal([np.block([[b.inertia.tensor, o], [o, b.inertia.mass * np.eye(3)]]) for b in one.model.bodies])


def energy_of_points(one: Case, v: np.ndarray) -> tuple[float, float]:
    """½ Σ ∫ |ω × l + ṙ|² dm with each body as seven points, one perhaps of negative mass; and the sum of its terms' sizes.

    The points at ±1 m on the principal axes of ∫ l l* dm have half its principal values as masses, the rest is at the centre.
    """
    d = one.hand
    motion, total, size = (d.phi.T @ d.H.T).value @ v, 0.0, 0.0
    for at, body in zip(d.bodies, one.model.bodies, strict=True):
        omega, velocity = np.split(motion[at], 2)
        moments, axes = np.linalg.eigh(0.5 * np.trace(body.inertia.tensor) * np.eye(3) - body.inertia.tensor)
        points = [(0.5 * c, sign * axis) for c, axis in zip(moments, axes.T, strict=True) for sign in (1, -1)]
        points.append((body.inertia.mass - moments.sum(), np.zeros(3)))
        for mass, l in points:
            part = 0.5 * mass * np.sum((velocity + np.cross(omega, body.inertia.com + l)) ** 2)
            total, size = total + part, size + abs(part)
    return total, size


@equation(MASS, "(8), (9), (10), (11), (13), (15)", BODIES)
def _(one):
    s, d, v = one.sko, one.hand, one.vector("joints")
    S, inertia, motion = offsets(one), centroidal(one), d.phi.T @ d.H.T
    energy = 0.5 * v @ (s.cdi.mass @ v)
    at_centres = (S @ motion).value @ v
    separately = [
        0.5 * (w @ b.inertia.tensor @ w + b.inertia.mass * r @ r)
        for b, (w, r) in zip(one.model.bodies, at_centres.reshape(-1, 2, 3), strict=True)
    ]
    stacked = 0.5 * at_centres @ inertia.value @ at_centres
    points, size = energy_of_points(one, v)
    bound = 10 * d.gamma * (size + 0.5 * float(np.abs(v) @ d.mass.size @ np.abs(v)))
    assert abs(energy - points) <= bound
    assert abs(energy - sum(separately)) <= bound
    assert abs(energy - stacked) <= bound
    e = np.eye(len(v))
    for i in range(min(len(v), 4)):  # ∂²T/∂v_i ∂v_j = T(e_i + e_j) − T(e_i) − T(e_j), T being quadratic
        for j in range(i):
            parts = [energy_of_points(one, x) for x in (e[i] + e[j], e[i], e[j])]
            found = parts[0][0] - parts[1][0] - parts[2][0]
            assert abs(found - s.mass.blocks(*_where(s, i, j))[_within(s, i), _within(s, j)]) <= (
                10 * d.gamma * (sum(size for _, size in parts) + d.mass.size[i, j])
            )


def _where(s, *coordinates):
    """The joints of coordinates."""
    return [next(k for k, at in enumerate(s.joints.slices) if at.start <= i < at.stop) for i in coordinates]


def _within(s, i):
    (k,) = _where(s, i)
    return i - s.joints.slices[k].start


@equation(MASS, "(12), (14)", BODIES)
@equation(HAMILTON, "(P.4a)", BODIES)
def _(one):
    s, d = one.sko, one.hand
    S, inertia = offsets(one), centroidal(one)
    J = S @ d.phi.T @ d.H.T
    assert_equal((S.T @ inertia @ S).value, d.M, S.T @ inertia @ S)
    assert_equal(s.cdi.mass.dense(), J.T @ inertia @ J)
    assert_equal(s.mass.dense(), J.T @ inertia @ J)


@equation(MASS, "(procedure)")
def _(one):
    s, d = one.sko, one.hand
    J = s.cdi.Psi_D @ (s.cdi.G @ np.eye(s.joints.dimension))
    Q = s.cdi.M @ J
    assert_equal(J.T @ Q, d.mass)
    assert_equal(s.cdi.G.T @ (s.cdi.Psi_D.T @ Q), d.mass)


@equation(LAGRANGE, "(11), (12), (13), (14), (15), (16)", BODIES)
def _(one):
    s, d, v = one.sko, one.hand, one.vector("joints")
    J = (offsets(one) @ d.phi.T @ d.H.T).value
    total, energies = np.zeros_like(d.mass.value), []
    for at, body in zip(d.bodies, one.model.bodies, strict=True):
        angular, linear = np.split(J[at], 2)
        total += body.inertia.mass * linear.T @ linear + angular.T @ body.inertia.tensor @ angular
        omega, velocity = angular @ v, linear @ v
        energies.append(0.5 * body.inertia.mass * velocity @ velocity + 0.5 * omega @ body.inertia.tensor @ omega)
    found = s.mass.dense()
    assert_equal(found, Matrix(total, d.mass.size, d.mass.error))
    bound = d.mass.error * float(np.abs(v) @ d.mass.size @ np.abs(v))
    assert abs(0.5 * v @ found @ v - sum(energies)) <= bound
    assert abs(0.5 * sum(found[i, j] * v[i] * v[j] for i in range(len(v)) for j in range(len(v))) - sum(energies)) <= bound


def dynamics(one: Case, o):
    """v̇, a, b as columns and 𝒱, α, 𝔣, T of (1), for operators or matrices."""
    wrap = column if isinstance(o, ByHand) else lambda x: x
    v, rates = wrap(one.vector("joints", 1)), wrap(one.vector("joints", 2))
    a, b = wrap(one.vector("bodies", 3)), wrap(one.vector("bodies", 4))
    V = o.phi.T @ (o.H.T @ v)
    alpha = o.phi.T @ (o.H.T @ rates + a)
    force = o.phi @ (o.M @ alpha + b)
    return rates, a, b, V, alpha, force, o.H @ force


@equation(JAIN, "(1), (2), (3), (10), (Alg. 3.1)")
def _(one):
    s, d = one.sko, one.hand
    rates, a, b, V, alpha, force, T = dynamics(one, s)
    *_, V_, alpha_, force_, T_ = dynamics(one, d)
    for found, wanted in ((V, V_), (alpha, alpha_), (force, force_), (T, T_)):
        assert_vector(found, wanted)
    v = one.vector("joints", 1)
    velocities = scattered(d, d.weights, d.H.value.T @ v)
    accelerations = scattered(d, d.weights, d.H.value.T @ rates + a)
    forces = gathered(d, d.weights, d.M.value @ np.concatenate(accelerations) + b)
    assert_vector(V, blockwise(velocities, V_))
    assert_vector(force, blockwise(forces, force_))
    C = s.H @ (s.phi @ (s.M @ (s.phi.T @ a) + b))
    assert_vector(s.mass @ rates + C, T_)
    assert_equal(s.mass.dense(), d.mass)


both(
    JAIN,
    "(17), (18), (19)",
    lambda o: (o.mass, o.H @ o.R @ o.H.T + o.H @ (o.phi - 1) @ o.R @ o.H.T + o.H @ o.R @ (o.phi - 1).T @ o.H.T),
    lambda o: (o.M, o.R - o.E @ o.R @ o.E.T),
    lambda o: (o.phi @ o.M @ o.phi.T, o.R + (o.phi - 1) @ o.R + o.R @ (o.phi - 1).T),
)


@equation(JAIN, "(20), (Alg. 4.1), (Alg. 4.2)")
def _(one):
    s, d = one.sko, one.hand
    R = [X.copy() for X in d.M_blocks]
    for i in reversed(d.base_to_tips):
        if d.parents[i] >= 0:
            R[d.parents[i]] += d.weights[i] @ R[i] @ d.weights[i].T
    blocks = {}
    for k in d.nodes:
        X = R[k] @ d.H_blocks[k].T
        blocks[k, k] = d.H_blocks[k] @ X
        j = k
        while d.parents[j] >= 0:
            X = d.weights[j] @ X
            j = d.parents[j]
            blocks[j, k] = d.H_blocks[j] @ X
            blocks[k, j] = blocks[j, k].T
    assert_equal(s.R.dense(), Matrix(d.diagonal(R).value, d.R.size, d.R.error))
    wanted = Matrix(d.stack(blocks, d.joints, d.joints), d.mass.size, d.mass.error)
    assert_equal(s.mass.dense(), wanted)
    for i in d.nodes:
        for j in d.nodes:
            related = d.is_above(i, j) or d.is_above(j, i)
            assert s.mass.pattern()[i, j] == (related and d.dofs[i] * d.dofs[j] > 0)


# Lyapunov equations. A, B run over φ, ψ and resolvents of a user's own; X is any block diagonal.

PAIRS = {
    "φ, φ": ("phi", "phi"),
    "φ, ψ": ("phi", "psi"),
    "ψ, φ": ("psi", "phi"),
    "A, B": ("A", "B"),
    "A, A": ("A", "A"),
    "B, φ": ("B", "phi"),
}


class Resolvent(NamedTuple):
    """(1 − E)⁻¹ of one model: operator and by hand, its step E by hand and as weights."""

    op: Operator
    dense: Matrix
    step: Matrix
    weights: list


class Pair(NamedTuple):
    """Two resolvents on one tree, and a block diagonal that is not symmetric."""

    A: Resolvent
    B: Resolvent
    X: Operator
    dense: Matrix
    blocks: list[np.ndarray]


def pair_of(one: Case, names: tuple[str, str]) -> Pair:
    rng, d, s = np.random.default_rng(len("".join(names))), one.hand, one.sko
    found = {
        "phi": Resolvent(s.phi, d.phi, d.E, d.weights),
        "psi": Resolvent(s.psi, d.psi, d.E_psi, articulated_weights(d)),
    }
    for name in "AB":
        weights = [
            None if p < 0 else rng.normal(size=(d.sizes[p], m)) / np.sqrt(m) for p, m in zip(d.parents, d.sizes, strict=True)
        ]
        step = d.step(weights)
        dense = d.matrix(np.linalg.inv(np.eye(sum(d.sizes)) - step.value))
        found[name] = Resolvent(s.step(name, weights).resolvent, dense, step, weights)
    blocks = [rng.normal(size=(m, m)) for m in d.sizes]
    return Pair(found[names[0]], found[names[1]], s.diagonal("X", blocks), d.diagonal(blocks), blocks)


def articulated_weights(d: ByHand) -> list:
    """ψ(p, k) of each node."""
    return [None if p < 0 else d.E_psi.value[d.bodies[p], d.bodies[k]] for k, p in enumerate(d.parents)]


def diagonal_of(one: Case, Z: np.ndarray) -> tuple[Operator, Matrix, list[np.ndarray]]:
    """Y, the diagonal blocks of Z, as an operator, by hand and as blocks."""
    blocks = [Z[at, at] for at in one.hand.bodies]
    return one.sko.diagonal("Y", blocks), one.hand.diagonal(blocks), blocks


def lyapunov(numbers: str, names: tuple[str, ...] = ANY):
    """Enter a function of a model and A, B, X for every pair of resolvents."""

    def enter(check):
        for title, pair in PAIRS.items():
            EQUATIONS.append(Equation(JAIN, f"{numbers} {title}", lambda one, pair=pair: check(one, pair_of(one, pair)), names))

    return enter


@lyapunov("(11), (12), (16)")
def _(one, pair):
    d, ((A, A_, E_A, a), (B, B_, E_B, b), X, X_, _) = one.hand, pair
    Z_ = A_ @ X_ @ B_.T
    assert_equal((A @ X @ B.T).dense(), Z_)
    assert_equal((A @ X @ B.T) @ np.eye(Z_.value.shape[1]), Z_)
    Y, Y_, blocks = diagonal_of(one, Z_.value)
    sides = Y_ + (A_ - 1) @ Y_ + Y_ @ (B_ - 1).T
    assert_equal((Y + (A - 1) @ Y + Y @ (B - 1).T).dense(), Z_, sides)
    assert_equal((Y - A.step @ Y @ B.step.T).dense(), X_, Y_ + E_A @ Y_ @ E_B.T)
    assert_equal(
        (Y - A.inv @ (A - 1) @ Y @ (B.inv @ (B - 1)).T).dense(), X_, Y_ + A_.inv @ (A_ - 1) @ Y_ @ (B_.inv @ (B_ - 1)).T
    )
    up = A.step @ Y @ B.step.T
    assert not (up.pattern() & ~np.eye(len(d.sizes), dtype=bool)).any()  # (16): block diagonal
    for k in d.nodes:
        wanted = sum((a[j] @ blocks[j] @ b[j].T for j in d.children(k)), np.zeros((d.sizes[k], d.sizes[k])))
        assert np.abs(up.blocks(k, k) - wanted).max() <= 2 * (E_A @ Y_ @ E_B.T).bound


@lyapunov("(13), (14), (15)")
def _(one, pair):
    d, ((A, A_, _, a), (B, B_, _, b), X, X_, blocks) = one.hand, pair
    Z_ = A_ @ X_ @ B_.T
    Y = [block.copy() for block in blocks]
    for k in reversed(d.base_to_tips):
        if (p := d.parents[k]) >= 0:
            Y[p] += a[k] @ Y[k] @ b[k].T
    op = A @ X @ B.T
    found = {(i, j): op.blocks(i, j) for i in d.nodes for j in d.nodes}
    for (i, j), Z in found.items():
        wanted = Z_.value[d.bodies[i], d.bodies[j]]
        if i == j:
            rule = Y[i]
        elif d.is_above(i, j):
            k = d.path(j)[d.path(j).index(i) - 1]  # child of i towards j
            rule = a[k] @ found[k, j]
        elif d.is_above(j, i):
            k = d.path(i)[d.path(i).index(j) - 1]
            rule = found[i, k] @ b[k].T
        else:
            rule = np.zeros_like(wanted)
            assert not Z.any()
        assert np.abs(Z - wanted).max() <= 2 * Z_.bound
        assert np.abs(Z - rule).max() <= 2 * Z_.bound


@lyapunov("(21), (22), (26)")
def _(one, pair):
    d, ((A, A_, E_A, a), (B, B_, E_B, b), X, X_, _) = one.hand, pair
    Z_ = A_.T @ X_ @ B_
    op = A.T @ X @ B
    assert_equal(op.dense(), Z_)
    assert_equal(op @ np.eye(Z_.value.shape[1]), Z_)
    Y, Y_, blocks = diagonal_of(one, Z_.value)
    rest = np.zeros_like(Z_.value)
    for i in d.nodes:
        for j in d.nodes:
            common = [k for k in d.path(i) if d.is_above(k, j)]
            if not d.is_above(i, j) and not d.is_above(j, i) and common:
                c = common[0]
                rest[d.bodies[i], d.bodies[j]] = d.product(a, c, i).T @ blocks[c] @ d.product(b, c, j)
    sides = Y_ + (A_ - 1).T @ Y_ + Y_ @ (B_ - 1)
    related = (Y + (A - 1).T @ Y + Y @ (B - 1)).dense()
    assert_equal(related + rest, Z_, sides)
    down = A.step.T @ Y @ B.step
    step = E_A.T @ Y_ @ E_B
    for k, p in enumerate(d.parents):
        own = a[k].T @ blocks[p] @ b[k] if p >= 0 else np.zeros((d.sizes[k], d.sizes[k]))
        assert np.abs(down.blocks(k, k) - own).max() <= 2 * step.bound  # (26)
        assert np.abs(blocks[k] - down.blocks(k, k) - X.blocks(k, k)).max() <= 2 * (Y_.bound + step.bound)  # (22)
    assert_equal(down.dense(), step)
    siblings = [(i, j) for i in d.nodes for j in d.nodes if i != j and d.parents[i] == d.parents[j] >= 0]
    assert all(down.pattern()[i, j] for i, j in siblings)  # E-002-9: not block diagonal


@lyapunov("(23), (24), (25), (Alg. 4.3)")
def _(one, pair):
    d, ((A, A_, _, a), (B, B_, _, b), X, X_, blocks) = one.hand, pair
    Z_ = A_.T @ X_ @ B_
    Y = [block.copy() for block in blocks]
    for k in d.base_to_tips:
        if (p := d.parents[k]) >= 0:
            Y[k] += a[k].T @ Y[p] @ b[k]
    op = A.T @ X @ B
    found = {(i, j): op.blocks(i, j) for i in d.nodes for j in d.nodes}
    for (i, j), Z in found.items():
        p, q = d.parents[i], d.parents[j]
        if i == j:
            rule = Y[i]
        elif d.is_above(j, i):
            rule = a[i].T @ found[p, j]
        elif d.is_above(i, j):
            rule = found[i, q] @ b[j]
        elif p >= 0 and q >= 0 and d.path(i)[-1] == d.path(j)[-1]:
            rule = a[i].T @ found[p, j]
            assert np.abs(Z - found[i, q] @ b[j]).max() <= 2 * Z_.bound
        else:  # E-002-6: no common ancestor
            rule = np.zeros_like(Z)
            assert not Z.any()
        assert np.abs(Z - Z_.value[d.bodies[i], d.bodies[j]]).max() <= 2 * Z_.bound
        assert np.abs(Z - rule).max() <= 2 * Z_.bound


@lyapunov("(27), (28), (29), (30)", SERIAL)
def _(one, pair):
    s, d, ((A, A_, E_A, a), (B, B_, E_B, b), X, X_, blocks) = one.sko, one.hand, pair
    Z_ = A_.T @ X_ @ B_
    order = d.base_to_tips  # E-002-1: from the base
    Y = {order[0]: blocks[order[0]]}
    for above, k in pairwise(order):
        Y[k] = a[k].T @ Y[above] @ b[k] + blocks[k]
    Y, Y_ = s.diagonal("Y", [Y[k] for k in d.nodes]), d.diagonal([Y[k] for k in d.nodes])
    sides = Y_ + (A_ - 1).T @ Y_ + Y_ @ (B_ - 1)
    assert_equal((Y + (A - 1).T @ Y + Y @ (B - 1)).dense(), Z_, sides)
    assert_equal((A.T @ X @ B).dense(), sides, Z_)
    assert_equal((Y - A.step.T @ Y @ B.step).dense(), X_, Y_ + E_A.T @ Y_ @ E_B)
    op = A.T @ X @ B
    for place, i in enumerate(order[1:], 1):
        above = order[place - 1]
        for j in order[:place]:
            assert np.abs(op.blocks(i, j) - a[i].T @ op.blocks(above, j)).max() <= 2 * Z_.bound
            assert np.abs(op.blocks(j, i) - op.blocks(j, above) @ b[i]).max() <= 2 * Z_.bound


# The Riccati equation.

both(
    JAIN,
    "(31), (36)",
    lambda o: (o.M, o.P - o.E @ (o.P - o.P @ o.H.T @ (o.H @ o.P @ o.H.T).inv @ o.H @ o.P) @ o.E.T),
    lambda o: (o.M, o.P - o.E_psi @ o.P @ o.E_psi.T),
    lambda o: (o.M, o.P - o.E @ o.P @ o.E_psi.T),
    lambda o: (o.M, o.P - o.E_psi @ o.P @ o.E.T),
)
both(
    JAIN,
    "(32), (34), (35), (37)",
    lambda o: (o.D, o.H @ o.P @ o.H.T),
    lambda o: (o.G, o.P @ o.H.T @ o.D.inv),
    lambda o: (o.tau, o.G @ o.H),
    lambda o: (o.taubar, 1 - o.tau),
    lambda o: (o.P_plus, o.taubar @ o.P),
    lambda o: (o.P_plus, o.P @ o.taubar.T),
    lambda o: (o.P_plus, o.taubar @ o.P @ o.taubar.T),
    lambda o: (o.E_psi, o.E @ o.taubar),
    lambda o: (o.psi, (1 - o.E_psi).inv),
    lambda o: (o.K, o.E @ o.G),
)


@equation(JAIN, "(33)")
@equation(HAMILTON, "(branch inertia)")
def _(one):
    s, d = one.sko, one.hand
    J = [X.copy() for X in d.M_blocks]
    for i in reversed(d.base_to_tips):
        G = d.H_blocks[i].T
        R = G.T @ J[i] @ G
        K = J[i] @ G @ np.linalg.inv(R)
        for op, wanted in ((s.cdi.J, J[i]), (s.cdi.R, R), (s.cdi.K, K)):
            W = {s.cdi.J: d.P, s.cdi.R: d.D, s.cdi.K: d.G}[op]
            assert np.abs(op.blocks(i, i) - wanted).max(initial=0.0) <= 2 * W.bound
        if (p := d.parents[i]) >= 0:
            beta = d.weights[i].T - G @ K.T @ d.weights[i].T
            assert np.abs(s.cdi.Phi_beta.blocks(i, p) - beta).max(initial=0.0) <= 2 * d.E_psi.bound
            J[p] += d.weights[i] @ (J[i] - J[i] @ G @ np.linalg.inv(R) @ G.T @ J[i]) @ d.weights[i].T
    assert_equal(s.P.dense(), d.P)  # which is the Schur complement of the floating subtree
    assert_equal(s.cdi.Psi_beta.dense(), d.psi.T)


both(
    JAIN,
    "(38), (39), (40)",
    lambda o: (o.H @ o.G, o.D**0),
    lambda o: (o.H @ o.tau, o.H),
    lambda o: (o.H @ o.taubar, 0 * o.H),
    lambda o: (1 + o.H @ o.phi @ o.K, o.H @ o.phi @ o.G),
    lambda o: (o.H @ o.phi @ o.taubar, o.H @ o.phi @ o.E_psi),
    lambda o: (o.H @ o.phi @ o.tau, o.H @ o.phi @ (1 - o.E_psi)),
    lambda o: (o.H @ o.phi @ o.tau, o.H @ o.phi @ o.psi.inv),
)
both(
    JAIN,
    "(41), (42), (43), (44)",
    lambda o: (o.phi @ o.M @ o.psi.T, o.P + (o.phi - 1) @ o.P + o.P @ (o.psi - 1).T),
    lambda o: (o.psi @ o.M @ o.psi.T, o.P + (o.psi - 1) @ o.P + o.P @ (o.psi - 1).T),
    lambda o: (o.psi.inv - o.phi.inv, o.K @ o.H),
    lambda o: (o.psi.inv @ o.phi, 1 + o.K @ o.H @ o.phi),
    lambda o: (o.phi @ o.psi.inv, 1 + o.phi @ o.K @ o.H),
    lambda o: (o.phi.inv @ o.psi, 1 - o.K @ o.H @ o.psi),
    lambda o: (o.psi @ o.phi.inv, 1 - o.psi @ o.K @ o.H),
)
both(
    JAIN,
    "(45), (46), (47), (48)",
    lambda o: ((1 - o.H @ o.psi @ o.K) @ o.H @ o.phi, o.H @ o.psi),
    lambda o: (o.phi @ o.K @ (1 - o.H @ o.psi @ o.K), o.psi @ o.K),
    lambda o: ((1 + o.H @ o.phi @ o.K) @ o.H @ o.psi, o.H @ o.phi),
    lambda o: (o.psi @ o.K @ (1 + o.H @ o.phi @ o.K), o.phi @ o.K),
    lambda o: (o.H @ o.psi @ o.M @ o.psi.T @ o.H.T, o.D),
    lambda o: (
        o.phi @ o.M @ o.phi.T,
        o.P + (o.phi - 1) @ o.P + o.P @ (o.phi - 1).T + o.phi @ o.K @ o.D @ o.K.T @ o.phi.T,
    ),
    lambda o: (o.phi @ o.M @ o.phi.T @ o.H.T, (1 + o.phi @ o.K @ o.H) @ o.P @ o.phi.T @ o.H.T),
)

# Factorization, inversion, forward dynamics.

both(
    JAIN,
    "(49), (50), (51)",
    lambda o: (o.mass, (1 + o.H @ o.phi @ o.K) @ o.D @ (1 + o.H @ o.phi @ o.K).T),
    lambda o: ((1 + o.H @ o.phi @ o.K).inv, 1 - o.H @ o.psi @ o.K),
    lambda o: (o.mass.inv, (1 - o.H @ o.psi @ o.K).T @ o.D.inv @ (1 - o.H @ o.psi @ o.K)),
)


@equation(JAIN, "(52), (53), (Cor. 6.1)", (*ANY, "g1"))
def _(one):
    s, d = one.sko, one.hand
    n = len(d.mass.value)
    for factor in (1 + s.H @ s.phi @ s.K, 1 - s.H @ s.psi @ s.K):
        assert factor.slogdet() == (1.0, 0.0)
        canonical = np.concatenate([np.arange(n)[d.joints[k]] for k in reversed(d.base_to_tips)]).astype(int)  # tips first
        dense = factor.dense()[np.ix_(canonical, canonical)]
        assert np.abs(np.triu(dense) - np.eye(n)).max(initial=0.0) <= 2 * (d.H @ d.phi @ d.K).bound
        if n:
            assert abs(np.linalg.slogdet(dense)[1]) <= n * d.gamma * d.condition
    sign, size = np.linalg.slogdet(d.mass.value)
    bound = n * d.mass.error * d.condition
    assert sign == s.mass.slogdet()[0] == 1
    assert abs(s.mass.logdet() - size) <= bound
    assert abs(sum(np.linalg.slogdet(X)[1] for X in s.D.matrices) - size) <= bound


@equation(HAMILTON, "(P.5a), (P.5b)")
def _(one):
    s, d, p = one.sko, one.hand, one.vector("joints")
    c = s.cdi
    wanted = d.mass.inv @ column(p)
    first = 1 - c.G.T @ c.Psi_beta.T @ c.Phi_D.T @ c.K
    second = 1 - c.K.T @ c.Phi_D @ c.Psi_beta @ c.G
    assert_vector(second @ (c.R.inv @ (first @ p)), wanted)
    assert_vector(c.velocity @ p, wanted)
    assert_vector(s.mass.inv @ p, wanted)
    assert_equal((second @ c.R.inv @ first).dense(), d.mass.inv)
    # the recursion, with K, R, β by hand
    weights = articulated_weights(d)
    w = d.K.value @ p  # w(i) = Σ D* K p over the children
    y = np.concatenate(gathered(d, weights, w))
    eps = np.linalg.solve(d.D.value, p - d.H.value @ y) if len(p) else p
    z = np.concatenate(scattered(d, weights, d.H.value.T @ eps))
    rates = eps - d.G.value.T @ (d.E.value.T @ z)
    assert_vector(s.mass.inv @ p, Matrix(rates[:, None], wanted.size, wanted.error))


def accelerations(one: Case):
    """v̇ = ℳ⁻¹ (T − C) by hand, with T, a, b."""
    d, T = one.hand, one.vector("joints", 5)
    a, b = one.vector("bodies", 6), one.vector("bodies", 7)
    C = d.H @ d.phi @ (d.M @ d.phi.T @ column(a) + column(b))
    return T, a, b, C, d.mass.inv @ (column(T) - C)


@equation(JAIN, "(54), (55)")
def _(one):
    s = one.sko
    T, a, b, C, wanted = accelerations(one)
    factor = 1 - s.H @ s.psi @ s.K
    z = s.psi @ (s.K @ T + s.P @ a + b)
    assert_vector(factor.T @ (s.D.inv @ (T - s.H @ z)) - s.K.T @ (s.psi.T @ a), wanted)
    C_found = s.H @ (s.phi @ (s.M @ (s.phi.T @ a) + b))
    assert_vector(C_found, C)
    assert_vector(factor.T @ (s.D.inv @ (factor @ (T - C_found))), wanted)


@equation(JAIN, "(56), (57)")
def _(one):
    s, d = one.sko, one.hand
    _, a, b, C, _ = accelerations(one)
    factor, factor_ = 1 - s.H @ s.psi @ s.K, 1 - d.H @ d.psi @ d.K
    left = factor_ @ C
    assert_vector((s.H @ s.psi @ s.P + s.D @ s.K.T @ s.phi.T) @ a + s.H @ (s.psi @ b), left)
    assert_vector(factor @ (s.H @ s.phi @ (s.M @ (s.phi.T @ a) + b)), left)
    left = factor_.T @ d.D.inv @ left
    assert_vector(factor.T @ s.D.inv @ s.H @ s.psi @ (s.P @ a + b) + s.K.T @ s.psi.T @ a, left)


@equation(JAIN, "(58a), (58b), (58c), (58d), (58e), (58f), (58g)")
def _(one):
    s, d = one.sko, one.hand
    T, a, b, _, wanted = accelerations(one)
    z = s.psi @ (s.K @ T + s.P @ a + b)
    eps = T - s.H @ z
    z_plus = z + s.G @ eps
    nu = s.D.inv @ eps
    alpha = s.psi.T @ (s.H.T @ nu + a)
    alpha_plus = s.E.T @ alpha
    rates = nu - s.G.T @ alpha_plus
    force = s.P @ (alpha - a) + z
    assert_vector(rates, wanted)
    z_ = d.psi @ (d.K @ column(T) + d.P @ column(a) + column(b))
    alpha_ = d.phi.T @ (d.H.T @ wanted + column(a))
    force_ = d.phi @ (d.M @ alpha_ + column(b))
    assert_vector(z, z_)
    assert_vector(s.E @ z_plus + s.P @ a + b, z_)
    assert_vector(alpha, alpha_)
    assert_vector(alpha_plus + s.H.T @ rates + a, alpha_)
    assert_vector(force, force_)
    assert_vector(s.H @ force, Matrix(T[:, None], (d.H @ force_).size, force_.error))


@equation(JAIN, "(Alg. 6.1)")
def _(one):
    """Gather z, ε, ν, z⁺; scatter α⁺, v̇, α: with numbers by hand."""
    s, d = one.sko, one.hand
    T, a, b, _, wanted = accelerations(one)
    P, G, D = (
        [X.value[i, j] for i, j in zip(r, c, strict=True)]
        for X, r, c in ((d.P, d.bodies, d.bodies), (d.G, d.bodies, d.joints), (d.D, d.joints, d.joints))
    )
    z = [P[k] @ a[at] + b[at] for k, at in enumerate(d.bodies)]
    nu = [np.zeros(0)] * len(z)
    for k in reversed(d.base_to_tips):
        eps = T[d.joints[k]] - d.H_blocks[k] @ z[k]
        nu[k] = np.linalg.solve(D[k], eps) if d.dofs[k] else eps
        if d.parents[k] >= 0:
            z[d.parents[k]] += d.weights[k] @ (z[k] + G[k] @ eps)
    alpha, rates = [np.zeros(0)] * len(z), [np.zeros(0)] * len(z)
    for k in d.base_to_tips:
        from_parent = d.weights[k].T @ alpha[d.parents[k]] if d.parents[k] >= 0 else np.zeros(d.sizes[k])
        rates[k] = nu[k] - G[k].T @ from_parent
        alpha[k] = from_parent + d.H_blocks[k].T @ rates[k] + a[d.bodies[k]]
    C = s.H @ (s.phi @ (s.M @ (s.phi.T @ a) + b))
    assert_vector(s.mass.inv @ (T - C), blockwise(rates, wanted))


# Operational space.

both(
    JAIN,
    "(59), (60)",
    lambda o: (o.Omega, o.phi.T @ o.H.T @ (1 - o.H @ o.psi @ o.K).T @ o.D.inv @ (1 - o.H @ o.psi @ o.K) @ o.H @ o.phi),
    lambda o: (o.Omega, o.phi.T @ o.H.T @ o.mass.inv @ o.H @ o.phi),
    lambda o: (o.Omega, o.psi.T @ o.H.T @ o.D.inv @ o.H @ o.psi),
)


@equation(JAIN, "(60 blockwise), (E-002-2)")
def _(one):
    s, d = one.sko, one.hand
    bound = 2 * d.Omega.bound
    psi = articulated_weights(d)
    own = (d.H.T @ d.D.inv @ d.H).value
    Y = {}
    for k in d.base_to_tips:
        Y[k] = own[d.bodies[k], d.bodies[k]]
        if (p := d.parents[k]) >= 0:
            Y[k] = Y[k] + psi[k].T @ Y[p] @ psi[k]
        assert np.abs(s.Omega.blocks(k, k) - Y[k]).max() <= bound
    for i in d.nodes:
        for j in d.nodes:
            common = [k for k in d.path(i) if d.is_above(k, j)]
            block = s.Omega.blocks(i, j)
            if not common:
                assert not block.any()
                continue
            c = common[0]
            assert np.abs(block - d.product(psi, c, i).T @ Y[c] @ d.product(psi, c, j)).max() <= bound


# Sparsity by segments, Fig. 3.


def segments() -> list[list[int]]:
    """Jain's five segments, tip first, in our numbers: node k of his is 12 − k."""
    found, start = [], 1
    for length in documents.cases()["002_fig3_5segment_tree12"]["expected"]["segment_lengths"]:
        found.append([12 - k for k in range(start, start + length)])
        start += length
    return found


CONNECTED = {(4, 1), (4, 2), (5, 3), (5, 4)}
"""(parent, child) segments of Fig. 3."""


def between(d: ByHand, Z: np.ndarray, j: int, k: int, at=None) -> np.ndarray:
    """Block (j, k) of segments, numbered from 1."""
    at = at or d.bodies
    parts = [np.concatenate([np.arange(at[b].start, at[b].stop) for b in segments()[n - 1]]) for n in (j, k)]
    return Z[np.ix_(*parts)]


@equation(JAIN, "(61), (62)", ("002_fig3_5segment_tree12",))
def _(one):
    s, d = one.sko, one.hand
    E, pattern = s.E.dense(), s.E.pattern()
    for j in range(1, 6):
        for k in range(1, 6):
            block = between(d, E, j, k)
            rows, columns = segments()[j - 1], segments()[k - 1]
            seen = pattern[np.ix_(rows, columns)]
            if j == k:
                assert np.array_equal(seen, np.eye(len(rows), k=-1, dtype=bool))  # a serial chain, tip first: A(2, 1), A(3, 2)
            elif (j, k) in CONNECTED:  # A(1_j, n_k) in the corner: tip of j, base of k
                tip, base = rows[0], columns[-1]
                assert np.array_equal(np.argwhere(seen), [[0, len(columns) - 1]])
                assert np.array_equal(s.E.blocks(tip, base), block[:6, -6:])
                assert np.abs(block[:6, -6:] - d.weights[base]).max() <= d.E.bound
                assert not block[6:].any()
                assert not block[:, :-6].any()
            else:
                assert not block.any()
                assert not seen.any()


@equation(JAIN, "(63)", ("002_fig3_5segment_tree12",))
def _(one):
    s, d = one.sko, one.hand
    phi, pattern = s.phi.dense(), s.phi.pattern()
    parents = {1: 4, 2: 4, 3: 5, 4: 5}
    for j in range(1, 6):
        for k in range(1, 6):
            path = [k]
            while path[-1] != j and path[-1] in parents:
                path.append(parents[path[-1]])
            if path[-1] != j:
                assert not between(d, phi, j, k).any()
                assert not pattern[np.ix_(segments()[j - 1], segments()[k - 1])].any()
                continue
            block = between(d, d.E.value, k, k)
            wanted = np.linalg.inv(np.eye(len(block)) - block)  # φ_k = (1 − E_k)⁻¹
            for below, above in pairwise(path):  # φ_jk = φ_j E_{j,i} φ_{i,k}
                own = between(d, d.E.value, above, above)
                wanted = np.linalg.inv(np.eye(len(own)) - own) @ between(d, d.E.value, above, below) @ wanted
            assert np.abs(between(d, phi, j, k) - wanted).max() <= 2 * d.phi.bound
    expected = documents.cases()[one.name]["expected"]["segment_zero_blocks"]
    mass = s.mass.dense()
    zero = [[j, k] for j in range(1, 6) for k in range(j + 1, 6) if not between(d, mass, j, k, d.joints).any()]
    assert zero == sorted(expected)


TESTS = [pytest.param(e, name, id=f"{e} on {name}") for e in EQUATIONS for name in e.names]


@pytest.mark.parametrize(("equation", "name"), TESTS)
def test_equation(equation, name):
    equation.check(case(name))


def numbers_in(text: str) -> Iterator[tuple[str, str]]:
    """(document, number) of every equation that a test's id names."""
    document = next(name for name in (JAIN, MASS, HAMILTON, LAGRANGE) if text.startswith(name))
    yield from ((document, number) for number in re.findall(r"\(([^()]*)\)", text))


def span(first: int, last: int) -> set[str]:
    return {str(n) for n in range(first, last + 1)}


WANTED = {
    MASS: {"Def. 1", "Def. 2", "nilpotency", "series", "Alg. 1", "Alg. 2", "procedure", *span(1, 2), *span(8, 15)},
    HAMILTON: {"P1", "P2", "P3", "P4", "Fig. 2", "P.4a", "P.5a", "P.5b", "branch inertia"},
    LAGRANGE: span(11, 16),
    JAIN: (span(1, 63) - {"58"})
    | {f"58{letter}" for letter in "abcdefg"}
    | {"Cor. 3.1", "Cor. 6.1", "Alg. 3.1", "Alg. 4.1", "Alg. 4.2", "Alg. 4.3", "Alg. 6.1"},
}


def test_no_equation_is_left_out():
    found = {number for test in TESTS for number in numbers_in(test.id)}
    missing = {(document, number) for document, numbers in WANTED.items() for number in numbers} - found
    assert not missing
