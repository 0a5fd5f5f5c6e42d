"""Constants of the bodies taken out of the code: what depends on them alone is computed once and read from the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from kinetree.compiler.graph import Expr, Graph, where
from kinetree.compiler.looped.passes import Place, Trace

_APPLY: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "rint": np.rint,
    "check": lambda a: a.finite_check() if isinstance(a, Expr) else 0.0,
    "where": where,
}


def reachable(trace: Trace, values: Sequence[Any]) -> list[Expr]:
    """The nodes that some values depend on, operands first, down to inputs and to what is the same for every state."""
    seen: set[int] = set()
    found: list[Expr] = []
    for value in values:
        pending = [(value, False)] if isinstance(value, Expr) else []
        while pending:
            node, done = pending.pop()
            if done:
                found.append(node)
            elif node.index not in seen:
                seen.add(node.index)
                pending.append((node, True))
                if node.index not in trace.uniform:
                    pending.extend((x, False) for x in reversed(node.args))
    return found


@final
class Hoisted:
    """The code of some values of a trace on a graph of its own, constants of the bodies its inputs.

    Attributes
    ----------
    graph : Graph
    values : list of Expr or float
    places : {index of an input: its place}
    """

    def __init__(self, trace: Trace, values: Sequence[Any]) -> None:
        self.graph = Graph()
        self.places: dict[int, Place] = {}
        shape, columns, made = (len(trace.body_class.members), trace.body_class.width), {}, {}
        for node in reachable(trace, values):
            if node.index in trace.uniform:
                column = np.broadcast_to(trace.uniform[node.index], shape)
                if (column == column[0, 0]).all():
                    made[node.index] = float(column[0, 0])
                    continue
                key = column.tobytes()
                if key not in columns:
                    columns[key] = self._input(("table", np.array(column)))
                made[node.index] = columns[key]
            elif node.op == "input":
                made[node.index] = self._input(trace.places[node.index])
            else:
                made[node.index] = _APPLY[node.op](*(made[x.index] for x in node.args))
        self.values = [made[x.index] if isinstance(x, Expr) else x for x in values]

    def _input(self, place: Place) -> Expr:
        found: Any = self.graph.input()[()]
        self.places[found.index] = place
        return found
