"""Links and joints as one tree: who hangs on whom, depth-first in the order in which the file lists the joints."""

from collections.abc import Mapping

from kinetree.io.joints import UrdfJoint
from kinetree.io.links import Link
from kinetree.io.report import Report, listed, shown


def depth_first(report: Report, links: Mapping[str, Link], joints: Mapping[str, UrdfJoint]) -> tuple[str, list[UrdfJoint]]:
    """The root link and the joints, each after the one that carries it; what is not one tree is refused."""
    carried_by: dict[str, UrdfJoint] = {}
    carries: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in joints.values():
        _check_ends(report, joint, links)
        if joint.child in carried_by:
            report.fail(
                joint.element,
                f"link {shown(joint.child)} has two parents, through the joints {shown(carried_by[joint.child].name)} "
                f"and {shown(joint.name)}; allowed: one, remove a joint (a closed loop is not a tree)",
            )
        carried_by[joint.child] = joint
        carries[joint.parent].append(joint)
    root = _root(report, links, carried_by)
    order, waiting = [], carries[root][::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(carries[joint.child]))
    if len(order) < len(joints):
        reached = {joint.name for joint in order}
        _refuse_cycle(report, next(joint for joint in joints.values() if joint.name not in reached), carried_by)
    return root, order


def _check_ends(report: Report, joint: UrdfJoint, links: Mapping[str, Link]) -> None:
    where = f"joint {shown(joint.name)}"
    for end, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            report.fail(
                joint.element,
                f"{where} has the unknown {end} link {shown(name)}; the links are {listed(links)}; correct the name",
            )
    if joint.parent == joint.child:
        report.fail(joint.element, f"{where} has the link {shown(joint.parent)} as parent and as child; give two links")


def _root(report: Report, links: Mapping[str, Link], carried_by: Mapping[str, UrdfJoint]) -> str:
    roots = [name for name in links if name not in carried_by]
    if len(roots) > 1:
        report.fail(
            links[roots[1]].element,
            f"{len(roots)} links have no parent: {listed(roots)}; allowed: one root; join them or remove them",
        )
    if not roots:
        _refuse_cycle(report, next(iter(carried_by.values())), carried_by)
    return roots[0]


def _refuse_cycle(report: Report, joint: UrdfJoint, carried_by: Mapping[str, UrdfJoint]) -> None:
    seen: dict[str, UrdfJoint] = {}
    while joint.child not in seen:
        seen[joint.child] = joint
        joint = carried_by[joint.parent]
    names = list(seen)
    circle = [*names[names.index(joint.child) :], joint.child]
    report.fail(
        joint.element,
        f"links carry each other in a circle, without a root: {listed(circle[::-1])}; remove one of the joints",
    )
