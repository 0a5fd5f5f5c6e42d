"""From an algorithm and a model to a looped kernel."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.algebra.sweeps import each, everywhere, rows, split, total
from kinetree.algorithms.arguments import WHOLE
from kinetree.compiler.kernel import KernelSource
from kinetree.compiler.looped.classes import classes_of
from kinetree.compiler.looped.code import looped_code
from kinetree.compiler.looped.cutting import Cut
from kinetree.compiler.looped.passes import Tracer
from kinetree.compiler.looped.program import NotSweepsError, Program, Result, Total, Vector
from kinetree.compiler.looped.values import flatten
from kinetree.compiler.text import Lanes
from kinetree.model import Model

NARROW = 16
"""Bytes of the vectors for as few states as fit in them: wide ones would move the workspace of many states through memory."""


def looped_source(
    algorithm: Callable[..., Any],
    model: Model,
    shapes: Mapping[str, tuple[int, ...]],
    options: Mapping[str, Any],
    lanes: Lanes,
    guard: Callable[..., Any] | None = None,
    through: tuple[type[Exception], ...] = (),
) -> tuple[KernelSource, KernelSource | None]:
    """The code of an algorithm whose sweeps run as loops over the bodies, on wide vectors and on `NARROW` ones.

    `guard(joint, q parts, other parts, result parts)` gives what a body adds to one more output, if there is one.
    Raises NotSweepsError, and lets exceptions of the kinds in `through` pass.
    """
    started = time.perf_counter()
    try:
        tracer, results, outputs = _traced(algorithm, model, shapes, options, guard)
    except (NotSweepsError, *through):
        raise
    except Exception as failure:  # whatever a function of the user's does with what is no array yet
        raise NotSweepsError("it does more with its arrays than sweep over the bodies") from failure
    sizes = [int(np.prod(shape)) for shape in shapes.values()]

    def source(lanes: Lanes) -> KernelSource:
        code = looped_code(tracer, sizes, results, lanes, list(shapes))
        return KernelSource(
            tuple(shapes.values()), outputs, code.text, code.spare, code.arrays, code.operations, started, lanes, code.length
        )

    narrow = Lanes(NARROW // lanes.element.bytes, lanes.element)
    return source(lanes), source(narrow) if lanes.bytes > NARROW else None


def segmented_source(
    algorithm: Callable[..., Any], cut: Cut, shapes: Mapping[str, tuple[int, ...]], lanes: Lanes
) -> KernelSource:
    """The code of an algorithm on the segments of a chain, one per lane; `shapes` are those of what one of them is given."""
    started = time.perf_counter()
    programs = [Program(cut.tree) for _ in cut.parts]
    given = [{name: Vector(program, name, shape) for name, shape in shapes.items()} for program in programs]
    results, *_ = [_listed(algorithm(part, **arrays)) for part, arrays in zip(cut.parts, given, strict=True)]
    tracer = Tracer(programs[0], classes_of(*programs))
    code = looped_code(tracer, [int(np.prod(shape)) for shape in shapes.values()], results, lanes, list(shapes))
    outputs = tuple(_shape(tracer, x, len(cut.tree)) for x in results)
    operations = Counter({name: lanes.count * n for name, n in code.operations.items()})
    return KernelSource(
        tuple(shapes.values()), outputs, code.text, code.spare, code.arrays, operations, started, lanes, code.length
    )


def _traced(
    algorithm: Callable[..., Any],
    model: Model,
    shapes: Mapping[str, tuple[int, ...]],
    options: Mapping[str, Any],
    guard: Callable[..., Any] | None,
) -> tuple[Tracer, list[Any], tuple[tuple[int, ...], ...]]:
    program = Program(model.tree)
    arrays: dict[str, Any] = {
        name: Vector(program, name, shape) if shape else program.number(name) for name, shape in shapes.items()
    }
    found = _listed(algorithm(model, **arrays, **options))
    results: list[Any] = [x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in found]
    if not results or not all(isinstance(x, (Result, Total)) for x in results):
        raise NotSweepsError("a result is not what a sweep gave")
    if guard is not None:
        results.append(_guarded(model, arrays, results, guard))
    tracer = Tracer(program, classes_of(program))
    return tracer, results, tuple(_shape(tracer, x, model.nbodies) for x in results)


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _guarded(model: Model, arrays: Mapping[str, Any], results: list[Any], guard: Callable[..., Any]) -> Any:
    parts: dict[str, Any] = {}
    for name, x in arrays.items():
        if len(x.shape) > 1:
            parts[name] = rows(x)
        elif name in WHOLE:
            parts[name] = everywhere(model.tree, x)
        else:
            parts[name] = split(model.q_slices if name in ("q", "q0", "q1") else model.v_slices, x)
    names = list(parts)
    joints = [body.joint for body in model.bodies]

    def node(joint: Any, *owned: Any) -> Any:
        return guard(joint, dict(zip(names, owned, strict=False)), [x for part in owned for x in flatten(part)[1]])

    return total(each(node, joints, *parts.values(), *(x.values for x in results)))


def _shape(tracer: Tracer, result: Result | Total, nbodies: int) -> tuple[int, ...]:
    """Core shape of an output."""
    shapes, count = set(), 0
    for trace in tracer.loops[tracer.stage[result.values.sweep.number]]:
        value = trace.values[result.values.sweep.number]
        for n in result.values.path:
            value = value[n]
        shapes.add(np.shape(value))
        count += len(trace.body_class.members) * np.size(value)
    if isinstance(result, Result) and not result.is_piled:
        return (count,)
    if len(shapes) > 1:
        raise NotSweepsError("bodies give arrays of several shapes where one is needed")
    (shape,) = shapes
    return (nbodies, *shape) if isinstance(result, Result) else shape
