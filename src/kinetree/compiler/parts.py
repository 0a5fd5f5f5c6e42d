"""Procedures that are loops over blocks where there are many, and straight-line code where there are few.

Written once::

    parts = Parts(routines, few=m < 5)
    add = parts.part("add", lambda a, b: a + b, [Block(3), Block(3)], [Block(3)])
    with parts.procedure("sum") as p:
        for c in p.each(0, m):
            p.call(add, x[c], y[c], x[c])

Of few, all calls together are traced as one piece: what one call leaves for the next stays in registers, and what is known to
be zero or the same is dropped. What lies in `scratch` is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from kinetree.compiler.routines import Area, Block, Piece, Place, Procedure, Routines

__all__ = ["Parts", "Traceable", "Written"]

Address = tuple[str, int]
BASES = "%in", "%out"


@final
@dataclass(frozen=True, eq=False)
class Traceable:
    """A function of small arrays, traced alone only if some loop calls it."""

    routines: Routines
    name: str
    function: Callable[..., Any]
    inputs: Sequence[Block]
    outputs: Sequence[Block]

    @cached_property
    def piece(self) -> Piece:
        """The trace of it alone."""
        return self.routines.piece(self.name, self.function, self.inputs, self.outputs)


Call = tuple[Traceable, tuple[Place, ...]]


@final
class Parts:
    """Parts, and the procedures that call them: straight-line code if `few`, else loops."""

    def __init__(self, routines: Routines, few: bool) -> None:
        self.routines, self.few = routines, few

    def part(self, name: str, function: Callable[..., Any], inputs: Sequence[Block], outputs: Sequence[Block]) -> Traceable:
        """A function of arrays that returns one, or a tuple of them."""
        return Traceable(self.routines, name, function, inputs, outputs)

    @contextmanager
    def procedure(self, name: str, scratch: Sequence[tuple[Area, int]] = (), loops: bool = False) -> Iterator[Written]:
        """What is written line by line; with `loops` where it must be loops, as those that end when lanes are done.

        scratch : areas, and how many slots each has, that nothing else reads
        """
        if loops or not self.few:
            with self.routines.procedure(name) as procedure:
                yield Written(procedure)
            return
        written = Written(None)
        yield written
        skipped = {(area.base, area.slot + k) for area, size in scratch for k in range(size)}
        written.piece = _traced(self.routines, name, written.calls, skipped)


@final
class Written:
    """A procedure of calls, as loops or as a list of them."""

    def __init__(self, procedure: Procedure | None) -> None:
        self.procedure = procedure
        self.piece: Piece | None = None
        self.calls: list[Call] = []

    def call(self, part: Traceable, *places: Place) -> None:
        """Inputs of a part, then its results."""
        if self.procedure is None:
            self.calls.append((part, places))
        else:
            self.procedure.call(part.piece, *places)

    def run(self, other: Written) -> None:
        """Another procedure."""
        if self.procedure is None:
            self.calls += other.calls
        elif other.procedure is not None:
            self.procedure.run(other.procedure)
        else:
            assert other.piece is not None
            self.procedure.call(other.piece, *(Place(base, 0) for base in ("%out", *BASES, "%out")))

    def each(self, start: int | str, stop: int | str, usual: float | None = None) -> Iterator[Any]:
        """Whole numbers, one after the other; or once the register that counts."""
        if self.procedure is None:
            assert isinstance(start, int)
            assert isinstance(stop, int)
            yield from range(start, stop)
        else:
            with self.procedure.loop(start, stop, usual) as counter:
                yield counter

    def plus(self, index: int | str, more: int) -> Any:
        """An index further on."""
        return index + more if isinstance(index, int) else self.looped.plus(index, more)

    def minus(self, whole: int, index: int | str) -> Any:
        """What is left of a whole number."""
        return whole - index if isinstance(index, int) else self.looped.minus(whole, index)

    @contextmanager
    def while_any(self, mask: Place, limit: int, usual: float = 1.0) -> Iterator[str]:
        """As of `Procedure`; of loops only."""
        with self.looped.while_any(mask, limit, usual) as counter:
            yield counter

    @property
    def looped(self) -> Procedure:
        """The loops."""
        assert self.procedure is not None
        return self.procedure


def _traced(routines: Routines, name: str, calls: Sequence[Call], skipped: set[Address]) -> Piece:
    """All calls as one piece of the body's arguments."""
    steps, reads, writes = [], dict[Address, None](), dict[Address, None]()
    for part, places in calls:
        blocks = [*part.inputs, *part.outputs]
        assert not any(place.terms for place in places)
        at = [[(p.base, p.slot + slot) for slot in block.slots] for p, block in zip(places, blocks, strict=True)]
        ins, outs = at[: len(part.inputs)], at[len(part.inputs) :]
        reads |= dict.fromkeys(address for some in ins for address in some if address not in writes)
        writes |= dict.fromkeys(address for some in outs for address in some)
        steps.append((part, ins, outs))
    kept = [address for address in writes if address not in skipped]
    given = [[address for address in reads if address in writes]]
    given += [[address for address in reads if address[0] == base and address not in writes] for base in BASES]

    def function(*arrays: np.ndarray) -> np.ndarray:
        values = {address: x for some, array in zip(given, arrays, strict=True) for address, x in zip(some, array, strict=True)}
        for part, ins, outs in steps:
            arguments = [
                np.array([values[address] for address in some], dtype=object).reshape(block.shape)
                for some, block in zip(ins, part.inputs, strict=True)
            ]
            made = part.function(*(x if block.shape else x[()] for x, block in zip(arguments, part.inputs, strict=True)))
            made = made if isinstance(made, tuple) else (made,)
            for some, x in zip(outs, made, strict=True):
                values |= dict(zip(some, np.ravel(np.asarray(x, dtype=object)), strict=True))
        last = [values[address] for address in kept]
        assert not any(isinstance(x, int | float) for x, address in zip(last, kept, strict=True) if address in reads)
        return np.array(last, dtype=object)

    blocks = [Block(len(some), slots=[slot for _, slot in some]) for some in given]
    return routines.piece(name, function, blocks, [Block(len(kept), slots=[slot for _, slot in kept])], early=1)
