"""The sweeps of an algorithm, written down instead of run."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, final

from kinetree.model.tree import Tree


class NotSweepsError(Exception):
    """An algorithm does more with its arrays than sweep over the bodies, so that it cannot run as loops."""


@final
@dataclass(frozen=True, eq=False)
class Sweep:
    """One sweep: `kind` is "each", "scatter" or "gather"; `edge` is the ground's value or what tips receive.

    Or, "outward" or "inward", one over the segments of a chain, one segment per lane.
    """

    number: int
    kind: str
    node: Callable[..., Any]
    edge: Any
    data: tuple[Any, ...]

    @property
    def is_across(self) -> bool:
        """Whether it goes over segments."""
        return self.kind in ("outward", "inward")


@final
@dataclass(frozen=True, eq=False)
class Recorded:
    """What a sweep gives each body, or one part of it."""

    program: Program
    sweep: Sweep
    path: tuple[int, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class End:
    """What a sweep gives the first ("base") or the last body ("tip") of each segment of a chain."""

    program: Program
    values: Recorded
    end: str


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """The part of an input array that belongs to each body: `sizes[k]` numbers from `starts[k]`."""

    program: Program
    source: Vector
    starts: tuple[int, ...]
    sizes: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False)
class Total:
    """A sum over all bodies. Linear maps of it are maps of what each body adds, so `c * total`, `c @ total` are totals."""

    program: Program
    values: Recorded

    __array_ufunc__ = None

    def __mul__(self, c: Any) -> Total:
        return self._mapped(lambda x: x * c)

    def __rmatmul__(self, c: Any) -> Total:
        return self._mapped(lambda x: c @ x)

    def __add__(self, other: Any) -> Total:
        if isinstance(other, Total):
            return Total(self.program, self.program.each(lambda x, y: x + y, (self.values, other.values)))
        if other == 0.0:
            return self
        raise TypeError("a sum over all bodies has a number added to it")

    def __neg__(self) -> Total:
        return self._mapped(lambda x: -x)

    __rmul__, __radd__ = __mul__, __add__

    def _mapped(self, linear: Callable[[Any], Any]) -> Total:
        return Total(self.program, self.program.each(linear, (self.values,)))


class _Operand(ABC):
    """What arithmetic is done with body by body: one number, an input array, an output array; the last one says how."""

    program: Program
    rank: int

    __array_ufunc__ = None

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, other)

    def __mul__(self, other: Any) -> Any:
        return self._with(operator.mul, other)

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other)

    def __radd__(self, other: Any) -> Any:
        return self._with(lambda x, c: c + x, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(lambda x, c: c - x, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with(lambda x, c: c * x, other)

    def __neg__(self) -> Any:
        return self._with(operator.mul, -1.0)

    def _with(self, node: Callable[[Any, Any], Any], other: Any) -> Any:
        if isinstance(other, Real):
            return self.combined(lambda x: node(x, other), self)
        if isinstance(other, _Operand):
            return max(self, other, key=lambda x: x.rank).combined(node, self, other)
        return NotImplemented

    @abstractmethod
    def combined(self, node: Callable[..., Any], *operands: Any) -> Any:
        """What a node function makes of operands, of which this is the one of highest rank."""


@final
@dataclass(frozen=True, eq=False)
class Number(_Operand):
    """One number, the same to every body."""

    program: Program
    values: Recorded
    rank = 0

    def combined(self, node: Callable[..., Any], *operands: Any) -> Number:
        return Number(self.program, self.program.each(node, tuple(x.values for x in operands)))


class Given(_Operand):
    """An array to be split into what each body owns."""

    shape: tuple[int, ...]
    rank = 1

    @abstractmethod
    def split(self, slices: Sequence[slice]) -> Any:
        """Part k is [slices[k]]. Raises NotSweepsError if the array is no such vector."""

    @abstractmethod
    def rows(self) -> Any:
        """Part k is row k. Raises NotSweepsError if there is not one row per body."""

    def combined(self, node: Callable[..., Any], *operands: Any) -> Combined:
        if any(isinstance(x, Given) and x.shape != self.shape for x in operands):
            raise NotSweepsError("arrays of different shapes are combined")
        return Combined(self.program, self.shape, node, operands)


@final
@dataclass(frozen=True, eq=False)
class Vector(Given):
    """An input array (shape)."""

    program: Program
    name: str
    shape: tuple[int, ...]
    _pieces: dict[Any, Piece] = field(default_factory=dict, repr=False)

    def split(self, slices: Sequence[slice]) -> Piece:
        if self.shape != (slices[-1].stop,):
            raise NotSweepsError(f"{self.name} has shape {self.shape}, not ({slices[-1].stop},)")
        if id(slices) not in self._pieces:
            starts, sizes = tuple(s.start for s in slices), tuple(s.stop - s.start for s in slices)
            self._pieces[id(slices)] = Piece(self.program, self, starts, sizes)
        return self._pieces[id(slices)]

    def rows(self) -> Piece:
        if self.shape[:1] != (len(self.program.tree),):
            raise NotSweepsError(f"{self.name} has shape {self.shape}, not one row per body")
        width = 1
        for extent in self.shape[1:]:
            width *= extent
        if "rows" not in self._pieces:
            starts = tuple(range(0, width * self.shape[0], width))
            self._pieces["rows"] = Piece(self.program, self, starts, (width,) * self.shape[0])
        return self._pieces["rows"]

    def everywhere(self) -> Piece:
        """All of it for each body."""
        n, (size,) = len(self.program.tree), self.shape
        return Piece(self.program, self, (0,) * n, (size,) * n)


@final
@dataclass(frozen=True, eq=False)
class Combined(Given):
    """Arithmetic on input arrays, done when it is known how they are split."""

    program: Program
    shape: tuple[int, ...]
    node: Callable[..., Any]
    operands: tuple[Any, ...]

    def split(self, slices: Sequence[slice]) -> Recorded:
        return self._each(lambda x: x.split(slices))

    def rows(self) -> Recorded:
        return self._each(lambda x: x.rows())

    def _each(self, part: Callable[[Given], Any]) -> Recorded:
        data = tuple(x.values if isinstance(x, Number) else part(x) for x in self.operands)
        return self.program.each(self.node, data)


@final
@dataclass(frozen=True, eq=False)
class Result(_Operand):
    """An output array: what each body owns, end to end (`is_piled`: along a new first axis)."""

    program: Program
    values: Recorded
    is_piled: bool
    slices: Sequence[slice] | None = None
    rank = 2

    def split(self, slices: Sequence[slice]) -> Recorded:
        """As an input of further sweeps: what the bodies own already. Raises NotSweepsError if that was split otherwise."""
        if self.slices is not slices and self.slices != slices:
            raise NotSweepsError("a result is used as a vector of another kind")
        return self.values

    def combined(self, node: Callable[..., Any], *operands: Any) -> Result:
        values = self.program.each(node, tuple(self._part(x) for x in operands))
        return Result(self.program, values, self.is_piled, self.slices)

    def _part(self, x: Any) -> Any:
        if isinstance(x, Number):
            return x.values
        if isinstance(x, Result):
            if (x.is_piled, x.slices) != (self.is_piled, self.slices):
                raise NotSweepsError("results of different kinds are combined")
            return x.values
        if self.is_piled:
            return x.rows()
        if self.slices is None:
            raise NotSweepsError("a result that is no stacked vector is combined with an input")
        return x.split(self.slices)


@final
@dataclass(eq=False)
class Program:
    """Sweeps in the order in which an algorithm asked for them."""

    tree: Tree
    sweeps: list[Sweep] = field(default_factory=list)

    def number(self, name: str) -> Number:
        """An input that is one number."""
        everywhere = Piece(self, Vector(self, name, ()), (0,) * len(self.tree), (1,) * len(self.tree))
        return Number(self, self.each(lambda x: x[0], (everywhere,)))

    def each(self, node: Callable[..., Any], data: tuple[Any, ...]) -> Recorded:
        return self._record("each", node, None, data)

    def scatter(self, node: Callable[..., Any], ground: Any, data: tuple[Any, ...]) -> Recorded:
        return self._record("scatter", node, ground, data)

    def gather(self, node: Callable[..., Any], tips: Any, data: tuple[Any, ...]) -> Recorded:
        return self._record("gather", node, tips, data)

    def across(self, kind: str, node: Callable[..., Any], edge: Any, data: tuple[Any, ...]) -> Recorded:
        return self._record(kind, node, edge, data)

    def at_end(self, values: Recorded, end: str) -> End:
        return End(self, values, end)

    def unzip(self, values: Recorded, count: int) -> tuple[Recorded, ...]:
        return tuple(Recorded(self, values.sweep, (*values.path, n)) for n in range(count))

    def stacked(self, values: Any, slices: Sequence[slice] | None) -> Result:
        return Result(self, self._given(values), is_piled=False, slices=slices)

    def piled(self, values: Any) -> Result:
        return Result(self, self._given(values), is_piled=True)

    def total(self, values: Any) -> Total:
        return Total(self, self._given(values))

    def _given(self, values: Any) -> Recorded:
        """What a sweep gave; a part of an argument, handed on as it is, becomes what a sweep gave."""
        return values if isinstance(values, Recorded) else self.each(lambda x: x, (values,))

    def _record(self, kind: str, node: Callable[..., Any], edge: Any, data: tuple[Any, ...]) -> Recorded:
        sweep = Sweep(len(self.sweeps), kind, node, edge, data)
        self.sweeps.append(sweep)
        return Recorded(self, sweep)
