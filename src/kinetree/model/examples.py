"""Named examples: the systems of the source documents, a serial arm with plausible inertias, and machines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.bodies import Inertia
from kinetree.model.joints import Free, Prismatic, Revolute
from kinetree.model.machines import crane, gimballed_antenna, hand, humanoid
from kinetree.model.model import Model
from kinetree.model.shapes import Points
from kinetree.model.solids import body, rod
from kinetree.spatial.scalars import Array

X, Y, Z = np.eye(3)


def _symmetric(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> Array:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def moving_base_pendulum() -> Model:
    """A pendulum hung from a cart that slides along x. Mass Matrix, example 1."""
    return Model(
        (
            body("cart", None, Prismatic(X), [0, 0, 0], Inertia(1.3, [0, 0, 0], _symmetric(0.01, 0.02, 0.03))),
            body("pendulum", "cart", Revolute(Z), [0, 0, 0], Inertia(0.7, [0, -0.8, 0], _symmetric(0.011, 0.013, 0.02))),
        ),
        gravity=(0.0, -9.81, 0.0),
        name="moving-base-pendulum",
    )


def double_pendulum() -> Model:
    """Two links that swing about x. Mass Matrix, example 2."""
    upper = Inertia(1.1, [0.02, 0.03, -0.4], _symmetric(0.06, 0.055, 0.012, 0.002, -0.001, 0.003))
    lower = Inertia(0.9, [-0.03, 0.01, -0.3], _symmetric(0.04, 0.038, 0.009, -0.001, 0.002, 0.001))
    return Model(
        (
            body("upper", None, Revolute(X), [0, 0, 0], upper),
            body("lower", "upper", Revolute(X), [0.05, 0.1, -0.8], lower),
        ),
        name="double-pendulum",
    )


def satellite() -> Model:
    """A free bus with two solar arrays, far from any gravity. Mass Matrix, example 3."""
    bus = Inertia(4.0, [0.05, -0.04, 0.03], _symmetric(0.5, 0.45, 0.6, 0.02, -0.01, 0.03))
    left = Inertia(0.6, [0.02, 0.5, -0.01], _symmetric(0.06, 0.004, 0.062, 0.001, 0.0, 0.0005))
    right = Inertia(0.7, [0.01, -0.55, 0.02], _symmetric(0.07, 0.005, 0.073, -0.001, 0.0002, 0.0004))
    return Model(
        (
            body("bus", None, Free(), [0, 0, 0], bus),
            body("left array", "bus", Revolute(X), [0.1, 0.6, 0.05], left),
            body("right array", "bus", Revolute(X), [-0.1, -0.6, 0.02], right),
        ),
        gravity=(0.0, 0.0, 0.0),
        name="satellite",
    )


def three_link_arm() -> Model:
    """A turning column, an upper arm and a forearm. Mass Matrix, example 4."""
    column = Inertia(1.5, [0.01, -0.02, 0.2], _symmetric(0.05, 0.052, 0.01, 0.001, 0.002, -0.001))
    upper = Inertia(1.2, [0.01, 0.3, 0.02], _symmetric(0.04, 0.006, 0.041, 0.001, 0.0, 0.002))
    fore = Inertia(0.8, [-0.02, 0.25, 0.03], _symmetric(0.03, 0.004, 0.031, -0.001, 0.001, 0.0005))
    return Model(
        (
            body("column", None, Revolute(Z), [0, 0, 0], column),
            body("upper arm", "column", Revolute(X), [0.03, 0.02, 0.4], upper),
            body("forearm", "upper arm", Revolute(X), [0.02, 0.6, -0.01], fore),
        ),
        name="three-link-arm",
    )


def two_link_impact() -> Model:
    """Two equal uniform links in the horizontal plane; the tip can touch. Chain Impulse, section 3 (rods: I = m L²/12)."""
    m, L = 1.5, 0.8
    rod = Inertia(m, [L / 2, 0, 0], np.diag([0.0, m * L**2 / 12, m * L**2 / 12]))
    return Model(
        (
            body("link 1", None, Revolute(Z), [0, 0, 0], rod),
            body("link 2", "link 1", Revolute(Z), [L, 0, 0], rod),
        ),
        gravity=(0.0, 0.0, 0.0),
        name="two-link-impact",
    ).with_shapes({"link 2": Points([[L, 0.0, 0.0]])})


def ten_body_tree() -> Model:
    """The tree of Hamilton's figure 2 with revolute joints about x, y and z in turn and rods for links."""
    parents = (0, 1, 1, 3, 3, 5, 4, 7, 1, 9)
    bodies = []
    for k, parent in enumerate(parents, start=1):
        axis = (Z, X, Y)[k % 3]
        link = 0.4 * np.array([(X + 0.5 * Z), (Y - X), (Z + 0.3 * X)][k % 3])
        name, at = (f"body {parent}", bodies[parent - 1].inertia.com * 2.0) if parent else (None, np.zeros(3))
        bodies.append(body(f"body {k}", name, Revolute(axis), at, rod(1.0 + 0.1 * k, link)))
    return Model(tuple(bodies), name="ten-body-tree")


def planar_2r() -> Model:
    """Two links in the vertical xy plane, gravity along −y. Lagrange, figure of the planar arm."""
    first = Inertia(1.2, [0.35, 0, 0], np.diag([0.05, 0.05, 0.05]))
    second = Inertia(0.8, [0.3, 0, 0], np.diag([0.03, 0.03, 0.03]))
    return Model(
        (
            body("link 1", None, Revolute(Z), [0, 0, 0], first),
            body("link 2", "link 1", Revolute(Z), [0.7, 0, 0], second),
        ),
        gravity=(0.0, -9.81, 0.0),
        name="planar-2r",
    )


def serial_arm() -> Model:
    """A seven-joint arm of uniform rods, alternately rolling about its length and bending."""
    lengths = (0.34, 0.2, 0.2, 0.2, 0.2, 0.19, 0.12)
    masses = (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.3)
    bodies, at = [], np.zeros(3)
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        parent = bodies[-1].name if bodies else None
        bodies.append(body(f"link {k + 1}", parent, Revolute((Z, Y)[k % 2]), at, rod(mass, length * Z)))
        at = length * Z
    return Model(tuple(bodies), name="serial-arm")


_MAKERS: dict[str, Callable[[], Model]] = {
    "moving-base-pendulum": moving_base_pendulum,
    "double-pendulum": double_pendulum,
    "satellite": satellite,
    "three-link-arm": three_link_arm,
    "two-link-impact": two_link_impact,
    "ten-body-tree": ten_body_tree,
    "planar-2r": planar_2r,
    "serial-arm": serial_arm,
    "crane": crane,
    "gimballed-antenna": gimballed_antenna,
    "hand": hand,
    "humanoid": humanoid,
}
EXAMPLES = tuple(_MAKERS)


def example(name: str) -> Model:
    """A named example; `ModelError` listing the names that exist."""
    if name not in _MAKERS:
        raise ModelError(f"no example named {name!r}. Examples: {', '.join(EXAMPLES)}.")
    return _MAKERS[name]()
