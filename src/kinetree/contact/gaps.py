"""Gaps: how far the shapes of a model are from what they may touch, where they would, and along which normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinetree.algorithms import kinematics
from kinetree.contact.distances import contact
from kinetree.contact.features import Feature, features
from kinetree.contact.scene import Scene, coefficients, pairs_of
from kinetree.errors import InputError
from kinetree.evaluation import evaluate
from kinetree.model import GROUND, Model
from kinetree.spatial.scalars import Array, array


class Touching(NamedTuple):
    """Of m candidate contacts, with any leading batch axes.

    Attributes
    ----------
    gap (..., m) [m] : negative where shapes penetrate
    points (..., m, 3) [m] : on the surface of the first body, in its axes
    normals (..., m, 3) : towards the first body, world axes, length 1
    """

    gap: Array
    points: Array
    normals: Array


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """The m contacts that a model may come to have in a scene, always the same ones in the same order.

    Attributes
    ----------
    bodies : (first body, second body or −1 for the ground) of each, by index
    friction, restitution (m,)
    names : of each, for messages
    """

    model: Model
    bodies: tuple[tuple[int, int], ...]
    friction: Array
    restitution: Array
    names: tuple[str, ...]
    features: tuple[Any, ...]

    @property
    def count(self) -> int:
        """m."""
        return len(self.bodies)

    def at(self, q: Any) -> Touching:
        """Gaps, points and normals at q (..., nq). Raises InputError."""
        if not self.features:
            batch = np.shape(q)[:-1]
            return Touching(np.zeros((*batch, 0)), np.zeros((*batch, 0, 3)), np.zeros((*batch, 0, 3)))
        return Touching(*evaluate(touching, self.model, q, features=self.features))


def candidates(model: Model, scene: Scene) -> Candidates:
    """The contacts that a model may come to have in a scene.

    Raises
    ------
    InputError
        No model, no scene; a pair names an unknown body, the same body twice, one without shapes, or shapes that cannot touch.
    """
    pairs = pairs_of(model, scene)
    mu, epsilon = (coefficients(model, scene, name, pairs) for name in ("friction", "restitution"))
    found: list[Feature] = []
    of_pair: list[int] = []
    for n, pair in enumerate(pairs):
        own = list(features(pair))
        if not own and scene.pairs is not None:
            raise InputError(
                f"pairs of a scene: a {pair.shape.geometry.kind} of body {model.body_names[pair.first]!r} and a "
                f"{pair.other.geometry.kind} have nothing that could touch."
            )
        found += own
        of_pair += [n] * len(own)
    return Candidates(
        model,
        tuple(feature.bodies for feature in found),
        np.array(mu)[of_pair],
        np.array(epsilon)[of_pair],
        tuple(_name(model, feature) for feature in found),
        tuple((*feature[:4], tuple(map(float, feature.numbers))) for feature in found),
    )


def touching(model: Model, q: Array, *, features: tuple[Any, ...]) -> tuple[Array, Array, Array]:
    """Gaps (m,), points (m, 3) and normals (m, 3) of features."""
    poses = [*kinematics.poses(model, q), kinematics.ORIGIN]  # the world is body −1
    found = [contact(kind, swapped, poses[a], poses[b], np.array(x)) for kind, a, b, swapped, x in features]
    return tuple(array(list(part)) for part in zip(*found, strict=True))  # type: ignore[return-value]


def _name(model: Model, feature: Feature) -> str:
    first, second = (f"{model.body_names[k]!r}" if k != GROUND else "the ground" for k in feature.bodies)
    return f"{first} and {second}: {feature.name}"
