"""From an algorithm and a model to a kernel: trace it once, check what a user may get wrong, compile, keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from kinetree.algorithms import articulated, segmented
from kinetree.algorithms.arguments import array_arguments, shape_of
from kinetree.compiler.emit import live_nodes
from kinetree.compiler.graph import Graph
from kinetree.compiler.guard import Guarded, body_guard, guard_value
from kinetree.compiler.kernel import BATCH, Sources, build_once, straight_source
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.looped.cutting import Cut, cut_of
from kinetree.compiler.looped.lower import looped_source, segmented_source
from kinetree.compiler.looped.program import NotSweepsError
from kinetree.compiler.segments import Segments
from kinetree.compiler.stats import count, operations_in
from kinetree.compiler.text import FLOAT64, Lanes
from kinetree.errors import InputError
from kinetree.model import Model

LOWERINGS = ("auto", "unrolled", "looped", "segmented")
SEGMENTED = {articulated.forward_dynamics: segmented.forward_dynamics}
"""What finds the same for a chain cut into segments."""
FEW_BODIES = 24
"""Up to so many bodies code is straight-line without a look at how long it gets."""
MOST_STRAIGHT = 14_000
"""Operations beyond which sweeps are loops: straight-line code then takes seconds to compile and leaves the code cache."""
FAR_TOO_LONG = 4 * MOST_STRAIGHT
"""Operations of the loops beyond which straight-line code is not even tried, if few of them stand in the loops' text."""
FEW = 1 / 8
"""What share of the operations few are."""
Straight = tuple[Graph, Sequence[Any], Sequence[Any]]


def kernel_of(
    algorithm: Callable[..., Any],
    model: Model,
    without: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
    guarded: bool = False,
    lowering: str = "auto",
    dtype: np.dtype[Any] = FLOAT64.dtype,
) -> np.ufunc:
    """The kernel of an algorithm on a model, compiled at first use and kept with the model.

    A guarded kernel, that of a public function, counts the states that something is wrong with (see `guard`).
    """
    options = dict(options or {})
    key = (algorithm, without, tuple(sorted(options.items())), guarded, lowering, dtype.name)
    if key not in model.kernels:
        names = ", ".join(name for name in array_arguments(algorithm) if name not in without)
        doc = f"{algorithm.__name__} of {model.name}: ({names}). NaN in, NaN out, as NumPy ufuncs do."
        cut, frame = None, Guarded() if guarded else BATCH
        if lowering == "segmented":
            cut = segments_of(algorithm, model, host_lanes(dtype).count)
            frame = Segments([cut.heads(name) for name in (*names.split(", "), "v")])
        model.kernels[key] = build_once(
            algorithm.__name__,
            doc,
            (model.digest, *key),
            lambda: sources_of(algorithm, model, without, options, guarded, lowering, dtype, cut),
            warn=not guarded,
            frame=frame,
        )
    return model.kernels[key]


def sources_of(
    algorithm: Callable[..., Any],
    model: Model,
    without: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
    guarded: bool = False,
    lowering: str = "auto",
    dtype: np.dtype[Any] = FLOAT64.dtype,
    cut: Cut | None = None,
) -> Sources:
    """The code of an algorithm on a model, not yet compiled."""
    options = dict(options or {})
    shapes = {name: shape_of(model, name) for name in array_arguments(algorithm) if name not in without}
    if any(0 in shape for shape in shapes.values()):
        raise InputError(
            f"{algorithm.__name__} of {model.name!r} cannot be compiled: the model has no coordinates (nv = {model.nv})."
        )
    if cut is not None:
        shapes = {name: cut.shape(name, shape) for name, shape in shapes.items()}
        return segmented_source(SEGMENTED[algorithm], cut, shapes, host_lanes(dtype)), None
    guard = body_guard if guarded else None

    def trace() -> Straight:
        graph = Graph()
        inputs = {name: graph.input(shape) for name, shape in shapes.items()}
        result = algorithm(model, **inputs, **options)
        outputs = list(result) if isinstance(result, tuple) else [result]
        if guarded:
            outputs.append(guard_value(model, inputs, outputs))
        return graph, list(inputs.values()), outputs

    lanes = host_lanes(dtype)
    loops = loops_of(algorithm.__name__, algorithm, model, lambda: shapes, options, guard, lowering, lanes)
    return lowered(loops, trace, lowering, lanes)


def segments_of(algorithm: Callable[..., Any], model: Model, lanes: int) -> Cut:
    """How a chain is cut for one state on all lanes of a vector."""
    if algorithm not in SEGMENTED:
        names = ", ".join(found.__name__ for found in SEGMENTED)
        raise InputError(f'lowering="segmented" is for {names}, found {algorithm.__name__}. Use lowering="looped".')
    return cut_of(model, lanes)


def lowered(loops: Sources | None, trace: Callable[[], Straight], lowering: str, lanes: Lanes) -> Sources:
    """The loops, if they are asked for or if straight-line code would be too long; else straight-line code."""
    if loops is not None:
        done = operations_in(loops[0].operations)
        if lowering == "looped" or (done > FAR_TOO_LONG and loops[0].length < FEW * done):
            return loops
    graph, inputs, outputs = trace()
    if loops is not None and length(graph, outputs) > max(MOST_STRAIGHT, loops[0].length):
        return loops
    return straight_source(graph, inputs, outputs, lanes), None


def length(graph: Graph, outputs: Sequence[Any]) -> int:
    """Operations of straight-line code."""
    return operations_in(count(live_nodes(graph, [x for y in outputs for x in np.asarray(y, dtype=object).flat]), outputs))


@final
class SizeFound(Exception):  # noqa: N818, it is news, not an error
    """The shape of an argument, found where it is first used."""

    def __init__(self, known: dict[str, tuple[int, ...]], name: str, shape: tuple[int, ...]) -> None:
        self.known, self.name, self.shape = known, name, shape


def loops_of(
    name: str,
    algorithm: Callable[..., Any],
    model: Model,
    shapes: Callable[[], Mapping[str, tuple[int, ...]]],
    options: Mapping[str, Any],
    guard: Callable[..., Any] | None,
    lowering: str,
    lanes: Lanes,
) -> Sources | None:
    """The looped code; None if it is not wanted or, where it need not be, not possible."""
    if lowering == "unrolled" or (lowering == "auto" and model.nbodies <= FEW_BODIES):
        return None
    while True:
        try:
            return looped_source(algorithm, model, shapes(), options, lanes, guard, through=(SizeFound,))
        except SizeFound as found:
            found.known[found.name] = found.shape
        except NotSweepsError as failure:
            if lowering == "auto":
                return None
            raise InputError(f'{name} cannot be lowered to loops: {failure}. Use lowering="unrolled".') from None
