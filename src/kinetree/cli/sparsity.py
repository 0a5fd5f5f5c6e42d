"""What `kinetree show --sparsity` says: the serial-chain segments of a tree, and which blocks of E, φ and ℳ are zero.

Source: Jain II, section 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from kinetree.algebra.expression import Operator
from kinetree.algebra.rigid import sko_model
from kinetree.algebra.sparsity import entry_pattern, segment_pattern
from kinetree.cli.report import add_row, heading, table
from kinetree.cli.spy import Drawing, Spy, marks
from kinetree.cli.trees import branches
from kinetree.model import GROUND, Model, Tree
from kinetree.spatial.scalars import Array

TITLES = ("E", "φ", "ℳ")


@final
@dataclass(frozen=True)
class Sparsity:
    """Sparsity of a model's operators, the same at every configuration."""

    model: Model

    @property
    def tree(self) -> Tree:
        """The bodies."""
        return self.model.tree

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """E, φ and ℳ."""
        sko = sko_model(self.model, self.model.neutral(), ())
        return sko.E, sko.phi, sko.mass

    @cached_property
    def data(self) -> dict[str, Any]:
        """For JSON: bodies and coordinates in the model's order, patterns as one text of 0 and 1 per row."""
        E, phi, mass = self.operators
        return {
            "segments": [
                {"index": n, "parent": parent, "bodies": list(bodies)}
                for n, (bodies, parent) in enumerate(zip(self.tree.segments, self.tree.segment_parents, strict=True))
            ],
            "E": _found(E),
            "phi": _found(phi),
            "mass_matrix": {**_found(mass), "by_coordinate": _rows(entry_pattern(mass))},
        }

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The bodies, segment by segment."""
        return tuple(k for segment in self.tree.segments for k in segment)

    @cached_property
    def by_bodies(self) -> Drawing:
        """The three patterns, a row per body."""
        order, segments = self.order, self.tree.segments
        of = [n for n, segment in enumerate(segments) for _ in segment]
        ends = np.cumsum([len(segment) for segment in segments])
        return Drawing(
            TITLES,
            tuple(marks(op.pattern()[np.ix_(order, order)], of) for op in self.operators),
            tuple(map(str, order)),
            tuple(ends[:-1].tolist()),
            _number(len(order), "body", "bodies") + (", segment by segment" if order != tuple(sorted(order)) else ""),
        )

    @cached_property
    def by_segments(self) -> Drawing:
        """The three patterns, a row per segment."""
        numbers = range(len(self.tree.segments))
        found = tuple(marks(segment_pattern(op), numbers) for op in self.operators)
        return Drawing(TITLES, found, tuple(map(str, numbers)), (), _number(len(numbers), "segment", "segments"))

    @property
    def parts(self) -> list[Any]:
        """For people: the tree of segments, how much of ℳ is zero, the drawing."""
        mass = self.operators[-1]
        drawings = (self.by_bodies, self.by_segments)
        return [heading("Serial-chain segments"), self._segments(), _zeros(mass), Spy(drawings)]

    def _segments(self) -> Any:
        """The tree of segments as a table."""
        tree, names = self.tree, self.model.body_names
        rows = table("segment", "bodies from", "to", ">length", ">parent")
        over = Tree(tree.segment_parents)
        branch = branches(over)
        for n in over.depth_first:
            first, last = tree.segments[n][0], tree.segments[n][-1]
            parent = "" if over.parents[n] == GROUND else over.parents[n]
            add_row(rows, f"{branch[n]}{n}", f"{first} {names[first]}", f"{last} {names[last]}", len(tree.segments[n]), parent)
        return rows


def _found(op: Operator) -> dict[str, Any]:
    return {"by_body": _rows(op.pattern()), "by_segment": _rows(segment_pattern(op))}


def _zeros(mass: Operator) -> str:
    moved = sum(size > 0 for size in mass.rows.sizes)
    blocks = _share(moved**2 - int(mass.pattern().sum()), moved**2, "blocks")
    entries = _share(int((~entry_pattern(mass)).sum()), mass.rows.dimension**2, "entries")
    return f"mass matrix ℳ: the tree makes {blocks} and {entries} zero at every q"


def _share(part: int, whole: int, what: str) -> str:
    return f"{part:,} of {whole:,} {what}" + (f" ({100 * part / whole:.3g} %)" if part else "")


def _rows(pattern: Array) -> list[str]:
    return [row.tobytes().decode() for row in np.where(pattern, b"1", b"0")]


def _number(count: int, one: str, several: str) -> str:
    return f"the {count:,} {several}" if count > 1 else f"one {one}"
