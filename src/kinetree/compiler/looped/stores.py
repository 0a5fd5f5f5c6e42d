"""What the code of each class stores in each loop, and the slots in which numbers wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kinetree.compiler.graph import Expr
from kinetree.compiler.looped.across import Key, Place
from kinetree.compiler.looped.hoisting import reachable
from kinetree.compiler.looped.passes import Trace, Tracer, flatten_parts
from kinetree.compiler.looped.program import Result, Total
from kinetree.compiler.looped.values import flatten

Store = tuple[Place, Any]
"""Where a number goes, ("own", key) or ("parent", key) to set, ("add", key) to add to, ("out", n, j); and the number."""


def live_stores(tracer: Tracer, results: Sequence[Result | Total]) -> dict[tuple[int, int], list[Store]]:
    """By (loop, class): results, and what later loops, parents or children read; nothing else."""
    kept: set[Key] = set()
    found: dict[tuple[int, int], list[Store]] = {}
    for stage in reversed(range(len(tracer.loops))):
        shared: set[Key] = set()
        while True:
            before = len(shared), len(kept)
            for trace in tracer.loops[stage]:
                stores = found[stage, trace.number] = _stores_of(tracer, trace, results, shared, kept)
                for place in _read(trace, stores):
                    (shared if place[1][0] == "shared" else kept).add(place[1])
            if (len(shared), len(kept)) == before:
                break
    return found


def _read(trace: Trace, stores: Sequence[Store]) -> list[Place]:
    """Places of the workspace that the code behind some stores reads."""
    places = (trace.places.get(node.index) for node in reachable(trace, [value for _, value in stores]))
    return [place for place in places if place is not None and place[0] in ("own", "parent")]


def _end_keys(tracer: Tracer) -> list[Key]:
    """Numbers of first and last bodies that sweeps over segments read."""
    places = (place for across in tracer.across.values() for place in across.places.values())
    return list(dict.fromkeys(key for _, key in places if key[0] == "end"))


def _stores_of(
    tracer: Tracer, trace: Trace, results: Sequence[Result | Total], shared: set[Key], kept: set[Key]
) -> list[Store]:
    nodes, stage = trace.graph.nodes, trace.stage
    stores: list[Store] = [
        (("own", key), nodes[key[3]]) for key in sorted(kept) if key[1:3] == (trace.number, stage) and key[0] == "kept"
    ]
    stores += [(("segment", key), nodes[key[3]]) for key in _end_keys(tracer) if key[1:3] == (trace.number, stage)]
    for sweep in tracer.program.sweeps:
        if tracer.stage[sweep.number] != stage or sweep.kind not in ("scatter", "gather"):
            continue
        gathers = sweep.kind == "gather"
        value = (trace.messages if gathers else trace.values)[sweep.number]
        to = "own" if not gathers else "parent" if trace.body_class.is_first else "add"
        for group, leaf in groups(tracer, sweep.number, value).items():
            if ("shared", sweep.number, group) in shared:
                stores.append(((to, ("shared", sweep.number, group)), leaf))
    for n, result in enumerate(results):
        if tracer.stage[result.values.sweep.number] == stage:
            word = "sum" if isinstance(result, Total) else "out"
            leaves = enumerate(flatten(value_of(trace, result))[1])
            stores += [((word, n, j), leaf) for j, leaf in leaves if word == "out" or isinstance(leaf, Expr) or leaf != 0.0]
    return stores


def groups(tracer: Tracer, sweep: int, value: Any) -> dict[int, Any]:
    """The number that stands for each group of a shared value."""
    found: dict[int, Any] = {}
    for part, (_, leaves) in zip(tracer.shared[sweep].parts, flatten_parts(value)[1], strict=True):
        for token, leaf in zip(part[1] if part else (), leaves if part else (), strict=True):
            if not isinstance(token, float):
                found.setdefault(token, leaf)
    return found


def value_of(trace: Trace, result: Result | Total) -> Any:
    value = trace.values[result.values.sweep.number]
    for n in result.values.path:
        value = value[n]
    return value


def slots_of(tracer: Tracer, stores: dict[tuple[int, int], list[Store]]) -> dict[Key, int]:
    """A slot for each number that waits: for what passes between bodies in the rows they share, else in the body's own."""
    life: dict[Key, list[Any]] = {}  # first loop, last loop, class
    slots: dict[Key, int] = {}
    handed: Counter[int] = Counter()
    for (stage, c), stored in stores.items():
        for place, _ in stored:
            if place[0] in ("out", "sum", "segment") or place[1] in slots:
                continue
            if place[1][0] == "kept":
                life[place[1]] = [stage, stage, c]
            else:
                slots[place[1]] = handed[stage]
                handed[stage] += 1
    for (stage, c), stored in stores.items():
        for place in _read(tracer.loops[stage][c], stored):
            if place[1][0] == "kept":
                life[place[1]][1] = max(life[place[1]][1], stage)
    busy: list[dict[int, int]] = []  # of each slot, the last loop in which a class needs it
    for key, (first, last, c) in sorted(life.items(), key=lambda x: (x[1][0], repr(x[0]))):
        slot = next((n for n, until in enumerate(busy) if until.get(c, -1) < first), len(busy))
        if slot == len(busy):
            busy.append({})
        busy[slot][c] = last
        slots[key] = slot
    return slots
