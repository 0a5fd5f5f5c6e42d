"""URDF for those who read nothing else: a model written as one, and a robot's file without its pictures."""

from pathlib import Path

import numpy as np
from lxml import etree

import kinetree as kt

BASE = "base_link"


def urdf_text(model: kt.Model) -> str:
    """A model with one fixed base, revolute and prismatic joints; the base has inertia, without which frax does not read it."""
    robot = etree.Element("robot", name=model.name)
    _link(robot, BASE, kt.Inertia(1.0, tensor=np.eye(3)))
    for body in model.bodies:
        _link(robot, body.name, body.inertia)
        joint = etree.SubElement(robot, "joint", name=body.joint_name, type=body.joint.kind)
        placement = body.placement
        etree.SubElement(joint, "origin", xyz=_numbers(placement.translation), rpy=_numbers(rpy(placement.rotation)))
        etree.SubElement(joint, "parent", link=body.parent or BASE)
        etree.SubElement(joint, "child", link=body.name)
        etree.SubElement(joint, "axis", xyz=_numbers(body.joint.axis))
        etree.SubElement(joint, "limit", lower="-10", upper="10", effort="1000", velocity="1000")
    return etree.tostring(robot, encoding="unicode")


def _link(robot, name: str, inertia: kt.Inertia) -> None:
    link = etree.SubElement(robot, "link", name=name)
    inertial = etree.SubElement(link, "inertial")
    etree.SubElement(inertial, "origin", xyz=_numbers(inertia.com), rpy="0 0 0")
    etree.SubElement(inertial, "mass", value=repr(inertia.mass))
    tensor = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(inertia.tensor[i, j])) for i in range(3) for j in range(i, 3)}
    etree.SubElement(inertial, "inertia", tensor)


def without_geometry(path: Path) -> str:
    """The file without what only shows or collides, whose meshes need not be here, and without mimic, so that all joints move
    freely; with the origins that may be left out, which adam does not know.
    """
    root = etree.fromstring(path.read_bytes(), etree.XMLParser(remove_comments=True))
    for tag in ("visual", "collision", "transmission", "gazebo", "mimic"):
        for node in list(root.iter(tag)):
            node.getparent().remove(node)
    for joint in root.iter("joint"):
        if joint.find("origin") is None:
            etree.SubElement(joint, "origin", xyz="0 0 0", rpy="0 0 0")
    return etree.tostring(root, encoding="unicode")


def rpy(R: np.ndarray) -> tuple[float, float, float]:
    """Angles of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if abs(R[2, 0]) > 1 - 1e-12:
        return 0.0, float(pitch), float(np.arctan2(-R[0, 1], R[1, 1]))
    return float(np.arctan2(R[2, 1], R[2, 2])), float(pitch), float(np.arctan2(R[1, 0], R[0, 0]))


def _numbers(values) -> str:
    return " ".join(repr(float(x)) for x in values)
