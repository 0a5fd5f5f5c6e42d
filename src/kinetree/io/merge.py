"""From links and joints to bodies: links behind fixed joints become part of the body they are fixed to."""

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.io.collisions import Shapes, carried
from kinetree.io.joints import UrdfJoint
from kinetree.io.links import PSD_TOLERANCE, Link, Mass, listed_moments
from kinetree.io.poses import IDENTITY
from kinetree.io.report import Report, shown
from kinetree.model import Body, Free, Inertia, Pose
from kinetree.model.singular import joint_without_inertia

Frames = dict[str, tuple[str | None, Pose]]


def merged(
    report: Report, links: Mapping[str, Link], root: str, joints: Sequence[UrdfJoint], shapes: Shapes, free: bool
) -> tuple[list[Body], Frames]:
    """Bodies, parents first, and the frames of the links that are not bodies. The ground is None, and keeps no shapes."""
    base = root if free else None
    frames: Frames = {root: (base, IDENTITY)}
    carriers: dict[str, tuple[str | None, UrdfJoint | None]] = {root: (None, None)} if free else {}
    placements: dict[str, Pose] = {root: IDENTITY}
    parts: dict[str | None, list[Mass]] = {base: _own(report, links[root], free, IDENTITY)}
    for joint in joints:
        carrier, pose = frames[joint.parent]
        pose = joint.placement if pose is IDENTITY else pose @ joint.placement
        if joint.motion is None:
            frames[joint.child] = (carrier, pose)
            parts[carrier] += _own(report, links[joint.child], carrier is not None, pose)
        else:
            frames[joint.child] = (joint.child, IDENTITY)
            carriers[joint.child] = (carrier, joint)
            placements[joint.child] = pose
            parts[joint.child] = _own(report, links[joint.child], True, IDENTITY)
    if not carriers:
        report.fail(
            links[root].element,
            f"nothing moves: every link is fixed to the root link {shown(root)}, which is fixed to the ground; "
            'load it with base="free", or give it a joint that moves',
        )
    bodies, places, touching = [], {}, carried(shapes, frames)
    for name, (carrier, joint) in carriers.items():
        places[name] = joint.element if joint else links[root].element
        inertia = _sum(report, parts[name], name)
        if joint is None or joint.motion is None or joint.limits is None:  # the root; others that reach here move
            bodies.append(Body(name, None, Free(), placements[name], inertia, "root_joint", shapes=touching.get(name, ())))
        else:
            own = joint.limits, joint.dynamics, touching.get(name, ())
            bodies.append(Body(name, carrier, joint.motion, placements[name], inertia, joint.name, *own))
    _check_moved_inertia(report, bodies, places)
    return bodies, {name: frame for name, frame in frames.items() if name != frame[0]}


def _own(report: Report, link: Link, moves: bool, pose: Pose) -> list[Mass]:
    """The inertia of a link in its body's frame, if there is any."""
    if link.inertia is None or link.inertia.is_zero:
        return []
    if moves and link.inertia.mass == 0.0:
        report.repair(
            "massless-inertia",
            link.element,
            f"link {shown(link.name)} has a moment of inertia and no mass; the moment of inertia is counted as given",
        )
    return [link.inertia if pose is IDENTITY else link.inertia.moved(pose)]


def _sum(report: Report, parts: Sequence[Mass], name: str) -> Inertia:
    """The inertia of parts that are fixed to each other: Σm, Σmc/Σm, Σ(I + m(d·d 1 − d d*)), d = c − Σmc/Σm."""
    if len(parts) == 1 and parts[0].negative is None:
        return Inertia(*parts[0][:3])
    mass = sum(part.mass for part in parts)
    com = sum(part.mass * part.com for part in parts) / mass if mass > 0.0 else np.zeros(3)
    tensor = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        tensor = tensor + part.tensor + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    negative = [part.negative for part in parts if part.negative is not None]
    if not negative:
        return Inertia(mass, com, tensor)
    moments = np.linalg.eigvalsh(tensor)
    if moments[0] < -PSD_TOLERANCE * np.abs(tensor).max():
        together = f" with {len(parts) - 1} more that are fixed to it" if len(parts) > 1 else ""
        report.fail(
            negative[0],
            f"link {shown(name)}{together} has the principal moments {listed_moments(moments)} kg m^2; allowed: none "
            "negative; check the signs of ixy, ixz, iyz in <inertia> and that it is about the centre of mass",
        )
    return Inertia(mass, com, tensor)


def _check_moved_inertia(report: Report, bodies: Sequence[Body], places: Mapping[str, object]) -> None:
    """A last body must have inertia along its joint; one without any in between is carried by those behind it."""
    carrying = {body.parent for body in bodies}
    for body in bodies:
        inertia = body.inertia
        if inertia.mass > 0.0 and inertia.tensor.any():
            continue
        where = f"link {shown(body.name)} is moved by the joint {shown(body.joint_name)}"
        if body.name in carrying:
            if inertia.is_zero:
                note = f"{where} and has no inertia, nor has a link fixed to it; only links that it carries have some"
                report.repair("no-inertia", places[body.name], note)
        elif inertia.is_zero:
            report.fail(
                places[body.name],
                f"{where}, but neither it, nor a link fixed to it, nor one behind it has inertia: its acceleration "
                "would be unbounded; give the link an <inertial> with mass and inertia, or make the joint fixed",
            )
    body = joint_without_inertia(bodies)
    if body is not None:
        report.fail(
            places[body.name],
            f"link {shown(body.name)} is moved by the joint {shown(body.joint_name)} ({body.joint.kind}), which moves no "
            f"inertia in some direction while the joints behind it are free (mass of the link: {body.inertia.mass:g} kg): "
            "its acceleration would be unbounded; give the link both mass and inertia",
        )
