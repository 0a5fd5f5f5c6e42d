"""URDF: links and joints, read into a model. Transmissions, sensors, materials, simulator tags are passed over."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from kinetree.errors import ModelError
from kinetree.io.collisions import read_collisions
from kinetree.io.joints import check_mimics, read_joint
from kinetree.io.links import read_link
from kinetree.io.merge import merged
from kinetree.io.meshes import Places, check_meshes
from kinetree.io.order import depth_first
from kinetree.io.report import Report, shown
from kinetree.io.xml import Element, xml_document
from kinetree.model import Model

_OTHER_FORMATS = {"mujoco": "MJCF", "sdf": "SDF", "COLLADA": "COLLADA"}


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def element(self) -> Element: ...


Part = TypeVar("Part", bound=_Named)


def urdf_model(
    data: bytes, path: Path, base: Literal["fixed", "free"], name: str | None, strict: bool, roots: Iterable[Path]
) -> Model:
    """The model of a URDF's text. `path` names the file in messages and its folder for meshes, which are not opened."""
    report = Report(str(path), strict)
    robot, lines = xml_document(data, report)
    report = replace(report, line_of=lines)
    _check_root(report, robot)
    links = _by_name(report, "link", (read_link(report, element) for element in robot.iterchildren("link")))
    if not links:
        report.fail(robot, "<robot> has no <link>; a model needs at least one")
    joints = _by_name(report, "joint", (read_joint(report, element) for element in robot.iterchildren("joint")))
    root, order = depth_first(report, links, joints)
    check_mimics(report, joints)
    places = Places(path.absolute().parent, tuple(roots))
    check_meshes(report, robot, places)
    shapes = read_collisions(report, links.values(), places)
    bodies, frames = merged(report, links, root, order, shapes, free=base == "free")
    try:
        return Model(
            tuple(bodies),
            name=name or robot.get("name", "").strip() or path.stem,
            diagnostics=tuple(report.diagnostics),
            frames=frames,
        )
    except ModelError as error:
        report.fail(robot, str(error))


def _check_root(report: Report, root: Element) -> None:
    if root.tag != "robot":
        other = _OTHER_FORMATS.get(root.tag)
        hint = f"; this looks like {other}, which is not read" if other else ""
        report.fail(root, f"the root element is <{shown(root.tag)[1:-1]}>; allowed: <robot>{hint}")


def _by_name(report: Report, what: str, parts: Iterable[Part]) -> dict[str, Part]:
    named: dict[str, Part] = {}
    for part in parts:
        if part.name in named:
            first = report.line_of(named[part.name].element)
            report.fail(part.element, f"a second {what} has the name {shown(part.name)} (the first: line {first}); rename one")
        named[part.name] = part
    return named
