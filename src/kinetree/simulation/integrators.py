"""The integrators: each takes (q, v) at t to (q, v) at t + h and stays on the configuration manifold.

==================== ===== ========= ======================================================================
name                 order dynamics  remarks
==================== ===== ========= ======================================================================
rk4                  4     4 a step  Runge–Kutta–Munthe-Kaas: the classical rule in local coordinates of q
semi-implicit-euler  1     1 a step  energy error stays bounded where it oscillates; robust with stiff contacts
==================== ===== ========= ======================================================================

Each is written once: on a system of kernels it steps a simulation, on traced numbers it becomes a kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from kinetree.spatial.scalars import Array, Scalar


@final
@dataclass(frozen=True)
class System:
    """q' = v on the manifold, v' = acceleration(t, q, v).

    acceleration(t, q, v) (nv,); move(q, theta) (nq,) is the exponential that takes local coordinates theta (nv,) to a
    configuration; rate(theta, v) (nv,) is theta' when the velocity there is v.
    """

    acceleration: Callable[[Any, Array, Array], Array]
    move: Callable[[Array, Array], Array]
    rate: Callable[[Array, Array], Array]


@final
@dataclass(frozen=True)
class Integrator:
    """A rule that takes (system, t, q, v, h) to (q, v) at t + h; its order; how often it asks for the dynamics."""

    step: Callable[[System, Any, Array, Array, Scalar], tuple[Array, Array]]
    order: int
    stages: int


def rk4(system: System, t: Any, q: Array, v: Array, h: Scalar) -> tuple[Array, Array]:
    """Local coordinates θ with q(t + s) = q exp θ(s), θ(0) = 0: θ' = dexp⁻¹ v, v' = a(t, q exp θ, v)."""

    def slopes(s: Scalar, theta: Array, v: Array) -> tuple[Array, Array]:
        return system.rate(theta, v), system.acceleration(t + s, system.move(q, theta), v)

    w1, a1 = v, system.acceleration(t, q, v)
    w2, a2 = slopes(h / 2, h / 2 * w1, v + h / 2 * a1)
    w3, a3 = slopes(h / 2, h / 2 * w2, v + h / 2 * a2)
    w4, a4 = slopes(h, h * w3, v + h * a3)
    return system.move(q, h / 6 * (w1 + 2 * (w2 + w3) + w4)), v + h / 6 * (a1 + 2 * (a2 + a3) + a4)


def semi_implicit_euler(system: System, t: Any, q: Array, v: Array, h: Scalar) -> tuple[Array, Array]:
    """v⁺ = v + h a(t, q, v), then q⁺ = q exp(h v⁺)."""
    v = v + h * system.acceleration(t, q, v)
    return system.move(q, h * v), v


INTEGRATORS: dict[str, Integrator] = {
    "rk4": Integrator(rk4, order=4, stages=4),
    "semi-implicit-euler": Integrator(semi_implicit_euler, order=1, stages=1),
}
