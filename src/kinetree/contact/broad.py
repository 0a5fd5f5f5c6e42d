"""The broad phase of pairs of general shapes: one lower bound on all distances, and a look at those pairs it leaves near.

The bound is how far bounding spheres are apart. Where it exceeds `REACH` of their radii it is the gap of all candidates of the
pair; nearer ones pass from it to what coal finds, continuously.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from kinetree.contact.general import GeneralPair, Solid
from kinetree.contact.hulls import REACH
from kinetree.spatial.scalars import Array

UP: Final = np.array([0.0, 0.0, 1.0])
"""The direction from the second to the first where centres coincide."""


@final
class GeneralPairs:
    """Pairs of solids, which have `count` candidates in all, those of a pair next to each other."""

    def __init__(self, pairs: tuple[GeneralPair, ...]) -> None:
        self.pairs = pairs
        sides = [[(x.body, x.radius, *x.centre) for x in side] for pair in pairs for side in [(pair.first, pair.second)]]
        spheres, index = np.unique(np.array(sides, dtype=float).reshape(-1, 5), axis=0, return_inverse=True)
        self._first, self._second = index.reshape(-1, 2).T
        self._body, self._radii, self._centres = spheres[:, 0].astype(int), spheres[:, 1], spheres[:, 2:]
        self._size = self._radii[self._first] + self._radii[self._second]
        self._placed = [_Placed(tuple(getattr(pair, side) for pair in pairs)) for side in ("first", "second")]
        counts = np.array([pair.count for pair in pairs], dtype=int)
        self._starts, self._pair_of = np.cumsum(counts) - counts, np.repeat(np.arange(len(pairs)), counts)
        self.count = len(self._pair_of)

    def bounds(self, R: Array, p: Array) -> tuple[Array, Array]:
        """How far bounding spheres of k pairs are apart (B, k), and the directions from the second to the first (B, k, 3)."""
        centres = p[:, self._body] + (R[:, self._body] @ self._centres[:, :, None])[:, :, :, 0]
        between = centres[:, self._first] - centres[:, self._second]
        distance = np.sqrt((between * between).sum(axis=2))
        direction = np.where(distance[:, :, None] > 0.0, between / np.maximum(distance, 1e-300)[:, :, None], UP)
        return distance - self._size, direction

    def fill(self, where: slice, gap: Array, points: Array, normals: Array, R: Array, p: Array) -> None:
        """Write gaps (B, m), points and normals (B, m, 3) of B states where they belong; R (B, b, 3, 3), p (B, b, 3)."""
        bound, direction = self.bounds(R, p)
        own = self._first
        down = (direction[:, :, None, :] @ R[:, self._body[own]])[:, :, 0]  # axes of the first body
        on_sphere = self._centres[own] - self._radii[own, None] * down
        gap, points, normals = gap[:, where], points[:, where], normals[:, where]
        gap[:], points[:], normals[:] = (x.take(self._pair_of, axis=1) for x in (bound, on_sphere, direction))
        for state in range(len(bound)):
            near = np.flatnonzero(bound[state] < REACH * self._size)
            shares = np.minimum(1.0, 2.0 - 2.0 * bound[state, near] / (REACH * self._size[near]))
            poses = [x for side in self._placed for x in side.at(near, R[state], p[state])]
            for k, share, pose in zip(near.tolist(), shares.tolist(), zip(*poses, strict=True), strict=True):
                part = slice(self._starts[k], self._starts[k] + self.pairs[k].count)
                found, spots, normals[state, part] = self.pairs[k].at(*pose)
                gap[state, part] = share * found + (1.0 - share) * bound[state, k]
                body = self.pairs[k].first.body
                points[state, part] = (spots - p[state, body]) @ R[state, body]


@final
class _Placed:
    """Solids (k,) and how they are placed on their bodies."""

    def __init__(self, solids: tuple[Solid, ...]) -> None:
        self._body = np.array([x.body for x in solids], dtype=int)
        self._rotations = np.array([x.placement.rotation for x in solids]).reshape(-1, 3, 3)
        self._translations = np.array([x.placement.translation for x in solids]).reshape(-1, 3)

    def at(self, which: Array, R: Array, p: Array) -> tuple[Array, Array]:
        """Their placements (n, 3, 3) and (n, 3) in the world, bodies at R (b, 3, 3), p (b, 3)."""
        body = self._body[which]
        turned = R[body]
        moved = (turned @ self._translations[which][:, :, None])[:, :, 0] + p[body]
        return turned @ self._rotations[which], moved
