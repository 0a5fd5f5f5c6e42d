"""Symplectic rules, implicit: each step solves for the velocities in it.

In canonical coordinates Gauss's collocation of s stages, implicit midpoint for s = 1, is symplectic, of order 2 s, and runs
backwards as it ran forwards. Here its chart is that of the middle of the step, q = q_c exp θ, and momenta are looked at in the
axes of q_c, where one that stays in space is constant. With w = θ' at the stages, ã = a − ½ b and f the forces there:

    q_c = q exp(½ h Σ b w)    θᵢ = h Σ ãᵢⱼ wⱼ    qᵢ = q_c exp θᵢ    vᵢ = dexp wᵢ
    ℳ(qᵢ) vᵢ = pᵢ             pᵢ, seen from q_c, = p + h Σ aᵢⱼ fⱼ
    q⁺ = q exp(h Σ b w)       p⁺, seen from q_c, = p + h Σ bⱼ fⱼ

At quaternion joints too that is time-reversible and of full order, and momentum maps (the linear and the angular momentum of
what floats freely) are kept however well the equations are solved.

The variational rule makes the sum of h L(q exp ½ x, x/h) stationary, q⁺ = q exp x: the discrete Euler–Lagrange equations by the
midpoint rule, in position and momentum (Marsden and West, 2001; Bou-Rabee and Marsden, 2009). It differs from the implicit
midpoint at quaternion joints only: what p and f become in the second line is what `pull` makes of them, and the map is
symplectic there too.

The equations are solved by w ← w + dexp⁻¹ ℳ⁻¹ (pᵢ − ℳ vᵢ), O(N), which contracts at the rate h |v|. How far they are says
δ = Σ (pᵢ − ℳ vᵢ)* ℳ⁻¹ (pᵢ − ℳ vᵢ), twice the kinetic energy of what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from kinetree.spatial.scalars import Array, Scalar

Vectors = Sequence[Array]


@final
@dataclass(frozen=True)
class Phase:
    """Hamilton's equations, for rules that solve them.

    momenta(t, q, v) is (p, ṗ); velocity(q, p) is ℳ⁻¹ p; move(q, theta) the exponential; inner(a, b) is Σ a b; turn, unturn,
    carry, pull and straight are those of `charts`.
    """

    momenta: Callable[[Any, Array, Array], tuple[Array, Array]]
    velocity: Callable[[Array, Array], Array]
    move: Callable[[Array, Array], Array]
    inner: Callable[[Array, Array], Scalar]
    turn: Callable[[Array, Array], Array]
    unturn: Callable[[Array, Array], Array]
    carry: Callable[[Array, Array], Array]
    pull: Callable[[Array, Array], Array]
    straight: Callable[[Array, Array, Array], Array]


@final
@dataclass(frozen=True)
class Implicit:
    """A rule that solves for the rates w of its stages.

    a, b, c are Gauss's; `pulled` makes it the variational one, for one stage only.
    """

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int
    pulled: bool = False

    @property
    def stages(self) -> int:
        """How many rates are solved for."""
        return len(self.b)

    def improved(self, phase: Phase, t: Any, q: Array, p: Array, h: Scalar, w: Vectors) -> tuple[Vectors, Vectors, Any, Any]:
        """Better rates w, the forces f at the old ones, δ, and twice the kinetic energy, to compare it with."""
        half = 0.5 * h * mixed(self.b, w)
        center = phase.move(q, half)
        theta = [h * mixed([x - 0.5 * y for x, y in zip(row, self.b, strict=True)], w) for row in self.a]
        at = [phase.move(center, x) for x in theta]
        v = [phase.unturn(x, rate) for x, rate in zip(theta, w, strict=True)]
        found = [phase.momenta(t + c * h, x, y) for c, x, y in zip(self.c, at, v, strict=True)]
        forces = [phase.straight(y, *x) for y, x in zip(v, found, strict=True)]
        f = [phase.carry(-x, force) for x, force in zip(theta, forces, strict=True)]
        p, acting = (phase.pull(2.0 * half, p), [phase.pull(half, x) for x in f]) if self.pulled else (phase.carry(half, p), f)
        wanted = [phase.carry(x, p + h * mixed(row, acting)) for x, row in zip(theta, self.a, strict=True)]
        missing = [x - y for x, (y, _) in zip(wanted, found, strict=True)]
        lacking = [phase.velocity(x, y) for x, y in zip(at, missing, strict=True)]
        better = [rate + phase.turn(x, y) for rate, x, y in zip(w, theta, lacking, strict=True)]
        return better, f, _inner(phase, missing, lacking), _inner(phase, [x for x, _ in found], v)

    def finished(self, phase: Phase, q: Array, p: Array, h: Scalar, w: Vectors, f: Vectors) -> tuple[Array, Array]:
        """(q, p) at the end of the step, once the rates w are found, and the forces f with them."""
        whole = h * mixed(self.b, w)
        return phase.move(q, whole), phase.carry(0.5 * whole, phase.carry(0.5 * whole, p) + h * mixed(self.b, f))


def mixed(weights: Sequence[float], vectors: Vectors) -> Any:
    """Σ c x."""
    terms = [c * x for c, x in zip(weights, vectors, strict=True)]
    return sum(terms[1:], start=terms[0])


def _inner(phase: Phase, a: Vectors, b: Vectors) -> Any:
    terms = [phase.inner(x, y) for x, y in zip(a, b, strict=True)]
    return sum(terms[1:], start=terms[0])


_R = math.sqrt(3.0) / 6.0
MIDPOINT = ((0.5,),), (1.0,), (0.5,)
GAUSS = ((0.25, 0.25 - _R), (0.25 + _R, 0.25)), (0.5, 0.5), (0.5 - _R, 0.5 + _R)
