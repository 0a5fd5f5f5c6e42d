"""Pairs of general convex shapes, left to the collision library coal: cylinders, and hulls of meshes, but on planes.

Each pair has five candidates: where the shapes are nearest, and where they would be if the first were tilted by `TILT` about
four axes across the normal, which is where a face rests on a face. A ball or a point touches once. Shapes whose bounding
spheres are further apart than `REACH` of their radii are not looked at: the distance of the spheres is their gap; nearer ones
pass from one to the other continuously.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from kinetree.contact.contacts import frame
from kinetree.contact.hulls import REACH, TILT, Hull
from kinetree.contact.scene import Pair
from kinetree.errors import InputError, MissingExtraError
from kinetree.model import GROUND, Box, Capsule, Cylinder, Geometry, Model, Plane, Points, Pose, Shape, Sphere
from kinetree.spatial.rotations import rotation_about
from kinetree.spatial.scalars import Array

TOLERANCE: Final = 1e-6
"""Of distances [m]. Below that, what coal does with shapes inside each other fails at times."""


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

    def at(self, R: Array, p: Array) -> tuple[Array, Array, Array]:
        """Gaps (n, count), points and normals (n, count, 3) of n states, bodies at R (n, b, 3, 3), p (n, b, 3)."""
        bound, apart, size = self._spheres(R, p)
        k = self.first.body
        on_sphere = self.first.centre - self.first.radius * np.einsum("nji,nj->ni", R[:, k], apart)
        gap, points, normals = (np.repeat(x[:, None], self.count, axis=1) for x in (bound, on_sphere, apart))
        for n in np.flatnonzero(bound < REACH * size):
            near, points[n], normals[n] = self._touching(R[n], p[n])
            share = min(1.0, 2.0 - 2.0 * bound[n] / (REACH * size))
            gap[n] = share * near + (1.0 - share) * bound[n]
        return gap, points, normals

    def _spheres(self, R: Array, p: Array) -> tuple[Array, Array, float]:
        """How far bounding spheres are apart (n,), the direction from the second to the first (n, 3), and the sum of radii."""
        first, second = self.first, self.second
        here = p[:, first.body] + R[:, first.body] @ first.centre
        between = here - p[:, second.body] - R[:, second.body] @ second.centre
        distance = np.linalg.norm(between, axis=1)
        up = np.where(distance[:, None] > 0.0, between / np.maximum(distance, 1e-300)[:, None], [0.0, 0.0, 1.0])
        return distance - first.radius - second.radius, up, first.radius + second.radius

    def _touching(self, R: Array, p: Array) -> tuple[Array, Array, Array]:
        """Gaps (count,), points (count, 3) and normal (3,) of one state."""
        first, second = self.first, self.second
        (A, a), (B, b) = (
            (R[x.body] @ x.placement.rotation, R[x.body] @ x.placement.translation + p[x.body]) for x in (first, second)
        )
        distance, x, _, normal = _nearest(first.shape, A, a, second.shape, B, b)
        gaps, found = [distance], [x]
        if self.count > 1:
            for axis in frame(normal, "the normal")[1:]:
                for angle in (-TILT, TILT):
                    Q = rotation_about(axis, angle)
                    _, tilted, y, _ = _nearest(first.shape, Q @ A, x + Q @ (a - x), second.shape, B, b)
                    found.append(x + Q.T @ (tilted - x))
                    gaps.append(float(normal @ (found[-1] - y)))
        return np.array(gaps), (np.array(found) - p[first.body]) @ R[first.body], normal


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


def _nearest(first: Any, A: Array, a: Array, second: Any, B: Array, b: Array) -> tuple[float, Array, Array, Array]:
    """Signed distance, nearest points of both, and the normal from the second to the first."""
    coal = _coal()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    distance = coal.distance(first, coal.Transform3s(A, a), second, coal.Transform3s(B, b), request, result)
    return distance, result.getNearestPoint1(), result.getNearestPoint2(), -result.normal
