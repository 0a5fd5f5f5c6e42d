"""Pairs of general convex shapes, left to the collision library coal: cylinders, and hulls of meshes, but on planes.

Each pair has five candidates: where the shapes are nearest, and where they would be if the first were tilted by `TILT` about
four axes across the normal, which is where a face rests on a face. A ball or a point touches once. None of the four is nearer
than the nearest points are, between two planes across the normal, so that these stand for all five where they are further apart
than `FLAT` of the radii; nearer ones pass from one to the other continuously.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from kinetree.contact.contacts import frame
from kinetree.contact.hulls import TILT, Hull
from kinetree.contact.scene import Pair
from kinetree.errors import InputError, MissingExtraError
from kinetree.model import GROUND, Box, Capsule, Cylinder, Geometry, Model, Plane, Points, Pose, Shape, Sphere
from kinetree.spatial.rotations import rotation_about
from kinetree.spatial.scalars import Array

TOLERANCE: Final = 1e-6
"""Of distances [m]. Below that, what coal does with shapes inside each other fails at times."""

FLAT: Final = 0.05
"""Of the radii of bounding spheres."""

TILTED: Final = np.array([rotation_about(axis, angle) for axis in np.eye(3)[1:] for angle in (-TILT, TILT)])
"""Turns (4, 3, 3) about axes across the normal, in axes that begin with it."""


@final
@dataclass(frozen=True, eq=False)
class Solid:
    """A shape on a body as coal has it; its bounding sphere in body axes."""

    body: int
    placement: Pose
    shape: Any
    centre: Array
    radius: float


@final
@dataclass(frozen=True, eq=False)
class GeneralPair:
    """Two solids, and how many candidates they have."""

    first: Solid
    second: Solid
    count: int
    name: str

    def at(self, A: Array, a: Array, B: Array, b: Array) -> tuple[Array, Array, Array]:
        """Gaps (count,), points (count, 3) and normal (3,), world axes, of solids placed at (A, a) and (B, b)."""
        first, second = self.first, self.second
        there = _coal().Transform3s(B, b)
        distance, x, _, normal = _nearest(first.shape, A, a, second.shape, there)
        gaps, points = np.array([distance] * self.count), np.array([x] * self.count)
        flat = FLAT * (first.radius + second.radius)
        if self.count > 1 and distance < flat:
            share = min(1.0, 2.0 - 2.0 * distance / flat)
            across = frame(normal, "the normal")
            for k, Q in enumerate(across.T @ TILTED @ across, 1):
                _, tilted, y, _ = _nearest(first.shape, Q @ A, x + Q @ (a - x), second.shape, there)
                points[k] = x + Q.T @ (tilted - x)
                gaps[k] = share * (normal @ (points[k] - y)) + (1.0 - share) * distance
        return gaps, points, normal


def general_pairs(model: Model, pair: Pair) -> Iterator[GeneralPair]:
    """A pair as coal has it, one for each of several points. Raises InputError, MissingExtraError."""
    kinds = {type(pair.shape.geometry), type(pair.other.geometry)}
    for x in _single(pair.shape):
        for y in _single(pair.other):
            count = 1 if {Sphere, Points} & kinds else 5
            yield GeneralPair(_solid(model, pair.first, x), _solid(model, pair.second, y), count, _called(x, y))


def hull_of(model: Model, pair: Pair) -> tuple[Hull, int, Shape]:
    """The mesh of a pair of a mesh and a plane; and the plane, with its body. Raises InputError, MissingExtraError."""
    sides = ((pair.first, pair.shape), (pair.second, pair.other))
    (a, mesh), (b, plane) = sides[::-1] if isinstance(pair.shape.geometry, Plane) else sides
    if a == GROUND:
        raise InputError(f"a plane of body {model.body_names[b]!r} and a mesh that is fixed: let the plane be the ground.")
    solid = _solid(model, a, mesh)
    corners = np.array(solid.shape.points()) @ mesh.placement.rotation.T + mesh.placement.translation
    return Hull(a, corners, solid.centre, solid.radius, _called(mesh, plane)), b, plane


def _called(first: Shape, second: Shape) -> str:
    return f"{first.name or first.geometry.kind} and {second.name or second.geometry.kind}"


def _single(shape: Shape) -> Iterator[Shape]:
    """Points one by one."""
    if isinstance(shape.geometry, Points):
        for x in shape.geometry.points:
            yield Shape(Points([x]), shape.placement)
    else:
        yield shape


def _solid(model: Model, body: int, shape: Shape) -> Solid:
    geometry, placement = shape.geometry, shape.placement
    if isinstance(geometry, Points):
        placement = placement @ Pose(translation=geometry.points[0])
    try:
        made, centre, radius = _of_coal(geometry)
    except (ValueError, RuntimeError) as failure:
        owner = "the ground" if body == GROUND else f"body {model.body_names[body]!r}"
        raise InputError(f"{owner}: {failure}") from None
    return Solid(body, placement, made, placement.rotation @ centre + placement.translation, radius)


@lru_cache(maxsize=1024)
def _of_coal(geometry: Geometry) -> tuple[Any, Array, float]:
    """coal's shape, and its bounding sphere."""
    coal = _coal()
    if isinstance(geometry, (Sphere, Points)):
        made = coal.Sphere(geometry.radius if isinstance(geometry, Sphere) else 0.0)
    elif isinstance(geometry, (Capsule, Cylinder)):
        made = (coal.Capsule if isinstance(geometry, Capsule) else coal.Cylinder)(geometry.radius, geometry.length)
    elif isinstance(geometry, Box):
        made = coal.Box(*geometry.size)
    else:
        made = _hull(coal, geometry)
    made.computeLocalAABB()
    return made, np.array(made.aabb_center), float(made.aabb_radius)


def _hull(coal: Any, mesh: Any) -> Any:
    path = Path(mesh.path)
    if not path.is_file():
        hint = "load the model with the package's folder in roots" if mesh.path.startswith("package:") else "check its path"
        raise ValueError(f"the mesh {mesh.path!r} is not found; {hint}, or give the body other shapes by model.with_shapes.")
    try:
        found = coal.MeshLoader().load(str(path), np.array(mesh.scale))
        found.buildConvexHull(True, "Qt")
    except Exception as failure:
        why = str(failure).strip().splitlines()[-1:]
        raise ValueError(f"the mesh {mesh.path!r} cannot be read as one with a convex hull: {''.join(why)}") from None
    return found.convex


def _coal() -> Any:
    try:
        import coal
    except ImportError:
        raise MissingExtraError(
            'cylinders (but on planes) and meshes touch by the library coal: pip install "kinetree[collision]", or give bodies '
            "spheres, capsules, boxes or points by model.with_shapes."
        ) from None
    return coal


@cache
def _request() -> Any:
    request = _coal().DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    return request


def _nearest(first: Any, A: Array, a: Array, second: Any, there: Any) -> tuple[float, Array, Array, Array]:
    """Signed distance, nearest points of both, and the normal from the second to the first."""
    coal = _coal()
    result = coal.DistanceResult()
    distance = coal.distance(first, coal.Transform3s(A, a), second, there, _request(), result)
    return distance, result.getNearestPoint1(), result.getNearestPoint2(), -result.normal
