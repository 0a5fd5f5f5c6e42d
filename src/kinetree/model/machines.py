"""Named examples beyond the source documents: a crane, a gimballed antenna, a hand, a humanoid; all of uniform solids."""

from __future__ import annotations

import numpy as np

from kinetree.model.bodies import Body
from kinetree.model.joints import Free, Prismatic, Revolute, Spherical, Universal, Weld
from kinetree.model.model import Model
from kinetree.model.solids import body, box, rod

X, Y, Z = np.eye(3)


def crane() -> Model:
    """A gantry and a trolley on it carry a load on a cable that swings both ways and is wound in and out."""
    return Model(
        (
            body("gantry", None, Prismatic(Y), [0, 0, 12], box(3000.0, [10.0, 1.0, 1.0])),
            body("trolley", "gantry", Prismatic(X), [0, 0, 0], box(600.0, [1.0, 1.0, 0.5])),
            body("cable", "trolley", Universal(X, Y), [0, 0, 0], box(20.0, [0.3, 0.3, 0.3])),
            body("load", "cable", Prismatic(-Z), [0, 0, -4], box(1000.0, [2.0, 1.0, 1.0])),
        ),
        name="crane",
    )


def gimballed_antenna() -> Model:
    """A dish on two gimbals, azimuth and elevation, on a free bus far from any gravity. The dish looks along its z."""
    return Model(
        (
            body("bus", None, Free(), [0, 0, 0], box(40.0, [0.8, 0.8, 1.0])),
            body("azimuth", "bus", Revolute(Z), [0, 0, 0.55], rod(1.5, 0.3 * Z, 0.08)),
            body("elevation", "azimuth", Revolute(Y), [0, 0, 0.3], box(6.0, [1.2, 1.2, 0.2], [0, 0, 0.15])),
        ),
        gravity=(0.0, 0.0, 0.0),
        name="gimballed-antenna",
    )


def hand() -> Model:
    """Three fingers and a thumb of four joints each on a palm that is held: sideways, then three that bend."""
    bodies = [body("palm", None, Weld(), [0, 0, 0], box(0.4, [0.02, 0.11, 0.1], [0, 0, 0.05]))]
    for name, at, up in (
        ("index", [0.0, 0.045, 0.1], Z),
        ("middle", [0.0, 0.0, 0.105], Z),
        ("ring", [0.0, -0.045, 0.1], Z),
        ("thumb", [0.01, 0.06, 0.03], Y),
    ):
        bend = np.cross(up, X)
        parent = "palm"
        links = (("knuckle", X, 0.016), ("proximal", bend, 0.054), ("middle", bend, 0.038), ("tip", bend, 0.03))
        for link, axis, length in links:
            bodies.append(body(f"{name} {link}", parent, Revolute(axis), at, rod(1.2 * length, length * up, 0.008)))
            parent, at = bodies[-1].name, length * up
    return Model(tuple(bodies), name="hand")


def humanoid() -> Model:
    """A person of 70 kg and 1.7 m, arms hanging: x forward, y to the left, z up; the pelvis free."""
    bodies = [
        body("pelvis", None, Free(), [0, 0, 0], box(11.0, [0.15, 0.3, 0.2])),
        body("chest", "pelvis", Spherical(), [0, 0, 0.1], box(25.0, [0.2, 0.35, 0.45], [0, 0, 0.225])),
        body("head", "chest", Universal(Y, Z), [0, 0, 0.47], box(5.0, [0.18, 0.15, 0.25], [0, 0, 0.13])),
    ]
    for side, y in (("left", 1.0), ("right", -1.0)):
        bodies += _arm(side, y) + _leg(side, y)
    return Model(tuple(bodies), name="humanoid")


def _arm(side: str, y: float) -> list[Body]:
    return [
        body(f"{side} upper arm", "chest", Spherical(), [0, 0.22 * y, 0.4], rod(2.0, -0.3 * Z, 0.045)),
        body(f"{side} forearm", f"{side} upper arm", Revolute(-Y), [0, 0, -0.3], rod(1.6, -0.42 * Z, 0.035)),
    ]


def _leg(side: str, y: float) -> list[Body]:
    return [
        body(f"{side} thigh", "pelvis", Spherical(), [0, 0.1 * y, -0.08], rod(7.0, -0.43 * Z, 0.07)),
        body(f"{side} shin", f"{side} thigh", Revolute(Y), [0, 0, -0.43], rod(3.2, -0.42 * Z, 0.05)),
        body(f"{side} foot", f"{side} shin", Universal(Y, X), [0, 0, -0.42], box(1.0, [0.25, 0.09, 0.06], [0.07, 0, -0.03])),
    ]
