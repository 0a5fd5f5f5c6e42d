"""How the equations of an implicit rule are solved: the parts that compiled code repeats, and the same loop on kernels."""

from __future__ import annotations

from functools import partial
from typing import Any, final

import numpy as np

from kinetree.algebra.sweeps import each, split, stacked, total
from kinetree.algorithms.kinematics import integrate
from kinetree.algorithms.momentum import momentum, velocity
from kinetree.compiler.iterated import LIMIT, ROUNDING, SMALL
from kinetree.model import Model
from kinetree.simulation import charts
from kinetree.simulation.forms import TRACED, rates, same
from kinetree.simulation.implicit import Implicit, Phase
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.spatial.scalars import Array, Scalar


def begin(
    model: Model, q: Array, y: Array, tau: Array, h: Scalar, external: Array | None = None, *, form: str, integrator: str
) -> tuple[Array, ...]:
    """p at the start of a step, and the rates w to start with: v where it is carried, else 0, cheaper than finding it."""
    y = _owned(model, y)
    is_velocity, stages = TRACED[form].carried is same, _rule(integrator).stages
    p = momentum(model, q, y) if is_velocity else y
    return _owned(model, p), *(y if is_velocity else 0.0 * y for _ in range(stages))


def improve(
    model: Model,
    q: Array,
    y: Array,
    tau: Array,
    h: Scalar,
    external: Array | None = None,
    p: Any = None,
    w1: Any = None,
    w2: Any = None,
    w3: Any = None,
    w4: Any = None,
    *,
    form: str,
    integrator: str,
) -> tuple[Any, ...]:
    """Better rates w, the forces f at the old ones, and the two numbers that say how far they are."""
    phase = _traced(model, tau, external)
    w = [_owned(model, x) for x in (w1, w2, w3, w4) if x is not None]
    better, f, missing, size = _rule(integrator).improved(phase, 0.0, q, _owned(model, p), h, w)
    return *better, *f, missing, size


def finish(
    model: Model,
    q: Array,
    y: Array,
    tau: Array,
    h: Scalar,
    external: Array | None = None,
    p: Any = None,
    w1: Any = None,
    w2: Any = None,
    w3: Any = None,
    w4: Any = None,
    f1: Any = None,
    f2: Any = None,
    f3: Any = None,
    f4: Any = None,
    *,
    form: str,
    integrator: str,
) -> tuple[Array, Array]:
    """(q, y) at the end of a step whose rates and forces are found."""
    w, f = ([_owned(model, x) for x in given if x is not None] for given in ((w1, w2, w3, w4), (f1, f2, f3, f4)))
    q, p = _rule(integrator).finished(_traced(model, tau, external), q, _owned(model, p), h, w, f)
    return q, velocity(model, q, p) if TRACED[form].carried is same else p


def solve(rule: Implicit, phase: Phase, t: float, q: Array, p: Array, h: float, w: Array) -> tuple[Array, Array, int]:
    """(q, p) at t + h, and in how many repetitions, as compiled code does it; w (nv,) are the rates to start with.

    Raises Unsolved.
    """
    found, before, most, changes, count = [w] * rule.stages, np.nan, 0.0, w, 0
    for count in range(1, LIMIT + 1):
        better, f, missing, size = rule.improved(phase, t, q, p, h, found)
        most = max(most, size)
        changes = np.abs(np.array(better) - np.array(found)).max(axis=0)
        found = better
        enough = missing <= ROUNDING * most or missing * missing <= before * (ROUNDING * most)
        if enough or (missing >= before and missing <= SMALL * most):
            return *rule.finished(phase, q, p, h, found, f), count
        if not missing < np.inf:
            break
        before = missing
    raise Unsolved(changes, count)


@final
class Unsolved(Exception):  # noqa: N818, whoever catches it says what it means
    """The rates still change; `changes` (nv,) by how much, after so many repetitions."""

    def __init__(self, changes: Array, count: int) -> None:
        self.changes, self.count = changes, count


def inner(model: Model, a: Array, b: Array) -> Any:
    """Σ a b."""
    return total(each(lambda a, b: a @ b, split(model.v_slices, a), split(model.v_slices, b)))


def _rule(integrator: str) -> Implicit:
    rule = INTEGRATORS[integrator]
    assert isinstance(rule, Implicit)
    return rule


def _traced(model: Model, tau: Array, external: Array | None) -> Phase:
    def momenta(t: Any, q: Array, v: Array) -> tuple[Array, Array]:
        return rates(model, q, v, tau, external, form="hamilton")

    maps = (velocity, integrate, inner, charts.turn, charts.unturn, charts.carry, charts.pull, charts.straight)
    return Phase(momenta, *(partial(f, model) for f in maps))


def _owned(model: Model, x: Array) -> Array:
    """An argument (nv,) as arithmetic between sweeps wants it."""
    return stacked(split(model.v_slices, x), model.v_slices)
