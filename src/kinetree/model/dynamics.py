"""What a joint does by itself: damping, friction, a spring, the inertia of its rotor, how hard its stops are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, final

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.checks import LARGEST
from kinetree.model.joints import Joint
from kinetree.spatial.scalars import Array

STOP_TIME = 0.005
"""Time constant [s] of a stop, where none is given."""


@final
@dataclass(frozen=True, eq=False)
class JointDynamics:
    """What a joint does by itself, per velocity: one number for all of a joint's, or (nv,). SI units, rad for angles, else m.

    Attributes
    ----------
    damping [N m s/rad] : viscous, −damping v
    friction [N m] : Coulomb, of constant size against the motion
    stiffness [N m/rad] : of a spring, −stiffness (q − rest)
    rest [rad] : where that spring is slack
    armature [kg m²] : inertia that only the joint's own motion feels, as of a rotor behind a gear: the rotor's inertia times
        the square of the gear ratio. It is part of the mass matrix; gyroscopic moments of the rotor are not
    stop_time [s] : time constant in which a stop at a position limit brings the joint to rest

    The mass matrix and all functions of the equations of motion know the armature. What else is here acts in `simulate` and
    `rollout`; `kinetree.controllers.passive_force` is its force.

    Raises
    ------
    ModelError : a number is not finite or is negative (rest may be); stop_time is not positive
    """

    damping: Any = 0.0
    friction: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    armature: Any = 0.0
    stop_time: Any = STOP_TIME

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, _numbers(f.name, getattr(self, f.name)))

    @staticmethod
    def none(nv: int) -> JointDynamics:
        """Nothing, of a joint with nv velocities; the same object every time."""
        return _none(nv)

    @property
    def is_none(self) -> bool:
        """Whether the joint does nothing by itself, its stops apart."""
        return not any(getattr(self, name).any() for name in ("damping", "friction", "stiffness", "armature"))

    def of(self, joint: Joint) -> JointDynamics:
        """The same with (nv,) numbers each. Raises ModelError where the joint has no such thing."""
        nv = joint.nv
        for name in ("damping", "friction", "stiffness", "armature"):
            if nv == 0 and getattr(self, name).any():
                raise ModelError(f"a {joint.kind} does not move, so it has no {name}.")
        for name in ("stiffness", "armature"):
            if joint.quaternion is not None and getattr(self, name).any():
                raise ModelError(
                    f"a {joint.kind} joint has no {name}: its velocities are no rates of coordinates, but angular velocities. "
                    "Put three revolute joints in its place."
                )
        if all(getattr(self, f.name).shape == (nv,) for f in fields(self)):
            return self
        parts = {}
        for f in fields(self):
            x = getattr(self, f.name)
            if x.size not in (1, nv):
                raise ModelError(f"{f.name} must be one number, or one for each of {nv} velocities, found {x.size}.")
            parts[f.name] = np.broadcast_to(x, (nv,)) if x.size == 1 else x
        return JointDynamics(**parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointDynamics) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


def _numbers(name: str, value: Any) -> Array:
    try:
        found = np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        raise ModelError(f"{name} must be one number or (nv,), found {value!r:.80}.") from None
    if found.ndim != 1 or not (np.abs(found) <= LARGEST).all():
        raise ModelError(
            f"{name} must be one number or (nv,), each finite and of size up to {LARGEST:g}, found {found.tolist()}."
        )
    if name != "rest" and (found < 0.0).any():
        raise ModelError(f"{name} must not be negative, found {found.tolist()}.")
    if name == "stop_time" and not (found > 0.0).all():
        raise ModelError(f"stop_time must be positive, found {found.tolist()} s.")
    found.setflags(write=False)
    return found


@cache
def _none(nv: int) -> JointDynamics:
    return JointDynamics(*np.zeros((5, nv)), stop_time=np.full(nv, STOP_TIME))
