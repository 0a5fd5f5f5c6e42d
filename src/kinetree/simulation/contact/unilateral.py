"""What cannot be passed: surfaces of bodies and ends of joints, as one list of gaps g ≥ 0 with their rates ġ = J v."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from kinetree.algorithms import kinematics
from kinetree.compiler.compile import kernel_of
from kinetree.contact.gaps import candidates
from kinetree.contact.patches import corners
from kinetree.contact.scene import Scene
from kinetree.errors import InputError
from kinetree.model import GROUND, Model
from kinetree.simulation.contact import points
from kinetree.simulation.contact.directions import Directions
from kinetree.simulation.contact.ends import ends_of
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """n constraints at a state: gap (n,) [m or rad] and its rate; of contacts the points and normals; R, p, V: how bodies are
    placed and move, the world last.
    """

    q: Array
    v: Array
    gap: Array
    rate: Array
    points: Array
    normals: Array
    R: Array
    p: Array
    V: Array


@final
class Recent:
    """The last few results of a function of arrays, by their bytes."""

    def __init__(self, function: Callable[..., Any], count: int = 4) -> None:
        self._function, self._count = function, count
        self._kept: dict[tuple[bytes, ...], Any] = {}

    def __call__(self, *given: Array) -> Any:
        key = tuple(x.tobytes() for x in given)
        if key not in self._kept:
            if len(self._kept) == self._count:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._function(*given)
        return self._kept[key]


@final
class Unilateral:
    """m contacts of a model in a scene, then the ends of its joints: n constraints in all.

    names; bodies (n, 2), both that a constraint acts between, −1 for the ground; friction (n,), restitution (n,), those of
    joint ends being zero; seen(q, v), a `Seen`.
    """

    def __init__(self, model: Model, scene: Scene) -> None:
        found = candidates(model, scene)
        if not isinstance(scene.pairs, tuple) and not model.shapes:
            raise InputError(
                f"contact: no body of {model.name!r} has shapes, so that nothing can touch. Give it some, model.with_shapes"
                "({body: kinetree.contact.Sphere(0.1)}), or ask for the ends of its joints alone, Scene(pairs=[])."
            )
        self._touching = Recent(found.at) if found.count else None
        self._ends = ends_of(model, scene.limits)
        sides = np.array(found.bodies, dtype=int).reshape(-1, 2)
        self._own, self._other = (np.ascontiguousarray(side) for side in sides.T)
        ends = self._ends.body
        self.bodies = np.concatenate([sides, np.stack([ends, np.array(model.parents, dtype=int)[ends]], axis=1)])
        self.contacts = found.count
        still = np.zeros(len(self._ends.names))
        self.names = (*found.names, *self._ends.names)
        self.friction = np.concatenate([found.friction, still])
        self.restitution = np.concatenate([found.restitution, still])
        self._motions = kernel_of(kinematics.body_motions, model)
        self.seen: Final[Callable[[Array, Array], Seen]] = Recent(self._seen)

    def gap(self, q: Array) -> Array:
        """g (n,)."""
        ends = self._ends.gap(q)
        return ends if self._touching is None else np.concatenate([self._touching(q)[0], ends])

    def _seen(self, q: Array, v: Array) -> Seen:
        R, p, V = (np.concatenate(pair) for pair in zip(self._motions(q, v), WORLD, strict=True))
        gap, rate = self._ends.gap(q), self._ends.side * v[self._ends.v_index]
        if self._touching is None:
            return Seen(q, v, gap, rate, np.empty((0, 3)), np.empty((0, 3)), R, p, V)
        own, other = self._own, self._other
        apart, x, n = self._touching(q)
        moving = points.kernel(points.rate)(*_placed(R, p, own, other), V.take(own, 0), V.take(other, 0), x, n)
        return Seen(q, v, np.concatenate([apart, gap]), np.concatenate([moving, rate]), x, n, R, p, V)

    def essential(self, seen: Seen, which: Array) -> Array:
        """Those among `which` from which the others follow: of contacts on one face, its corners."""
        contacts = which[which < self.contacts]
        if len(contacts) < 4:
            return which
        own = self._own[contacts]
        points = seen.p[own] + (seen.R[own] @ seen.points[contacts][:, :, None])[:, :, 0]
        keep = corners(self.bodies[contacts].tolist(), points, seen.normals[contacts], seen.gap[contacts])
        return np.concatenate([contacts[keep], which[len(contacts) :]])

    def directions(self, seen: Seen, which: Array) -> Directions:
        """Of those among `which`."""
        k = int(np.count_nonzero(which < self.contacts))
        contacts, ends = which[:k], which[k:] - self.contacts
        own, other, place = self._own[contacts], self._other[contacts], (self._ends.v_index[ends], self._ends.side[ends])
        if k == 0:
            none = np.empty((0, 3, 6))
            return Directions(own, other, np.empty((0, 3, 3)), none, none, *place)
        poses = _placed(seen.R, seen.p, own, other)
        N, W, W_other = points.kernel(points.wrenches)(*poses, seen.points[contacts], seen.normals[contacts])
        return Directions(own, other, N, W, W_other, *place)


WORLD: Final = np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 6))
"""R, p, V of the world, which is body −1."""


def _placed(R: Array, p: Array, own: Array, other: Array) -> tuple[Array, Array, Array, Array]:
    return R.take(own, 0), p.take(own, 0), R.take(other, 0), p.take(other, 0)


START: Final = 1e-6
"""Penetration [m or rad] up to which a start counts as touching."""


def check_scene(given: Any, earlier: Run | None) -> None:
    """`InputError` unless it is a scene, or None where the run to go on from had none."""
    if given is None and earlier is not None and earlier.contacts:
        raise InputError(
            "the run to go on from had contacts, and a scene is not part of a run: give contact= again, or --floor; "
            "contact=Scene(pairs=[], limits=False) goes on without."
        )
    if given is not None and not isinstance(given, Scene):
        raise InputError(
            f"contact must be a kinetree.contact.Scene, found {type(given).__name__}. "
            "Scene() is a floor at z = 0 under everything that has shapes."
        )


def check_start(constraints: Unilateral, q: Array) -> None:
    """`InputError` naming what has penetrated at the start of a simulation (nq,)."""
    gap = constraints.gap(q)
    if gap.size and gap.min() < -START:
        k = int(np.argmin(gap))
        deep = np.flatnonzero(gap < -START)
        more = f", and {len(deep) - 1} more" if len(deep) > 1 else ""
        if k < constraints.contacts:
            way = (
                "Start higher, or with the ground lower: Scene(ground=Plane(offset=...)), --floor HEIGHT."
                if constraints.bodies[k, 1] == GROUND
                else "Start apart, or leave out what overlaps: kinetree.contact.apart(model, scene, q0) is the scene without; "
                'Scene(pairs="ground") has contacts with the ground alone.'
            )
            raise InputError(
                f"q0 penetrates: {constraints.names[k]} by {-gap[k]:.4g} m{more}; at most {START:g} m counts as touching. {way}"
            )
        raise InputError(
            f"q0 is {-gap[k]:.4g} beyond the {constraints.names[k]}{more}; at most {START:g} counts as touching. "
            "Start within the limits, or use Scene(limits=False), which leaves them to the springs of the joints."
        )
