"""Weights that are products: known by how they act, never multiplied out. Anything with `@` and `.T` is a weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.spatial.scalars import Array


@final
class Unit:
    """1, whatever the size."""

    def __matmul__(self, x: Array) -> Array:
        return x

    @property
    def T(self) -> Unit:
        return self


UNIT = Unit()


@final
@dataclass(frozen=True, eq=False, slots=True)
class Through:
    """A B: first B, then A."""

    A: Any
    B: Any

    def __matmul__(self, x: Array) -> Array:
        return self.A @ (self.B @ x)

    @property
    def T(self) -> Through:
        return Through(self.B.T, self.A.T)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Complement:
    """1 − G H, which is τ̄."""

    G: Array
    H: Array

    def __matmul__(self, x: Array) -> Array:
        return x - self.G @ (self.H @ x)

    @property
    def T(self) -> Complement:
        return Complement(self.H.T, self.G.T)
