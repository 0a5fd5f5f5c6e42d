"""The same mechanism by fewer numbers: frames and inertias chosen so that its equations hold more zeros.

Joints do not notice where along its axis, and how turned about it, the frame of a body sits. Sums over bodies do not notice
either whether mass on that axis belongs to the body or to its parent (base inertial parameters). So the mass matrix, joint
forces and accelerations of the lean model are the model's own. Poses, wrenches and inertias of its bodies are not:
`LeanBody.frame` leads from one to the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from kinetree.model.bodies import Body, Pose
from kinetree.model.joints import Joint, JointWithAxis, Prismatic, Weld
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.rotations import rotation_about, skew
from kinetree.spatial.scalars import Array

MOST_SEARCHED: Final = 300
"""Bodies up to which frames are chosen. The sweeps of more run as loops, to which a zero in one body is no help."""
ROUNDING: Final = 16 * np.finfo(float).eps
OWN: Final = Pose()
TURN, SHIFT, ANY = 28, 14, 150
"""Operations that a congruence takes for a turn, for a coordinate of a shift, and for a rotation that is neither."""


@final
@dataclass(frozen=True, eq=False)
class LeanBody:
    """A joint, where it sits on the parent, the pseudo-inertia (4, 4) it carries, in lean frames, and its armature (nv,).

    `frame` is the lean frame seen from the body's own.
    """

    joint: Joint
    placement: Pose
    pseudo_inertia: Array
    frame: Pose
    armature: Array


@final
@dataclass(frozen=True, eq=False)
class LeanModel:
    """What the sweeps of dynamics need of a model, in lean frames."""

    tree: Tree
    bodies: tuple[LeanBody, ...]
    q_slices: tuple[slice, ...]
    v_slices: tuple[slice, ...]
    gravity: Array

    @cached_property
    def pseudo_inertias(self) -> tuple[Array, ...]:
        """J of each body (4, 4)."""
        return tuple(body.pseudo_inertia for body in self.bodies)

    @cached_property
    def inertias(self) -> tuple[Array, ...]:
        """M of each body (6, 6)."""
        return tuple(once_each(inertia_matrix, self.pseudo_inertias))

    @cached_property
    def joint_inertias(self) -> tuple[Array, ...]:
        """Γ of each joint (nv_k, nv_k)."""
        return tuple(once_each(np.diag, [body.armature for body in self.bodies]))

    @cached_property
    def grouped(self) -> LeanModel:
        """The same with as much mass as possible carried by parents.

        Sums over bodies lose nothing by it. The Riccati equation would: what is left of a heavy body in the direction that a
        joint frees became a difference of large numbers.
        """
        found = list(self.bodies)
        for k in reversed(self.tree.order):
            Q, J, parent = found[k].joint.unmoved(), found[k].pseudo_inertia, self.tree.parents[k]
            carried = Q @ J @ Q
            found[k] = replace(found[k], pseudo_inertia=J - carried)
            if parent != GROUND:
                X = _homogeneous(found[k].placement.rotation, found[k].placement.translation)
                found[parent] = replace(found[parent], pseudo_inertia=found[parent].pseudo_inertia + X @ carried @ X.T)
        return replace(self, bodies=tuple(found))

    @cached_property
    def frames(self) -> tuple[Pose, ...]:
        """Each lean frame seen from the body's own."""
        return tuple(body.frame for body in self.bodies)


def once_each(function: Callable[[Any], Any], objects: Sequence[Any]) -> list[Any]:
    """What a function makes of objects, made once where the same object comes again."""
    made: dict[int, Any] = {}
    for x in objects:
        if id(x) not in made:
            made[id(x)] = function(x)
    return [made[id(x)] for x in objects]


def lean_bodies(bodies: Sequence[Body], tree: Tree) -> tuple[LeanBody, ...]:
    """The bodies in frames that leave few numbers; of more than `MOST_SEARCHED`, in their own."""
    if len(bodies) > MOST_SEARCHED:
        moments = once_each(lambda inertia: inertia.pseudo_inertia, [body.inertia for body in bodies])
        return tuple(
            LeanBody(body.joint, body.placement, J, OWN, body.dynamics.armature)
            for body, J in zip(bodies, moments, strict=True)
        )
    search = _Search(bodies, tree)
    search.run()
    return tuple(search.body(k) for k in range(len(bodies)))


def inertia_matrix(J: Array) -> Array:
    """M (6, 6) of a pseudo-inertia: [[tr(Σ) 1 − Σ, h~], [−h~, m 1]]."""
    second, h, m = J[:3, :3], skew(J[:3, 3]), J[3, 3]
    return np.block([[np.trace(second) * np.eye(3) - second, h], [-h, m * np.eye(3)]])


@final
class _Search:
    """Frames (4, 4) seen from the bodies' own, improved one at a time for as long as that saves operations."""

    def __init__(self, bodies: Sequence[Body], tree: Tree) -> None:
        self.bodies, self.tree = bodies, tree
        self.axes = [body.joint.axis if isinstance(body.joint, JointWithAxis) else None for body in bodies]
        self.placements = [_homogeneous(body.placement.rotation, body.placement.translation) for body in bodies]
        self.frames = [np.eye(4)] * len(bodies)

    def run(self) -> None:
        """Twice over the tree; a frame changes only if that is cheaper."""
        for k, axis in enumerate(self.axes):
            if axis is not None and np.count_nonzero(axis) > 1:
                self.frames[k] = _homogeneous(_onto_z(axis), np.zeros(3))
        for _, k in itertools.product(range(2), self.tree.order):
            affected = (k, *self.tree.children[k])
            found = [
                (self.costs(affected, k, frame), n, frame) for n, frame in enumerate((self.frames[k], *self.candidates(k)))
            ]
            self.frames[k] = min(found, key=lambda x: x[:2])[2]

    def body(self, k: int) -> LeanBody:
        """The body in its lean frame."""
        body, X = self.bodies[k], _inverse(self.frames[k])
        joint = replace(body.joint, axis=self.axis(k)) if isinstance(body.joint, JointWithAxis) else body.joint
        J = X @ body.inertia.pseudo_inertia @ X.T
        return LeanBody(joint, _pose(self.placement(k)), J, _pose(self.frames[k]), body.dynamics.armature)

    def placement(self, k: int) -> Array:
        """Where the joint sits in the parent's lean frame."""
        parent = self.tree.parents[k]
        before = np.eye(4) if parent == GROUND else _inverse(self.frames[parent])
        return _snapped(before @ self.placements[k] @ self.frames[k])

    def axis(self, k: int) -> Array:
        """The joint's axis in the lean frame; zero if it has none."""
        axis = self.axes[k]
        return np.zeros(3) if axis is None else _rounded(axis @ self.frames[k][:3, :3])

    def candidates(self, k: int) -> Iterator[Array]:
        """Frames in which a coordinate of a shift, or a turn, of this body or of one that it carries vanishes."""
        joint, now, placement = self.bodies[k].joint, self.frames[k], self.placement(k)
        if isinstance(joint, (Prismatic, Weld)):
            yield now @ _inverse(placement)
        elif isinstance(joint, JointWithAxis):
            axis = self.axis(k)
            carried = [self.placement(child) for child in self.tree.children[k]]
            directions = [X[:3, 3] for X in carried]
            directions += [X[:3, :3] @ a for X, a in zip(carried, map(self.axis, self.tree.children[k]), strict=True)]
            shifts = {0.0, -float(placement[:3, 3] @ placement[:3, :3] @ axis), *(float(X[:3, 3] @ axis) for X in carried)}
            rolls = {0.0, *(_azimuth(direction, axis) for direction in directions)}
            for shift, roll in itertools.product(sorted(shifts), sorted(rolls)):
                yield now @ _homogeneous(_rounded(rotation_about(axis, roll)), shift * axis)

    def costs(self, bodies: Sequence[int], k: int, frame: Array) -> float:
        """Of the congruences by the placements of some bodies, with another frame for body k."""
        self.frames[k], before = frame, self.frames[k]
        found = sum(map(self.cost, bodies))
        self.frames[k] = before
        return found

    def cost(self, k: int) -> float:
        """Of one congruence by the placement of a body."""
        X, joint = self.placement(k).tolist(), self.bodies[k].joint
        shifts = float(SHIFT * sum(X[i][3] != 0.0 for i in range(3)))
        if all(abs(X[i][j]) in (0.0, 1.0) for i in range(3) for j in range(3)):
            return shifts
        if isinstance(joint, Prismatic) or not isinstance(joint, JointWithAxis):
            return shifts + ANY
        along = self.axis(k).tolist()
        column = [abs(sum(X[i][j] * along[j] for j in range(3))) for i in range(3)]
        zeros = sum(x < ROUNDING for x in column)
        return shifts + TURN * (2 - zeros if zeros < 2 else 0)


def _azimuth(direction: Array, axis: Array) -> float:
    """How far about a coordinate axis a direction lies from the next one."""
    k = int(np.argmax(abs(axis)))
    x, y = direction[(k + 1) % 3], direction[(k + 2) % 3]
    return 0.0 if math.hypot(x, y) < ROUNDING else float(axis[k]) * math.atan2(y, x)


def _onto_z(axis: Array) -> Array:
    """A rotation (3, 3) that takes z to an axis."""
    x = np.cross(axis, np.eye(3)[int(np.argmin(abs(axis)))])
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def _homogeneous(R: Array, t: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, t
    return X


def _inverse(X: Array) -> Array:
    R = X[:3, :3].T
    return _homogeneous(R, -R @ X[:3, 3])


def _pose(X: Array) -> Pose:
    return Pose(X[:3, :3], X[:3, 3])


def _snapped(X: Array) -> Array:
    """The pose with what only rounding keeps from 0 and ±1 there."""
    size = max(1.0, float(np.abs(X[:3, 3]).max()))
    return _homogeneous(_rounded(X[:3, :3]), np.where(abs(X[:3, 3]) < ROUNDING * size, 0.0, X[:3, 3]))


def _rounded(x: Array) -> Array:
    nearest = np.rint(x)
    return np.where(abs(x - nearest) < ROUNDING, nearest, x)
