"""What of two shapes may touch: points and edges of one in the field of the other.

A shape is a skeleton, points and segments, within a radius of which everything is solid: a sphere is a point, a capsule a
segment; a box, and points, are skeletons of radius 0. It is also a field: how far a point or segment is from it. The rounder of
two shapes has its skeleton in the field of the other; two boxes have each theirs in the field of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from kinetree.contact.scene import Pair
from kinetree.model import GROUND, Box, Capsule, Geometry, Plane, Points, Pose, Shape, Sphere

ORDER = (Points, Sphere, Capsule, Box, Plane)
"""From those whose skeleton is in the field of the others to those in whose field it is."""


class Feature(NamedTuple):
    """One contact that may be.

    kind : which skeleton in which field, as "point-plane"
    own, other : the bodies of skeleton and field, −1 for the world
    is_swapped : whether the body of the field is the first of the contact, as it is where the skeleton is fixed in the world
    numbers : what skeleton and field are, in the axes of their bodies; see `distances`
    name : in words
    """

    kind: str
    own: int
    other: int
    is_swapped: bool
    numbers: tuple[float, ...]
    name: str

    @property
    def bodies(self) -> tuple[int, int]:
        """First and second body of the contact."""
        return (self.other, self.own) if self.is_swapped else (self.own, self.other)


@final
class Skeleton(NamedTuple):
    """Points and segments (start, from start to end) in body axes."""

    points: list[tuple[str, np.ndarray]]
    segments: list[tuple[str, np.ndarray, np.ndarray]]
    radius: float


def features(pair: Pair) -> Iterator[Feature]:
    """What may touch of a pair of shapes; nothing for two planes, or two sets of points."""
    a, b = (pair.first, _plain(pair.shape)), (pair.second, _plain(pair.other))
    first, second = sorted((a, b), key=lambda side: ORDER.index(type(side[1].geometry)))
    yield from _between(*first, *second)
    if isinstance(first[1].geometry, Box) and isinstance(second[1].geometry, Box):
        yield from _between(*second, *first)


def _plain(shape: Shape) -> Shape:
    """A capsule without length is a sphere."""
    geometry = shape.geometry
    if isinstance(geometry, Capsule) and geometry.length == 0.0:
        return Shape(Sphere(geometry.radius), shape.placement)
    return shape


def _between(own: int, shape: Shape, other: int, touched: Shape) -> Iterator[Feature]:
    kind, field = _field(touched)
    points, segments, radius = skeleton(shape.geometry, shape.placement)
    boxes = isinstance(shape.geometry, Box) and kind == "box"
    of_points, of_segments = ("corner", "edge") if boxes else ("point", "segment")
    found = []
    if kind is not None and not (kind == "segment" and segments):
        found += [(of_points, name, (x,)) for name, x in points]
    if kind in ("segment", "box"):
        found += [(of_segments, name, (x, d)) for name, x, d in segments]
    for what, name, vectors in found:
        solid = _solid(shape, vectors[0]) if boxes else ()
        numbers = (*np.concatenate([*vectors, *solid]), radius, *field)
        text = f"{name} in {touched.name or touched.geometry.kind}"
        yield Feature(f"{what}-{kind}", own, other, own == GROUND, numbers, text)


def _solid(shape: Shape, x: np.ndarray) -> list[np.ndarray]:
    """Centre as seen from x, and halves of three edges, of a box, in axes of its body."""
    R, t = shape.placement.rotation, shape.placement.translation
    return [t - x, *(0.5 * np.array(shape.geometry.size) * R).T]  # type: ignore[attr-defined]


def skeleton(geometry: Geometry, placement: Pose) -> Skeleton:
    """Points, segments and radius of a geometry in the axes of the body that it is placed on."""
    R, t = placement.rotation, placement.translation
    if isinstance(geometry, Sphere):
        return Skeleton([("centre", t)], [], geometry.radius)
    if isinstance(geometry, Points):
        return Skeleton([(f"point {n}", R @ x + t) for n, x in enumerate(np.array(geometry.points))], [], 0.0)
    if isinstance(geometry, Capsule):
        half = 0.5 * geometry.length * R[:, 2]
        return Skeleton(
            [("lower end", t - half), ("upper end", t + half)],
            [("lower half", t - half, half), ("upper half", t, half)],
            geometry.radius,
        )
    if isinstance(geometry, Box):
        return _box_skeleton(geometry, R, t)
    return Skeleton([], [], 0.0)


def _box_skeleton(box: Box, R: np.ndarray, t: np.ndarray) -> Skeleton:
    half = 0.5 * np.array(box.size)
    corners = [(f"corner {n}", R @ (half * signs) + t) for n, signs in enumerate(itertools.product((-1.0, 1.0), repeat=3))]
    edges = []
    for axis in range(3):
        for signs in itertools.product((-1.0, 1.0), repeat=2):
            start = half * np.insert(np.array(signs), axis, -1.0)
            edges.append((f"edge {len(edges)}", R @ start + t, 2.0 * half[axis] * R[:, axis]))
    return Skeleton(corners, edges, 0.0)


def _field(shape: Shape) -> tuple[str | None, tuple[float, ...]]:
    """The kind of a field, and its numbers in body axes; None of what is none."""
    geometry, R, t = shape.geometry, shape.placement.rotation, shape.placement.translation
    if isinstance(geometry, Plane):
        n = R @ np.array(geometry.normal)
        return "plane", (*n, geometry.offset + float(n @ t))
    if isinstance(geometry, Sphere):
        return "point", (*t, geometry.radius)
    if isinstance(geometry, Capsule):
        _, ((_, start, half), _), radius = skeleton(geometry, shape.placement)
        return "segment", (*start, *(2.0 * half), radius)
    if isinstance(geometry, Box):
        return "box", (*R.T.ravel(), *(-R.T @ t), *(0.5 * x for x in geometry.size))
    return None, ()
