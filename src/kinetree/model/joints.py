"""One final class per kind of joint: what it lets move, seen from the body it carries.

Each gives `displacement(q)`, rotation and origin of the body frame in the joint frame; `H(q)` (nv, 6), Jain's joint map
in body axes, so that V = φ* V_parent + H* v; and `H_rate(q, v)` (nv, 6), Ḣ. Everything is written for any scalar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, final

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.checks import real_array, unit_vector
from kinetree.spatial.rotations import (
    conjugate,
    cross,
    inverse_translation_jacobian,
    normalized,
    quaternion_exponential,
    quaternion_logarithm,
    quaternion_product,
    rotation_about,
    rotation_of_quaternion,
    translation_jacobian,
)
from kinetree.spatial.scalars import Array, array
from kinetree.spatial.turns import NO_ROTATION, Rotation, about, of_matrix

ZERO3 = np.zeros(3)


@dataclass(frozen=True, eq=False, repr=False)
class Joint(ABC):
    """How a body may move against its parent: nq coordinates, nv velocities."""

    kind: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    quaternion: ClassVar[slice | None] = None
    """Where in q a unit quaternion stands."""
    angles: ClassVar[tuple[int, ...]] = ()
    """Which coordinates of q are angles [rad]; the others are lengths [m] or parts of a quaternion."""

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers that tell this joint from another of its kind: axes, then pitch."""
        return tuple(float(x) for f in fields(self) for x in np.ravel(getattr(self, f.name)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Joint) and (self.kind, self.parameters) == (other.kind, other.parameters)

    def __hash__(self) -> int:
        return hash((self.kind, self.parameters))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{f.name}={np.asarray(getattr(self, f.name)).tolist()}" for f in fields(self))
        return f"{type(self).__name__}({arguments})"

    @abstractmethod
    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        """Rotation and origin (3,) [m] of the body frame in the joint frame."""

    @abstractmethod
    def H(self, q: Array) -> Array:
        """Joint map (nv, 6) in body axes, rows [angular, linear]."""

    def H_rate(self, q: Array, v: Array) -> Array:
        """Ḣ (nv, 6): zero where H is constant in body axes."""
        return np.zeros((self.nv, 6))

    def unmoved(self) -> Array:
        """Q (4, 4): a body's pseudo-inertia J moves as well if the part Q J Q of it rides on the parent instead.

        That is mass on an axis of rotation, and second moments that a translation does not change.
        """
        return np.zeros((4, 4))

    def neutral(self) -> Array:
        """Coordinates (nq,) at which the body frame is the joint frame."""
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator, size: tuple[int, ...], lower: Array, upper: Array) -> Array:
        """Random coordinates (*size, nq), inside the limits where there are any, else within ±π rad and ±1 m."""
        reach = np.array([np.pi if k in self.angles else 1.0 for k in range(self.nq)])
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
        high = np.where(np.isfinite(upper), upper, low + 2 * reach)
        return rng.uniform(low, high, (*size, self.nq))

    def integrate(self, q: Array, dv: Array) -> Array:
        """Where the constant velocity dv, held for one unit of time, takes q."""
        return q + dv

    def difference(self, q0: Array, q1: Array) -> Array:
        """The dv (nv,) for which integrate(q0, dv) is q1."""
        return q1 - q0


def _projection(axis: Array, origin: float) -> Array:
    """diag(a a*/a*a, origin) (4, 4), onto points [r; 1] of an axis."""
    Q = np.zeros((4, 4))
    Q[:3, :3], Q[3, 3] = np.outer(axis, axis) / max(axis @ axis, np.finfo(float).tiny), origin
    return Q


@final
@dataclass(frozen=True, eq=False, repr=False)
class Weld(Joint):
    """No motion."""

    kind, nq, nv = "weld", 0, 0

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return NO_ROTATION, ZERO3

    def unmoved(self) -> Array:
        return np.eye(4)

    def H(self, q: Array) -> Array:
        return np.zeros((0, 6))


@dataclass(frozen=True, eq=False, repr=False)
class JointWithAxis(Joint):
    """A joint with one fixed unit axis (3,), given in the joint frame (and the same in body axes)."""

    axis: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, f"the axis of a {self.kind} joint"))


@final
class Revolute(JointWithAxis):
    """Rotation about an axis: q = [angle]."""

    kind, nq, nv, angles = "revolute", 1, 1, (0,)

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return about(self.axis, q[0]), ZERO3

    def unmoved(self) -> Array:
        return _projection(self.axis, 1.0)

    def H(self, q: Array) -> Array:
        return np.concatenate([self.axis, ZERO3])[None]


@final
class Prismatic(JointWithAxis):
    """Translation along an axis: q = [distance]."""

    kind, nq, nv = "prismatic", 1, 1

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return NO_ROTATION, self.axis * q[0]

    def unmoved(self) -> Array:
        return np.diag([1.0, 1.0, 1.0, 0.0])

    def H(self, q: Array) -> Array:
        return np.concatenate([ZERO3, self.axis])[None]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Screw(JointWithAxis):
    """Rotation about an axis with a translation of pitch [m/rad] along it: q = [angle]."""

    pitch: Any = 0.0
    kind, nq, nv, angles = "screw", 1, 1, (0,)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pitch", float(real_array(self.pitch, (), "the pitch of a screw joint")))

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return about(self.axis, q[0]), self.axis * (self.pitch * q[0])

    def unmoved(self) -> Array:
        return _projection(self.axis, 0.0)

    def H(self, q: Array) -> Array:
        return np.concatenate([self.axis, self.pitch * self.axis])[None]


@final
class Cylindrical(JointWithAxis):
    """Rotation about an axis and translation along it: q = [angle, distance]."""

    kind, nq, nv, angles = "cylindrical", 2, 2, (0,)

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return about(self.axis, q[0]), self.axis * q[1]

    def unmoved(self) -> Array:
        return _projection(self.axis, 0.0)

    def H(self, q: Array) -> Array:
        return np.array([[*self.axis, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, *self.axis]])


@dataclass(frozen=True, eq=False, repr=False)
class _TwoAxes(Joint):
    """A joint with two orthogonal unit axes (3,), given in the joint frame."""

    axis1: Any = field(default=(1.0, 0.0, 0.0))
    axis2: Any = field(default=(0.0, 1.0, 0.0))

    def __post_init__(self) -> None:
        for name in ("axis1", "axis2"):
            object.__setattr__(self, name, unit_vector(getattr(self, name), f"{name} of a {self.kind} joint"))


@final
class Universal(_TwoAxes):
    """Rotation about axis1, then about axis2 carried with it: q = [angle 1, angle 2]. The axes must not be parallel."""

    kind, nq, nv, angles = "universal", 2, 2, (0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.linalg.norm(np.cross(self.axis1, self.axis2)) < 1e-6:
            raise ModelError(f"the axes of a universal joint must differ, found {self.axis1.tolist()} twice.")

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return about(self.axis1, q[0]) @ about(self.axis2, q[1]), ZERO3

    def unmoved(self) -> Array:
        return _projection(ZERO3, 1.0)

    def H(self, q: Array) -> Array:
        first = rotation_about(self.axis2, q[1]).T @ self.axis1
        return array([[*first, 0.0, 0.0, 0.0], [*self.axis2, 0.0, 0.0, 0.0]])

    def H_rate(self, q: Array, v: Array) -> Array:
        first = rotation_about(self.axis2, q[1]).T @ self.axis1
        return array([[*(cross(first, self.axis2) * v[1]), 0.0, 0.0, 0.0], [0.0] * 6])


@final
class Planar(_TwoAxes):
    """Translation along two orthogonal axes of the joint frame, then rotation about axis1 × axis2: q = [x, y, angle]."""

    kind, nq, nv, angles = "planar", 3, 3, (2,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self.axis1 @ self.axis2) > 1e-9:
            raise ModelError(
                f"the axes of a planar joint must be orthogonal, found {self.axis1.tolist()} and {self.axis2.tolist()}."
            )

    @property
    def normal(self) -> Array:
        """axis1 × axis2."""
        return np.cross(self.axis1, self.axis2)

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return about(self.normal, q[2]), self.axis1 * q[0] + self.axis2 * q[1]

    def unmoved(self) -> Array:
        return _projection(self.normal, 0.0)

    def H(self, q: Array) -> Array:
        x, y = self._axes_in_body(q)
        return array([[0.0, 0.0, 0.0, *x], [0.0, 0.0, 0.0, *y], [*self.normal, 0.0, 0.0, 0.0]])

    def H_rate(self, q: Array, v: Array) -> Array:
        x, y = (cross(axis, self.normal) * v[2] for axis in self._axes_in_body(q))
        return array([[0.0, 0.0, 0.0, *x], [0.0, 0.0, 0.0, *y], [0.0] * 6])

    def _axes_in_body(self, q: Array) -> tuple[Array, Array]:
        R = rotation_about(self.normal, q[2]).T
        return R @ self.axis1, R @ self.axis2


@final
@dataclass(frozen=True, eq=False, repr=False)
class Spherical(Joint):
    """Any rotation: q = unit quaternion [w, x, y, z], v = angular velocity in body axes."""

    kind, nq, nv = "spherical", 4, 3
    quaternion = slice(0, 4)

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return of_matrix(rotation_of_quaternion(q)), ZERO3

    def unmoved(self) -> Array:
        return _projection(ZERO3, 1.0)

    def H(self, q: Array) -> Array:
        return np.eye(3, 6)

    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator, size: tuple[int, ...], lower: Array, upper: Array) -> Array:
        u = rng.normal(size=(*size, 4))
        return u / np.linalg.norm(u, axis=-1, keepdims=True)

    def integrate(self, q: Array, dv: Array) -> Array:
        return normalized(quaternion_product(q, quaternion_exponential(dv)))

    def difference(self, q0: Array, q1: Array) -> Array:
        return quaternion_logarithm(quaternion_product(conjugate(q0), q1))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Free(Joint):
    """Any motion: q = [quaternion, position] in the joint frame, v = [ω; velocity of the origin] in body axes."""

    kind, nq, nv = "free", 7, 6
    quaternion = slice(0, 4)

    def displacement(self, q: Array) -> tuple[Rotation, Array]:
        return of_matrix(rotation_of_quaternion(q[:4])), q[4:]

    def H(self, q: Array) -> Array:
        return np.eye(6)

    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator, size: tuple[int, ...], lower: Array, upper: Array) -> Array:
        u = Spherical().random(rng, size, lower, upper)
        return np.concatenate([u, rng.uniform(-1.0, 1.0, (*size, 3))], axis=-1)

    def integrate(self, q: Array, dv: Array) -> Array:
        step = rotation_of_quaternion(q[:4]) @ (translation_jacobian(dv[:3]) @ dv[3:])
        return np.concatenate([Spherical().integrate(q[:4], dv[:3]), q[4:] + step])

    def difference(self, q0: Array, q1: Array) -> Array:
        theta = Spherical().difference(q0[:4], q1[:4])
        moved = rotation_of_quaternion(q0[:4]).T @ (q1[4:] - q0[4:])
        return np.concatenate([theta, inverse_translation_jacobian(theta) @ moved])
