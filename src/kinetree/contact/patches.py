"""Which of several contacts on one face matter: the corners of the patch that they span.

What contacts with one normal n do to two bodies, the forces within their friction cones, the corners of their convex hull do as
well; and where no corner approaches faster than its gap allows, none in between does, if gaps are linear over the patch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from kinetree.spatial.scalars import Array

SAME: Final = 1e-6
"""Angle [rad] between normals that count as one."""
FLAT: Final = 1e-9
"""How far [m] gaps may be from linear."""
BLUNT: Final = 1e-6
"""Of the size of a patch: a corner that stands out by less is none."""


def corners(bodies: Sequence[tuple[int, int]] | Array, points: Array, normals: Array, gap: Array) -> Array:
    """Which (k,) of k contacts to keep, True; the others follow from these.

    bodies (k, 2), points (k, 3) and normals (k, 3) in world axes, gap (k,) [m].
    """
    keep = np.ones(len(gap), dtype=bool)
    for face in _faces(bodies, normals):
        if len(face) > 3:
            keep[face] = _corners_of_one(points[face], normals[face[0]], gap[face])
    return keep


def _faces(bodies: Sequence[tuple[int, int]] | Array, normals: Array) -> list[list[int]]:
    """Contacts of the same two bodies with the same normal, or with the opposite one where the bodies are exchanged."""
    faces: dict[tuple[int, int], list[tuple[Array, list[int]]]] = {}
    for k, (own, other) in enumerate(bodies):
        n = normals[k] if own > other else -normals[k]
        found = faces.setdefault((max(own, other), min(own, other)), [])
        face = next((face for m, face in found if np.abs(n - m).max() < SAME), None)
        if face is None:
            found.append((n, [k]))
        else:
            face.append(k)
    return [face for found in faces.values() for _, face in found]


def _corners_of_one(points: Array, normal: Array, gap: Array) -> Array:
    """Which contacts of one face to keep."""
    across = (points - points[0]) @ _across(normal.tolist())
    size = float(np.abs(across).max())
    near = (np.abs(across[:, None] - across[None]).max(axis=-1) < BLUNT * size) & (gap[None] < gap[:, None] + FLAT)
    first = np.flatnonzero(~np.tril(near, -1).any(axis=1))  # of contacts in one place, one
    hull = first[_hull(across[first].tolist(), BLUNT * size * size)]
    if len(hull) == len(gap):
        return np.ones(len(gap), dtype=bool)
    linear = np.column_stack([np.ones(len(gap)), across])
    excess = gap - linear @ np.linalg.lstsq(linear[hull], gap[hull], rcond=None)[0]
    keep = excess < -FLAT
    keep[hull] = True
    return keep if np.abs(excess[hull]).max() < FLAT else np.ones(len(gap), dtype=bool)


def _across(n: Sequence[float]) -> Array:
    """Two directions, as columns (3, 2), across a normal and each other, of length 1."""
    x, y, z = n
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[1.0 + sign * x * x * a, b], [sign * b, sign + y * y * a], [-sign * x, -y]])


def _hull(points: list[list[float]], least: float) -> list[int]:
    """The corners of the convex hull of points (k, 2): a chain below, one above, less what spans too little."""
    order = sorted(range(len(points)), key=points.__getitem__)
    found: list[int] = []
    for walk in (order, order[::-1]):
        chain: list[int] = []
        for k in walk:
            while len(chain) > 1 and _turn(points[chain[-2]], points[chain[-1]], points[k]) <= 0.0:
                chain.pop()
            chain.append(k)
        found += chain[:-1]
    while len(found) > 2:
        corners = [points[k] for k in found]
        spans = [_turn(*three) for three in zip(corners[-1:] + corners, corners, corners[1:] + corners[:1], strict=False)]
        bluntest = spans.index(min(spans))
        if spans[bluntest] > least:
            break
        del found[bluntest]
    return found or order[:1]


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    """Twice the area that three points (2,) span, positive to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
