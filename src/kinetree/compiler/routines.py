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

from kinetree.compiler.emit import declarations
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import KernelSource
from kinetree.compiler.layout import joined, renamed, slots
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.pieces import Area, Block, Index, Piece, Place, arguments, pointers, stored
from kinetree.compiler.stats import operations_in
from kinetree.compiler.text import Lanes

__all__ = ["Area", "Block", "Embedded", "Piece", "Place", "Procedure", "Routines"]


@final
@dataclass(frozen=True, eq=False)
class Embedded:
    """The body of a kernel within another: its number, and where among the tables its own begin."""

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
        self.embedded: Final[list[Embedded]] = []
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

    def embed(self, *sources: KernelSource) -> tuple[list[Embedded], Area]:
        """Bodies of kernels, and room for the results of one of them at a time."""
        start, table = len(self.embedded), sum(len(inner.source.arrays) for inner in self.embedded)
        for source in sources:
            self.embedded.append(Embedded(len(self.embedded), source, table))
            table += len(source.arrays)
        return self.embedded[start:], self.area(max(slots(source.outputs) + source.spare for source in sources), strides=(1,))

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
        T, main, inner = self.lanes, self.procedures["body"], [body.source for body in self.embedded]
        written = [piece.written(T) for piece in self.pieces]
        any_lane = f"declare i1 @llvm.vector.reduce.or.v{T.count}i1({T.truths})"
        texts = [any_lane, declarations([code for _, code in written]), *self.tables, *(text for text, _ in written)]
        texts += [procedure.text() for procedure in self.procedures.values()]
        texts += [renamed(body.text, f"inner{n}") for n, body in enumerate(inner)]
        length = sum(operations_in(piece.operations) for piece in self.pieces) + sum(body.length for body in inner)
        return KernelSource(
            tuple(inputs),
            tuple(outputs),
            joined(texts),
            self._slots - slots(outputs),
            tuple(array for body in inner for array in body.arrays),
            main.operations,
            self.started,
            T,
            length,
        )


@final
class Procedure:
    """A function that calls pieces, procedures and embedded bodies in loops."""

    def __init__(self, name: str, lanes: Lanes) -> None:
        self.name: Final = name
        self._done: list[tuple[Piece | Procedure | Embedded, float]] = []
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

    def compute(self, body: Embedded, given: Place, results: Place) -> None:
        """An embedded body: its inputs end to end, then the room that it was given."""
        self._done.append((body, self._times))
        tables = self._named(f"getelementptr ptr, ptr %data, i64 {body.table}")
        places = f"ptr {self._pointer(given)}, ptr {self._pointer(results)}, ptr {tables}"
        self._put(f"call void @body.inner{body.number}({places})")

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
