"""One step of a simulation as a kernel, which `simulate` calls and `rollout` repeats: an integrator run on traced numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, final

import numpy as np

from kinetree.algebra.sweeps import piled, rows, split, stacked
from kinetree.algorithms.kinematics import integrate
from kinetree.compiler.compile import sources_of
from kinetree.compiler.iterated import iterated
from kinetree.compiler.kernel import Sources, build_once
from kinetree.compiler.staged import staged
from kinetree.model import Model
from kinetree.simulation.charts import turn
from kinetree.simulation.forms import TRACED, flow, held_flow, rate, same
from kinetree.simulation.implicit import Implicit
from kinetree.simulation.integrators import INTEGRATORS, LOOK_AHEAD, Explicit, System
from kinetree.simulation.solving import begin, finish, improve
from kinetree.spatial.scalars import Array, Scalar


def step_kernel(model: Model, form: str, integrator: str, driven: bool, lowering: str = "auto") -> np.ufunc:
    """The kernel (q, y, tau, h) → (q, y) of one step; `driven` adds wrenches `external` to its arguments.

    That of an implicit rule also returns how often it asked for the dynamics.
    """
    key = (step_kernel, form, integrator, driven, lowering)
    if key not in model.kernels:
        doc = f"one step of {model.name} by {integrator}, {form}: (q, y, tau, h{', external' if driven else ''})."
        model.kernels[key] = build_once(
            "step", doc, (model.digest, *key), lambda: step_sources(model, form, integrator, driven, lowering, True), warn=False
        )
    return model.kernels[key]


def step_sources(
    model: Model, form: str, integrator: str, driven: bool, lowering: str = "auto", counted: bool = False
) -> Sources:
    """One step as code: as a whole if it asks for the dynamics once, else in pieces around one code for the dynamics.

    An implicit one repeats what improves its unknowns; `counted` adds how often to the results.
    """
    rule, options = INTEGRATORS[integrator], {"form": form, "integrator": integrator}
    without = () if driven else ("external",)
    if isinstance(rule, Implicit):
        return _solved(model, rule, without, options, lowering, counted)
    assert isinstance(rule, Explicit)
    if rule.stages == 1:
        return sources_of(step, model, without, options, lowering=lowering)
    dynamics, told = (rate, "a") if TRACED[form].velocity is same else (flow, "wa")
    stage = sources_of(dynamics, model, without, {"form": form}, lowering=lowering)
    alike = "looped" if stage[0].arrays else "unrolled"
    known = [(*without, *(x for x in TOLD if x not in _names(told, k))) for k in range(rule.stages + 1)]
    pieces = [sources_of(piece, model, missing, {"integrator": integrator}, lowering=alike) for missing in known]
    wide = staged(stage[0], [x for x, _ in pieces])
    return wide, None if stage[1] is None else staged(stage[1], [x for _, x in pieces if x is not None])


def _solved(
    model: Model, rule: Implicit, without: tuple[str, ...], options: dict[str, Any], lowering: str, counted: bool
) -> Sources:
    w, f = (tuple(f"{letter}{k}" for k in range(1, 5)) for letter in "wf")
    unknown = (*without, *w[rule.stages :])
    middle = sources_of(improve, model, unknown, options, lowering=lowering)
    alike = "looped" if middle[0].arrays else "unrolled"
    first = sources_of(begin, model, without, options, lowering=alike)
    last = sources_of(finish, model, (*unknown, *f[rule.stages :]), options, lowering=alike)
    wide = iterated(first[0], middle[0], last[0], rule.stages, counted)
    if first[1] is None or middle[1] is None or last[1] is None:
        return wide, None
    return wide, iterated(first[1], middle[1], last[1], rule.stages, counted)


def step(
    model: Model, q: Array, y: Array, tau: Array, h: Scalar, external: Array | None = None, *, form: str, integrator: str
) -> tuple[Array, Array]:
    """(q (nq,), y (nv,)) a step of h later, joint forces and wrenches held."""
    velocity = partial(TRACED[form].velocity, model)
    asked: Any = lambda t, q, y: flow(model, q, y, tau, external, form=form)  # noqa: E731
    if model.resists and integrator in LOOK_AHEAD:
        asked = lambda t, q, y: held_flow(model, q, y, tau, h, external, form=form)  # noqa: E731
    return _traced(model, asked, velocity, q, y, h, integrator)


def piece(
    model: Model,
    q: Array,
    y: Array,
    tau: Array,
    h: Scalar,
    external: Array | None = None,
    w1: Array | None = None,
    a1: Array | None = None,
    w2: Array | None = None,
    a2: Array | None = None,
    w3: Array | None = None,
    a3: Array | None = None,
    w4: Array | None = None,
    a4: Array | None = None,
    *,
    integrator: str,
) -> tuple[Array, ...]:
    """What a step asks of the dynamics next, when it was told the rates a1, … and velocities w1, …; or what it gives.

    Where y is the velocity, that is not told.
    """
    told = iter([(w, a) for w, a in ((w1, a1), (w2, a2), (w3, a3), (w4, a4)) if a is not None])

    def answer(t: Any, q: Array, y: Array) -> tuple[Array, Array]:
        for w, a in told:
            return y if w is None else _owned(model, w), _owned(model, a)
        raise _Asked(q, y)

    try:
        return _traced(model, answer, None, q, y, h, integrator)
    except _Asked as asked:
        q, y = asked.state
    held = () if external is None else (piled(rows(external)),)
    return stacked(split(model.q_slices, q), model.q_slices), _owned(model, y), _owned(model, tau), *held


def _names(letters: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{k}" for k in range(1, count + 1) for letter in letters)


TOLD = _names("wa", 4)
"""Names of the velocities and rates that `piece` may be told."""


@final
class _Asked(Exception):  # noqa: N818, it is a question, not an error
    """A step asks for the dynamics at a state."""

    def __init__(self, *state: Array) -> None:
        self.state = state


def _owned(model: Model, x: Array) -> Array:
    """An argument (nv,) as arithmetic between sweeps wants it."""
    return stacked(split(model.v_slices, x), model.v_slices)


def _traced(model: Model, flow: Any, velocity: Any, q: Array, y: Array, h: Scalar, integrator: str) -> tuple[Array, Array]:
    system = System(flow, velocity, partial(integrate, model), partial(turn, model))
    rule = INTEGRATORS[integrator]
    assert isinstance(rule, Explicit)
    return rule.step(system, 0.0, q, _owned(model, y), h)
