"""What of two shapes may touch: points, edges and rims of one in the field of the other.

A shape is a skeleton, points and segments, within a radius of which everything is solid: a sphere is a point, a capsule a
segment; a box, and points, are skeletons of radius 0. It is also a field: how far a point or segment is from it. The rounder of
two shapes has its skeleton in the field of the other; two boxes have each theirs in the field of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinetree.contact.distances import DISTANCES
from kinetree.contact.scene import Pair
from kinetree.model import GROUND, Box, Capsule, Cylinder, Mesh, Plane, Points, Shape, Sphere

ORDER = (Points, Sphere, Capsule, Box, Cylinder, Mesh, Plane)
"""From those whose skeleton is in the field of the others to those in whose field it is."""

OF_BOXES = {"point": "corner", "segment": "edge"}
"""What points and segments of a box are to another box."""


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


Part = tuple[str, str, tuple[np.ndarray, ...]]
"""Of a skeleton: "point", "segment" or "circle"; name; place and, but for a point, a vector, in body axes."""


def is_general(pair: Pair) -> bool:
    """Whether a pair is left to a collision library: a hull of a mesh, or a cylinder, but for a cylinder on a plane."""
    kinds = {type(pair.shape.geometry), type(pair.other.geometry)}
    return Mesh in kinds or (Cylinder in kinds and Plane not in kinds)


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
    parts, radius = skeleton(shape)
    boxes = isinstance(shape.geometry, Box) and kind == "box"
    if kind == "segment" and isinstance(shape.geometry, Capsule):
        parts = parts[2:]  # the ends of a capsule are the ends of its halves
    for what, name, vectors in parts:
        solid = _solid(shape, vectors[0]) if boxes else ()
        pairing = f"{OF_BOXES[what] if boxes else what}-{kind}"
        if pairing in DISTANCES:
            numbers = (*np.concatenate([*vectors, *solid]), radius, *field)
            yield Feature(pairing, own, other, own == GROUND, numbers, f"{name} in {touched.name or touched.geometry.kind}")


def _solid(shape: Shape, x: np.ndarray) -> list[np.ndarray]:
    """Centre as seen from x, and halves of three edges, of a box, in axes of its body."""
    R, t = shape.placement.rotation, shape.placement.translation
    return [t - x, *(0.5 * np.array(shape.geometry.size) * R).T]  # type: ignore[attr-defined]


def skeleton(shape: Shape) -> tuple[list[Part], float]:
    """Parts and radius of a shape."""
    geometry, R, t = shape.geometry, shape.placement.rotation, shape.placement.translation
    if isinstance(geometry, Sphere):
        return [("point", "centre", (t,))], geometry.radius
    if isinstance(geometry, Points):
        return [("point", f"point {n}", (R @ x + t,)) for n, x in enumerate(np.array(geometry.points))], 0.0
    if isinstance(geometry, Capsule):
        half = 0.5 * geometry.length * R[:, 2]
        ends: list[Part] = [("point", "lower end", (t - half,)), ("point", "upper end", (t + half,))]
        return [*ends, ("segment", "lower half", (t - half, half)), ("segment", "upper half", (t, half))], geometry.radius
    if isinstance(geometry, Box):
        return list(_of_box(geometry, R, t)), 0.0
    if isinstance(geometry, Cylinder):
        return list(_of_cylinder(geometry, R, t)), 0.0
    return [], 0.0


def _of_box(box: Box, R: np.ndarray, t: np.ndarray) -> Iterator[Part]:
    half = 0.5 * np.array(box.size)
    for n, signs in enumerate(itertools.product((-1.0, 1.0), repeat=3)):
        yield "point", f"corner {n}", (R @ (half * signs) + t,)
    for n, (axis, signs) in enumerate(itertools.product(range(3), itertools.product((-1.0, 1.0), repeat=2))):
        for way, side in (("", -1.0), (" back", 1.0)):
            start = half * np.insert(np.array(signs), axis, side)
            yield "segment", f"edge {n}{way}", (R @ start + t, -2.0 * side * half[axis] * R[:, axis])


def _of_cylinder(cylinder: Cylinder, R: np.ndarray, t: np.ndarray) -> Iterator[Part]:
    """Both rims, whose lowest point rolls, and four points on each, on which it stands."""
    for end, side in (("lower", -0.5), ("upper", 0.5)):
        centre = t + side * cylinder.length * R[:, 2]
        yield "circle", f"{end} rim", (centre, cylinder.radius * R[:, 2])
        for n, (x, y) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
            yield "point", f"{end} rim {n}", (centre + cylinder.radius * (x * R[:, 0] + y * R[:, 1]),)


def _field(shape: Shape) -> tuple[str | None, tuple[float, ...]]:
    """The kind of a field, and its numbers in body axes; None of what is none."""
    geometry, R, t = shape.geometry, shape.placement.rotation, shape.placement.translation
    if isinstance(geometry, Plane):
        n = R @ np.array(geometry.normal)
        return "plane", (*n, geometry.offset + float(n @ t))
    if isinstance(geometry, Sphere):
        return "point", (*t, geometry.radius)
    if isinstance(geometry, Capsule):
        along = geometry.length * R[:, 2]
        return "segment", (*(t - 0.5 * along), *along, geometry.radius)
    if isinstance(geometry, Box):
        return "box", (*R.T.ravel(), *(-R.T @ t), *(0.5 * x for x in geometry.size))
    return None, ()
