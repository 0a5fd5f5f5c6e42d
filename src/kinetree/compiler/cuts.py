"""Straight-line code of one trace, cut into pieces: what follows from arguments of the body alone is computed once.

That is done by the piece `known`, which has to be called first; the others take of it what they need from the workspace, and
compute what depends on their own arguments::

    trace = Trace(routines)
    q = trace.at(Area("%in", 0, (1,)), model.nq)
    respond = trace.piece("respond", lambda W: response(model, q, W), [Block(6)], [Block(model.nv)])
    with routines.procedure("body") as body:
        body.call(trace.known)
        body.call(respond, W[0], after[0])

What is the same in several pieces, an articulated inertia of each body, is so computed once, with nobody saying what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.pieces import Area, Block, Piece, arguments, pointers, stored
from kinetree.compiler.routines import Routines

__all__ = ["Trace"]


@final
class Trace:
    """A graph of which each node belongs to one piece, or to the first of all.

    Attributes
    ----------
    known : Piece
        What computes all that others take.
    """

    def __init__(self, routines: Routines) -> None:
        self.known: Final = Piece("known", ("ptr noalias readonly %in", "ptr noalias %out"), {}, [], shared=True)
        routines.pieces.append(self.known)
        self._routines, self._graph = routines, Graph()
        self._kept: dict[int, int] = {}  # slot of each node that others take
        self._late: set[int] = set()
        self._looked = 0  # nodes that `is_late` has looked at

    def at(self, area: Area, *shape: int) -> Any:
        """An array that lies end to end from where an area of the body's arguments begins."""
        found = self._graph.input(shape)
        for k, x in enumerate(np.ravel(found)):
            self.known.source[x.index] = "in", area.slot + k
        return found

    def keep(self, area: Area, values: Any) -> None:
        """Has `known` write what follows from its arguments alone, end to end from where an area begins."""
        for k, x in enumerate(np.ravel(np.asarray(values, dtype=object))):
            self.known.results.append((("out", area.slot + k), x))
            if isinstance(x, Expr):
                self._kept.setdefault(x.index, area.slot + k)

    def piece(self, name: str, function: Callable[..., Any], inputs: Sequence[Block], outputs: Sequence[Block]) -> Piece:
        """As `Routines.piece`, of a function that may also use what it finds in this trace; no result may lie in an input."""
        given, source = arguments(inputs, self._graph)
        self._late.update(source)
        results = stored(outputs, function(*given))
        own = _Own(self, source)
        moved: list[tuple[tuple[str, int], Expr | float]] = [
            (target, own.node(x) if isinstance(x, Expr) else float(x)) for target, x in results
        ]
        shared = "ptr noalias readonly %in", "ptr readonly %room"
        found = Piece(name, (*shared, *pointers(inputs, outputs, "noalias ")), own.source, moved, shared=True)
        self._routines.pieces.append(found)
        return found

    def is_late(self, node: Expr) -> bool:
        """Whether it depends on an argument of a piece."""
        for x in self._graph.nodes[self._looked :]:
            if x.index in self._late or any(y.index in self._late for y in x.args):
                self._late.add(x.index)
        self._looked = len(self._graph.nodes)
        return node.index in self._late

    def place(self, node: Expr) -> tuple[str, int]:
        """Where a node is that follows from the body's arguments, for the other pieces."""
        if node.index in self.known.source:
            return self.known.source[node.index]
        if node.index not in self._kept:
            self.keep(self._routines.area(1), node)
        return "room", self._kept[node.index]


class _Own:
    """Nodes of one piece in a graph of its own, whose inputs are its arguments and what it takes."""

    def __init__(self, trace: Trace, source: dict[int, tuple[str, int]]) -> None:
        self.source: dict[int, tuple[str, int]] = {}
        self._trace, self._given, self._graph, self._made = trace, source, Graph(), dict[int, Expr]()

    def node(self, wanted: Expr) -> Expr:
        """The same node there."""
        pending = [wanted]
        while pending:
            node = pending[-1]
            missing = [x for x in self._operands(node) if x.index not in self._made]
            if missing and node.index not in self._made:
                pending += missing
                continue
            pending.pop()
            if node.index not in self._made:
                self._made[node.index] = self._moved(node)
        return self._made[wanted.index]

    def _operands(self, node: Expr) -> tuple[Expr, ...]:
        return node.args if node.op == "neg" or self._trace.is_late(node) else ()

    def _moved(self, node: Expr) -> Expr:
        if node.op == "const":
            assert node.value is not None
            return self._graph.constant(node.value)
        if self._operands(node):
            return self._graph.again(node, [self._made[x.index] for x in node.args])
        found: Any = self._graph.input()[()]
        self.source[found.index] = self._given.get(node.index) or self._trace.place(node)
        return found
