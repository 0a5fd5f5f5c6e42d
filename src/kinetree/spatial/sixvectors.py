"""Spatial vectors [angular; linear], the weight φ that carries a child's force to its parent, and 6×6 inertias."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, Final, final

import numpy as np

from kinetree.spatial.rotations import cross, skew
from kinetree.spatial.scalars import Array, Scalar, array
from kinetree.spatial.turns import Rotation

UPPER: Final = np.triu(np.ones((6, 6), dtype=bool))


def cross_motion(V: Array, X: Array) -> Array:
    """V × X of two motions: the rate of X where its axes turn and travel with V."""
    w, v = V[:3], V[3:]
    return np.concatenate([cross(w, X[:3]), cross(w, X[3:]) + cross(v, X[:3])])


def cross_force(V: Array, F: Array) -> Array:
    """V ×* F: the rate of the force (or momentum) F where its axes turn and travel with V."""
    w, v = V[:3], V[3:]
    return np.concatenate([cross(w, F[:3]) + cross(v, F[3:]), cross(w, F[3:])])


@final
@dataclass(frozen=True, eq=False)
class Shift:
    """φ(parent, i) = [[1, d~], [0, 1]] diag(R, R): from body axes at the joint of i to its parent's.

    Kept as shift × rotation so that the zeros and ones of both stay visible to a tracer; plain numbers meet one (6, 6) matrix.
    `phi @ F` carries forces to the parent, `phi.T @ V` motions to the child. `rotation` turns child axes to parent axes;
    d (3,) [m] is the child's origin.
    """

    rotation: Rotation
    d: Array

    def __matmul__(self, F: Array) -> Array:
        if self.is_plain and not F.dtype.hasobject:
            return self.matrix @ F
        moment, force = self.R @ F[:3], self.R @ F[3:]
        return np.concatenate([moment + self.arm @ force, force])

    @property
    def T(self) -> ShiftTransposed:
        return ShiftTransposed(self)

    @property
    def R(self) -> Array:
        """The rotation's matrix (3, 3)."""
        return self.rotation.matrix

    @cached_property
    def arm(self) -> Array:
        """d~, a force's moment about the parent's origin."""
        return skew(self.d)

    @cached_property
    def matrix(self) -> Array:
        """The (6, 6) matrix."""
        return _of_blocks(self.R, self.arm @ self.R, np.zeros((3, 3)), self.R)

    @cached_property
    def is_plain(self) -> bool:
        """Whether R and d are plain numbers."""
        return not (self.R.dtype.hasobject or self.d.dtype.hasobject)


@final
@dataclass(frozen=True, eq=False, slots=True)
class ShiftTransposed:
    """φ*(parent, i): carries a parent's motion to the child."""

    T: Shift

    def __matmul__(self, V: Array) -> Array:
        phi = self.T
        if phi.is_plain and not V.dtype.hasobject:
            return phi.matrix.T @ V
        return np.concatenate([phi.R.T @ V[:3], phi.R.T @ (V[3:] - phi.arm @ V[:3])])


def plain_matrices(weights: Any) -> Any:
    """The (6, 6) matrices of shifts by plain numbers, so that a congruence is two products; any other weights as they are."""
    if isinstance(weights, list) and all(isinstance(A, Shift) and A.is_plain for A in weights):
        return [A.matrix for A in weights]
    return weights


def symmetric(X: Array) -> Array:
    """X, known to be symmetric, with its upper triangle in both places (so that a tracer computes it once)."""
    n = len(X)
    if n < 2:
        return X
    return np.where(UPPER[:n, :n] if n <= len(UPPER) else np.triu(np.ones((n, n), dtype=bool)), X, X.T)


@singledispatch
def congruence(weight: Any, X: Array) -> Array:
    """A X A* of a symmetric X, for a weight A that is a matrix or acts like one."""
    return symmetric(weight @ (weight @ X).T)


@congruence.register
def _(phi: Shift, X: Array) -> Array:
    """φ X φ*, block by block."""
    turned, d = phi.rotation.congruence, phi.arm
    A, B, C = symmetric(turned(X[:3, :3])), turned(X[:3, 3:]), symmetric(turned(X[3:, 3:]))
    B_shifted = B + d @ C
    A_shifted = symmetric(A + d @ B.T + B_shifted @ d.T)
    return _of_blocks(A_shifted, B_shifted, B_shifted.T, C)


def _of_blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    """[[A, B], [C, D]], as `numpy.block` makes it in three times the time."""
    return np.concatenate([np.concatenate([A, B], axis=1), np.concatenate([C, D], axis=1)])


def factor(D: Array) -> tuple[Array, list[Scalar], list[Scalar]]:
    """L (n, n) strictly lower, the pivots p and 1 / p of D = (1 + L) diag(p) (1 + L)*, D symmetric positive definite."""
    n = D.shape[0]
    L = np.zeros((n, n), dtype=object)
    pivots, inverses = [], []
    for j in range(n):
        scaled = [L[j, k] * pivots[k] for k in range(j)]
        pivots.append(D[j, j] - sum(L[j, k] * scaled[k] for k in range(j)))
        inverses.append(1.0 / pivots[j])
        for i in range(j + 1, n):
            L[i, j] = (D[i, j] - sum(L[i, k] * scaled[k] for k in range(j))) * inverses[j]
    return L, pivots, inverses


def solve_any(X: Array, B: Array) -> Array:
    """X⁻¹ B for any invertible X (n, n) and B (n, c): the columns of X made orthogonal one by one, which needs no pivots."""
    n, c = B.shape
    columns, R = [*X.T, *B.T], np.zeros((n, n + c), dtype=object)
    for j in range(n):
        q, inverse = columns[j], 1.0 / (columns[j] @ columns[j])
        for k in range(j + 1, n + c):
            R[j, k] = (q @ columns[k]) * inverse
            columns[k] = columns[k] - R[j, k] * q
    rows = list(R[:, n:])
    for j in reversed(range(n)):
        rows[j] = rows[j] - sum(R[j, k] * rows[k] for k in range(j + 1, n))
    return array(rows)


def log_determinant(D: Array) -> Scalar:
    """log det D = Σ log p of a symmetric positive definite D (n, n)."""
    pivots = factor(D)[1] if len(D) > 1 else D.flat
    return sum((np.log(pivot) for pivot in pivots), start=0.0)


def solve(D: Array, B: Array) -> Array:
    """D⁻¹ B for a symmetric positive definite D (n, n) and B (n, ...), without pivoting."""
    n = D.shape[0]
    if _identical(D, B):
        return np.eye(n)
    if n == 1:
        return B * (1.0 / D[0, 0])
    L, _, inverses = factor(D)
    X = list(B)
    for i in range(n):
        X[i] = X[i] - sum(L[i, k] * X[k] for k in range(i))
    X = [x * inverse for x, inverse in zip(X, inverses, strict=True)]
    for i in reversed(range(n)):
        X[i] = X[i] - sum(L[k, i] * X[k] for k in range(i + 1, n))
    return array(X) if n else np.zeros(B.shape)


def _identical(A: Array, B: Array) -> bool:
    """Whether two traced arrays are entry by entry the same expression, so that A⁻¹ B = 1 needs no arithmetic."""
    return A.dtype == B.dtype == object and A.shape == B.shape and all(a is b for a, b in zip(A.flat, B.flat, strict=True))
