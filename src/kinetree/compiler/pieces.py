"""What loops over blocks of the workspace are made of: where blocks lie, and traced functions of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from kinetree.compiler.emit import StraightLine, live_nodes
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.stats import count
from kinetree.compiler.text import Lanes

__all__ = ["Area", "Block", "Index", "Piece", "Place", "arguments", "pointers", "stored"]

Index = int | str
"""A number, or the register that holds it."""


@final
@dataclass(frozen=True)
class Place:
    """Where numbers of a state lie: so many slots behind an argument of the body, and registers times strides further on."""

    base: str
    slot: int
    terms: tuple[tuple[str, int], ...] = ()


@final
@dataclass(frozen=True)
class Area:
    """Blocks that lie at regular distances: `area[i, j]` is the place of one."""

    base: str
    slot: int
    strides: tuple[int, ...]

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> Place:
        indices = indices if isinstance(indices, tuple) else (indices,)
        pairs = list(zip(indices, self.strides, strict=True))
        slot = self.slot + sum(i * stride for i, stride in pairs if isinstance(i, int))
        return Place(self.base, slot, tuple((i, stride) for i, stride in pairs if isinstance(i, str)))


@final
class Block:
    """The shape of what a piece reads or writes, () a number; rows lie `stride` slots apart, or end to end; or all numbers
    have slots of their own."""

    def __init__(self, *shape: int, stride: int | None = None, slots: list[int] | None = None) -> None:
        columns = shape[-1] if shape else 1
        rows = int(np.prod(shape[:-1], dtype=int))
        regular = (r * (stride or columns) + k for r in range(rows) for k in range(columns))
        self.shape: Final = shape
        self.slots: Final = list(regular) if slots is None else slots


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """A traced function.

    Attributes
    ----------
    name : str
    pointers : tuple of str
        Its arguments, and how they are declared.
    source : dict
        Argument and slot of each input, by the index of its node.
    results : list
        Argument and slot, and what is stored there.
    shared : bool
        Whether its first two arguments are those of the body.
    early : tuple
        Inputs that are read before anything is written.
    """

    name: str
    pointers: tuple[str, ...]
    source: dict[int, tuple[str, int]]
    results: list[tuple[tuple[str, int], Expr | float]]
    shared: bool = False
    early: tuple[Expr, ...] = ()

    @property
    def nodes(self) -> list[Expr]:
        """What it computes, in order."""
        values = [x for _, x in self.results]
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        return [] if graph is None else live_nodes(graph, [*self.early, *values])

    @property
    def operations(self) -> Counter[str]:
        """As from `count`."""
        return count(self.nodes, [x for _, x in self.results])

    def written(self, T: Lanes) -> tuple[str, StraightLine]:
        """Its text, and what that needs."""

        def load(node: Expr) -> list[str]:
            pointer, slot = self.source[node.index]
            return [
                f"  %i{node.index} = getelementptr {T}, ptr %{pointer}, i64 {slot}",
                f"  %v{node.index} = load {T}, ptr %i{node.index}, align {T.bytes}",
            ]

        def store(target: tuple[str, int], value: str) -> list[str]:
            pointer, slot = target
            at = f"%at.{pointer}.{slot}"
            return [
                f"  {at} = getelementptr {T}, ptr %{pointer}, i64 {slot}",
                f"  store {T} {value}, ptr {at}, align {T.bytes}",
            ]

        code = StraightLine(self.nodes, self.results, T, load, store, [x.index for x in self.early])
        return code.function(f"define internal void @piece.{self.name}({', '.join(self.pointers)}) noinline #0"), code


def arguments(blocks: Sequence[Block], graph: Graph) -> tuple[list[Any], dict[int, tuple[str, int]]]:
    """Inputs of a function of blocks, and where each lies."""
    arrays = [graph.input(block.shape) for block in blocks]
    source = {
        x.index: (f"in{k}", slot)
        for k, (block, array) in enumerate(zip(blocks, arrays, strict=True))
        for x, slot in zip(np.ravel(array), block.slots, strict=True)
    }
    return [array if block.shape else array[()] for block, array in zip(blocks, arrays, strict=True)], source


def stored(blocks: Sequence[Block], made: Any) -> list[tuple[tuple[str, int], Expr | float]]:
    """Where each number goes that a function made."""
    found: Any = made if isinstance(made, tuple) else (made,)
    return [
        ((f"out{k or ''}", slot), x)
        for k, (block, array) in enumerate(zip(blocks, found, strict=True))
        for x, slot in zip(np.ravel(np.asarray(array, dtype=object)), block.slots, strict=True)
    ]


def pointers(inputs: Sequence[Block], outputs: Sequence[Block], apart: str = "") -> tuple[str, ...]:
    """Arguments of a piece of so many blocks."""
    return (*(f"ptr %in{k}" for k in range(len(inputs))), *(f"ptr {apart}%out{k or ''}" for k in range(len(outputs))))
