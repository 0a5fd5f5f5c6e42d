"""Rows in which values wait that pass between bodies, used again as soon as no body needs them.

A chain gets along with two besides the ground's, whatever its length: what one body hands to the next stays in the cache.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import final

import numpy as np

from kinetree.model.tree import GROUND, Tree

GROUND_ROW = 0


@final
class _Rows:
    """Rows taken and given back; the lowest free one comes first."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._next: Iterator[int] = iter(range(GROUND_ROW + 1, 2**62))

    def take(self) -> int:
        return heapq.heappop(self._free) if self._free else next(self._next)

    def give(self, row: int) -> None:
        if row != GROUND_ROW:
            heapq.heappush(self._free, row)


def outward_rows(tree: Tree) -> np.ndarray:
    """Own row and parent's row (nbodies, 2), from the base to the tips: a body's is free after its last child."""
    rows, own = _Rows(), [GROUND_ROW] * len(tree)
    found = np.empty((len(tree), 2), dtype=np.int64)
    for k, parent in enumerate(tree.parents):
        own[k] = rows.take()
        above = GROUND_ROW if parent == GROUND else own[parent]
        found[k] = own[k], above
        if parent != GROUND and tree.children[parent][-1] == k:
            rows.give(above)
        if not tree.children[k]:
            rows.give(own[k])
    return found


def inward_rows(tree: Tree) -> np.ndarray:
    """Own row and parent's row (nbodies, 2), from the tips to the base: its last child takes a body's, itself frees it."""
    rows, own = _Rows(), [GROUND_ROW] * len(tree)
    found = np.empty((len(tree), 2), dtype=np.int64)
    for k in reversed(range(len(tree))):
        parent = tree.parents[k]
        if parent != GROUND and tree.children[parent][-1] == k:
            own[parent] = rows.take()
        found[k] = own[k], GROUND_ROW if parent == GROUND else own[parent]
        rows.give(own[k])
    return found
