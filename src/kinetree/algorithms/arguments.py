"""The shape of each argument an algorithm may take, by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from kinetree.model import Model

SHAPES: dict[str, tuple[str | int, ...]] = {
    "q": ("nq",),
    "q0": ("nq",),
    "q1": ("nq",),
    "v": ("nv",),
    "v0": ("nv",),
    "v_dt": ("nv",),
    "a": ("nv",),
    "tau": ("nv",),
    "p": ("nv",),
    "x": ("nv",),
    "external": ("nbodies", 6),
    "wrenches": ("nbodies", 6),
    "point": (3,),
    "impulse": (6,),
    "h": (),
    "y": ("nv",),
    **{name: ("nv",) for name in ("theta", "w", "rate")},
    **{f"{letter}{k}": ("nv",) for letter in "waf" for k in range(1, 5)},
}


WHOLE = frozenset({"impulses", *(name for name, shape in SHAPES.items() if shape and isinstance(shape[0], int))})
"""What belongs to no body, or, impulses, to some that are named elsewhere."""


@cache
def array_arguments(algorithm: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arrays an algorithm takes after the model."""
    parameters = list(inspect.signature(algorithm).parameters.values())[1:]
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def shape_of(model: Model, argument: str) -> tuple[int, ...]:
    """Core shape of a named argument for one model."""
    return tuple(n if isinstance(n, int) else getattr(model, n) for n in SHAPES[argument])
