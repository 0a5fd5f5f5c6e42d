"""Where one frame is, seen from another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree.model.checks import real_array, rotation_matrix


@final
@dataclass(frozen=True, eq=False)
class Pose:
    """A frame seen from another: rotation (3, 3) turns its axes to the other's, translation (3,) [m] is its origin."""

    rotation: Any = field(default_factory=lambda: np.eye(3))
    translation: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", rotation_matrix(self.rotation, "the rotation of a pose"))
        object.__setattr__(self, "translation", real_array(self.translation, (3,), "the translation of a pose"))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def inverse(self) -> Pose:
        """The other frame seen from this one."""
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pose)
            and np.array_equal(self.rotation, other.rotation)
            and np.array_equal(self.translation, other.translation)
        )

    __hash__ = None  # type: ignore[assignment]
