"""Hulls of meshes on a plane: the corner that is lowest, and those that would be if the hull were tilted a little.

Five candidates of each: the lowest corner along the plane's normal, and along four directions tilted from it by `TILT`, which
is where a face rests on the plane. Hulls whose bounding spheres are further away than `REACH` of their radii are not looked at:
the distance of the sphere is their gap, and nearer ones pass from one to the other continuously.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kinetree.contact.contacts import frame
from kinetree.model import Plane, Pose
from kinetree.spatial.scalars import Array

TILT: Final = 1e-3
REACH: Final = 0.25
EACH: Final = 5
"""Candidates of a hull."""


@final
@dataclass(frozen=True, eq=False)
class Hull:
    """Corners (n, 3) of a convex shape, and its bounding sphere, in axes of its body; its name."""

    body: int
    corners: Array
    centre: Array
    radius: float
    name: str


@final
class HullsOnPlane:
    """k hulls on one plane of a body, −1 for the ground."""

    def __init__(self, hulls: tuple[Hull, ...], body: int, plane: Plane, placement: Pose) -> None:
        self.hulls, self.body, self.count = hulls, body, EACH * len(hulls)
        normal = placement.rotation @ np.array(plane.normal)
        self._d = plane.offset + float(normal @ placement.translation)
        _, s, t = frame(normal, "the normal of a plane")
        tilts = np.array([s + t, s - t, -s + t, -s - t]) * (TILT / np.sqrt(2.0))
        self._directions = np.concatenate([normal[None], normal + tilts])
        self._own = np.array([hull.body for hull in hulls])
        self._centres = np.array([hull.centre for hull in hulls])
        self._radii = np.array([hull.radius for hull in hulls])

    def fill(self, where: slice, gap: Array, points: Array, normals: Array, R: Array, p: Array) -> None:
        """Write gaps (B, m), points and normals (B, m, 3) of B states where they belong; R (B, b, 3, 3), p (B, b, 3)."""
        batch, k = len(R), len(self.hulls)
        gap, points, normals = (x[:, where].reshape(batch, k, EACH, *x.shape[2:]) for x in (gap, points, normals))
        directions = self._directions @ R[:, self.body].swapaxes(1, 2)  # (B, 5, 3), world axes
        n = directions[:, 0]
        d = self._d + (n * p[:, self.body]).sum(axis=1)
        turns = R[:, self._own]
        height = (p[:, self._own] @ n[:, :, None])[:, :, 0] - d[:, None]
        down = (turns.swapaxes(2, 3) @ n[:, None, :, None])[:, :, :, 0]  # the normal, axes of each hull
        bound = height + (down * self._centres).sum(axis=2) - self._radii
        gap[:], normals[:] = bound[:, :, None], n[:, None, None]
        points[:] = (self._centres - self._radii[:, None] * down)[:, :, None]
        for state, i in np.argwhere(bound < REACH * self._radii).tolist():
            corners = self.hulls[i].corners
            lowest = corners[(corners @ (directions[state] @ turns[state, i]).T).argmin(axis=0)]
            share = min(1.0, 2.0 - 2.0 * bound[state, i] / (REACH * self._radii[i]))
            points[state, i] = lowest
            gap[state, i] = share * (height[state, i] + lowest @ down[state, i]) + (1.0 - share) * bound[state, i]
