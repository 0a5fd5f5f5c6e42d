"""Sweeps over the segments of a chain, one segment per lane.

Every lane does the step of its segment as often as there are lanes, on what its neighbour found last: after n steps the first n
segments of the way know all they need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from kinetree.compiler.emit import StraightLine, live_nodes
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.looped.program import Sweep
from kinetree.compiler.looped.values import flatten
from kinetree.compiler.stats import count
from kinetree.compiler.text import Lanes

Key = tuple[Any, ...]
Place = tuple[Any, ...]
"""Where a number waits: ("table", values), ("piece", piece, j), ("own", key), ("parent", key), ("segment", key)."""


@final
@dataclass(eq=False)
class Across:
    """What a sweep over the segments does in each of them: gives a value, and a message that is numbers, as is the `edge`."""

    sweep: Sweep
    edge: list[float]
    graph: Graph = field(default_factory=Graph)
    places: dict[int, Place] = field(default_factory=dict)
    value: Any = None
    message: list[Any] = field(default_factory=list)
    _known: dict[Any, Expr] = field(default_factory=dict)

    def input(self, key: Key, place: Place) -> Expr:
        """The number at a place, one node however often it is asked for."""
        if key not in self._known:
            found: Any = self.graph.input()[()]
            self.places[found.index], self._known[key] = place, found
        return self._known[key]

    def received(self, j: int) -> Expr:
        """Number j of the message from the segment before."""
        key = ("received", self.sweep.number, j)
        return self.input(key, ("segment", key))


def across_code(across: Across, lanes: Lanes, slot: Callable[[Key], int]) -> tuple[StraightLine, str, Counter[str]]:
    """LLVM text of ``@across{number}(ptr segments)``; `slot` says where a number waits. And the operations of one step."""
    number, T, n, align = across.sweep.number, lanes, lanes.count, lanes.bytes
    taken = [key[2] for _, key in across.places.values() if key[0] == "received"]
    results = {("across", number, x.index): x for x in flatten(across.value)[1] if isinstance(x, Expr)}
    results |= {("sent", number, j): across.message[j] for j in taken}
    nodes = live_nodes(across.graph, list(results.values()))

    def at(name: str, key: Key) -> str:
        return f"  %{name} = getelementptr {T}, ptr %out, i64 {slot(key)}"

    def load(node: Expr) -> list[str]:
        v = f"v{node.index}"
        return [at(f"{v}.at", across.places[node.index][1]), f"  %{v} = load {T}, ptr %{v}.at, align {align}"]

    def store(key: Key, value: str) -> list[str]:
        name = ".".join(map(str, key))
        return [at(name, key), f"  store {T} {value}, ptr %{name}, align {align}"]

    straight = StraightLine(nodes, list(results.items()), lanes, load, store)
    neighbours = [*range(1, n), n] if across.sweep.kind == "inward" else [n, *range(n - 1)]
    mask = ", ".join(f"i32 {lane}" for lane in neighbours)
    start, shift = [], []
    for j in taken:
        edge = lanes.splat(across.edge[j])
        start += [at(f"start{j}", ("received", number, j)), f"  store {T} {edge}, ptr %start{j}, align {align}"]
        shift += [
            at(f"sent{j}", ("sent", number, j)),
            f"  %x{j} = load {T}, ptr %sent{j}, align {align}",
            f"  %y{j} = shufflevector {T} %x{j}, {T} {edge}, <{n} x i32> <{mask}>",
            at(f"received{j}", ("received", number, j)),
            f"  store {T} %y{j}, ptr %received{j}, align {align}",
        ]
    newline = "\n"
    text = f"""{straight.function(f"define internal void @segment{number}(ptr %out) noinline #0")}
define internal void @across{number}(ptr %out) noinline #0 {{
entry:
{newline.join(start)}
  br label %loop
loop:
  %n = phi i64 [1, %entry], [%n.next, %next]
  call void @segment{number}(ptr %out)
  %more = icmp slt i64 %n, {n}
  br i1 %more, label %next, label %exit
next:
{newline.join(shift)}
  %n.next = add i64 %n, 1
  br label %loop
exit:
  ret void
}}
"""
    return straight, text, count(nodes, [list(results.values())])
