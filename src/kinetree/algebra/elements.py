"""The elements expressions are made of. Each says how its own blocks act; everything else follows.

    block diagonal   H, M, R, P, D, G, τ, τ̄, P⁺      y(k) = X(k) x(k)
    step             E_φ, E_ψ, K                      y(p) = Σ A(p, k) x(k)          one edge towards the base
    resolvent        φ = (1 − E_φ)⁻¹, ψ = (1 − E_ψ)⁻¹  y(k) = Σ A(k, j) y(j) + x(k)   a gather; its star a scatter

Source: Jain II, lemmas 1 and 2.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.algebra.abstract import check_regular
from kinetree.algebra.application import joined
from kinetree.algebra.expression import Blocks, Levels, Operator, Starred, identity
from kinetree.algebra.spaces import Space
from kinetree.algebra.sweeps import columns_of, each, gather, listed, scatter, unzip
from kinetree.algebra.weights import UNIT, Through
from kinetree.errors import InputError
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import solve

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO


class Element(Operator):
    """An operator with a symbol of its own."""

    def __init__(
        self, symbol: str, rows: Space, columns: Space, sko: SKO, levels: Levels, cost: int, symmetric: bool = False
    ) -> None:
        self.symbol, self.symmetric = symbol, symmetric
        self.rows, self.columns, self.sko = rows, columns, sko
        self._levels, self._cost = levels, cost

    def __str__(self) -> str:
        return self.symbol

    @abstractmethod
    def apply_star(self, x: Blocks) -> Blocks:
        """The transpose on blocks."""

    @cached_property
    def T(self) -> Operator:
        return self if self.symmetric else Starred(self)

    @cached_property
    def levels(self) -> Levels:
        return self._levels

    @cached_property
    def cost(self) -> int:
        return self._cost

    @cached_property
    def key(self) -> Hashable:
        return self  # not its address, which another element may have later

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        return self.sko.batch

    @cached_property
    def inverse_element(self) -> Operator | None:
        """The element that is this one's inverse, if there is one."""
        return None


@final
class Diagonal(Element):
    """Block diagonal: one matrix per node, made when first asked for.

    `regular` says whether every block is known to have an inverse; None: they are looked at when an inverse is wanted.
    """

    def __init__(
        self,
        symbol: str,
        rows: Space,
        columns: Space,
        sko: SKO,
        make: Callable[[], Sequence[Any]],
        symmetric: bool = False,
        regular: bool | None = None,
    ) -> None:
        super().__init__(symbol, rows, columns, sko, levels=(0, 0), cost=1, symmetric=symmetric)
        self._make, self.regular = make, regular

    @cached_property
    def matrices(self) -> list[Array]:
        """The block of each node."""
        return listed(self._make())

    def apply(self, x: Blocks) -> Blocks:
        return each(lambda X, x: X @ x, self.matrices, x)

    def apply_star(self, x: Blocks) -> Blocks:
        return each(lambda X, x: X.T @ x, self.matrices, x)

    @cached_property
    def inverse_element(self) -> Operator | None:
        return DiagonalInverse(self) if self.rows == self.columns and self.regular is not False else None


@final
class DiagonalInverse(Element):
    """D⁻¹ of a block diagonal D, by a solve with each block."""

    def __init__(self, of: Diagonal) -> None:
        super().__init__(f"{of.symbol}⁻¹", of.columns, of.rows, of.sko, levels=(0, 0), cost=1, symmetric=of.symmetric)
        self.of = of

    @cached_property
    def _matrices(self) -> list[Array]:
        """The blocks of D, which have inverses."""
        if self.of.regular is None and self.batch is not None:
            for label, X in zip(self.rows.labels, self.of.matrices, strict=True):
                check_regular(f"{self.of} of node {label!r}", joined(X, self.batch), self.of.symmetric)
        return self.of.matrices

    def apply(self, x: Blocks) -> Blocks:
        return each(solve if self.of.symmetric else self._solve, self._matrices, x)

    def apply_star(self, x: Blocks) -> Blocks:
        return each(lambda X, x: self._solve(X.T, x), self._matrices, x)

    def _solve(self, X: Array, x: Array) -> Array:
        """X⁻¹ x of any square X: by LAPACK, so for plain numbers only."""
        if X.dtype == object:
            raise InputError(
                f"{self}: blocks that are not symmetric positive definite have an inverse for one state at a time, not in a "
                "batch or a kernel. Pass symmetric=True where they are, or give the inverse as a diagonal of its own."
            )
        return np.linalg.solve(X, x)

    @cached_property
    def inverse_element(self) -> Operator | None:
        return self.of


@final
class Step(Element):
    """One edge towards the base: y(p) = Σ A(p, k) x(k), with A(p, k) = φ(p, k) X(k) for an `inner` X that may be 1.

    `carriers` are the φ(p, k), matrices or anything with `@` and `.T`; `make_inner` makes the X(k), when first needed.
    """

    def __init__(
        self,
        symbol: str,
        rows: Space,
        columns: Space,
        sko: SKO,
        carriers: Sequence[Any],
        make_inner: Callable[[], Sequence[Any]] | None = None,
        resolvent_symbol: str | None = None,
    ) -> None:
        super().__init__(symbol, rows, columns, sko, levels=(1, 1), cost=2)
        self.carriers, self._make_inner = carriers, make_inner
        self._resolvent_symbol = resolvent_symbol or f"(1 − {symbol})⁻¹"

    @cached_property
    def inner(self) -> Sequence[Any]:
        """X(k) of each node."""
        return [UNIT] * len(self.carriers) if self._make_inner is None else listed(self._make_inner())

    @cached_property
    def weights(self) -> list[Any]:
        """A(p, k) of each node."""
        if self._make_inner is None:
            return listed(self.carriers)
        return each(Through, self.carriers, self.inner)

    def apply(self, x: Blocks) -> Blocks:
        def node(received: Array, A: Any, x: Array, zero: Array) -> tuple[Array, Array]:
            return received + zero, A @ x

        return gather(self.sko.tree, node, 0.0, self.weights, x, self.rows.zeros(columns_of(x)))

    def apply_star(self, x: Blocks) -> Blocks:
        def node(parent: tuple[Any, Array], A: Any, x: Array) -> tuple[Array, Array]:
            return A.T @ parent[1], x

        ground = None, np.zeros((self.sko.ground, *columns_of(x)))
        return unzip(scatter(self.sko.tree, node, ground, self.weights, x), 2)[0]

    @property
    def nilpotency(self) -> int:
        """m for which the m-th power vanishes: the number of nodes on the longest path from a root to a tip.

        Source: Mass Matrix, definition 2; Hamilton, Fig. 2. A smaller power vanishes too if the weights along every such path
        multiply to zero.
        """
        return max(self.sko.tree.depths)

    @cached_property
    def resolvent(self) -> Resolvent:
        """(1 − A)⁻¹."""
        return Resolvent(self._resolvent_symbol, self)


@final
class Resolvent(Element):
    """(1 − A)⁻¹ = 1 + A + A² + … of a step A: forces from the tips to the base; its star, motions outward."""

    def __init__(self, symbol: str, step: Step) -> None:
        super().__init__(symbol, step.rows, step.columns, step.sko, levels=(0, math.inf), cost=3)
        if step.rows != step.columns:
            raise InputError(f"{step} takes {step.columns} and gives {step.rows}: only a square step has a resolvent.")
        self.step = step

    def apply(self, x: Blocks) -> Blocks:
        def node(received: Array, A: Any, x: Array) -> tuple[Array, Array]:
            y = received + x  # y(k) = Σ A(k, j) y(j) + x(k)     lemma 1
            return y, A @ y

        return gather(self.sko.tree, node, 0.0, self.step.weights, x)

    def apply_star(self, x: Blocks) -> Blocks:
        def node(y_parent: Array, A: Any, x: Array) -> Array:
            return A.T @ y_parent + x  # y(k) = A*(p, k) y(p) + x(k)     lemma 2

        return scatter(self.sko.tree, node, np.zeros((self.sko.ground, *columns_of(x))), self.step.weights, x)

    def fused(self, right: Operator) -> Callable[[Blocks], Blocks] | None:
        """(1 − φX)⁻¹ φY in one sweep: what a step carries and what the resolvent carries on go over φ together."""
        if not isinstance(right, Step) or right.carriers is not self.step.carriers:
            return None

        def node(received: Array, phi: Any, X: Any, Y: Any, x: Array, zero: Array) -> tuple[Array, Array]:
            y = received + zero
            return y, phi @ (X @ y + Y @ x)

        def apply(x: Blocks) -> Blocks:
            zeros = self.rows.zeros(columns_of(x))
            return gather(self.sko.tree, node, 0.0, self.step.carriers, self.step.inner, right.inner, x, zeros)

        return apply

    @cached_property
    def inverse_element(self) -> Operator | None:
        return ResolventInverse(self)

    def series(self) -> Operator:
        """1 + A + A² + … + Aᵐ⁻¹ with m the degree of nilpotency of A. Source: Mass Matrix, definition 2."""
        total = power = identity(self)
        for _ in range(self.step.nilpotency - 1):
            power = self.step @ power
            total = total + power
        return total


@final
class ResolventInverse(Element):
    """φ⁻¹ = 1 − E_φ."""

    def __init__(self, of: Resolvent) -> None:
        symbol = of.symbol.removesuffix("⁻¹") if of.symbol.endswith("⁻¹") else f"{of.symbol}⁻¹"
        super().__init__(symbol, of.columns, of.rows, of.sko, levels=(0, 1), cost=3)
        self.of = of

    def apply(self, x: Blocks) -> Blocks:
        return each(lambda x, y: x - y, x, self.of.step.apply(x))

    def apply_star(self, x: Blocks) -> Blocks:
        return each(lambda x, y: x - y, x, self.of.step.apply_star(x))

    @cached_property
    def inverse_element(self) -> Operator | None:
        return self.of


@final
class Named(Element):
    """A symmetric expression with a symbol of its own."""

    def __init__(self, symbol: str, definition: Operator) -> None:
        like = definition
        super().__init__(symbol, like.rows, like.columns, like.sko, like.levels, like.cost - 1, symmetric=True)
        self.definition = definition

    def apply(self, x: Blocks) -> Blocks:
        return self.definition.apply(x)

    apply_star = apply

    @cached_property
    def batch(self) -> tuple[int, ...] | None:
        return self.definition.batch
