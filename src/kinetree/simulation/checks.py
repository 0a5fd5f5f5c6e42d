"""What simulations and rollouts check alike, each with its message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.simulation.adaptive import Adaptive
from kinetree.simulation.forms import FORMS, TRACED
from kinetree.simulation.integrators import INTEGRATORS

MEMORY_LIMIT = 4 * 2**30
"""Bytes that one run, or one call of rollout, may store."""


def check_movable(model: Any) -> None:
    """`InputError` unless it is a model that can move."""
    if not isinstance(model, Model):
        raise InputError(f"the first argument must be a kinetree Model, found {type(model).__name__}.")
    if model.nv == 0:
        raise InputError(f"{model.name!r} cannot be simulated: every joint is a weld, nothing can move.")


def check_integrator(name: Any) -> None:
    """`InputError` unless it is the name of one."""
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"integrator must be one of {', '.join(map(repr, INTEGRATORS))}, found {name!r}.")


def check_step(name: Any) -> None:
    """`InputError` unless it is the name of an integrator whose steps are as long as they are told."""
    check_integrator(name)
    if isinstance(INTEGRATORS[name], Adaptive):
        raise InputError(
            f"a rollout is compiled as a whole, with steps of dt, but integrator is {name!r}, which chooses its own by the "
            "error. Use kinetree.simulate for it."
        )


def check_tolerances(integrator: str, rtol: Any, atol: Any) -> None:
    """`InputError` unless they are tolerances of an adaptive integrator, or None."""
    for name, value, least in (("rtol", rtol, 1e-13), ("atol", atol, 0.0)):
        if value is None:
            continue
        if not isinstance(INTEGRATORS[integrator], Adaptive):
            adaptive = " and ".join(repr(name) for name, rule in INTEGRATORS.items() if isinstance(rule, Adaptive))
            raise InputError(f"{name} is for {adaptive}, found integrator {integrator!r}, whose steps are dt long.")
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
        if not (number and least <= value < 1.0):
            raise InputError(f"{name} must be a number of at least {least:g} and below 1, found {value!r:.60}.")


def check_form(name: Any) -> None:
    """`InputError` unless it is the name of one."""
    if not isinstance(name, str) or name not in FORMS:
        raise InputError(f"form must be one of {', '.join(map(repr, FORMS))}, found {name!r}.")


def check_traced(form: str) -> None:
    """`InputError` unless a rollout can be made of it."""
    check_form(form)
    if form not in TRACED:
        raise InputError(
            f"a rollout is compiled as a whole, which {' and '.join(map(repr, TRACED))} can be, but form is {form!r}, "
            "dense algebra step by step. Use kinetree.simulate for it."
        )


def truth(value: Any, name: str) -> bool:
    """True or False, checked."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, found {value!r:.60}.")
    return bool(value)


def check_seconds(value: Any, name: str) -> None:
    """`InputError` unless it is a positive time."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name} must be a number of seconds, found {value!r:.60}.")
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"{name} must be positive and finite, found {value:g} s.")


def whole_number(value: Any, name: str) -> int:
    """The number, a whole one of at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, found {value!r:.60}.")
    return int(value)


def check_memory(steps: int, rows: int, row_bytes: int, what: str = "") -> None:
    """`InputError` if so many rows are more than may be stored."""
    if rows * row_bytes <= MEMORY_LIMIT:
        return
    advice = "Roll out fewer states at a time."
    if 3 * row_bytes < MEMORY_LIMIT:
        enough = math.ceil(steps * row_bytes / (MEMORY_LIMIT - 2 * row_bytes))
        advice = f"Store fewer states with store_every={enough}, or take a larger dt."
    raise InputError(
        f"{steps} steps{what} would store {rows * row_bytes / 2**30:.3g} GiB, allowed: {MEMORY_LIMIT / 2**30:g} GiB. {advice}"
    )
