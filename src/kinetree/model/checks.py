"""Arrays that a model is made of: read once, checked, frozen."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.spatial.scalars import Array

AXIS_TOLERANCE = 1e-9
ROTATION_TOLERANCE = 1e-9
LARGEST = 1e60
IDENTITY = np.eye(3)


def real_array(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """A finite read-only float array of one shape, or a `ModelError` that says what was found."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        allowed = f"an array of shape {shape} of real numbers" if shape else "a real number"
        raise ModelError(f"{what} must be {allowed}, found {value!r}.") from None
    if found.shape != shape:
        raise ModelError(f"{what} must be {_describe(shape)}, found shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ModelError(f"{what} must be finite, found {found.tolist()}.")
    if found.size and np.abs(found).max() > LARGEST:
        raise ModelError(f"{what} must not exceed {LARGEST:g}, found {found.tolist()}: products of such numbers overflow.")
    found.setflags(write=False)
    return found


def unit_vector(value: Any, what: str) -> Array:
    """A vector (3,) of length 1."""
    axis = real_array(value, (3,), what)
    length = float(np.linalg.norm(axis))
    if abs(length - 1.0) > AXIS_TOLERANCE:
        raise ModelError(f"{what} must have length 1, found {axis.tolist()} of length {length:.12g}. Divide it by its length.")
    return axis


def rotation_matrix(value: Any, what: str) -> Array:
    """An orthonormal, right-handed (3, 3) matrix."""
    R = real_array(value, (3, 3), what)
    if np.abs(R).max() > 2.0:
        raise ModelError(f"{what} must be a rotation (R R* = 1, det R = 1), found {R.tolist()}.")
    error = float(np.abs(R @ R.T - IDENTITY).max())
    determinant = float(np.linalg.det(R))
    if error > ROTATION_TOLERANCE or determinant < 0.0:
        raise ModelError(
            f"{what} must be a rotation (R R* = 1, det R = 1), found {R.tolist()}: "
            f"R R* differs from 1 by {error:.3g}, det R = {determinant:.6g}."
        )
    return R


def _describe(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}" if shape else "a number"
