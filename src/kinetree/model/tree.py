"""A rooted forest of bodies: a graph that knows no physics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

from kinetree.errors import ModelError

GROUND = -1


@final
@dataclass(frozen=True)
class Tree:
    """Bodies stored parent-first: parent[i] < i, and `GROUND` (−1) for a root. Several roots are allowed.

    Jain numbers from the tips to the base; his node k is body N − k here.
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(int(p) for p in self.parents))
        for i, parent in enumerate(self.parents):
            if not GROUND <= parent < i:
                raise ModelError(
                    f"body {i} has parent {parent}: a parent must be {GROUND} (ground) or a body before it, "
                    f"0 to {i - 1}. Order the bodies parent-first."
                )

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each body, in order."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for i, parent in enumerate(self.parents):
            if parent != GROUND:
                lists[parent].append(i)
        return tuple(map(tuple, lists))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Bodies whose parent is the ground."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == GROUND)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of bodies on the path from the ground to each body, itself included."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == GROUND else depths[parent] + 1)
        return tuple(depths)

    def path_to_root(self, i: int) -> Iterator[int]:
        """Body i, its parent, and so on to its root."""
        while i != GROUND:
            yield i
            i = self.parents[i]
