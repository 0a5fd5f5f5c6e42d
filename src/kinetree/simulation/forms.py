"""The three forms of one motion: what is carried beside the coordinates q, and how fast it changes.

============ ========= ==================================================================================================
form         carries   rate
============ ========= ==================================================================================================
newton-euler v         v̇ = the articulated recursion                                       Jain II (58)
lagrange     v         v̇ = ℳ⁻¹ (τ + J* W − C v − g), by the mass matrix as a matrix          Lagrange (17)–(25)
hamilton     p = ℳ v   ṗ = τ + H (W − V ×* 𝒦) + Ḣ 𝒦, v = ℳ⁻¹ p by the factored form        Hamilton (P.3), (P.5)
============ ========= ==================================================================================================

Newton–Euler's and Hamilton's are algorithms, O(N), that are traced; Lagrange's is another road to the same numbers, by
kernels and dense algebra, O(N³).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.algebra.sweeps import split, stacked
from kinetree.algorithms.articulated import forward_dynamics
from kinetree.algorithms.momentum import momentum, momentum_and_rate, velocity
from kinetree.algorithms.passive import held_dynamics, held_momentum_rate, joint_forces
from kinetree.compiler.compile import kernel_of
from kinetree.model import Model
from kinetree.spatial.scalars import Array, Scalar

FORMS = ("newton-euler", "lagrange", "hamilton")


@final
@dataclass(frozen=True)
class Form:
    """Equations of motion in the state (q, y), y (nv,), as algorithms.

    carried(model, q, v) is y; velocity(model, q, y) is v; rates(model, q, v, tau, external) are (y, y'). Where y is v the
    first two are `same`.
    """

    carried: Callable[..., Array]
    velocity: Callable[..., Array]
    rates: Callable[..., tuple[Array, Array]]


def same(model: Model, q: Array, y: Array) -> Array:
    """y is v."""
    return y


def _accelerations(model: Model, q: Array, v: Array, tau: Array, external: Array | None) -> tuple[Array, Array]:
    return v, forward_dynamics(model, q, v, tau, external)


TRACED = {"newton-euler": Form(same, same, _accelerations), "hamilton": Form(momentum, velocity, momentum_and_rate)}
"""The forms that are algorithms."""


def rates(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None, *, form: str) -> tuple[Array, Array]:
    """(y, y') of a motion at velocity v, under everything that acts: all that any integrator asks for goes through here."""
    tau = joint_forces(model, q, v, tau) if model.resists else tau
    return TRACED[form].rates(model, q, v, tau, external)


def rate(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None, *, form: str) -> Array:
    """y' (nv,) at velocity v."""
    return rates(model, q, v, tau, external, form=form)[1]


def flow(model: Model, q: Array, y: Array, tau: Array, external: Array | None = None, *, form: str) -> tuple[Array, Array]:
    """(v, y') of the state (q, y)."""
    v = TRACED[form].velocity(model, q, stacked(split(model.v_slices, y), model.v_slices))
    return v, rate(model, q, v, tau, external, form=form)


def held_flow(
    model: Model, q: Array, y: Array, tau: Array, h: Scalar, external: Array | None = None, *, form: str
) -> tuple[Array, Array]:
    """(v, y') of the state (q, y), held over a step h, in which what resists is that of the velocity at its end."""
    y = stacked(split(model.v_slices, y), model.v_slices)
    v = TRACED[form].velocity(model, q, y)
    if TRACED[form].velocity is same:
        return v, held_dynamics(model, q, v, tau, h, external)
    return v, held_momentum_rate(model, q, v, tau, h, external)


def own_forces(model: Model) -> Callable[[Array, Array, Array], Array]:
    """All joint forces where τ is asked for, as a function of (q, v, tau)."""
    return kernel_of(joint_forces, model) if model.resists else lambda q, v, tau: tau


def dense_velocity(model: Model) -> Callable[[Array, Array], Array]:
    """v = ℳ⁻¹ p as a function of (q, p)."""
    M = compilation.compile(functions.mass_matrix, model)
    return lambda q, p: np.linalg.solve(M(q), p)


def dense_momenta(model: Model) -> Callable[..., tuple[Array, Array]]:
    """p = ℳ v and ṗ = τ + J* W + C* v − g, which is Lagrange's because ℳ˙ = C + C*, as a function of (q, v, tau, external)."""
    (M, C, g, Q), own = _terms(model), own_forces(model)

    def found(q: Array, v: Array, tau: Array, external: Any = None) -> tuple[Array, Array]:
        tau = own(q, v, tau)
        acting = tau if external is None else tau + Q(q, external)
        return M(q) @ v, acting + v @ C(q, v) - g(q)

    return found


def _terms(model: Model) -> list[Any]:
    terms = functions.mass_matrix, functions.coriolis_matrix, functions.gravity_force, functions.generalized_force
    return [compilation.compile(function, model) for function in terms]


def dense_rate(model: Model) -> Callable[..., Array]:
    """Lagrange's v̇ = ℳ⁻¹ (τ + J* W − C v − g) as a function of (q, v, tau, external)."""
    (M, C, g, Q), own = _terms(model), own_forces(model)

    def acceleration(q: Array, v: Array, tau: Array, external: Any = None) -> Array:
        tau = own(q, v, tau)
        acting = tau if external is None else tau + Q(q, external)
        return np.linalg.solve(M(q), acting - C(q, v) @ v - g(q))

    return acceleration
