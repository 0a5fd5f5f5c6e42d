"""One contact, compiled for all at once: how fast its gap opens, and what forces along its normal and tangents do to bodies.

Both bodies are told by their poses in the world, R and p, and velocities V in body axes; x is the point on the first, in its
axes, n the normal in world axes. The world is a body at rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.graph import Graph, sqrt, where
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.contact.laws import positive
from kinetree.spatial.rotations import cross
from kinetree.spatial.scalars import Array, Scalar, array

POSES: tuple[tuple[int, ...], ...] = ((3, 3), (3,), (3, 3), (3,))


def rate(R: Array, p: Array, R_other: Array, p_other: Array, V: Array, V_other: Array, x: Array, n: Array) -> Scalar:
    """ġ = n · (velocity of x − velocity of the other body there)."""
    there = R_other.T @ (p + R @ x - p_other)
    u = R @ (V[3:] + cross(V[:3], x)) - R_other @ (V_other[3:] + cross(V_other[:3], there))
    return n @ u


def wrenches(R: Array, p: Array, R_other: Array, p_other: Array, x: Array, n: Array) -> tuple[Array, Array, Array]:
    """Normal and tangents as rows (3, 3), world axes; what unit forces along them are on both bodies (3, 6), in their axes."""
    there, N = R_other.T @ (p + R @ x - p_other), frame(n)
    return N, _moments(x, N @ R), _moments(there, -(N @ R_other))


def _moments(r: Array, D: Array) -> Array:
    return array([[*cross(r, d), *d] for d in D])


def frame(n: Array) -> Array:
    """Rows n, t₁, t₂ (3, 3), as `kinetree.contact.contacts.frame`."""
    x, y, z = n * (1.0 / sqrt(n @ n))
    sign = where(positive(-z), -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return array([[x, y, z], [1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]])


@cache
def kernel(function: Callable[..., Any]) -> np.ufunc:
    """`rate` or `wrenches`, one contact after another."""
    shapes = (*POSES, *(((6,), (6,)) if function is rate else ()), (3,), (3,))

    def sources() -> Any:
        graph = Graph()
        given = [graph.input(shape) for shape in shapes]
        found = function(*given)
        return straight_source(graph, given, found if isinstance(found, tuple) else [np.array(found)]), None

    name = function.__name__
    return build_once(name, f"{name} of contacts between moving bodies.", (kernel.__wrapped__, name), sources, warn=False)
