"""A finished trace to a callable kernel."""

import ctypes
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.compiler.emit import body, live_nodes
from kinetree.compiler.entry import entry
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.layout import by_batch, slots, states
from kinetree.compiler.llvm import LANES, MachineCode, host_lanes, linked, object_code
from kinetree.compiler.movers import movers
from kinetree.compiler.threads import data_words
from kinetree.compiler.ufunc import make_ufunc, owner_of

__all__ = [
    "Batch",
    "Frame",
    "KernelSource",
    "KernelStats",
    "Signature",
    "build",
    "build_source",
    "count",
    "source",
    "stats",
    "straight_source",
]


Shapes = tuple[tuple[int | str, ...], ...]
"""Core shapes; a word is an extent that each call chooses."""


@dataclass(frozen=True)
class Signature:
    """Core shapes of a kernel's arguments and results."""

    inputs: Shapes
    outputs: Shapes


@dataclass(frozen=True)
class KernelStats:
    """What a kernel does for one state, and what making it took.

    Attributes
    ----------
    additions, multiplications, divisions, square_roots : int
        Additions include subtractions.
    sines_cosines : int
        Arguments of which sine, cosine or both are taken.
    logarithms : int
    others : int
        Negations, roundings, selections, checks; most negations vanish into the operation that follows.
    fused : int
        Multiplications that a multiply-add can take in: used once, by an addition.
    operations : int
        All of the above but `others`, less `fused`.
    lanes : int
        States per vector.
    trace_seconds, compile_seconds : float
        From the making of the graph to its text; from there to machine code.
    """

    additions: int
    multiplications: int
    divisions: int
    square_roots: int
    sines_cosines: int
    logarithms: int
    others: int
    fused: int
    operations: int
    lanes: int
    trace_seconds: float
    compile_seconds: float


@dataclass(frozen=True)
class _Kernel:
    code: MachineCode
    signature: Signature
    stats: KernelStats
    arrays: tuple[np.ndarray, ...] = ()
    """Tables that the code reads."""
    data: Any = None
    """What the code is given as its ``data``, their addresses in it."""


def build(
    name: str,
    doc: str,
    graph: Graph,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray | Expr | float],
    lanes: int | None = None,
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
    lanes : int, optional
        States per vector: 2, 4 or 8. What the machine's registers hold if not given.
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
    lanes : int
        States per vector.
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
    lanes: int
    length: int


def straight_source(
    graph: Graph, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray | Expr | float], lanes: int | None = None
) -> KernelSource:
    """The body of a trace as straight-line code; arguments and errors as for `build`."""
    lanes = host_lanes() if lanes is None else lanes
    if lanes not in LANES:
        raise ValueError(f"lanes must be one of {LANES}, not {lanes}")
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
        loop = states(body.inputs, body.outputs, body.lanes, body.spare)
        return "\n".join((movers(_most_axes(body.inputs), _most_axes(body.outputs), body.lanes), body.text, loop))


def build_source(
    name: str, doc: str, wide: KernelSource, narrow: KernelSource | None = None, warn: bool = True, frame: Frame | None = None
) -> np.ufunc:
    """The kernel of a body, and of a narrow one on the same tables for as few states as its vectors hold."""
    if narrow is not None and not all(map(np.array_equal, wide.arrays, narrow.arrays)):
        raise ValueError("two bodies of one kernel must read the same tables")
    traced, frame = time.perf_counter(), frame or Batch()
    inputs, outputs = frame.shapes(wide)
    text = frame.text(wide) if narrow is None else by_batch(frame.text(wide), frame.text(narrow), narrow.lanes)
    names = ("loop", "release") if "define void @release(" in text else ("loop",)
    code = linked(object_code(text + entry(len(inputs) + len(outputs), warn)), *names)
    counts = _statistics(wide.operations, wide.lanes, traced - wide.started, time.perf_counter() - traced)
    work = operations_in(wide.operations) + slots([*wide.inputs, *wide.outputs])
    data = data_words(wide.lanes, frame.repeats * work, wide.arrays)
    kernel = _Kernel(code, Signature(inputs, outputs), counts, wide.arrays, data)
    return make_ufunc(name, doc, code.addresses["loop"], inputs, outputs, kernel, ctypes.addressof(data))


def source(graph: Graph, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray | Expr | float], lanes: int) -> str:
    """The LLVM text that `build` compiles, all but its entry, for golden tests and for reading."""
    return Batch().text(straight_source(graph, inputs, outputs, lanes))


def stats(kernel: np.ufunc) -> KernelStats:
    """What a kernel made by `build` does and took. Raises TypeError for any other ufunc."""
    payload = owner_of(kernel)
    if not isinstance(payload, _Kernel):
        raise TypeError(f"{kernel!r} is not a compiled kernel")
    return payload.stats


def _most_axes(shapes: Sequence[tuple[int, ...]]) -> int:
    return max(map(len, shapes), default=1)


def count(nodes: Sequence[Expr], outputs: Sequence[Any]) -> Counter[str]:
    """How often each operation is done, "fused" and "angles" (sine and cosine of one argument) among them."""
    of: Counter[str] = Counter(str(node.op) for node in nodes)
    uses = Counter(x.index for node in nodes for x in node.args)
    uses.update(x.index for array in outputs for x in np.asarray(array, dtype=object).flat if isinstance(x, Expr))
    sums = (node for node in nodes if node.op in ("add", "sub"))
    of["fused"] = sum(any(x.op == "mul" and uses[x.index] == 1 for x in node.args) for node in sums)
    of["angles"] = len({node.args[0].index for node in nodes if node.op in ("sin", "cos")})
    return of


def operations_in(of: Counter[str]) -> int:
    """Operations in a `count`, a multiply-add as one."""
    return of["add"] + of["sub"] + of["mul"] + of["div"] + of["sqrt"] + of["angles"] + of["log"] - of["fused"]


def _statistics(of: Counter[str], lanes: int, trace_seconds: float, compile_seconds: float) -> KernelStats:
    additions, others = of["add"] + of["sub"], of["neg"] + of["rint"] + of["where"] + of["check"]
    return KernelStats(
        additions=additions,
        multiplications=of["mul"],
        divisions=of["div"],
        square_roots=of["sqrt"],
        sines_cosines=of["angles"],
        logarithms=of["log"],
        others=others,
        fused=of["fused"],
        operations=operations_in(of),
        lanes=lanes,
        trace_seconds=trace_seconds,
        compile_seconds=compile_seconds,
    )
