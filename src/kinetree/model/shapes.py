"""What bodies look like to a contact: geometries in axes of their own, and where they sit on a body.

Dynamics without contact do not know of shapes: the digest of a model, its kernels and its inertias are the same with others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.checks import real_array
from kinetree.model.poses import Pose

Numbers = tuple[float, ...]


class Geometry:
    """A solid in axes of its own."""

    kind: ClassVar[str]


@final
@dataclass(frozen=True)
class Sphere(Geometry):
    """About the origin; radius [m]."""

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        _set(self, radius=_length(self.radius, "the radius of a sphere"))


@final
@dataclass(frozen=True)
class Capsule(Geometry):
    """What is within radius [m] of a segment along z, length [m] between its ends, the origin in the middle."""

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float

    def __post_init__(self) -> None:
        radius, length = _length(self.radius, "the radius of a capsule"), _length(self.length, "the length of a capsule", 0.0)
        _set(self, radius=radius, length=length)


@final
@dataclass(frozen=True)
class Cylinder(Geometry):
    """About the z axis, flat at its ends; radius and length [m], the origin in the middle."""

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        radius, length = _length(self.radius, "the radius of a cylinder"), _length(self.length, "the length of a cylinder")
        _set(self, radius=radius, length=length)


@final
@dataclass(frozen=True)
class Box(Geometry):
    """A cuboid about the origin; size (3,) [m] are the lengths of its edges along x, y and z."""

    kind: ClassVar[str] = "box"
    size: Any

    def __post_init__(self) -> None:
        size = real_array(self.size, (3,), "the size of a box")
        if not (size > 0.0).all():
            raise ModelError(f"the size of a box must be three positive lengths of edges, found {size.tolist()} m.")
        _set(self, size=tuple(size.tolist()))


@final
@dataclass(frozen=True)
class Points(Geometry):
    """Points (n, 3) [m] that may touch faces of others, such as the feet of a table or the vertices of a hull."""

    kind: ClassVar[str] = "points"
    points: Any

    def __post_init__(self) -> None:
        try:
            shape = np.shape(self.points)
        except ValueError:
            raise ModelError(f"points must be an array (n, 3) of real numbers, found {self.points!r:.80}.") from None
        if len(shape) != 2 or shape[0] == 0 or shape[1] != 3:
            raise ModelError(f"points must be an array (n, 3) of at least one point, found shape {shape}.")
        points = real_array(self.points, (shape[0], 3), "points")
        _set(self, points=tuple(map(tuple, points.tolist())))


@final
@dataclass(frozen=True)
class Plane(Geometry):
    """The half-space n·x ≤ offset; normal n (3,) of any length points out of what is solid. Both are kept for n of length 1."""

    kind: ClassVar[str] = "plane"
    normal: Any = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal, offset = real_array(self.normal, (3,), "the normal of a plane"), real_array(self.offset, (), "an offset")
        length = float(np.linalg.norm(normal))
        if not length > 1e-150:
            raise ModelError(f"the normal of a plane must not be zero, found {normal.tolist()}: it says which side is solid.")
        length = 1.0 if abs(length - 1.0) < 1e-15 else length  # so that what is saved comes back exactly
        _set(self, normal=tuple((normal / length).tolist()), offset=float(offset) / length)


@final
@dataclass(frozen=True)
class Mesh(Geometry):
    """The convex hull of a mesh file, which is opened when a contact first needs it; scale (3,) along its axes."""

    kind: ClassVar[str] = "mesh"
    path: str
    scale: Any = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, os.PathLike)) or not str(self.path):
            raise ModelError(f"a mesh is given by the path of its file, found {self.path!r}.")
        scale = real_array(self.scale, (3,), "the scale of a mesh")
        if not scale.all():
            raise ModelError(f"the scale of a mesh must not be zero along any axis, found {scale.tolist()}.")
        _set(self, path=str(self.path), scale=tuple(scale.tolist()))


GEOMETRIES: dict[str, type[Geometry]] = {x.kind: x for x in (Sphere, Capsule, Cylinder, Box, Points, Plane, Mesh)}


@final
@dataclass(frozen=True)
class Shape:
    """A geometry that sits on a body, or in the world, at a placement; the name is for messages."""

    geometry: Geometry
    placement: Pose = field(default_factory=Pose)
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.geometry, Geometry):
            raise ModelError(f"the geometry of a shape must be one of {_kinds()}, found {self.geometry!r:.80}.")
        if not isinstance(self.placement, Pose):
            raise ModelError(f"the placement of a shape must be a kinetree Pose, found {self.placement!r:.80}.")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ModelError(f"the name of a shape must be text that is not empty, or None, found {self.name!r}.")

    def moved(self, pose: Pose) -> Shape:
        """The same shape in the frame that `pose` is given in."""
        return Shape(self.geometry, pose @ self.placement, self.name)


def shapes_of(given: Any, where: str) -> tuple[Shape, ...]:
    """Shapes and geometries, one or several, as shapes. Raises ModelError."""
    if isinstance(given, (Shape, Geometry)):
        given = (given,)
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise ModelError(f"{where}: shapes must be geometries ({_kinds()}) or Shapes of them, found {given!r:.80}.")
    found = []
    for x in given:
        if not isinstance(x, (Shape, Geometry)):
            raise ModelError(f"{where}: shapes must be geometries ({_kinds()}) or Shapes of them, found {x!r:.80}.")
        found.append(x if isinstance(x, Shape) else Shape(x))
    return tuple(found)


def _kinds() -> str:
    return ", ".join(x.__name__ for x in GEOMETRIES.values())


def _length(value: Any, what: str, least: float = 1e-300) -> float:
    length = float(real_array(value, (), what))
    if not length >= least:
        allowed = "not be negative" if least == 0.0 else "be positive"
        raise ModelError(f"{what} must {allowed}, found {length:g} m.")
    return length


def _set(geometry: Geometry, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(geometry, name, value)
