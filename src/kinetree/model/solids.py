"""Inertias of uniform solids, and bodies whose joint frames are parallel: what models are built of by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinetree.model.bodies import Body, Inertia, Pose
from kinetree.model.joints import Joint
from kinetree.spatial.scalars import Array


def rod(mass: float, along: Array, radius: float = 0.04) -> Inertia:
    """A solid cylinder from the joint frame to the point `along`."""
    length = float(np.linalg.norm(along))
    axis = along / length
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    lengthwise = np.outer(axis, axis)
    return Inertia(mass, along / 2.0, across * (np.eye(3) - lengthwise) + 0.5 * mass * radius**2 * lengthwise)


def box(mass: float, sides: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
    """A cuboid with its sides along the body axes."""
    squares = np.square(np.asarray(sides, dtype=float))
    return Inertia(mass, center, np.diag(mass * (squares.sum() - squares) / 12.0))


def body(name: str, parent: str | None, joint: Joint, at: ArrayLike, inertia: Inertia) -> Body:
    """A body whose joint frame is its parent's, moved to `at`."""
    return Body(name, parent, joint, Pose(translation=at), inertia)
