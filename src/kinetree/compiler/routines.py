"""Bodies of kernels that are written as loops: over blocks of the workspace, with straight-line code at their heart.

A piece is a function of small arrays, traced once. A procedure calls pieces, and other procedures, in loops whose counters say
where in the workspace the blocks lie; so the text grows with the number of pieces, not with the sizes of the arrays::

    routines = Routines(lanes)
    add = routines.piece("add", lambda a, b: a + b, [Block(3), Block(3)], [Block(3)])
    with routines.procedure("body") as body, body.loop(0, m) as c:
        body.call(add, x[c], y[c], x[c])

A place that a piece both reads and writes is safe where each new number depends on the old one there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from kinetree.compiler.emit import StraightLine, declarations, live_nodes
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.kernel import KernelSource
from kinetree.compiler.layout import joined, renamed, slots
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.stats import count, operations_in
from kinetree.compiler.text import Lanes

__all__ = ["Area", "Block", "Part", "Piece", "Place", "Procedure", "Routines", "arguments", "pointers", "stored"]

Index = int | str
"""A number, or the register that holds it."""


@final
@dataclass(frozen=True)
class Place:
    """Where numbers of a state lie: so many slots behind an argument of the body, and registers times strides further on."""

    base: str
    slot: int
    terms: tuple[tuple[str, int], ...] = ()


@final
@dataclass(frozen=True)
class Area:
    """Blocks that lie at regular distances: `area[i, j]` is the place of one."""

    base: str
    slot: int
    strides: tuple[int, ...]

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> Place:
        indices = indices if isinstance(indices, tuple) else (indices,)
        pairs = list(zip(indices, self.strides, strict=True))
        slot = self.slot + sum(i * stride for i, stride in pairs if isinstance(i, int))
        return Place(self.base, slot, tuple((i, stride) for i, stride in pairs if isinstance(i, str)))


@final
class Block:
    """The shape of what a piece reads or writes, () a number; rows lie `stride` slots apart, or end to end; or all numbers
    have slots of their own."""

    def __init__(self, *shape: int, stride: int | None = None, slots: list[int] | None = None) -> None:
        columns = shape[-1] if shape else 1
        rows = int(np.prod(shape[:-1], dtype=int))
        regular = (r * (stride or columns) + k for r in range(rows) for k in range(columns))
        self.shape: Final = shape
        self.slots: Final = list(regular) if slots is None else slots


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """A traced function.

    Attributes
    ----------
    name : str
    pointers : tuple of str
        Its arguments, and how they are declared.
    source : dict
        Argument and slot of each input, by the index of its node.
    results : list
        Argument and slot, and what is stored there.
    shared : bool
        Whether its first two arguments are those of the body.
    early : tuple
        Inputs that are read before anything is written.
    """

    name: str
    pointers: tuple[str, ...]
    source: dict[int, tuple[str, int]]
    results: list[tuple[tuple[str, int], Expr | float]]
    shared: bool = False
    early: tuple[Expr, ...] = ()

    @property
    def nodes(self) -> list[Expr]:
        """What it computes, in order."""
        values = [x for _, x in self.results]
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        return [] if graph is None else live_nodes(graph, [*self.early, *values])

    @property
    def operations(self) -> Counter[str]:
        """As from `count`."""
        return count(self.nodes, [x for _, x in self.results])

    def written(self, T: Lanes) -> tuple[str, StraightLine]:
        """Its text, and what that needs."""

        def load(node: Expr) -> list[str]:
            pointer, slot = self.source[node.index]
            return [
                f"  %i{node.index} = getelementptr {T}, ptr %{pointer}, i64 {slot}",
                f"  %v{node.index} = load {T}, ptr %i{node.index}, align {T.bytes}",
            ]

        def store(target: tuple[str, int], value: str) -> list[str]:
            pointer, slot = target
            at = f"%at.{pointer}.{slot}"
            return [
                f"  {at} = getelementptr {T}, ptr %{pointer}, i64 {slot}",
                f"  store {T} {value}, ptr {at}, align {T.bytes}",
            ]

        code = StraightLine(self.nodes, self.results, T, load, store, [x.index for x in self.early])
        return code.function(f"define internal void @piece.{self.name}({', '.join(self.pointers)}) noinline #0"), code


def arguments(blocks: Sequence[Block], graph: Graph) -> tuple[list[Any], dict[int, tuple[str, int]]]:
    """Inputs of a function of blocks, and where each lies."""
    arrays = [graph.input(block.shape) for block in blocks]
    source = {
        x.index: (f"in{k}", slot)
        for k, (block, array) in enumerate(zip(blocks, arrays, strict=True))
        for x, slot in zip(np.ravel(array), block.slots, strict=True)
    }
    return [array if block.shape else array[()] for block, array in zip(blocks, arrays, strict=True)], source


def stored(blocks: Sequence[Block], made: Any) -> list[tuple[tuple[str, int], Expr | float]]:
    """Where each number goes that a function made."""
    found: Any = made if isinstance(made, tuple) else (made,)
    return [
        ((f"out{k or ''}", slot), x)
        for k, (block, array) in enumerate(zip(blocks, found, strict=True))
        for x, slot in zip(np.ravel(np.asarray(array, dtype=object)), block.slots, strict=True)
    ]


def pointers(inputs: Sequence[Block], outputs: Sequence[Block], apart: str = "") -> tuple[str, ...]:
    """Arguments of a piece of so many blocks."""
    return (*(f"ptr %in{k}" for k in range(len(inputs))), *(f"ptr {apart}%out{k or ''}" for k in range(len(outputs))))


@final
@dataclass(frozen=True, eq=False)
class Part:
    """The body of a kernel as part of another: its number, and where among the tables its own begin."""

    number: int
    source: KernelSource
    table: int

    @property
    def operations(self) -> Counter[str]:
        """As from `count`."""
        return self.source.operations


@final
class Routines:
    """Pieces, procedures and tables of one body; the procedure called "body" is the one that runs."""

    def __init__(self, lanes: Lanes | None = None) -> None:
        self.lanes: Final = host_lanes() if lanes is None else lanes
        self.started: Final = time.perf_counter()
        self.pieces: Final[list[Piece]] = []
        self.procedures: Final[dict[str, Procedure]] = {}
        self.tables: Final[list[str]] = []
        self.parts: Final[list[Part]] = []
        self._slots = 0

    def area(self, *shape: int, strides: tuple[int, ...] | None = None) -> Area:
        """Room in the workspace for an array; `strides` say what blocks of it an index counts, as of its axes if not given."""
        room = Area("%out", self._slots, strides or tuple(int(np.prod(shape[k + 1 :], dtype=int)) for k in range(len(shape))))
        self._slots += int(np.prod(shape, dtype=int))
        return room

    def piece(
        self, name: str, function: Callable[..., Any], inputs: Sequence[Block], outputs: Sequence[Block], early: int = 0
    ) -> Piece:
        """The trace of a function of arrays that returns one, or a tuple of them; the first `early` inputs are read before
        anything is written."""
        given, source = arguments(inputs, Graph())
        soon = tuple(x for array in given[:early] for x in np.ravel(array))
        found = Piece(name, pointers(inputs, outputs), source, stored(outputs, function(*given)), early=soon)
        self.pieces.append(found)
        return found

    def part(self, source: KernelSource) -> tuple[Part, Area]:
        """A kernel's body, and room for its results."""
        found = Part(len(self.parts), source, sum(len(part.source.arrays) for part in self.parts))
        self.parts.append(found)
        return found, self.area(slots(source.outputs) + source.spare)

    def table(self, name: str, values: Sequence[int]) -> str:
        """The name of a table of whole numbers, for `Procedure.lookup`."""
        listed = ", ".join(f"i64 {x}" for x in values)
        self.tables.append(f"@table.{name} = internal constant [{len(values)} x i64] [{listed}]")
        return name

    @contextmanager
    def procedure(self, name: str) -> Iterator[Procedure]:
        """A function of the body's arguments, written line by line."""
        found = self.procedures[name] = Procedure(name, self.lanes)
        yield found

    def source(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> KernelSource:
        """The finished body; of the room, what `outputs` take comes first."""
        T, main, parts = self.lanes, self.procedures["body"], [part.source for part in self.parts]
        written = [piece.written(T) for piece in self.pieces]
        any_lane = f"declare i1 @llvm.vector.reduce.or.v{T.count}i1({T.truths})"
        texts = [any_lane, declarations([code for _, code in written]), *self.tables, *(text for text, _ in written)]
        texts += [procedure.text() for procedure in self.procedures.values()]
        texts += [renamed(part.text, f"part{n}") for n, part in enumerate(parts)]
        length = sum(operations_in(piece.operations) for piece in self.pieces) + sum(part.length for part in parts)
        return KernelSource(
            tuple(inputs),
            tuple(outputs),
            joined(texts),
            self._slots - slots(outputs),
            tuple(array for part in parts for array in part.arrays),
            main.operations,
            self.started,
            T,
            length,
        )


@final
class Procedure:
    """A function that calls pieces, procedures and parts in loops."""

    def __init__(self, name: str, lanes: Lanes) -> None:
        self.name: Final = name
        self._done: list[tuple[Piece | Procedure | Part, float]] = []
        self._lanes, self._lines, self._block, self._count, self._times = lanes, list[str](), "entry", 0, 1.0

    @property
    def operations(self) -> Counter[str]:
        """As from `count`, loops taken as often as is usual."""
        found: Counter[str] = Counter()
        for what, times in self._done:
            for name, n in what.operations.items():
                found[name] += round(n * times)
        return found

    def text(self) -> str:
        """The whole function."""
        lines, main = "\n".join(self._lines), self.name == "body"
        head = "@body" if main else f"@procedure.{self.name}"
        return f"define internal void {head}(ptr %in, ptr %out, ptr %data) noinline #0 {{\nentry:\n{lines}\n  ret void\n}}\n"

    def call(self, piece: Piece, *places: Place) -> None:
        """Inputs of a piece, then its results."""
        self._done.append((piece, self._times))
        given = ["ptr %in", "ptr %out"] if piece.shared else []
        self._put(f"call void @piece.{piece.name}({', '.join([*given, *(f'ptr {self._pointer(place)}' for place in places)])})")

    def run(self, other: Procedure) -> None:
        """Another procedure."""
        self._done.append((other, self._times))
        self._put(f"call void @procedure.{other.name}(ptr %in, ptr %out, ptr %data)")

    def compute(self, part: Part, given: Place, results: Place) -> None:
        """A part: its inputs end to end, then the room that it was given."""
        self._done.append((part, self._times))
        tables = self._named(f"getelementptr ptr, ptr %data, i64 {part.table}")
        places = f"ptr {self._pointer(given)}, ptr {self._pointer(results)}, ptr {tables}"
        self._put(f"call void @body.part{part.number}({places})")

    def plus(self, index: Index, more: int) -> Index:
        """An index further on."""
        return index + more if isinstance(index, int) else self._named(f"add i64 {index}, {more}")

    def minus(self, whole: int, index: Index) -> Index:
        """What is left of a whole number."""
        return whole - index if isinstance(index, int) else self._named(f"sub i64 {whole}, {index}")

    def lookup(self, table: str, index: Index) -> str:
        """The entry of a table."""
        return self._named(f"load i64, ptr {self._named(f'getelementptr i64, ptr @table.{table}, i64 {index}')}")

    @contextmanager
    def loop(self, start: Index, stop: Index, usual: float | None = None) -> Iterator[str]:
        """The counter, from `start` to before `stop`; `usual` is how often that is, if the two are not numbers."""
        times = stop - start if isinstance(start, int) and isinstance(stop, int) else usual or 1.0
        with self._repeated(start, lambda k: self._named(f"icmp slt i64 {k}, {stop}"), times) as counter:
            yield counter

    @contextmanager
    def while_any(self, mask: Place, limit: int, usual: float = 1.0) -> Iterator[str]:
        """The counter, again and again while some lane of `mask` is not zero, and at most `limit` times."""
        T = self._lanes

        def goes_on(k: str) -> str:
            value = self._named(f"load {T}, ptr {self._pointer(mask)}, align {T.bytes}")
            on = self._named(f"fcmp une {T} {value}, zeroinitializer")
            some = self._named(f"call i1 @llvm.vector.reduce.or.v{T.count}i1({T.truths} {on})")
            few = self._named(f"icmp slt i64 {k}, {limit}")
            return self._named(f"and i1 {some}, {few}")

        with self._repeated(0, goes_on, usual) as counter:
            yield counter

    @contextmanager
    def _repeated(self, start: Index, condition: Callable[[str], str], times: float) -> Iterator[str]:
        n, before, usual = self._count, self._block, self._times
        self._count += 1
        counter, at = f"%k{n}", len(self._lines) + 2
        self._lines += [f"  br label %head{n}", f"head{n}:"]
        self._block, self._times = f"head{n}", usual * times
        more = condition(counter)
        self._lines += [f"  br i1 {more}, label %body{n}, label %end{n}", f"body{n}:"]
        self._block = f"body{n}"
        yield counter
        step = f"  %k{n}.next = add i64 {counter}, 1"
        self._lines.insert(at, f"  {counter} = phi i64 [{start}, %{before}], [%k{n}.next, %{self._block}]")
        self._lines += [step, f"  br label %head{n}", f"end{n}:"]
        self._block, self._times = f"end{n}", usual

    def _pointer(self, place: Place) -> str:
        T = self._lanes
        pointer = self._named(f"getelementptr {T}, ptr {place.base}, i64 {place.slot}") if place.slot else place.base
        for index, stride in place.terms:
            far = self._named(f"mul i64 {index}, {stride}") if stride != 1 else index
            pointer = self._named(f"getelementptr {T}, ptr {pointer}, i64 {far}")
        return pointer

    def _named(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"  %r{self._count} = {text}")
        return f"%r{self._count}"

    def _put(self, text: str) -> None:
        self._lines.append(f"  {text}")
