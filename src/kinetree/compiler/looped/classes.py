"""Bodies that run the same code: same kinds of constants in the same places, same zeros, same place in the tree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.compiler.looped.program import End, NotSweepsError, Piece, Program, Recorded
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
    constants : {id of a list of constants: (structure, one entry per number: a float, or its values (members, width))}
    width : 1, or a value for each segment of a chain
    """

    members: np.ndarray
    is_tip: bool
    is_first: bool
    constants: dict[int, tuple[Structure, list[Any]]]
    width: int = 1


def classes_of(*programs: Program) -> list[BodyClass]:
    """The classes of a program's bodies; together they are all bodies. Of several programs, one for each segment of a chain,
    bodies that are swept at once share a class."""
    program, tree = programs[0], programs[0].tree
    data = [x for sweep in program.sweeps for x in sweep.data]
    alike = zip(*([x for sweep in each.sweeps for x in sweep.data] for each in programs), strict=True)
    lists = list({id(x[0]): x for x in alike if not isinstance(x[0], (Recorded, Piece, End))}.values())
    is_cut = any(sweep.is_across for sweep in program.sweeps)
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
        kinds = tuple({kind(lane[k]) for lane in x} for x in lists)
        if any(len(found) > 1 for found in kinds):
            raise NotSweepsError("bodies in the same place of different segments are not of one kind")
        is_base = is_cut and tree.parents[k] == GROUND
        key = (tuple(next(iter(found)) for found in kinds), sizes, not tree.children[k], k in first, is_base)
        groups.setdefault(key, []).append(k)
    found = [part for members in groups.values() for part in _by_zeros(np.array(members), lists)]
    if len(found) > MOST_CLASSES:
        found = [np.array(members) for members in groups.values()]
    return [_class(members, lists, tree.children, first) for members in found]


def _class(members: np.ndarray, lists: Sequence[Any], children: Sequence[Any], first: set[int]) -> BodyClass:
    constants, width = {}, 1
    for x in lists:
        structure, table = _table(x, members)
        width = table.shape[2]
        leaves = np.moveaxis(table, 1, 0)
        constants[id(x[0])] = structure, [float(c.flat[0]) if (c == c.flat[0]).all() else c for c in leaves]
    return BodyClass(members, not children[members[0]], int(members[0]) in first, constants, width)


def _table(lanes: Sequence[Any], members: np.ndarray) -> tuple[Structure, np.ndarray]:
    """Structure and numbers (members, leaves, width) of a list of constants, which there is once for each segment."""
    found = [columns([x[k] for k in members]) for x in lanes]
    return found[0][0], np.stack([table for _, table in found], axis=2)


def _by_zeros(members: np.ndarray, lists: Sequence[Any]) -> list[np.ndarray]:
    """The members parted by which of their constants are 0, 1 or −1: those that make code shorter."""
    if len(members) == 1 or not lists:
        return [members]
    lanes = np.concatenate([_table(x, members)[1] for x in lists], axis=1)
    table = np.where((lanes == lanes[..., :1]).all(axis=2), lanes[..., 0], 2.0)
    signs = np.where(np.isin(table, (0.0, 1.0, -1.0)), table, 2.0)
    _, which = np.unique(signs, axis=0, return_inverse=True)
    return [members[which.ravel() == n] for n in range(which.max() + 1)]
