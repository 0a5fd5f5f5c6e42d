"""Bodies that run the same code: same kinds of constants in the same places, same zeros, same place in the tree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.compiler.looped.program import Piece, Program, Recorded
from kinetree.compiler.looped.values import Structure, columns, kind
from kinetree.model.tree import GROUND

MOST_CLASSES = 24
"""Beyond so many, bodies that differ in zeros only share code."""


@final
@dataclass(frozen=True, eq=False)
class BodyClass:
    """Bodies that one code serves.

    Attributes
    ----------
    members : numbers of the bodies
    is_tip : whether they carry no other body
    is_first : whether each is the first of its parent's children to be reached from the tips
    constants : {id of a list of constants: (structure, one entry per number: a float, or its values (members,))}
    """

    members: np.ndarray
    is_tip: bool
    is_first: bool
    constants: dict[int, tuple[Structure, list[Any]]]


def classes_of(program: Program) -> list[BodyClass]:
    """The classes of a program's bodies; together they are all bodies."""
    tree = program.tree
    data = [x for sweep in program.sweeps for x in sweep.data]
    lists = list({id(x): x for x in data if not isinstance(x, (Recorded, Piece))}.values())
    pieces = list({x.sizes: x for x in data if isinstance(x, Piece)}.values())
    first = set()
    reached: set[int] = set()
    for k in reversed(tree.order):
        if tree.parents[k] not in reached or tree.parents[k] == GROUND:
            first.add(k)
            reached.add(tree.parents[k])
    groups: dict[Hashable, list[int]] = {}
    for k in range(len(tree)):
        sizes = tuple(piece.sizes[k] for piece in pieces)
        key = (tuple(kind(x[k]) for x in lists), sizes, not tree.children[k], k in first)
        groups.setdefault(key, []).append(k)
    found = [part for members in groups.values() for part in _by_zeros(np.array(members), lists)]
    if len(found) > MOST_CLASSES:
        found = [np.array(members) for members in groups.values()]
    return [_class(members, lists, tree.children, first) for members in found]


def _class(members: np.ndarray, lists: Sequence[Any], children: Sequence[Any], first: set[int]) -> BodyClass:
    constants = {}
    for x in lists:
        structure, table = columns([x[k] for k in members])
        same = (table == table[:1]).all(axis=0)
        constants[id(x)] = structure, [float(c[0]) if s else c for c, s in zip(table.T, same, strict=True)]
    return BodyClass(members, not children[members[0]], int(members[0]) in first, constants)


def _by_zeros(members: np.ndarray, lists: Sequence[Any]) -> list[np.ndarray]:
    """The members parted by which of their constants are 0, 1 or −1: those that make code shorter."""
    if len(members) == 1 or not lists:
        return [members]
    table = np.concatenate([columns([x[k] for k in members])[1] for x in lists], axis=1)
    signs = np.where(np.isin(table, (0.0, 1.0, -1.0)), table, 2.0)
    _, which = np.unique(signs, axis=0, return_inverse=True)
    return [members[which.ravel() == n] for n in range(which.max() + 1)]
