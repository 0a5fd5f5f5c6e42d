"""A rooted forest: a graph that knows no physics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from kinetree.errors import ModelError

GROUND = -1


@final
@dataclass(frozen=True)
class Tree:
    """The parent of each node, and `GROUND` (−1) for a root. Several roots and any numbering are allowed.

    Jain numbers from the tips to the base, kinetree's models from the base to the tips; sweeps follow `order`.

    Raises
    ------
    ModelError
        A parent that is no node, a node with several parents, a directed cycle.
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        parents = tuple(self.parents)
        object.__setattr__(self, "parents", tuple(_parent(i, parent, len(parents)) for i, parent in enumerate(parents)))
        if len(self.order) < len(parents):
            raise ModelError(
                f"nodes {_cycle(self.parents, self.order)} are on a directed cycle, each the parent of the next: "
                "no power of E vanishes then, so φ = (1 − E)⁻¹ need not exist (Jain II, section 8.2). Cut the loop at a joint."
            )

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Every node after its parent; 0, 1, 2, … where the numbering itself is so."""
        if all(parent < i for i, parent in enumerate(self.parents)):
            return tuple(range(len(self.parents)))
        reached = list(self.roots)
        for k in reached:
            reached.extend(self.children[k])
        return tuple(reached)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in order."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for i, parent in enumerate(self.parents):
            if parent != GROUND:
                lists[parent].append(i)
        return tuple(map(tuple, lists))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Nodes whose parent is the ground."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == GROUND)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of nodes on the path from the ground to each node, itself included."""
        depths = [0] * len(self)
        for i in self.order:
            parent = self.parents[i]
            depths[i] = 1 if parent == GROUND else depths[parent] + 1
        return tuple(depths)

    @cached_property
    def depth_first(self) -> tuple[int, ...]:
        """Every node followed by its whole subtree, children in order: the order in which a tree is drawn line by line."""
        found, waiting = [], list(reversed(self.roots))
        while waiting:
            found.append(waiting.pop())
            waiting.extend(reversed(self.children[found[-1]]))
        return tuple(found)

    @cached_property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """The maximal serial chains, nodes from the base outward: one begins at every root and below every branching node.

        Numbered as `order` meets their first nodes, so parents come first. Source: Jain II, section 7.1; his numbers run
        from the tips.
        """
        parents, children = self.parents, self.children
        begin = [k for k in self.order if parents[k] == GROUND or len(children[parents[k]]) > 1]
        return tuple(tuple(self._chain(k)) for k in begin)

    @cached_property
    def segment_parents(self) -> tuple[int, ...]:
        """The tree of segments: the segment that each segment hangs on, by its last node; `GROUND` for a root's."""
        carrier = {segment[-1]: n for n, segment in enumerate(self.segments)}
        return tuple(carrier.get(self.parents[segment[0]], GROUND) for segment in self.segments)

    def _chain(self, k: int) -> Iterator[int]:
        """Node k and its descendants down to the first that has no child or several."""
        yield k
        while len(self.children[k]) == 1:
            (k,) = self.children[k]
            yield k

    def path_to_root(self, i: int) -> Iterator[int]:
        """Node i, its parent, and so on to its root."""
        while i != GROUND:
            yield i
            i = self.parents[i]

    def path_down(self, ancestor: int, i: int) -> list[int]:
        """The nodes below `ancestor` on the way down to i, which comes last."""
        path = []
        while i != ancestor:
            path.append(i)
            i = self.parents[i]
        return path[::-1]

    def common_ancestor(self, i: int, j: int) -> int:
        """The closest node that has both i and j in its subtree, `GROUND` if they stand on different trees."""
        depths = self.depths
        while i != j and GROUND not in (i, j):
            if depths[i] >= depths[j]:
                i = self.parents[i]
            else:
                j = self.parents[j]
        return i if i == j else GROUND


def _parent(i: int, parent: int, size: int) -> int:
    if isinstance(parent, Sequence) and not isinstance(parent, str):
        raise ModelError(
            f"node {i} has the parents {list(parent)}: a node of a tree has one. With several, the velocity across each edge "
            "would have to agree, so the joint velocities are not independent (Jain II, section 8.2). Cut the loop at a joint."
        )
    try:
        index = int(parent)
    except (TypeError, ValueError):
        index = None
    if index is None or index != parent or not GROUND <= index < size or index == i:
        why = "a node cannot be its own parent" if index == i else f"a parent is {GROUND} (ground) or a node, 0 to {size - 1}"
        raise ModelError(f"node {i} has the parent {parent!r}: {why}.")
    return index


def _cycle(parents: Sequence[int], reached: Sequence[int]) -> list[int]:
    """One cycle among the nodes that no root leads to."""
    start = next(i for i in range(len(parents)) if i not in set(reached))
    seen = [start]
    while parents[seen[-1]] not in seen:
        seen.append(parents[seen[-1]])
    return seen[seen.index(parents[seen[-1]]) :][::-1]
