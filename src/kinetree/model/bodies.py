"""What one body is: an inertia, limits, and the body that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.checks import real_array
from kinetree.model.dynamics import JointDynamics
from kinetree.model.joints import Joint
from kinetree.model.poses import Pose
from kinetree.model.shapes import shapes_of
from kinetree.spatial.rotations import skew
from kinetree.spatial.scalars import Array

PSD_TOLERANCE = 1e-9  # of the largest principal moment


@final
@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass [kg], centre of mass (3,) [m] in body axes from the joint frame, tensor (3, 3) [kg m²] about that centre.

    A mass of zero is allowed: whether a body may move without mass depends on what it carries, which `Model` checks.

    Raises
    ------
    ModelError
        A number is not finite, the mass is negative, or the tensor is not symmetric or not positive semidefinite.
    """

    mass: Any
    com: Any = (0.0, 0.0, 0.0)
    tensor: Any = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        mass = float(real_array(self.mass, (), "a mass"))
        if mass < 0.0:
            raise ModelError(f"a mass must not be negative, found {mass:g} kg.")
        tensor = real_array(self.tensor, (3, 3), "an inertia tensor")
        scale = float(np.abs(tensor).max())
        if np.abs(tensor - tensor.T).max() > PSD_TOLERANCE * scale:
            raise ModelError(f"an inertia tensor must be symmetric, found {tensor.tolist()}.")
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < -PSD_TOLERANCE * max(scale, moments[-1]):
            raise ModelError(
                f"an inertia tensor must have no negative principal moment, found moments {moments.tolist()} kg m² "
                f"of {tensor.tolist()}. Check signs and the point it refers to: it must be the centre of mass."
            )
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "com", real_array(self.com, (3,), "a centre of mass"))
        object.__setattr__(self, "tensor", tensor)

    @staticmethod
    def zero() -> Inertia:
        """No mass, no inertia."""
        return Inertia(0.0)

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing here to move."""
        return self.mass == 0.0 and not self.tensor.any()

    @property
    def triangle_excess(self) -> float:
        """By how much the largest principal moment exceeds the sum of the others [kg m²]; positive is unphysical."""
        a, b, c = np.linalg.eigvalsh(self.tensor)
        return float(c - a - b)

    @property
    def matrix(self) -> Array:
        """M (6, 6) at the joint frame: [[I − m s~s~, m s~], [−m s~, m 1]]. Source: Mass Matrix, formulas section 0."""
        s = skew(self.com)
        return np.block([[self.tensor - self.mass * s @ s, self.mass * s], [-self.mass * s, self.mass * np.eye(3)]])

    @property
    def pseudo_inertia(self) -> Array:
        """J (4, 4) at the joint frame: [[Σ, h], [h*, m]] with Σ = ½ tr(I) 1 − I about it, h = m s."""
        h = self.mass * self.com
        second = 0.5 * np.trace(self.tensor) * np.eye(3) - self.tensor + np.outer(h, self.com)
        return np.block([[second, h[:, None]], [h[None], np.array([[self.mass]])]])

    def moved(self, pose: Pose) -> Inertia:
        """The same inertia in the frame that `pose` is given in."""
        R = pose.rotation
        turned = R @ self.tensor @ R.T
        return Inertia(self.mass, R @ self.com + pose.translation, 0.5 * (turned + turned.T))

    def __add__(self, other: Inertia) -> Inertia:
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass > 0.0 else np.zeros(3)
        tensor = self.tensor + other.tensor
        for part in (self, other):
            r = skew(part.com - com)
            tensor = tensor - part.mass * r @ r
        return Inertia(mass, com, tensor)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Inertia)
            and self.mass == other.mass
            and np.array_equal(self.com, other.com)
            and np.array_equal(self.tensor, other.tensor)
        )

    __hash__ = None  # type: ignore[assignment]


@final
@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds of a joint, each (nv,): lower and upper [rad or m], velocity [rad/s or m/s], effort [N m or N]; ±inf if none."""

    lower: Any
    upper: Any
    velocity: Any
    effort: Any

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "velocity", "effort"):
            bound = np.atleast_1d(np.array(getattr(self, name), dtype=float))
            if np.isnan(bound).any():
                raise ModelError(f"the {name} limit must be a number, found {bound.tolist()}.")
            bound.setflags(write=False)
            object.__setattr__(self, name, bound)
        if (self.lower > self.upper).any():
            raise ModelError(f"a lower limit must not exceed the upper: found {self.lower.tolist()} > {self.upper.tolist()}.")

    @staticmethod
    def none(nv: int) -> Limits:
        """No bound on any of nv coordinates."""
        return Limits(np.full(nv, -np.inf), np.full(nv, np.inf), np.full(nv, np.inf), np.full(nv, np.inf))

    def __eq__(self, other: object) -> bool:
        names: Sequence[str] = ("lower", "upper", "velocity", "effort")
        return isinstance(other, Limits) and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]


@final
@dataclass(frozen=True)
class Body:
    """A rigid body, the joint that carries it, and where that joint sits on the parent.

    parent is the parent's name, or None for the ground. placement is the joint frame at q = neutral, in the parent's
    body axes. The body frame is the joint frame after the joint has moved. Without limits there are none; without dynamics the
    joint does nothing by itself; without a name it is called as the body. shapes are what it touches others with, geometries or
    `Shape`s in body axes, of `kinetree.contact`.
    """

    name: str
    parent: str | None
    joint: Joint
    placement: Pose = field(default_factory=Pose)
    inertia: Inertia = field(default_factory=Inertia.zero)
    joint_name: str = ""
    limits: Limits = None  # type: ignore[assignment]
    dynamics: JointDynamics = None  # type: ignore[assignment]
    shapes: Any = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a body needs a name that is not empty, found {self.name!r}.")
        for what, kind in (("joint", Joint), ("placement", Pose), ("inertia", Inertia)):
            if not isinstance(getattr(self, what), kind):
                raise ModelError(
                    f"body {self.name!r}: {what} must be a kinetree {kind.__name__}, found {getattr(self, what)!r}."
                )
        if not self.joint_name:
            object.__setattr__(self, "joint_name", self.name)
        if self.limits is None:
            object.__setattr__(self, "limits", Limits.none(self.joint.nv))
        elif self.limits.lower.shape != (self.joint.nv,):
            raise ModelError(f"body {self.name!r}: limits need {self.joint.nv} entries, found {self.limits.lower.size}.")
        object.__setattr__(self, "dynamics", self._dynamics())
        object.__setattr__(self, "shapes", shapes_of(self.shapes, f"body {self.name!r}"))

    def _dynamics(self) -> JointDynamics:
        if self.dynamics is None:
            return JointDynamics.none(self.joint.nv)
        if not isinstance(self.dynamics, JointDynamics):
            raise ModelError(f"body {self.name!r}: dynamics must be a kinetree JointDynamics, found {self.dynamics!r}.")
        try:
            return self.dynamics.of(self.joint)
        except ModelError as failure:
            raise ModelError(f"body {self.name!r}: {failure}") from None
