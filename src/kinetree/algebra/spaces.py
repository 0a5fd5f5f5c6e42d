"""What a stacked vector is stacked of: one block per node of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import final

import numpy as np

from kinetree.errors import InputError
from kinetree.model.tree import Tree
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, repr=False)
class Space:
    """Stacked vectors (…, n) whose block k has size `sizes[k]`. Operators fit together if their spaces are equal.

    Parameters
    ----------
    name : what the blocks belong to: "bodies" for 𝒱, α, 𝔣; "joints" for v, v̇, τ
    tree : the nodes
    sizes : size of each node's block
    labels : names of the nodes, for `view` and for messages
    """

    name: str
    tree: Tree
    sizes: tuple[int, ...]
    labels: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        sizes = set(self.sizes)
        of = f" of size {sizes.pop()}" if len(sizes) == 1 else ""
        return f"{len(self.sizes)} {self.name}{of} (n = {self.dimension})"

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each node's block stands in a stacked vector."""
        ends = list(accumulate(self.sizes, initial=0))
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def dimension(self) -> int:
        """Length n of a stacked vector."""
        return sum(self.sizes)

    def index(self, node: int | str) -> int:
        """Number of a node given by number or label; `InputError` otherwise."""
        if isinstance(node, str) and node in self.labels:
            return self.labels.index(node)
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool) and 0 <= node < len(self):
            return int(node)
        known = ", ".join(map(repr, self.labels[:20])) + (", …" if len(self.labels) > 20 else "")
        named = f", or by name: {known}" if known else ""
        raise InputError(f"one of the {self.name} is given by number, 0 to {len(self) - 1}{named}. Found {node!r}.")

    def view(self, x: Array, node: int | str) -> Array:
        """The block (…, m) of one node in a stacked vector (…, n): a view, no copy. Raises InputError if x does not fit."""
        x = np.asarray(x)
        if x.ndim == 0 or x.shape[-1] != self.dimension:
            raise InputError(f"a stacked vector on {self} has shape (…, {self.dimension}), found {x.shape}.")
        return x[..., self.slices[self.index(node)]]

    def split(self, x: Array) -> list[Array]:
        """A stacked vector (…, n) as one array (…, m) per node, columns (…, n, c) as (…, m, c).

        Where both readings fit, columns, as in `A @ x`. Raises InputError if x does not fit.
        """
        x, n = np.asarray(x), self.dimension
        if x.ndim >= 2 and x.shape[-2] == n:
            return [x[..., s, :] for s in self.slices]
        if x.ndim == 0 or x.shape[-1] != n:
            raise InputError(f"a stacked vector on {self} has shape (…, {n}), or (…, {n}, c) for columns, found {x.shape}.")
        return [x[..., s] for s in self.slices]

    def zeros(self, columns: Sequence[int]) -> list[Array]:
        """A zero block (m, *columns) per node."""
        return [np.zeros((size, *columns)) for size in self.sizes]
