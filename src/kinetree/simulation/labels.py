"""What each entry of q and v is called, and its unit: for tables, pictures and messages."""

from __future__ import annotations

from kinetree.model import Body, Model

Label = tuple[str, str]
_QUATERNION, _AXES = ("w", "x", "y", "z"), ("x", "y", "z")


def coordinate_labels(model: Model) -> tuple[Label, ...]:
    """(name, unit) of each entry of q; a quaternion's parts have the unit "1"."""
    return tuple(label for body in model.bodies for label in _coordinates(body))


def velocity_labels(model: Model) -> tuple[Label, ...]:
    """(name, unit) of each entry of v."""
    return tuple(label for body in model.bodies for label in _velocities(body))


def _coordinates(body: Body) -> list[Label]:
    name, joint = body.joint_name, body.joint
    if joint.quaternion is not None:
        position = [(f"{name}.p{x}", "m") for x in _AXES] if joint.nq == 7 else []
        return [(f"{name}.q{x}", "1") for x in _QUATERNION] + position
    return [(_part(name, k, joint.nq), "rad" if k in joint.angles else "m") for k in range(joint.nq)]


def _velocities(body: Body) -> list[Label]:
    name, joint = body.joint_name, body.joint
    if joint.quaternion is not None:
        linear = [(f"{name}.v{x}", "m/s") for x in _AXES] if joint.nv == 6 else []
        return [(f"{name}.ω{x}", "rad/s") for x in _AXES] + linear
    return [(_part(name, k, joint.nv), "rad/s" if k in joint.angles else "m/s") for k in range(joint.nv)]


def _part(name: str, k: int, count: int) -> str:
    return name if count == 1 else f"{name}.{k}"
