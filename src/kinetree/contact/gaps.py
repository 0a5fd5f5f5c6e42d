"""Gaps: how far the shapes of a model are from what they may touch, where they would, and along which normal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np

from kinetree.algorithms import kinematics
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.contact.broad import GeneralPairs
from kinetree.contact.distances import FIELDS, SKELETONS, contact
from kinetree.contact.features import Feature, features, is_general
from kinetree.contact.general import GeneralPair, general_pairs, hull_of
from kinetree.contact.hulls import EACH, Hull, HullsOnPlane
from kinetree.contact.scene import Scene, coefficients, pairs_of
from kinetree.errors import InputError
from kinetree.evaluation import evaluate
from kinetree.model import GROUND, Mesh, Model, Plane
from kinetree.spatial.scalars import Array, array

MOST_TOGETHER: Final = 32
"""Candidates up to which one kernel goes from q to all of them; of more, one for each kind goes through all pairs of bodies."""
Plain = tuple[str, int, int, bool, tuple[float, ...]]
"""A feature without its name: what a kernel is made of, and kept by."""


@final
class Features(tuple[Plain, ...]):
    """Features by which a kernel is kept, hashed once."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:  # hashes of text differ from process to process
        return Features, (tuple(self),)


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
    features: Features
    groups: tuple[Group, ...]
    hulls: tuple[HullsOnPlane, ...]
    general: GeneralPairs

    def __repr__(self) -> str:
        return f"Candidates({self.count} contacts of {self.model.name!r})"

    @property
    def count(self) -> int:
        """m."""
        return len(self.bodies)

    def at(self, q: Any) -> Touching:
        """Gaps, points and normals at q (..., nq). Raises InputError."""
        if self.count <= MOST_TOGETHER and self.count == len(self.features):
            found = evaluate(touching, self.model, q, features=self.features) if self.count else ()
            return Touching(*found) if found else _nothing(np.shape(q)[:-1], 0)
        R, p = evaluate(kinematics.forward_kinematics, self.model, q)
        batch = R.shape[:-3]
        R = np.concatenate([R, np.broadcast_to(np.eye(3), (*batch, 1, 3, 3))], axis=-3)  # the world is body −1
        p = np.concatenate([p, np.zeros((*batch, 1, 3))], axis=-2)
        found = _nothing(batch, self.count)
        for group in self.groups:
            group.fill(found, R, p)
        start, bodies = len(self.features), self.model.nbodies + 1
        if start == self.count:
            return found
        R, p = R.reshape(-1, bodies, 3, 3), p.reshape(-1, bodies, 3)
        gap, points, normals = (x.reshape(len(R), *x.shape[len(batch) :]) for x in found)
        for hulls in self.hulls:
            hulls.fill(slice(start, start := start + hulls.count), gap, points, normals, R, p)
        if self.general.count:
            self.general.fill(slice(start, None), gap, points, normals, R, p)
        return found


@final
@dataclass(frozen=True, eq=False)
class Group:
    """Features of one kind that stand next to each other, c of each of several pairs of bodies: `where` they are among all.

    own, other (pairs,); numbers (c, pairs, size): NumPy then goes along the pairs, which are many.
    """

    kind: str
    is_swapped: bool
    where: slice
    own: Array
    other: Array
    numbers: Array

    def fill(self, found: Touching, R: Array, p: Array) -> None:
        """Write down what is found with bodies at R (..., n, 3, 3), p (..., n, 3)."""
        poses = [y for k in (self.own, self.other) for y in (R.take(k, -3)[..., None, :, :, :], p.take(k, -2)[..., None, :, :])]
        shape = (*p.shape[:-2], *self.numbers.shape[:2])
        gap, points, normals = found
        out = (
            gap[..., self.where].reshape(shape),
            points[..., self.where, :].reshape(*shape, 3),
            normals[..., self.where, :].reshape(*shape, 3),
        )
        _kernel(self.kind, self.is_swapped)(*poses, self.numbers, out=out)


def candidates(model: Model, scene: Scene) -> Candidates:
    """The contacts that a model may come to have in a scene.

    Raises
    ------
    InputError
        No model, no scene; a pair names an unknown body, the same body twice, one without shapes, or shapes that cannot touch;
        a mesh is not found or has no hull.
    MissingExtraError
        Cylinders or meshes, and coal is not installed.
    """
    pairs = pairs_of(model, scene)
    mu, epsilon = (coefficients(model, scene, name, pairs) for name in ("friction", "restitution"))
    runs: dict[Any, list[tuple[int, list[Feature]]]] = {}
    hulls: dict[tuple[int, int], tuple[Any, list[tuple[int, Hull]]]] = {}
    general: list[tuple[int, GeneralPair]] = []
    for n, pair in enumerate(pairs):
        if {type(pair.shape.geometry), type(pair.other.geometry)} == {Mesh, Plane}:
            hull, body, plane = hull_of(model, pair)
            hulls.setdefault((body, id(plane)), (plane, []))[1].append((n, hull))
            continue
        if is_general(pair):
            general += [(n, x) for x in general_pairs(model, pair)]
            continue
        of_pair = list(features(pair))
        if not of_pair and isinstance(scene.pairs, tuple):
            raise InputError(
                f"pairs of a scene: a {pair.shape.geometry.kind} of body {model.body_names[pair.first]!r} and a "
                f"{pair.other.geometry.kind} have nothing that could touch."
            )
        for key, run in itertools.groupby(of_pair, key=lambda x: (x.kind, x.is_swapped, x.own)):
            listed = list(run)
            runs.setdefault((*key[:2], len(listed)), []).append((n, listed))
    order = [(n, run[c]) for (*_, length), group in runs.items() for c in range(length) for n, run in group]
    found = [(n, feature.bodies, feature.name) for n, feature in order]
    on_planes = []
    for (body, _), (plane, listed) in hulls.items():
        on_planes.append(HullsOnPlane(tuple(hull for _, hull in listed), body, plane.geometry, plane.placement))
        found += [(n, (hull.body, body), hull.name) for n, hull in listed for _ in range(EACH)]
    found += [(n, (x.first.body, x.second.body), x.name) for n, x in general for _ in range(x.count)]
    return Candidates(
        model,
        tuple(bodies for _, bodies, _ in found),
        np.array([mu[n] for n, _, _ in found]),
        np.array([epsilon[n] for n, _, _ in found]),
        tuple(_name(model, bodies, name) for _, bodies, name in found),
        Features((*feature[:4], tuple(map(float, feature.numbers))) for _, feature in order),
        tuple(_groups(runs)),
        tuple(on_planes),
        GeneralPairs(tuple(x for _, x in general)),
    )


def touching(model: Model, q: Array, *, features: tuple[Plain, ...]) -> tuple[Array, Array, Array]:
    """Gaps (m,), points (m, 3) and normals (m, 3) of features."""
    poses = [*kinematics.poses(model, q), kinematics.ORIGIN]  # the world is body −1
    found = [contact(kind, swapped, poses[a], poses[b], np.array(x)) for kind, a, b, swapped, x in features]
    return tuple(array(list(part)) for part in zip(*found, strict=True))  # type: ignore[return-value]


@cache
def _kernel(kind: str, is_swapped: bool) -> np.ufunc:
    """(R, p of own, R, p of other, numbers) → gap, point, normal of one feature."""

    def sources() -> Any:
        skeleton, field = kind.split("-")
        graph = Graph()
        poses = [graph.input(shape) for shape in ((3, 3), (3,)) * 2]
        numbers = graph.input((SKELETONS[skeleton] + 1 + FIELDS[field][0],))
        return straight_source(graph, [*poses, numbers], contact(kind, is_swapped, poses[:2], poses[2:], numbers)), None

    doc = f"Gap, point and normal of {kind}: (R, p, R, p, numbers)."
    return build_once("contact", doc, (_kernel.__wrapped__, kind, is_swapped), sources, warn=False)


def _groups(runs: dict[Any, list[tuple[int, list[Feature]]]]) -> Iterator[Group]:
    start = 0
    for (kind, is_swapped, length), found in runs.items():
        stop = start + length * len(found)
        own, other = (np.array([getattr(run[0], side) for _, run in found]) for side in ("own", "other"))
        numbers = np.array([[run[c].numbers for _, run in found] for c in range(length)], dtype=float)
        yield Group(kind, is_swapped, slice(start, stop), own, other, numbers)
        start = stop


def _nothing(batch: tuple[int, ...], count: int) -> Touching:
    return Touching(np.empty((*batch, count)), np.empty((*batch, count, 3)), np.empty((*batch, count, 3)))


def _name(model: Model, bodies: tuple[int, int], name: str) -> str:
    first, second = (f"{model.body_names[k]!r}" if k != GROUND else "the ground" for k in bodies)
    return f"{first} and {second}: {name}"
