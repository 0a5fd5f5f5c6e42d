"""What node functions take and give, as a structure and its numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kinetree.compiler.graph import Expr

Structure = Hashable
NUMBER = ("number",)
NONE = ("none",)


def flatten(value: Any) -> tuple[Structure, list[Any]]:
    """Structure and numbers (floats or traced) of arrays, tuples, dataclasses of them, numbers and None."""
    if isinstance(value, np.ndarray):
        return ("array", value.shape), [x if isinstance(x, Expr) else float(x) for x in value.reshape(-1).tolist()]
    if isinstance(value, tuple):
        parts = [flatten(x) for x in value]
        return ("tuple", tuple(s for s, _ in parts)), [x for _, leaves in parts for x in leaves]
    if value is None:
        return NONE, []
    if isinstance(value, (Expr, int, float, np.floating, np.integer)):
        return NUMBER, [value if isinstance(value, Expr) else float(value)]
    if is_dataclass(value):
        parts = [flatten(getattr(value, f.name)) for f in fields(value)]
        return ("object", type(value), tuple(s for s, _ in parts)), [x for _, leaves in parts for x in leaves]
    return ("itself", value), []


def rebuilt(structure: Any, leaves: Sequence[Any]) -> Any:
    """The inverse of `flatten`."""
    return _build(structure, iter(leaves))


def columns(objects: Sequence[Any]) -> tuple[Structure, np.ndarray]:
    """Structure and numbers (members, leaves) of objects that are all alike."""
    first = objects[0]
    if isinstance(first, np.ndarray):
        return ("array", first.shape), np.stack(objects).reshape(len(objects), -1).astype(float)
    if isinstance(first, (int, float, np.floating, np.integer)):
        return NUMBER, np.array(objects, dtype=float)[:, None]
    if is_dataclass(first):
        parts = [columns([getattr(x, f.name) for x in objects]) for f in fields(first)]
        table = np.concatenate([np.empty((len(objects), 0)), *(t for _, t in parts)], axis=1)
        return ("object", type(first), tuple(s for s, _ in parts)), table
    return ("itself", first), np.empty((len(objects), 0))


def kind(value: Any) -> Hashable:
    """What two constants must have in common so that one code can serve for both."""
    if isinstance(value, np.ndarray):
        return value.shape
    return type(value) if is_dataclass(value) or isinstance(value, (int, float, np.number)) else value


def _build(structure: Any, leaves: Iterator[Any]) -> Any:
    word, *rest = structure
    if word == "array":
        shape = rest[0]
        entries = [next(leaves) for _ in range(int(np.prod(shape)))]
        if not any(isinstance(x, Expr) for x in entries):
            return np.array(entries, dtype=float).reshape(shape)
        made = np.empty(len(entries), dtype=object)
        made[:] = entries
        return made.reshape(shape)
    if word == "tuple":
        return tuple(_build(s, leaves) for s in rest[0])
    if word == "number":
        return next(leaves)
    if word == "none":
        return None
    if word == "itself":
        return rest[0]
    made = object.__new__(rest[0])
    for field, part in zip(fields(rest[0]), rest[1], strict=True):
        object.__setattr__(made, field.name, _build(part, leaves))
    return made
