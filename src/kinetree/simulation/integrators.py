"""The integrators: each takes (q, v) at t to (q, v) at t + h and stays on the configuration manifold.

==================== ===== ========= ======================================================================
name                 order dynamics  remarks
==================== ===== ========= ======================================================================
rk4                  4     4 a step  Runge–Kutta–Munthe-Kaas: the classical rule in local coordinates of q
semi-implicit-euler  1     1 a step  energy error stays bounded where it oscillates; robust with stiff contacts
==================== ===== ========= ======================================================================
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.simulation.system import System
from kinetree.spatial.scalars import Array

Step = Callable[[System, float, Array, Array, float], tuple[Array, Array]]


def rk4(system: System, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """Local coordinates θ with q(t + s) = q exp θ(s), θ(0) = 0: θ' = dexp⁻¹ v, v' = a(t, q exp θ, v)."""

    def slopes(s: float, theta: Array, v: Array) -> tuple[Array, Array]:
        return system.rate(theta, v), system.acceleration(t + s, system.move(q, theta), v)

    w1, a1 = v, system.acceleration(t, q, v)
    w2, a2 = slopes(h / 2, h / 2 * w1, v + h / 2 * a1)
    w3, a3 = slopes(h / 2, h / 2 * w2, v + h / 2 * a2)
    w4, a4 = slopes(h, h * w3, v + h * a3)
    return system.move(q, h / 6 * (w1 + 2 * (w2 + w3) + w4)), v + h / 6 * (a1 + 2 * (a2 + a3) + a4)


def semi_implicit_euler(system: System, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """v⁺ = v + h a(t, q, v), then q⁺ = q exp(h v⁺)."""
    v = v + h * system.acceleration(t, q, v)
    return system.move(q, h * v), v


INTEGRATORS: dict[str, Step] = {"rk4": rk4, "semi-implicit-euler": semi_implicit_euler}
