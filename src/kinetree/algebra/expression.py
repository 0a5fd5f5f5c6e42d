"""Spatial operators as values: expressions that print as algebra and cost O(N) to apply.

    expression  :=  element                     E_φ φ H M …, in elements.py
                 |  element*                    its transpose
                 |  expression … expression     a product, applied from right to left
                 |  c expression + …            a sum; a number stands for that multiple of the identity

An expression knows the space of stacked vectors it gives (`rows`) and takes (`columns`), and the SKO model it came
from (`sko`), whose identities say what its inverse, determinant and dense form are.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.algebra.application import act
from kinetree.algebra.spaces import Space
from kinetree.algebra.sweeps import columns_of, each
from kinetree.errors import InputError
from kinetree.spatial.scalars import Array

if TYPE_CHECKING:
    from kinetree.algebra.elements import Element
    from kinetree.algebra.sko import SKO

Blocks = list[Array]
Levels = tuple[float, float]


class Operator(ABC):
    """A linear map between stacked vectors, with block structure on a tree.

    `A @ B`, `A + B`, `A - B`, `2 * A`, `1 - A`, `A.T`, `A.inv`, `A ** 2` make expressions; `A @ x` applies one.

    Attributes
    ----------
    rows, columns : Space
        Of the stacked vectors it gives and takes.
    sko : SKO
        The model it belongs to.
    key : Hashable
        Equal for equal expressions.
    levels : (float, float)
        Block (i, j) is zero unless depth(j) − depth(i) is between these: a step is (1, 1), its star (−1, −1).
    cost : int
        Sweeps and block products of one application, on one scale: 1 for a block diagonal, 2 for a step, 3 for a sweep.
    """

    __array_ufunc__ = None

    rows: Space
    columns: Space
    sko: SKO
    derivation: tuple[Any, ...] = ()

    # What each kind of expression says about itself.

    @abstractmethod
    def apply(self, x: Blocks) -> Blocks:
        """One block (m,) or (m, c) per node in, one per node out."""

    @cached_property
    def T(self) -> Operator:
        """The transpose, written A*."""
        raise NotImplementedError

    @cached_property
    def key(self) -> Hashable:
        raise NotImplementedError

    @cached_property
    def levels(self) -> Levels:
        raise NotImplementedError

    @cached_property
    def cost(self) -> int:
        raise NotImplementedError

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        """Leading axes of the numbers inside; None if they are traced."""
        raise NotImplementedError

    def fused(self, right: Operator) -> Callable[[Blocks], Blocks] | None:
        """What applies self and the factor on its right in one sweep, if there is such a thing."""
        return None

    # What follows for all.

    @property
    def factors(self) -> tuple[Operator, ...]:
        """The factors of a product; anything else is its own only factor."""
        return (self,)

    @property
    def terms(self) -> tuple[tuple[float, Operator], ...]:
        """(coefficient, expression) of a sum; anything else is its own only term."""
        return ((1.0, self),)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the dense matrix."""
        return self.rows.dimension, self.columns.dimension

    @property
    def is_diagonal(self) -> bool:
        """Whether it is made of block diagonals alone. Levels (0, 0) are not enough: E* E couples the children of one node."""
        parts = [x for _, term in self.terms for x in term.factors]
        return all(x.levels == (0, 0) if x is self else x.is_diagonal for x in parts)

    @property
    def is_self_adjoint(self) -> bool:
        """Whether A* = A can be read off the expression."""
        return self.key == self.T.key

    def __repr__(self) -> str:
        return str(self)

    def __matmul__(self, other: Any) -> Any:
        """Product of operators, or the stacked vectors A x.

        x (…, n) are stacked vectors, (…, n, c) columns. Where both readings fit, columns, as NumPy's `@` reads it; but in a
        batch, an x with just the axes of the batch and n is a vector for each state.
        Raises InputError if the operands do not fit.
        """
        if isinstance(other, Operator):
            return product(self, other)
        return act(self, other)

    def __rmatmul__(self, x: Any) -> Array:
        """x @ A = A* x, row by row."""
        return act(self.T, x, rows_only=True)

    def __add__(self, other: Operator | float) -> Operator:
        return add(((1.0, self), (1.0, _operand(self, other))))

    def __radd__(self, other: float) -> Operator:
        return add(((1.0, _operand(self, other)), (1.0, self)))

    def __sub__(self, other: Operator | float) -> Operator:
        return add(((1.0, self), (-1.0, _operand(self, other))))

    def __rsub__(self, other: Operator | float) -> Operator:
        return add(((1.0, _operand(self, other)), (-1.0, self)))

    def __neg__(self) -> Operator:
        return -1.0 * self

    def __mul__(self, scale: float) -> Operator:
        if isinstance(scale, Operator):
            raise InputError(f"operators are multiplied with @: {_bracketed(self)} @ {_bracketed(scale)}.")
        return add(((_coefficient(self, scale), self),)) if isinstance(scale, numbers.Real) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, scale: float) -> Operator:
        if not isinstance(scale, numbers.Real):
            return NotImplemented
        if scale == 0:
            raise InputError(f"{_bracketed(self)} / 0: an operator cannot be divided by zero.")
        return self * (1.0 / float(scale))

    def __pow__(self, n: int) -> Operator:
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise InputError(f"an operator can be raised to a whole power 0, 1, 2, …, found {n!r}; its inverse is .inv.")
        return product(*[self] * int(n)) if n else identity(self)

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise InputError(f"{self} is an operator, not an array: its matrix is .dense(), what it gives is {self} @ x.")

    def __getitem__(self, _: Any) -> Array:
        raise InputError(f"{self} has no entries until it is asked: .blocks(i, j) gives a block, .dense() all of them.")

    def __call__(self, *_: Any) -> Array:
        raise InputError(f"{self} is applied with @; .inv and .T are properties, without brackets.")

    @cached_property
    def inv(self) -> Operator:
        """The inverse, as an expression that again costs O(N). Raises InputError if no identity gives one."""
        return self.sko.rules.inverse(self)

    def dense(self) -> Array:
        """The matrix (…, rows, columns), by the structure of the expression where it has one."""
        return self.sko.rules.dense(self)

    def blocks(self, i: int | str, j: int | str) -> Array:
        """Block (i, j), shape (…, rows of i, columns of j), without the rest."""
        return self.sko.rules.block(self, self.rows.index(i), self.columns.index(j))

    def pattern(self) -> Array:
        """Which blocks can be nonzero: booleans (nodes, nodes)."""
        return self.sko.rules.pattern(self)

    def slogdet(self) -> tuple[Array, Array]:
        """Sign (…) and log |det| (…), by the identities of determinants. Raises InputError if none applies."""
        return self.sko.rules.slogdet(self)

    def logdet(self) -> Array:
        """log det (…). Raises InputError if the determinant is not positive or no identity gives it."""
        return self.sko.rules.logdet(self)

    def simplify(self) -> Operator:
        """The same operator in as few sweeps as the identities know. `explain` says which were used."""
        return self.sko.rules.simplify(self)

    def explain(self) -> str:
        """How this expression came about and how it simplifies: a line per identity, with its number."""
        return self.sko.rules.explain(self)


@final
class Starred(Operator):
    """The transpose of an element."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.rows, self.columns, self.sko = element.columns, element.rows, element.sko

    def __str__(self) -> str:
        return f"{self.element}*"

    def apply(self, x: Blocks) -> Blocks:
        return self.element.apply_star(x)

    @cached_property
    def T(self) -> Operator:
        return self.element

    @cached_property
    def key(self) -> Hashable:
        return ("*", self.element.key)

    @cached_property
    def levels(self) -> Levels:
        low, high = self.element.levels
        return -high, -low

    @cached_property
    def cost(self) -> int:
        return self.element.cost

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        return self.element.batch


@final
class Product(Operator):
    """Factors applied from right to left; no factors: the identity."""

    def __init__(self, factors: Sequence[Operator], rows: Space, columns: Space, sko: SKO) -> None:
        self._factors = tuple(factors)
        self.rows, self.columns, self.sko = rows, columns, sko

    def __str__(self) -> str:
        return " ".join(map(_bracketed, self.factors)) or "1"

    @property
    def factors(self) -> tuple[Operator, ...]:
        return self._factors

    def apply(self, x: Blocks) -> Blocks:
        rest = list(self.factors)
        while rest:
            last = rest.pop()
            if rest and (fused := rest[-1].fused(last)) is not None:
                rest.pop()
                x = fused(x)
            else:
                x = last.apply(x)
        return x

    @cached_property
    def T(self) -> Operator:
        return Product([x.T for x in reversed(self.factors)], self.columns, self.rows, self.sko)

    @cached_property
    def key(self) -> Hashable:
        return ("1", self.rows) if not self.factors else ("@", *(x.key for x in self.factors))

    @cached_property
    def levels(self) -> Levels:
        return sum(x.levels[0] for x in self.factors), sum(x.levels[1] for x in self.factors)

    @cached_property
    def cost(self) -> int:
        return sum(x.cost for x in self.factors)

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        return _common_batch(self, self.factors)


@final
class Sum(Operator):
    """Terms with coefficients; no terms: zero."""

    def __init__(self, terms: Sequence[tuple[float, Operator]], rows: Space, columns: Space, sko: SKO) -> None:
        self._terms = tuple(terms)
        self.rows, self.columns, self.sko = rows, columns, sko

    def __str__(self) -> str:
        return f"({self.T.plain})*" if self.is_starred else self.plain

    @cached_property
    def is_starred(self) -> bool:
        """Whether (…)* is how it is written: the transpose has fewer stars."""
        return len(self.terms) > 1 and self.plain.count("*") > self.T.plain.count("*")

    @cached_property
    def plain(self) -> str:
        """The terms as they are."""
        text = ""
        for c, x in self.terms:
            sign = "−" if c < 0 else "+"
            size = f"{abs(c):g}" if abs(c) != 1 else ""
            word = "" if size and str(x) == "1" else str(x)
            part = " ".join(filter(None, (size, word)))
            text += (f" {sign} " if text else "−" if c < 0 else "") + part
        return text or "0"

    @property
    def terms(self) -> tuple[tuple[float, Operator], ...]:
        return self._terms

    def apply(self, x: Blocks) -> Blocks:
        if not self.terms:
            return self.rows.zeros(columns_of(x))
        (c, first), *rest = self.terms
        total = first.apply(x) if c == 1 else each(lambda y, c=c: c * y, first.apply(x))
        for c, term in rest:
            total = each(lambda t, y, c=c: t + y if c == 1 else t - y if c == -1 else t + c * y, total, term.apply(x))
        return total

    @cached_property
    def T(self) -> Sum:
        return Sum([(c, x.T) for c, x in self.terms], self.columns, self.rows, self.sko)

    @cached_property
    def key(self) -> Hashable:
        return ("+", self.rows, self.columns, frozenset((c, x.key) for c, x in self.terms))

    @cached_property
    def levels(self) -> Levels:
        if not self.terms:
            return 0, 0
        return min(x.levels[0] for _, x in self.terms), max(x.levels[1] for _, x in self.terms)

    @cached_property
    def cost(self) -> int:
        return sum(x.cost for _, x in self.terms) + max(len(self.terms) - 1, 0)

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        return _common_batch(self, [x for _, x in self.terms])


def identity(like: Operator) -> Operator:
    """1 on the space of a square operator."""
    if like.rows != like.columns:
        raise InputError(f"{like} takes {like.columns} and gives {like.rows}: it is not square, so it has no powers and no 1.")
    return Product((), like.rows, like.rows, like.sko)


def zero(rows: Space, columns: Space, sko: SKO) -> Operator:
    """0 between two spaces."""
    return Sum((), rows, columns, sko)


def product(*operands: Operator) -> Operator:
    """The product, nested products opened, numbers in front; checks that neighbours fit."""
    for left, right in pairwise(operands):
        if left.columns != right.rows:
            raise InputError(
                f"{_bracketed(left)} @ {_bracketed(right)} does not fit: "
                f"{left} takes {left.columns}, {right} gives {right.rows}"
                f"{_tree_note(left.columns, right.rows)}."
            )
    coefficient, factors = 1.0, []
    rows, columns, sko = operands[0].rows, operands[-1].columns, operands[0].sko
    for operand in operands:
        if isinstance(operand, Sum) and len(operand.terms) <= 1:
            if not operand.terms:
                return zero(rows, columns, sko)
            ((c, operand),) = operand.terms
            coefficient *= c
        factors += operand.factors
    made = factors[0] if len(factors) == 1 else Product(factors, rows, columns, sko)
    return made if coefficient == 1 else Sum(((coefficient, made),), rows, columns, sko)


def add(terms: Sequence[tuple[float, Operator]]) -> Operator:
    """The sum, nested sums opened and like terms collected; checks that the terms fit."""
    first = terms[0][1]
    collected: dict[Hashable, tuple[float, Operator]] = {}
    for c, operand in terms:
        if operand.rows != first.rows or operand.columns != first.columns:
            raise InputError(
                f"{first} {'−' if c < 0 else '+'} {operand} does not fit: "
                f"{first} takes {first.columns} and gives {first.rows}, "
                f"{operand} takes {operand.columns} and gives {operand.rows}{_tree_note(first.rows, operand.rows)}."
            )
        for inner, term in operand.terms:
            before = collected.get(term.key, (0.0, term))[0]
            collected[term.key] = before + c * inner, term
    left = tuple((c, x) for c, x in collected.values() if c != 0)
    return left[0][1] if len(left) == 1 and left[0][0] == 1 else Sum(left, first.rows, first.columns, first.sko)


def _common_batch(whole: Operator, parts: Iterable[Operator]) -> tuple[int, ...] | None:
    shapes = [x.batch for x in parts]
    if None in shapes:
        return None
    try:
        return np.broadcast_shapes(*(shape for shape in shapes if shape is not None))
    except ValueError:
        raise InputError(f"the batch axes of the operators in {whole} do not broadcast together: {shapes}.") from None


def _operand(like: Operator, other: Operator | float) -> Operator:
    if isinstance(other, Operator):
        return other
    if isinstance(other, numbers.Real):
        return _coefficient(like, other) * identity(like)
    raise InputError(f"{like} can be added to an operator or to a number (that multiple of 1), not to {type(other).__name__}.")


def _bracketed(op: Operator) -> str:
    return f"({op})" if isinstance(op, Sum) and not op.is_starred else str(op)


def _coefficient(op: Operator, c: numbers.Real) -> float:
    if not math.isfinite(c):
        raise InputError(f"a number beside {_bracketed(op)} must be finite, found {c}.")
    return float(c)


def _tree_note(a: Space, b: Space) -> str:
    return " on another tree" if a.name == b.name and a.sizes == b.sizes and a.tree != b.tree else ""
