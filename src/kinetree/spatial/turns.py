"""Rotations that remember the turns about coordinate axes they are made of.

A vector is rotated by the matrix R. R X R* of a (3, 3) block goes turn by turn: in the plane of a turn by θ the sum of the
diagonal and the difference off it stay, and what is left turns by 2θ. That takes 12 multiplications where the matrix takes
54, and finds by itself that a multiple of 1 does not turn and that a~ turns as a vector does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from kinetree.spatial.rotations import rotation_about
from kinetree.spatial.scalars import Array, Scalar, array

AXES: Final = "xyz"
EXACT: Final = 4 * np.finfo(float).eps
_J: Final = np.eye(3)[1]
_K: Final = np.eye(3)[2]


@final
@dataclass(frozen=True, eq=False)
class Turn:
    """Rotation about a coordinate axis, "x", "y" or "z", by an angle of which cosine and sine are given."""

    axis: str
    cosine: Scalar
    sine: Scalar

    @property
    def R(self) -> Array:
        """The matrix (3, 3)."""
        c, s, k = self.cosine, self.sine, AXES.index(self.axis)
        rows = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
        return array([[rows[(i - k) % 3][(j - k) % 3] for j in range(3)] for i in range(3)])

    def congruence(self, X: Array) -> Array:
        """R X R* of any X (3, 3)."""
        c, s, k = self.cosine, self.sine, AXES.index(self.axis)
        i, j = (k + 1) % 3, (k + 2) % 3
        difference, both = X[i, i] - X[j, j], X[i, j] + X[j, i]
        squared, product = s * s, c * s
        straight, across = squared * difference + product * both, product * difference - squared * both
        Y = X.tolist()
        Y[i][i], Y[j][j] = X[i, i] - straight, X[j, j] + straight
        Y[i][j], Y[j][i] = X[i, j] + across, X[j, i] + across
        Y[i][k], Y[j][k] = c * X[i, k] - s * X[j, k], s * X[i, k] + c * X[j, k]
        Y[k][i], Y[k][j] = c * X[k, i] - s * X[k, j], s * X[k, i] + c * X[k, j]
        return array(Y)

    def and_then(self, angle: float) -> Turn:
        """The turn by a plain angle more."""
        c, s = math.cos(angle), math.sin(angle)
        return Turn(self.axis, c * self.cosine - s * self.sine, s * self.cosine + c * self.sine)


@final
@dataclass(frozen=True, eq=False)
class Fixed:
    """A rotation of which only the matrix R (3, 3) is known."""

    R: Array

    def congruence(self, X: Array) -> Array:
        """R X R* of any X (3, 3)."""
        return self.R @ X @ self.R.T


@final
@dataclass(frozen=True, eq=False)
class Rotation:
    """A rotation by factors whose product it is; `matrix` (3, 3) is that product."""

    factors: tuple[Turn | Fixed, ...]

    @cached_property
    def matrix(self) -> Array:
        product = np.eye(3)
        for factor in self.factors:
            product = product @ factor.R
        return product

    def congruence(self, X: Array) -> Array:
        """R X R* of any X (3, 3)."""
        for factor in reversed(self.factors):
            X = factor.congruence(X)
        return X

    def __matmul__(self, other: Rotation) -> Rotation:
        return Rotation(self.factors + other.factors)


NO_ROTATION: Final = Rotation(())


def of_matrix(R: Array) -> Rotation:
    """A rotation of which only the matrix is known."""
    return Rotation((Fixed(R),))


def about(axis: Array, angle: Scalar) -> Rotation:
    """Rotation about a unit axis (3,): one turn if that is a coordinate axis."""
    if axis.dtype == object or sorted(abs(axis)) != [0.0, 0.0, 1.0]:
        return of_matrix(rotation_about(axis, angle))
    k = int(np.argmax(abs(axis)))
    return Rotation((Turn(AXES[k], np.cos(angle), axis[k] * np.sin(angle)),))


def placed(placement: Array, rotation: Rotation) -> Rotation:
    """The rotation as seen through a rotation matrix (3, 3) in front of it.

    Right angles only exchange axes and stay a matrix. Other plain angles become turns; the last of them is about the axis of
    the rotation's own turn and is one with it.
    """
    factors = rotation.factors
    if _exchanges_axes(placement):
        return Rotation((Fixed(placement), *factors))
    if placement.dtype == object or not factors or not isinstance(factors[0], Turn):
        return of_matrix(placement @ rotation.matrix)
    k = AXES.index(factors[0].axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    F = placement[np.ix_((i, j, k), (i, j, k))]  # = about k by α, about j by β, about k by γ
    tilt = math.hypot(F[0, 2], F[1, 2])
    alpha, beta = math.atan2(F[1, 2], F[0, 2]) if tilt > EXACT else 0.0, math.atan2(tilt, F[2, 2])
    rest = rotation_about(_J, -beta) @ rotation_about(_K, -alpha) @ F  # what α lacks where β is small goes to γ
    gamma = math.atan2(rest[1, 0], rest[1, 1])
    before = _turn(AXES[k], alpha) + _turn(AXES[j], beta)
    return Rotation((*before, factors[0].and_then(gamma), *factors[1:]))


def _turn(axis: str, angle: float) -> tuple[Turn | Fixed, ...]:
    """The factors of a turn by a plain angle."""
    if abs(angle) < EXACT:
        return ()
    if abs(math.remainder(angle, math.pi / 2)) < EXACT:
        return (Fixed(np.rint(rotation_about(np.eye(3)[AXES.index(axis)], angle))),)
    return (Turn(axis, math.cos(angle), math.sin(angle)),)


def _exchanges_axes(R: Array) -> bool:
    return R.dtype != object and bool(np.isin(R, (-1.0, 0.0, 1.0)).all())
