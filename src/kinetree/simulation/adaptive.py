"""Integrators of SciPy, which choose their steps by the error they make: each stored state is reached in as many as that takes.

They integrate z = (q, y) as it stands, q' = `charts.rate_of_coordinates`, quaternions made unit wherever they are used. One
stored state tells the next nothing but itself, so that events and restarts find the same numbers; dt is what they try first,
and should be as large as what is to be looked at allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import MissingExtraError, SimulationError
from kinetree.spatial.scalars import Array

NEEDED = 'dop853 and radau are SciPy\'s: pip install "kinetree[scipy]"'


@final
@dataclass(frozen=True)
class Adaptive:
    """A rule of scipy.integrate, by the name of its class there."""

    solver: str
    order: int


@final
@dataclass(frozen=True)
class Motion:
    """Equations of motion in q itself: flow(t, q, y) is (v, y'), rate(q, v) is q', unit(q) has unit quaternions."""

    flow: Callable[[float, Array, Array], tuple[Array, Array]]
    rate: Callable[[Array, Array], Array]
    unit: Callable[[Array], Array]


def reach(
    rule: Adaptive, motion: Motion, t: float, q: Array, y: Array, h: float, rtol: float, atol: float
) -> tuple[Array, Array, int]:
    """(q, y) at t + h, and how often the dynamics were asked for.

    Raises SimulationError where that cannot be reached, MissingExtraError where SciPy is not there.
    """
    n, end = len(q), t + h
    if not end > t:  # an event is looked for in less time than the clock can tell
        return q, y, 0

    def flow(t: float, z: Array) -> Array:
        q = motion.unit(z[:n])
        v, rate = motion.flow(t, q, z[n:])
        return np.concatenate([motion.rate(q, v), rate])

    solver = solver_of(rule)(flow, t, np.concatenate([q, y]), end, rtol=rtol, atol=atol, first_step=end - t)
    while solver.status == "running":
        try:
            told = solver.step()
        except ValueError as failure:
            if "infs or NaNs" not in str(failure):
                raise
            told = "the state is not finite."
        if told:
            raise SimulationError(
                f"the error could not be kept below rtol = {rtol:g}, atol = {atol:g} after t = {solver.t:.9g} s: {told} Take "
                "larger ones, and look at control that jumps and at very light bodies."
            )
    return motion.unit(solver.y[:n]), solver.y[n:].copy(), solver.nfev


def solver_of(rule: Adaptive) -> Any:
    """SciPy's class. Raises MissingExtraError where it is not there."""
    try:
        from scipy import integrate
    except ImportError:
        raise MissingExtraError(NEEDED) from None
    return getattr(integrate, rule.solver)
