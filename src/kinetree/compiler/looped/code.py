"""LLVM text of the loops: one function per class and loop, and a body that calls them over the tree.

Workspace ``[row][slot][lane]``: rows that bodies share by turns, for what passes between them in one loop (see `handover`);
then a row per body, as long as its class needs, for what waits from loop to loop; last, what belongs to segments of a chain.
A row of whole numbers per body says its class, where its constants and what it keeps stand, which rows hold its own and its
parent's values in either direction, and where its parts of the arrays start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.compiler.emit import StraightLine, declarations, live_nodes
from kinetree.compiler.graph import Expr
from kinetree.compiler.looped.across import Key, Place, across_code
from kinetree.compiler.looped.handover import GROUND_ROW, inward_rows, outward_rows
from kinetree.compiler.looped.hoisting import Hoisted
from kinetree.compiler.looped.passes import Tracer
from kinetree.compiler.looped.program import Result, Total
from kinetree.compiler.looped.stores import Store, groups, live_stores, slots_of, value_of
from kinetree.compiler.looped.values import flatten
from kinetree.compiler.stats import count, operations_in
from kinetree.compiler.text import Lanes
from kinetree.model.tree import Tree

CLASS, TABLE, KEPT, HANDOVER, FIELDS = 0, 1, 2, (3, 5), 7
"""Columns of a body's row of whole numbers: own and parent's rows outward and inward; what arrays it starts in comes last."""

ARGUMENTS = "ptr %kept, ptr %own, ptr %parent, ptr %segment, ptr %table, ptr %row, ptr %in, ptr %out"
"""Of the code of a class in a loop."""


@final
@dataclass(frozen=True, eq=False)
class LoopedCode:
    """Text of ``@body``; the arrays it reads through its ``tables``; slots it needs; operations for one state."""

    text: str
    arrays: tuple[np.ndarray, ...]
    spare: int
    operations: Counter[str]
    length: int


def looped_code(
    tracer: Tracer, inputs: Sequence[int], results: Sequence[Result | Total], lanes: Lanes, names: Sequence[str]
) -> LoopedCode:
    """Code of a traced program.

    Parameters
    ----------
    inputs : sizes of the input arrays, by `names`
    results : the output arrays
    """
    stores = live_stores(tracer, results)
    slots = slots_of(tracer, stores)
    bases = dict(zip(names, np.cumsum([0, *inputs[:-1]]).tolist(), strict=True))
    return _Module(tracer, stores, slots, bases, results, lanes).code()


@final
class _Module:
    """The module's text under construction; it reaches its arrays through ``%tables``, so that it may stand at any address."""

    def __init__(self, tracer, stores, slots, bases, results, lanes) -> None:
        self.tracer, self.stores, self.slots = tracer, stores, slots
        self.bases, self.results = bases, results
        self.tree: Tree = tracer.program.tree
        self.width = max((slot + 1 for key, slot in slots.items() if key[0] == "shared"), default=0)
        self.handover = outward_rows(self.tree), inward_rows(self.tree)
        self.handed = self.width * (1 + max(int(rows.max()) for rows in self.handover))
        self.T, self.align, self.element = lanes, lanes.bytes, lanes.element.name
        kept = np.zeros(len(self.tree), dtype=np.int64)
        for c, body_class in enumerate(tracer.classes):
            own = (slot + 1 for key, slot in slots.items() if key[:2] == ("kept", c))
            kept[body_class.members] = max(own, default=0)
        self.kept, self.segments = self.handed + np.cumsum(kept) - kept, self.handed + int(kept.sum())
        self.segment_slots: dict[Key, int] = {}
        self.fields: dict[Any, int] = {}
        self.starts: list[np.ndarray] = []
        self.tables: list[dict[bytes, int]] = [{} for _ in tracer.classes]
        self.columns: list[list[np.ndarray]] = [[] for _ in tracer.classes]
        self.operations: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.out_starts, self.out_sizes = self._result_places()

    def code(self) -> LoopedCode:
        functions, parts, present = [], [], set()
        for (stage, c), stored in sorted(self.stores.items()):
            if stored:
                straight, text = self._function(stage, c, stored)
                functions.append(text)
                parts.append(straight)
                present.add((stage, c))
        rows, table = self._arrays()
        loops = [self._loop(stage, present) for stage in range(len(self.tracer.loops))]
        for across in self.tracer.across.values():
            straight, text, done = across_code(across, self.T, self._segment_slot)
            functions.append(text)
            parts.append(straight)
            self.operations.update({name: self.T.count * n for name, n in done.items()})
            self.written.update(done)
        text = "\n".join([declarations(parts), *functions, *loops, self._body()])
        spare = self.segments + len(self.segment_slots)
        return LoopedCode(text, (rows, table), spare, self.operations, operations_in(self.written))

    def _function(self, stage: int, c: int, stored: Sequence[Store]) -> tuple[StraightLine, str]:
        hoisted = Hoisted(self.tracer.loops[stage][c], [value for _, value in stored])
        results = [(place, value) for (place, _), value in zip(stored, hoisted.values, strict=True)]
        nodes = live_nodes(hoisted.graph, hoisted.values)
        members = len(self.tracer.classes[c].members)
        for op, n in count(nodes, [hoisted.values]).items():
            self.operations[op] += n * members
            self.written[op] += n
        entry: list[str] = []
        pointers: dict[int, str] = {}
        made = 0

        def address(base: str, slot: int, element: object = self.T) -> str:
            nonlocal made
            made += 1
            return f"  %at{made} = getelementptr {element}, ptr {base}, i64 {slot}"

        def piece(field: int, array: str) -> str:
            if field not in pointers:
                pointers[field] = f"%piece{field}"
                entry.extend(
                    [
                        f"  %field{field} = getelementptr i64, ptr %row, i64 {field}",
                        f"  %start{field} = load i64, ptr %field{field}",
                        f"  %piece{field} = getelementptr {self.T}, ptr {array}, i64 %start{field}",
                    ]
                )
            return pointers[field]

        def slot(place: Place) -> int:
            return self._segment_slot(place[1]) if place[0] == "segment" else self.slots[place[1]]

        def row(place: Place) -> str:
            if place[0] == "segment":
                return "%segment"
            return "%kept" if place[1][0] == "kept" else "%own" if place[0] == "own" else "%parent"

        def load(node: Expr) -> list[str]:
            place, v = hoisted.places[node.index], f"%v{node.index}"
            if place[0] == "table":
                column, is_wide = self._column(c, place[1])
                at, x = address("%table", column, self.element), self.element
                if is_wide:
                    return [at, f"  {v} = load {self.T}, ptr %at{made}, align {self.T.element.bytes}"]
                return [at, f"  {v}.x = load {x}, ptr %at{made}", *self.T.broadcast(v, f"{v}.x")]
            if place[0] == "piece":
                _, part, j = place
                base = piece(self._field(id(part), np.array(part.starts) + self.bases[part.source.name]), "%in")
                return [address(base, j), f"  {v} = load {self.T}, ptr %at{made}, align {self.align}"]
            return [address(row(place), slot(place)), f"  {v} = load {self.T}, ptr %at{made}, align {self.align}"]

        def store(place: Place, value: str) -> list[str]:
            if place[0] == "out":
                base = piece(self._field(("out", place[1]), self.out_starts[place[1]]), "%out")
                return [address(base, place[2]), f"  store {self.T} {value}, ptr %at{made}, align {self.align}"]
            if place[0] == "sum":
                lines = [address("%out", int(self.out_starts[place[1]][0]) + place[2])]
            else:
                lines = [address(row(place), slot(place))]
            if place[0] in ("add", "sum"):
                lines.append(f"  %before{made} = load {self.T}, ptr %at{made}, align {self.align}")
                lines.append(f"  %sum{made} = fadd {self.T} %before{made}, {value}")
                value = f"%sum{made}"
            return [*lines, f"  store {self.T} {value}, ptr %at{made}, align {self.align}"]

        straight = StraightLine(nodes, results, self.T, load, store)
        straight.allocations[:0] = entry
        return straight, straight.function(f"define internal void @node{stage}.{c}({ARGUMENTS}) noinline #0")

    def _column(self, c: int, values: np.ndarray) -> tuple[int, bool]:
        """Place of a constant in the table of its class, and whether there is one for each lane."""
        key, is_wide = values.tobytes(), bool((values != values[:, :1]).any())
        if key not in self.tables[c]:
            self.tables[c][key] = sum(x.shape[1] for x in self.columns[c])
            self.columns[c].append(values if is_wide else values[:, :1])
        return self.tables[c][key], is_wide

    def _segment_slot(self, key: Key) -> int:
        """Place of a number of the segments, behind the rows of the bodies."""
        return self.segment_slots.setdefault(key, len(self.segment_slots))

    def _field(self, key: Any, starts: np.ndarray) -> int:
        """Column of the bodies' rows that says where their part of an array starts."""
        if key not in self.fields:
            self.fields[key] = FIELDS + len(self.starts)
            self.starts.append(starts)
        return self.fields[key]

    def _result_places(self) -> tuple[list[np.ndarray], list[int]]:
        """Where each body's part of each result starts, in the workspace of results; and the sizes of the results."""
        starts, sizes, base = [], [], 0
        for result in self.results:
            own = np.zeros(len(self.tree), dtype=np.int64)
            stage = self.tracer.stage[result.values.sweep.number]
            for trace in self.tracer.loops[stage]:
                own[trace.body_class.members] = len(flatten(value_of(trace, result))[1])
            is_total = isinstance(result, Total)
            starts.append(np.full(len(self.tree), base) if is_total else base + np.cumsum(own) - own)
            sizes.append(int(own[0] if is_total else own.sum()))
            base += sizes[-1]
        return starts, sizes

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The bodies' rows of whole numbers, and the tables of all classes end to end."""
        rows = np.zeros((len(self.tree), FIELDS + len(self.starts)), dtype=np.int64)
        rows[:, KEPT] = self.kept
        for column, handover in zip(HANDOVER, self.handover, strict=True):
            rows[:, column : column + 2] = handover
        for n, starts in enumerate(self.starts):
            rows[:, FIELDS + n] = starts
        tables, base = [np.zeros(1)], 1
        for c, body_class in enumerate(self.tracer.classes):
            width, members = sum(x.shape[1] for x in self.columns[c]), body_class.members
            rows[members, CLASS] = c
            rows[members, TABLE] = base + width * np.arange(len(members))
            if width:
                tables.append(np.concatenate(self.columns[c], axis=1).reshape(-1))
            base += width * len(members)
        return np.ascontiguousarray(rows), np.concatenate(tables).astype(self.T.element.dtype)

    def _loop(self, stage: int, present: set[tuple[int, int]]) -> str:
        size, width = len(self.tree), FIELDS + len(self.starts)
        classes = [c for c in range(len(self.tracer.classes)) if (stage, c) in present]
        cases = " ".join(f"i64 {c}, label %class{c}" for c in classes)
        calls = "\n".join(f"class{c}:\n  call void @node{stage}.{c}({ARGUMENTS})\n  br label %next" for c in classes)
        k = f"sub i64 {size - 1}, %n" if stage % 2 else "add i64 %n, 0"
        handover = HANDOVER[stage % 2]
        newline = "\n"
        return f"""
define internal void @pass{stage}(ptr %in, ptr %out, ptr %ws, ptr %tables) noinline #0 {{
entry:
  %rows = load ptr, ptr %tables
  %constants.at = getelementptr ptr, ptr %tables, i64 1
  %constants = load ptr, ptr %constants.at
  %segment = getelementptr {self.T}, ptr %ws, i64 {self.segments}
{newline.join(self._ground(stage))}
  br label %loop
loop:
  %n = phi i64 [0, %entry], [%n.next, %next]
  %k = {k}
  %row.at = mul i64 %k, {width}
  %row = getelementptr i64, ptr %rows, i64 %row.at
  %class.at = getelementptr i64, ptr %row, i64 {CLASS}
  %class = load i64, ptr %class.at
  %own.at = getelementptr i64, ptr %row, i64 {handover}
  %own.row = load i64, ptr %own.at
  %parent.at = getelementptr i64, ptr %row, i64 {handover + 1}
  %parent.row = load i64, ptr %parent.at
  %table.at = getelementptr i64, ptr %row, i64 {TABLE}
  %table.start = load i64, ptr %table.at
  %table = getelementptr {self.element}, ptr %constants, i64 %table.start
  %kept.at = getelementptr i64, ptr %row, i64 {KEPT}
  %kept.slot = load i64, ptr %kept.at
  %kept = getelementptr {self.T}, ptr %ws, i64 %kept.slot
  %own.slot = mul i64 %own.row, {self.width}
  %own = getelementptr {self.T}, ptr %ws, i64 %own.slot
  %parent.slot = mul i64 %parent.row, {self.width}
  %parent = getelementptr {self.T}, ptr %ws, i64 %parent.slot
  switch i64 %class, label %next [{cases}]
{calls}
next:
  %n.next = add i64 %n, 1
  %more = icmp slt i64 %n.next, {size}
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""

    def _ground(self, stage: int) -> list[str]:
        """The ground's row, for the bodies whose parent it is."""
        lines = []
        for sweep in self.tracer.program.sweeps:
            if self.tracer.stage[sweep.number] != stage or sweep.kind != "scatter":
                continue
            for group, value in groups(self.tracer, sweep.number, self.tracer.edge(sweep)).items():
                slot = self.slots.get(("shared", sweep.number, group))
                if slot is not None:
                    name = f"%ground{len(lines)}"
                    lines.append(f"  {name} = getelementptr {self.T}, ptr %ws, i64 {GROUND_ROW * self.width + slot}")
                    number = f"{name}.number" if isinstance(value, Expr) else self.T.splat(value)
                    if isinstance(value, Expr):
                        sweep_across = next(n for n, across in self.tracer.across.items() if across.graph is value.graph)
                        place = self._segment_slot(("across", sweep_across, value.index))
                        lines.append(f"  {name}.at = getelementptr {self.T}, ptr %segment, i64 {place}")
                        lines.append(f"  {number} = load {self.T}, ptr {name}.at, align {self.align}")
                    lines.append(f"  store {self.T} {number}, ptr {name}, align {self.align}")
        return lines

    def _body(self) -> str:
        newline = "\n"
        totals = [n for n, result in enumerate(self.results) if isinstance(result, Total)]
        zeros = []
        for slot in (int(self.out_starts[n][0]) + j for n in totals for j in range(self.out_sizes[n])):
            zeros.append(f"  %zero{slot} = getelementptr {self.T}, ptr %out, i64 {slot}")
            zeros.append(f"  store {self.T} zeroinitializer, ptr %zero{slot}, align {self.align}")
        calls = []
        for s in range(len(self.tracer.loops)):
            calls.append(f"  call void @pass{s}(ptr %in, ptr %out, ptr %ws, ptr %tables)")
            across = (n for n in self.tracer.across if self.tracer.stage[n] == s)
            calls += [f"  call void @across{n}(ptr %segment)" for n in across]
        return f"""
define internal void @body(ptr noalias readonly %in, ptr %out, ptr readonly %tables) noinline #0 {{
entry:
  %ws = getelementptr {self.T}, ptr %out, i64 {sum(self.out_sizes)}
  %segment = getelementptr {self.T}, ptr %ws, i64 {self.segments}
{newline.join(zeros)}
{newline.join(calls)}
  ret void
}}
"""
