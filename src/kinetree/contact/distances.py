"""How far skeletons are from fields: traced, so that one definition is the kernel and the reference.

Each takes the skeleton in world axes, the field in axes of its body, and where that body is (R, p); and gives

    distance    of the nearest of the skeleton from the field, negative inside
    gradient    (3,) of the distance there, world axes: out of the field, length 1
    nearest     (3,) on the skeleton, world axes

where d distance = gradient · (velocity of skeleton − velocity of field) at `nearest`. The gradient has a value everywhere: z of
the body at the centre of a sphere, a direction across on the axis of a capsule, x before y before z where faces of a box are
equally near. Where a whole stretch of a segment is nearest, `nearest` is its middle; its start for edges of boxes,
which are asked both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.graph import sqrt, where
from kinetree.contact.extremes import clamped, lowest, unit
from kinetree.contact.laws import positive
from kinetree.contact.stabbing import LEVEL, WIDE, deepest, stabbing, stretch
from kinetree.spatial.scalars import Array, Scalar, array

SEAM: tuple[float, float, float] = (1e-3, 1e-4, 1e-5)
"""Overlap from which faces give way, by what part of what is more, and at most; the first and last by the size of the box."""

Found = tuple[Scalar, Array, Array]
"""distance, gradient, nearest"""


def point_plane(x: Array, plane: Array, R: Array, p: Array) -> Found:
    """A point (3,), and the plane n·x = d, plane = (n, d)."""
    n = R @ plane[:3]
    return n @ (x - p) - plane[3], n, x


def circle_plane(circle: Array, plane: Array, R: Array, p: Array) -> Found:
    """A circle, centre and axis (3,) as long as its radius, and a plane; the lowest of its points."""
    c, w = circle[:3], circle[3:]
    n, squared = R @ plane[:3], w @ w
    down = (n @ w) / squared * w - n
    steepness, along = unit(down, 0.0 * down)
    return n @ (c - p) - plane[3] - sqrt(squared) * steepness, n, c + sqrt(squared) * along


def point_point(x: Array, point: Array, R: Array, p: Array) -> Found:
    """Two points (3,)."""
    return *unit(x - p - R @ point[:3], R[:, 2]), x


def point_segment(x: Array, segment: Array, R: Array, p: Array) -> Found:
    """A point (3,) and a segment (start, to its end)."""
    start, e = R @ segment[:3] + p, R @ segment[3:6]
    u = clamped((x - start) @ e / (segment[3:6] @ segment[3:6]))
    return *unit(x - start - u * e, R @ across(segment[3:6])), x


def segment_segment(own: Array, segment: Array, R: Array, p: Array) -> Found:
    """Two segments (start, to its end)."""
    x, d = own[:3], own[3:]
    start, e = R @ segment[:3] + p, R @ segment[3:6]
    r, b, c = x - start, d @ e, segment[3:6] @ segment[3:6]
    ends = [_where_zero(r @ e, b), _where_zero(r @ e - c, b)]  # where along d the nearest of the other is its start, its end

    def gap(t: Scalar) -> Array:
        return r + t * d - clamped((r @ e + t * b) / c) * e

    t = lowest(gap, d, [0.0, 1.0, *ends])
    return *unit(gap(t), R @ across(segment[3:6])), x + t * d


def point_box(x: Array, box: Array, R: Array, p: Array) -> Found:
    """A point (3,), and a box (rotation by rows, shift, half edges) that takes body axes to its own."""
    turn, half = R @ box[:9].reshape(3, 3).T, box[12:]
    distance, gradient = _of_box(box[:9].reshape(3, 3) @ (R.T @ (x - p)) + box[9:12], half)
    return distance, turn @ gradient, x


def corner_box(own: Array, box: Array, R: Array, p: Array) -> Found:
    """A corner of a box (place, `solid`), and a box."""
    turn, y, (solid,) = _in_box(own, box, R, p, 0)
    distance, gradient = _of_box(y, box[12:] + seams(y, solid, box[12:]))
    return distance, turn @ gradient, own[:3]


def edge_box(own: Array, box: Array, R: Array, p: Array) -> Found:
    """An edge of a box (start, to its end, `solid`), and a box.

    Where it lies on a face, the first of what does is as a corner.
    """
    turn, a, (b, solid) = _in_box(own, box, R, p, 1)
    half = box[12:] + seams(a, solid, box[12:])
    distance, gradient, t = _line_of_box(a, b[0], half)
    first, last = stretch(a, b[0], half, distance)
    end, face = _of_box(a + first * b[0], half)
    lies = positive(last - first - WIDE)
    return where(lies, end, distance), turn @ where(lies, face, gradient), own[:3] + where(lies, first, t) * own[3:6]


def segment_box(own: Array, box: Array, R: Array, p: Array) -> Found:
    """A segment (start, to its end) and a box."""
    turn, a, (b, _) = _in_box(own, box, R, p, 1)
    distance, gradient, t = _line_of_box(a, b[0], box[12:])
    return distance, turn @ gradient, own[:3] + t * own[3:]


def seams(x: Array, solid: Array, half: Array) -> Array:
    """By how much the faces (3,) of a box stand out for another that reaches past them, and so does not touch them.

    A corner or an edge of a box that stands on another of the same size is on top of it and at its side at once, or by the
    last digit nearer to the side. So where the other box, `solid`, as seen from x, overlaps in the direction of a face by more
    than touching bodies do, that face gives way by a little.
    """
    start, rate, most = SEAM
    centre, edges, size = x + solid[0], solid[1:], sum(half)
    overlap = [half[k] + sum(abs(e[k]) for e in edges) - abs(centre[k]) for k in range(3)]
    return array([clamped(rate * (y - start * size), 0.0, most * size) for y in overlap])


def across(e: Array) -> Array:
    """A direction (3,) across another, of length 1."""
    x, y, z = e
    plane, upright = array([-y, x, 0.0 * z]), array([0.0 * x, -z, y])
    return unit(where(positive(x * x + y * y - z * z), plane, upright), e)[1]


def _in_box(own: Array, box: Array, R: Array, p: Array, directions: int) -> tuple[Array, Array, list[Array]]:
    """The rotation (3, 3) of a box, and in its axes a place (3,), directions (n, 3), and a `solid` (4, 3), if they follow."""
    turn = R @ box[:9].reshape(3, 3).T
    vectors = own[3:].reshape(-1, 3) @ turn
    parts = [vectors[:directions], vectors[directions:]] if directions else [vectors]
    return turn, turn.T @ (own[:3] - p) + box[9:12], parts


def _of_box(y: Array, half: Array) -> tuple[Scalar, Array]:
    """Distance of a point from a box about the origin, and its gradient."""
    inside, face = deepest(y, half)
    outside, gradient = unit(array([c - clamped(c, -h, h) for c, h in zip(y, half, strict=True)]), face)
    return where(positive(inside), outside, inside), gradient


def _line_of_box(a: Array, b: Array, half: Array) -> Found:
    """Distance of the segment a + t b from a box about the origin, its gradient, and t."""
    inside, normal, middle = stabbing(a, b, half)

    def gap(t: Scalar) -> Array:
        return array([y - clamped(y, -h, h) for y, h in zip(a + t * b, half, strict=True)])

    crossings = [_where_zero(a[i] + sign * half[i], b[i]) for i in range(3) for sign in (-1.0, 1.0)]
    t = lowest(gap, b, [0.0, 1.0, *crossings])
    outside, gradient = unit(gap(t), normal)
    is_as_near = positive(outside + 2.0 * LEVEL * sum(half) - unit(gap(middle), normal)[0])
    is_out = positive(inside)
    t = where(is_out, where(is_as_near, middle, t), middle)
    return where(is_out, outside, inside), where(is_out, gradient, normal), t


def _where_zero(value: Scalar, slope: Scalar) -> Scalar:
    """Where in [0, 1] the line value + t slope is 0; some place in [0, 1] if nowhere."""
    return clamped(-value / where(slope, slope, 1.0))


SKELETONS = {"point": 3, "circle": 6, "segment": 6, "corner": 15, "edge": 18}
"""Numbers of a skeleton besides its radius: a place, and directions; of a box that it belongs to, its centre as seen from the
place, and halves of three edges."""
FIELDS: dict[str, tuple[int, bool]] = {"plane": (4, False), "point": (4, True), "segment": (7, True), "box": (15, False)}
"""Numbers of a field, and whether the last is a radius."""
DISTANCES: dict[str, Callable[..., Found]] = {
    "point-plane": point_plane,
    "circle-plane": circle_plane,
    "point-point": point_point,
    "point-segment": point_segment,
    "segment-segment": segment_segment,
    "point-box": point_box,
    "corner-box": corner_box,
    "edge-box": edge_box,
    "segment-box": segment_box,
}


def contact(
    kind: str, is_swapped: bool, own: Sequence[Any], other: Sequence[Any], numbers: Array
) -> tuple[Scalar, Array, Array]:
    """Gap, point on the first body in its axes, and normal towards the first body in world axes, of one feature.

    own, other are the poses (R, p) of the bodies of skeleton and field; numbers as in `Feature`.
    """
    skeleton, field = kind.split("-")
    n, (size, has_radius) = SKELETONS[skeleton], FIELDS[field]
    (R, p), x, radius = own, numbers[:n], numbers[n]
    placed = np.concatenate([R @ x[:3] + p, *(R @ x[k : k + 3] for k in range(3, n, 3))])
    distance, gradient, nearest = DISTANCES[kind](placed, numbers[n + 1 :], *other)
    field_radius = numbers[n + size] if has_radius else 0.0
    gap = distance - (radius + field_radius)
    if is_swapped:
        R, p = other
        return gap, R.T @ (nearest + (field_radius - distance) * gradient - p), -gradient
    return gap, R.T @ (nearest - radius * gradient - p), gradient
