"""Recorded sweeps as alternating loops over the tree, and what every class of bodies computes in each of them.

A loop from the base to the tips does scatters, one from the tips to the base gathers; what only needs the body itself goes
along with the first loop that has its operands. In one loop a class has one graph, so that sweeps share what they have in
common; between loops numbers wait in the workspace.

What a parent hands down, and what children send up, must be stored the same way by every class. Which numbers are
constant and which are equal is found by assuming the best, tracing, and taking back what turns out wrong, until nothing is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.looped.across import Across, Place
from kinetree.compiler.looped.classes import BodyClass
from kinetree.compiler.looped.program import End, Piece, Program, Recorded, Sweep
from kinetree.compiler.looped.values import Structure, flatten, rebuilt
from kinetree.errors import InputError


@final
@dataclass(eq=False)
class Shared:
    """How a value that passes between bodies is stored: per part a structure, and per number a constant or a group."""

    parts: list[tuple[Structure, list[Any]] | None]
    is_tuple: bool
    groups: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shared) and (self.parts, self.groups) == (other.parts, other.groups)


@final
@dataclass(eq=False)
class Trace:
    """What one class computes in one loop."""

    body_class: BodyClass
    number: int
    stage: int
    graph: Graph = field(default_factory=Graph)
    places: dict[int, Place] = field(default_factory=dict)
    """Of the inputs of the graph, by their index."""
    values: dict[int, Any] = field(default_factory=dict)
    """What each sweep gave, by its number."""
    messages: dict[int, Any] = field(default_factory=dict)
    keys: dict[int, Any] = field(default_factory=dict)
    _known: dict[Any, Expr] = field(default_factory=dict)

    def input(self, key: Any, place: Place) -> Expr:
        """The number at a place, one node however often it is asked for."""
        if key not in self._known:
            found: Any = self.graph.input()[()]
            self.places[found.index], self.keys[found.index] = place, key
            self._known[key] = found
        return self._known[key]

    def column(self, values: np.ndarray) -> Any:
        """Constants of the class, one per member, as an input; as a number if they are all the same."""
        first = values[0, 0]
        return float(first) if (values == first).all() else self.input(("table", values.tobytes()), ("table", values))

    @cached_property
    def uniform(self) -> dict[int, np.ndarray]:
        """What depends on constants of the bodies alone, by index, for all members at once: computed now, not by the code."""
        found: dict[int, np.ndarray] = {}
        for node in self.graph.nodes:
            if node.op == "const":
                found[node.index] = np.array(node.value)
            elif node.op == "input":
                place = self.places[node.index]
                if place[0] == "table":
                    found[node.index] = place[1]
            elif all(x.index in found for x in node.args):
                found[node.index] = _COMPUTE[node.op](*(found[x.index] for x in node.args))
        return found


_COMPUTE: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "rint": np.rint,
    "check": lambda a: a - a,
    "where": lambda c, a, b: np.where(c != 0.0, a, b),
}


class Unavailable:
    """A part of a parent's value that has another shape in another class of bodies: no node function may use it."""

    def __getattr__(self, name: str) -> Any:
        raise InputError("a node function uses a part of its parent's value that is not of one shape for all bodies.")


def earlier(sweep: Sweep) -> Iterator[Recorded]:
    """What a sweep needs of others, before its first body too."""
    edge = sweep.edge if isinstance(sweep.edge, tuple) else (sweep.edge,)
    for x in (*sweep.data, *itertools.chain.from_iterable(x if isinstance(x, tuple) else (x,) for x in edge)):
        if isinstance(x, (Recorded, End)):
            yield x.values if isinstance(x, End) else x


def later(sweep: Sweep, x: Recorded) -> bool:
    """Whether bodies need what segments have only after a whole loop."""
    return x.sweep.is_across and not sweep.is_across


def stages_of(program: Program) -> dict[int, int]:
    """The loop of each sweep: even ones run from the base to the tips, odd ones back; that before it of one over segments."""
    stage: dict[int, int] = {}
    for sweep in program.sweeps:
        s = max((stage[x.sweep.number] + later(sweep, x) for x in earlier(sweep)), default=0)
        parity = {"scatter": 0, "gather": 1}.get(sweep.kind, s % 2)
        stage[sweep.number] = s if s % 2 == parity else s + 1
    return stage


@final
class Tracer:
    """Traces every loop of a program for every class."""

    def __init__(self, program: Program, classes: Sequence[BodyClass]) -> None:
        self.program, self.classes = program, list(classes)
        self.stage = stages_of(program)
        self.loops: list[list[Trace]] = []
        self.shared: dict[int, Shared] = {}
        self.across: dict[int, Across] = {}
        for s in range(max(self.stage.values(), default=0) + 1):
            self.loops.append(self._loop(s))
            for sweep in program.sweeps:
                if sweep.is_across and self.stage[sweep.number] == s:
                    self.across[sweep.number] = self._across(sweep)

    def _loop(self, stage: int) -> list[Trace]:
        sweeps = [x for x in self.program.sweeps if self.stage[x.number] == stage and not x.is_across]
        between = [x for x in sweeps if x.kind != "each"]
        for sweep in between:
            if sweep.kind == "scatter":
                self.shared[sweep.number] = common([flatten_parts(self.edge(sweep))], adds_up=False)
        if stage % 2:
            made = [self._trace(c, stage, sweeps) for c, body_class in enumerate(self.classes) if body_class.is_tip]
            for sweep in between:
                self.shared[sweep.number] = common([flatten_parts(t.messages[sweep.number]) for t in made], adds_up=True)
        while True:
            made = [self._trace(c, stage, sweeps) for c in range(len(self.classes))]
            stable = True
            for sweep in between:
                if sweep.kind == "scatter":
                    found = [flatten_parts(self.edge(sweep)), *(flatten_parts(t.values[sweep.number]) for t in made)]
                else:
                    found = [flatten_parts(t.messages[sweep.number]) for t in made]
                before = self.shared[sweep.number]
                now = common(found, adds_up=sweep.kind == "gather", before=before)
                stable &= now == before
                self.shared[sweep.number] = now
            if stable:
                return made

    def _trace(self, number: int, stage: int, sweeps: Sequence[Sweep]) -> Trace:
        body_class = self.classes[number]
        trace = Trace(body_class, number, stage)
        for sweep in sweeps:
            data = [self._datum(trace, x) for x in sweep.data]
            if sweep.kind == "each":
                trace.values[sweep.number] = sweep.node(*data)
            elif sweep.kind == "scatter":
                trace.values[sweep.number] = sweep.node(self._handed(trace, sweep, "parent"), *data)
            else:
                received = sweep.edge if body_class.is_tip else self._handed(trace, sweep, "own")
                trace.values[sweep.number], trace.messages[sweep.number] = sweep.node(received, *data)
        return trace

    def _handed(self, trace: Trace, sweep: Sweep, where: str) -> Any:
        """What the parent (or the children together) hand over, as inputs of a trace."""
        shared = self.shared[sweep.number]
        parts = []
        for part in shared.parts:
            if part is None:
                parts.append(Unavailable())
                continue
            structure, tokens = part
            leaves = [
                t if isinstance(t, float) else trace.input((where, sweep.number, t), (where, ("shared", sweep.number, t)))
                for t in tokens
            ]
            parts.append(rebuilt(structure, leaves))
        return tuple(parts) if shared.is_tuple else parts[0]

    def _datum(self, trace: Trace, x: Any) -> Any:
        """One argument of a node function, for a body of the class."""
        if isinstance(x, Piece):
            count = x.sizes[trace.body_class.members[0]]
            made = np.empty(count, dtype=object)
            for j in range(count):
                made[j] = trace.input((id(x), j), ("piece", x, j))
            return made
        if isinstance(x, Recorded):
            return self._earlier(trace, x)
        structure, entries = trace.body_class.constants[id(x)]
        return rebuilt(structure, [e if isinstance(e, float) else trace.column(e) for e in entries])

    def _earlier(self, trace: Trace, x: Recorded) -> Any:
        """What an earlier sweep gave this body."""
        if x.sweep.is_across:
            structure, leaves = flatten(self.of_segment(x))
            return rebuilt(structure, [self._of_segment(trace, x.sweep, leaf) for leaf in leaves])
        stage = self.stage[x.sweep.number]
        source = trace if stage == trace.stage else self.loops[stage][trace.number]
        value = source.values[x.sweep.number]
        for n in x.path:
            value = value[n]
        if source is trace:
            return value
        structure, leaves = flatten(value)
        return rebuilt(structure, [self._carried(trace, source, leaf) for leaf in leaves])

    def _carried(self, trace: Trace, source: Trace, leaf: Any) -> Any:
        """A number of an earlier loop in a later one: read again where it came from, or kept in the workspace."""
        if not isinstance(leaf, Expr):
            return leaf
        if leaf.index in source.uniform:
            return trace.column(
                np.broadcast_to(source.uniform[leaf.index], (len(trace.body_class.members), trace.body_class.width))
            )
        place = source.places.get(leaf.index)
        if place is not None and (place[0] == "piece" or place[1][0] == "kept"):
            return trace.input(source.keys[leaf.index], place)
        key = ("kept", source.number, source.stage, leaf.index)
        return trace.input(key, ("own", key))

    def edge(self, sweep: Sweep) -> Any:
        """What is handed over before a sweep's first body, numbers of segments as traced across them."""

        def found(x: Any) -> Any:
            return tuple(map(found, x)) if isinstance(x, tuple) else self.of_segment(x) if isinstance(x, Recorded) else x

        return found(sweep.edge)

    def of_segment(self, x: Recorded) -> Any:
        """What a sweep over the segments gave each of them, as traced across them."""
        value = self.across[x.sweep.number].value
        for n in x.path:
            value = value[n]
        return value

    def _of_segment(self, trace: Any, sweep: Sweep, leaf: Any) -> Any:
        """A number of a segment in the code of bodies, or of a later sweep over segments."""
        if not isinstance(leaf, Expr):
            return leaf
        key = ("across", sweep.number, leaf.index)
        return trace.input(key, ("segment", key))

    def _across(self, sweep: Sweep) -> Across:
        """Traces a sweep over the segments; numbers that no segment changes on the way stay constants."""
        structure, edge = flatten(sweep.edge)
        constant = [True] * len(edge)
        while True:
            trace = Across(sweep, edge)
            received = [x if c else trace.received(j) for j, (x, c) in enumerate(zip(edge, constant, strict=True))]
            found = sweep.node(rebuilt(structure, received), *(self._segment_datum(trace, x) for x in sweep.data))
            trace.value, message = found if sweep.kind == "inward" else (found, found)
            trace.message = flatten(message)[1]
            now = [c and not isinstance(y, Expr) and x == y for c, x, y in zip(constant, edge, trace.message, strict=True)]
            if now == constant:
                return trace
            constant = now

    def _segment_datum(self, trace: Across, x: Any) -> Any:
        """One argument of a node function over segments."""
        if isinstance(x, Recorded):
            structure, leaves = flatten(self.of_segment(x))
            return rebuilt(structure, [self._of_segment(trace, x.sweep, leaf) for leaf in leaves])
        stage = self.stage[x.values.sweep.number]
        at = len(self.program.tree) - 1 if x.end == "tip" else 0
        source = next(t for t in self.loops[stage] if at in t.body_class.members)
        value = source.values[x.values.sweep.number]
        for n in x.values.path:
            value = value[n]
        structure, leaves = flatten(value)
        keys = [("end", source.number, stage, leaf.index) if isinstance(leaf, Expr) else None for leaf in leaves]
        return rebuilt(
            structure,
            [leaf if key is None else trace.input(key, ("segment", key)) for leaf, key in zip(leaves, keys, strict=True)],
        )


def flatten_parts(value: Any) -> tuple[bool, list[tuple[Structure, list[Any]]]]:
    """A value as parts that are stored one by one: the entries of a tuple, or itself."""
    return (True, [flatten(x) for x in value]) if isinstance(value, tuple) else (False, [flatten(value)])


def common(
    values: Sequence[tuple[bool, list[tuple[Structure, list[Any]]]]], adds_up: bool, before: Shared | None = None
) -> Shared:
    """How values of several classes are stored alike: equal where they are equal in all, constant where in all.

    What adds up (messages of several children) is constant only where it is zero. What was different `before` stays so: that
    is what lets the search end.
    """
    groups: dict[Any, int] = {}
    parts: list[tuple[Structure, list[Any]] | None] = []
    for n, alike in enumerate(zip(*(value[1] for value in values), strict=True)):
        old = before.parts[n] if before else alike[0]
        if old is None or len({structure for structure, _ in (*alike, old)}) > 1:
            parts.append(None)
            continue
        tokens = []
        for leaves in zip(*(leaves for _, leaves in alike), old[1], strict=True):
            constant = all(isinstance(x, float) and x == leaves[0] for x in leaves) and not (adds_up and leaves[0] != 0.0)
            key = tuple(x.index if isinstance(x, Expr) else (x,) for x in leaves)
            tokens.append(leaves[0] if constant else groups.setdefault(key, len(groups)))
        parts.append((alike[0][0], tokens))
    return Shared(parts, values[0][0], len(groups))
