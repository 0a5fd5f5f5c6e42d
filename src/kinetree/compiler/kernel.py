"""A finished trace to a callable kernel."""

import ctypes
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinetree.compiler.direct import MOST_WORK, direct
from kinetree.compiler.emit import body, live_nodes
from kinetree.compiler.entry import entry
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.kept import Compiled, Shapes, key_text, load, object_code_once, store
from kinetree.compiler.layout import WORKSPACE_ON_STACK, by_batch, joined, slots, states
from kinetree.compiler.linking import MachineCode, linked
from kinetree.compiler.llvm import LANES, host_lanes, object_code, text_size
from kinetree.compiler.movers import movers
from kinetree.compiler.stats import KernelStats, count, counted, operations_in
from kinetree.compiler.text import Lanes
from kinetree.compiler.threads import shares
from kinetree.compiler.ufunc import AT_DATA, HEAD, make_ufunc
from kinetree.compiler.words import data_words

__all__ = [
    "BATCH",
    "Batch",
    "Frame",
    "Kernel",
    "KernelSource",
    "Sources",
    "batch_text",
    "build",
    "build_once",
    "build_source",
    "source",
    "straight_source",
]


@dataclass(frozen=True, eq=False)
class Kernel:
    """What stands behind a ufunc, and has to live as long as it does.

    Attributes
    ----------
    code : MachineCode
    data : array of words
        What the code is given as its ``data``, with addresses of the `tables`.
    """

    code: MachineCode
    data: Any
    tables: tuple[np.ndarray, ...]


def build(
    name: str,
    doc: str,
    graph: Graph,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray | Expr | float],
    lanes: Lanes | None = None,
    warn: bool = True,
) -> np.ufunc:
    """The kernel of a trace: a NumPy generalized ufunc.

    Parameters
    ----------
    name, doc : str
        Of the ufunc.
    graph : Graph
        The trace.
    inputs : sequence of array of Expr
        Arrays from `Graph.input`; their shapes are the core shapes of the arguments.
    outputs : sequence of array of Expr or float
        Results; numbers among them are written as they are.
    lanes : Lanes, optional
        One of `LANES`: the kind of number, and states per vector. float64 in registers of this machine if not given.
    warn : bool
        Whether NumPy may warn of overflow and invalid values, as it does of its own ufuncs.

    Raises
    ------
    ValueError
        If a core shape has a zero in it (NumPy's signatures cannot say so), if an output depends on an input that is
        not among `inputs`, or if `lanes` is none of the above.

    Notes
    -----
    A call releases the GIL, keeps no state, and may run in several threads at once.
    """
    return build_source(name, doc, straight_source(graph, inputs, outputs, lanes), warn=warn)


@dataclass(frozen=True, eq=False)
class KernelSource:
    """A body, with what it needs.

    Attributes
    ----------
    inputs, outputs : tuple of tuple of int
        Core shapes.
    text : str
        LLVM text of ``@body``.
    spare : int
        Slots of the workspace behind the results.
    arrays : tuple of array
        Tables that the text reads: ``data`` of ``@body`` has their addresses, in this order.
    operations : Counter
        As from `count`.
    started : float
        When its making began.
    lanes : Lanes
        One state in each.
    length : int
        Operations that stand in the text, however often they are done.
    """

    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    text: str
    spare: int
    arrays: tuple[np.ndarray, ...]
    operations: Counter[str]
    started: float
    lanes: Lanes
    length: int


Sources = tuple[KernelSource, KernelSource | None]
"""A body on wide vectors, and on narrow ones where a few states have their own."""


def straight_source(
    graph: Graph, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray | Expr | float], lanes: Lanes | None = None
) -> KernelSource:
    """The body of a trace as straight-line code; arguments and errors as for `build`."""
    lanes = host_lanes() if lanes is None else lanes
    if lanes not in LANES:
        raise ValueError(f"lanes must be one of {', '.join(map(str, LANES))}, not {lanes}")
    inputs = [np.asarray(x, dtype=object) for x in inputs]
    outputs = [np.asarray(x, dtype=object) for x in outputs]
    shapes_in, shapes_out = tuple(x.shape for x in inputs), tuple(x.shape for x in outputs)
    for shape in (*shapes_in, *shapes_out):
        if 0 in shape:
            raise ValueError(f"a kernel cannot have an argument or result of core shape {shape}: nothing would be in it")
    slots_out = [value for array in outputs for value in array.flat]
    nodes = live_nodes(graph, slots_out)
    text = body(nodes, [value for array in inputs for value in array.flat], slots_out, lanes)
    operations = count(nodes, outputs)
    length = operations_in(operations)
    return KernelSource(shapes_in, shapes_out, text, 0, (), operations, graph.started, lanes, length)


class Frame(ABC):
    """What runs a body over the states of a call."""

    repeats: int = 1
    """How often a body runs for one state, about: by it threads are woken or not."""
    is_direct: bool = True
    """Whether one state may be computed without NumPy's machinery (see `direct`)."""

    @abstractmethod
    def shapes(self, body: KernelSource) -> tuple[Shapes, Shapes]:
        """Core shapes of the kernel's arguments and results."""

    @abstractmethod
    def text(self, body: KernelSource) -> str:
        """LLVM text of ``@states`` and of all it calls (see `entry`)."""


@final
class Batch(Frame):
    """Each state once."""

    def shapes(self, body: KernelSource) -> tuple[Shapes, Shapes]:
        return body.inputs, body.outputs

    def text(self, body: KernelSource) -> str:
        return batch_text(body, body.outputs)


def batch_text(body: KernelSource, outputs: Sequence[tuple[int, ...]], watch: str = "") -> str:
    """``@states`` that hands out the first results of a body only, and in between runs the lines of `watch`."""
    spare = body.spare + slots(body.outputs) - slots(outputs)
    loop = states(body.inputs, outputs, body.lanes, spare, watch)
    return "\n".join((movers(_most_axes(body.inputs), _most_axes(outputs), body.lanes), body.text, loop))


BATCH = Batch()


def build_source(
    name: str, doc: str, wide: KernelSource, narrow: KernelSource | None = None, warn: bool = True, frame: Frame = BATCH
) -> np.ufunc:
    """The kernel of a body, and of a narrow one on the same tables for as few states as its vectors hold."""
    return _callable(name, doc, _compiled((wide, narrow), warn, frame, object_code_once))


def build_once(
    name: str, doc: str, key: tuple[Any, ...], sources: Callable[[], Sources], warn: bool = True, frame: Frame = BATCH
) -> np.ufunc:
    """The same of bodies that follow from `key` (see `key_text`): if their code is on disk, they are not asked for."""
    started, text = time.perf_counter(), key_text((*key, warn))
    made = load(text)
    if made is not None:
        return _callable(name, doc, made, started)
    made = _compiled(sources(), warn, frame, object_code_once if text is None else lambda text: (object_code(text), False))
    store(text, made)
    return _callable(name, doc, made)


def _compiled(sources: Sources, warn: bool, frame: Frame, object_code: Callable[[str], tuple[bytes, bool]]) -> Compiled:
    wide, narrow = sources
    if narrow is not None and not all(map(np.array_equal, wide.arrays, narrow.arrays)):
        raise ValueError("two bodies of one kernel must read the same tables")
    traced = time.perf_counter()
    inputs, outputs = frame.shapes(wide)
    text = frame.text(wide) if narrow is None else by_batch(frame.text(wide), frame.text(narrow), narrow.lanes.count)
    moved = slots([*wide.inputs, *wide.outputs])
    work, workspace = frame.repeats * (operations_in(wide.operations) + moved), wide.lanes.bytes * (moved + wide.spare)
    parts = [text, entry(len(inputs) + len(outputs), warn)]
    names = ["loop", "release"] if "define void @release(" in text else ["loop"]
    if frame.is_direct and _is_plain(wide, outputs) and work <= MOST_WORK and workspace <= WORKSPACE_ON_STACK:
        parts.append(direct(wide.inputs, wide.outputs[: len(outputs)], wide.lanes.element.bytes, HEAD, AT_DATA, warn))
        names.append("call")
    code, cached = object_code(joined(parts))
    least, grain = shares(wide.lanes.count, work)
    stats = KernelStats(
        **counted(wide.operations),
        lowering="looped" if wide.arrays else "unrolled",
        dtype=wide.lanes.element.dtype.name,
        lanes=wide.lanes.count,
        code_bytes=text_size(code),
        workspace_bytes=workspace,
        shared_beyond=least,
        cached=cached,
        trace_seconds=traced - wide.started,
        compile_seconds=time.perf_counter() - traced,
    )
    return Compiled(inputs, outputs, tuple(names), grain, stats, wide.arrays, code)


def _is_plain(body: KernelSource, outputs: Shapes) -> bool:
    """Whether results are arrays, and single numbers among the arguments as large as those of Python."""
    return all(outputs) and (all(body.inputs) or body.lanes.element.dtype == float)


def _callable(name: str, doc: str, made: Compiled, started: float | None = None) -> np.ufunc:
    """The ufunc of compiled code; its ``stats`` are those of `made`, but for the time if it was `started` from the disk."""
    code = linked(made.code, *made.names)
    dtype = np.dtype(made.stats.dtype)
    data = data_words(made.stats.shared_beyond, made.grain, dtype, made.arrays)
    kernel = Kernel(code, data, made.arrays)
    loop, call = code.addresses["loop"], code.addresses.get("call")
    found = make_ufunc(name, doc, loop, made.inputs, made.outputs, kernel, dtype, ctypes.addressof(data), call)
    stats = made.stats
    if started is not None:
        stats = replace(stats, cached=True, trace_seconds=0.0, compile_seconds=time.perf_counter() - started)
    found.stats = stats  # pyright: ignore[reportAttributeAccessIssue]
    return found


def source(graph: Graph, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray | Expr | float], lanes: Lanes) -> str:
    """The LLVM text that `build` compiles, all but its entry, for golden tests and for reading."""
    return BATCH.text(straight_source(graph, inputs, outputs, lanes))


def _most_axes(shapes: Sequence[tuple[int, ...]]) -> int:
    return max(map(len, shapes), default=1)
