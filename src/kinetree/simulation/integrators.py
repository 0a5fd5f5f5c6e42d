"""The integrators: each takes (q, y) at t to (q, y) at t + h, y = v or p, and stays on the configuration manifold.

==================== ===== ========= ==============================================================================
name                 order dynamics  remarks
==================== ===== ========= ==============================================================================
rk4                  4     4 a step  Runge–Kutta–Munthe-Kaas: the classical rule in local coordinates of q
semi-implicit-euler  1     1 a step  cheap and robust
implicit-midpoint    2     4 to 10   symplectic where v is q̇, time-reversible and momenta exact everywhere; `implicit`
gauss-legendre-4     4     8 to 20   the same
variational          2     4 to 10   discrete Euler–Lagrange equations: symplectic everywhere, momenta exact
dop853               8     by error  SciPy's explicit Runge–Kutta rule of Dormand and Prince
radau                5     by error  SciPy's implicit one, for stiff models
==================== ===== ========= ==============================================================================

Each is written once, for any form: on a system of kernels it steps a simulation, on traced numbers it becomes a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from kinetree.simulation.adaptive import Adaptive
from kinetree.simulation.implicit import GAUSS, MIDPOINT, Implicit
from kinetree.spatial.scalars import Array, Scalar


@final
@dataclass(frozen=True)
class System:
    """Equations of motion in a state (q, y), y (nv,) being v or a momentum.

    flow(t, q, y) is (v, y'); velocity(q, y) is v; move(q, theta) (nq,) is the exponential that takes local coordinates theta
    (nv,) to a configuration; turn(theta, v) is theta' when the velocity there is v.
    """

    flow: Callable[[Any, Array, Array], tuple[Array, Array]]
    velocity: Callable[[Array, Array], Array]
    move: Callable[[Array, Array], Array]
    turn: Callable[[Array, Array], Array]


@final
@dataclass(frozen=True)
class Explicit:
    """A rule that takes (system, t, q, y, h) to (q, y) at t + h; its order; how often it asks for the dynamics."""

    step: Callable[[System, Any, Array, Array, Scalar], tuple[Array, Array]]
    order: int
    stages: int


def rk4(system: System, t: Any, q: Array, y: Array, h: Scalar) -> tuple[Array, Array]:
    """Local coordinates θ with q(t + s) = q exp θ(s), θ(0) = 0: θ' = dexp⁻¹ v, and y', by the flow at (t, q exp θ, y)."""

    def slopes(s: Scalar, theta: Array, y: Array) -> tuple[Array, Array]:
        v, rate = system.flow(t + s, system.move(q, theta), y)
        return system.turn(theta, v), rate

    w1, a1 = system.flow(t, q, y)
    w2, a2 = slopes(h / 2, h / 2 * w1, y + h / 2 * a1)
    w3, a3 = slopes(h / 2, h / 2 * w2, y + h / 2 * a2)
    w4, a4 = slopes(h, h * w3, y + h * a3)
    return system.move(q, h / 6 * (w1 + 2 * (w2 + w3) + w4)), y + h / 6 * (a1 + 2 * (a2 + a3) + a4)


def semi_implicit_euler(system: System, t: Any, q: Array, y: Array, h: Scalar) -> tuple[Array, Array]:
    """y⁺ = y + h y'(t, q, y), then q⁺ = q exp(h v⁺), v⁺ being the velocity with y⁺ at q."""
    y = y + h * system.flow(t, q, y)[1]
    return system.move(q, h * system.velocity(q, y)), y


INTEGRATORS: dict[str, Explicit | Implicit | Adaptive] = {
    "rk4": Explicit(rk4, order=4, stages=4),
    "semi-implicit-euler": Explicit(semi_implicit_euler, order=1, stages=1),
    "implicit-midpoint": Implicit(*MIDPOINT, order=2),
    "gauss-legendre-4": Implicit(*GAUSS, order=4),
    "variational": Implicit(*MIDPOINT, order=2, pulled=True),
    "dop853": Adaptive("DOP853", order=8),
    "radau": Adaptive("Radau", order=5),
}

LOOK_AHEAD = ("semi-implicit-euler",)
"""Those that take what joints oppose to motion as it is at the end of a step, so that none of it is too strong for any h."""
