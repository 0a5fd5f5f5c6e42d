"""<joint>: what it connects, how it moves, its limits, what it does by itself, and which joint it mimics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.io.numbers import limit, number, numbers
from kinetree.io.poses import origin
from kinetree.io.report import Report, listed, shown
from kinetree.io.xml import Element, name_of, only_children
from kinetree.model import Free, Joint, JointDynamics, Limits, Planar, Pose, Prismatic, Revolute, Spherical
from kinetree.model.checks import LARGEST

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
AXIS_TOLERANCE = 1e-6
_WITH_AXIS = frozenset({"revolute", "continuous", "prismatic", "planar"})
_PARTS = frozenset({"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"})


@dataclass(frozen=True)
class UrdfJoint:
    """A joint as the file has it; `motion` is None where it is fixed."""

    name: str
    element: Element
    parent: str
    child: str
    placement: Pose
    motion: Joint | None
    limits: Limits | None
    dynamics: JointDynamics
    mimics: str | None


def read_joint(report: Report, element: Element) -> UrdfJoint:
    """One <joint>, every number checked."""
    name = name_of(report, element, "name", "a <joint>")
    where = f"joint {shown(name)}"
    kind = element.get("type")
    if kind not in KINDS:
        found = "has no attribute" if kind is None else f"has the unknown type {shown(kind)} in the attribute"
        report.fail(element, f'{where} {found} "type"; allowed: {", ".join(KINDS)}')
    parts = only_children(report, element, where, _PARTS)
    ends = []
    for end in ("parent", "child"):
        if end not in parts:
            report.fail(element, f'{where} has no <{end}>; add <{end} link="..."/>')
        ends.append(name_of(report, parts[end], "link", f"{where} <{end}>"))
    motion = _motion(report, kind, parts, where)
    return UrdfJoint(
        name,
        element,
        *ends,
        placement=origin(report, parts.get("origin"), f"{where} <origin>"),
        motion=motion,
        limits=None if motion is None else _limits(report, element, parts.get("limit"), kind, motion.nv, where),
        dynamics=_dynamics(report, parts.get("dynamics"), motion, where),
        mimics=_mimics(report, parts.get("mimic"), where),
    )


def _motion(report: Report, kind: str, parts: Mapping[str, Element], where: str) -> Joint | None:
    axis = _axis(report, parts.get("axis"), kind in _WITH_AXIS, where)
    match kind:
        case "revolute" | "continuous":
            return Revolute(axis)
        case "prismatic":
            return Prismatic(axis)
        case "planar":
            return Planar(*plane(axis))
        case "spherical":
            return Spherical()
        case "floating":
            return Free()
    return None


def _axis(report: Report, element: Element | None, needed: bool, where: str) -> np.ndarray:
    """The axis made a unit vector; URDF's default is x."""
    if element is None:
        return np.array([1.0, 0.0, 0.0])
    xyz = numbers(report, element, f"{where} <axis>", "xyz", 3)
    if not needed:
        return np.array(xyz)
    largest = max(map(abs, xyz))
    if largest < 1e-150:
        report.fail(element, f'{where} <axis> attribute "xyz" is {list(xyz)}; allowed: a unit vector such as "0 0 1"')
    direction = [x / largest for x in xyz]
    length = math.hypot(*direction)
    if abs(length * largest - 1.0) > AXIS_TOLERANCE:
        found = f"{list(xyz)} of length {length * largest:.9g}"
        report.repair("axis-length", element, f'{where} <axis> attribute "xyz" is {found}; divided by its length to be 1')
    return np.array(direction) / length


def plane(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two axes in the plane of a normal, axis1 × axis2 = normal; (x, y) for z, (y, z) for x, (z, x) for y."""
    towards = np.eye(3)[(int(np.argmax(np.abs(normal))) + 1) % 3]
    axis1 = towards - (towards @ normal) * normal
    axis1 = axis1 / np.linalg.norm(axis1)
    return axis1, np.cross(normal, axis1)


def _limits(report: Report, joint: Element, element: Element | None, kind: str, nv: int, where: str) -> Limits:
    """Limits of each velocity; unbounded where the file says nothing, as for a joint that turns without end."""
    if element is None:
        if kind in ("revolute", "prismatic"):
            report.repair("limit-missing", joint, f"{where} is {kind} and has no <limit>; taken as unlimited")
        return Limits.none(nv)
    where = f"{where} <limit>"
    # Of a pair given by half, URDF's default for the other half is 0.
    half = 0.0 if "lower" in element.attrib or "upper" in element.attrib else math.inf
    lower = limit(report, element, where, "lower", -half)
    upper = limit(report, element, where, "upper", half)
    if lower > upper:
        report.fail(element, f"{where} has lower {lower:g} above upper {upper:g}; allowed: lower <= upper; exchange them")
    largest = []
    for attribute in ("velocity", "effort"):
        value = limit(report, element, where, attribute, math.inf)
        if value < 0.0:
            report.fail(element, f'{where} attribute "{attribute}" is {value:g}; allowed: a number that is not negative')
        largest.append([value] * nv)
    if kind not in ("revolute", "prismatic"):
        lower, upper = -math.inf, math.inf
    return Limits([lower] * nv, [upper] * nv, *largest)


def _dynamics(report: Report, element: Element | None, motion: Joint | None, where: str) -> JointDynamics:
    """Damping and friction of every velocity; what else simulators write beside them is passed over."""
    nothing = JointDynamics.none(0 if motion is None else motion.nv)
    if element is None:
        return nothing
    where = f"{where} <dynamics>"
    found = {name: number(report, element, where, name, 0.0) for name in ("damping", "friction")}
    for name, value in found.items():
        if not 0.0 <= value <= LARGEST:
            allowed = f"0 to {LARGEST:g}; a joint that drives itself is a control, not damping or friction"
            report.fail(element, f'{where} attribute "{name}" is {value:g}; allowed: {allowed}')
    others = [name for name in element.attrib if name not in found]
    if others:
        note = f"{where} has {listed(others)}, which URDF does not define; passed over"
        report.repair("dynamics-attribute", element, note)
    return nothing if motion is None or not any(found.values()) else JointDynamics(**found)


def _mimics(report: Report, element: Element | None, where: str) -> str | None:
    if element is None:
        return None
    for attribute in ("multiplier", "offset"):
        number(report, element, f"{where} <mimic>", attribute, 0.0)
    return name_of(report, element, "joint", f"{where} <mimic>")


def check_mimics(report: Report, joints: Mapping[str, UrdfJoint]) -> None:
    """Every mimicked joint exists and none mimics itself, however far round; the mimicking ones are reported."""
    settled: set[str] = set()
    for joint in joints.values():
        path: dict[str, None] = {}
        while joint.mimics is not None and joint.name not in settled:
            if joint.name in path:
                circle = [*list(path)[list(path).index(joint.name) :], joint.name]
                report.fail(joint.element, f"joints mimic each other in a circle: {listed(circle)}; remove one <mimic>")
            path[joint.name] = None
            if joint.mimics not in joints:
                report.fail(
                    joint.element,
                    f"joint {shown(joint.name)} mimics the unknown joint {shown(joint.mimics)}; "
                    f"the joints are {listed(joints)}; correct the name",
                )
            joint = joints[joint.mimics]
        settled.update(path)
    for joint in joints.values():
        if joint.mimics is not None and joint.motion is not None:
            report.repair(
                "mimic-independent",
                joint.element,
                f"joint {shown(joint.name)} mimics {shown(joint.mimics)}, which is not coupled yet: "
                "it moves as an independent coordinate",
            )
