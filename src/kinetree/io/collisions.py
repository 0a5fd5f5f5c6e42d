"""<collision>: what a link touches others with. Dynamics need none of it: what cannot be read is left out, with a note."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kinetree.errors import FileError, ModelError
from kinetree.io.links import Link
from kinetree.io.meshes import Places
from kinetree.io.numbers import number, numbers
from kinetree.io.poses import IDENTITY, origin
from kinetree.io.report import Report, shown
from kinetree.io.xml import Element, only_children
from kinetree.model import Box, Capsule, Cylinder, Geometry, Mesh, Pose, Shape, Sphere

Shapes = Mapping[str, tuple[Shape, ...]]
_KINDS = ("box", "capsule", "cylinder", "mesh", "sphere")


class _Reader(NamedTuple):
    """One <collision> at a time; what is wrong with it is an error."""

    report: Report
    places: Places

    def shape(self, element: Element, link: str) -> Shape | None:
        """The shape of a <collision>; None for a mesh that lies where nothing is opened, which has a note already."""
        where = f"link {shown(link)} <collision>"
        parts = only_children(self.report, element, where, frozenset({"origin", "geometry"}))
        if "geometry" not in parts:
            self.report.fail(element, f"{where} has no <geometry>")
        found = only_children(self.report, parts["geometry"], f"{where} <geometry>", frozenset(_KINDS))
        if len(found) != 1:
            self.report.fail(parts["geometry"], f"{where} <geometry> holds {len(found)} of {', '.join(_KINDS)}; allowed: one")
        ((kind, geometry),) = found.items()
        placement = origin(self.report, parts.get("origin"), f"{where} <origin>")
        made = self.geometry(kind, geometry, f"{where} <{kind}>")
        return None if made is None else Shape(made, placement, element.get("name") or None)

    def geometry(self, kind: str, element: Element, where: str) -> Geometry | None:
        if kind == "mesh":
            return self.mesh(element, where)
        if kind == "box":
            return Box(numbers(self.report, element, where, "size", 3))
        radius = number(self.report, element, where, "radius")
        if kind == "sphere":
            return Sphere(radius)
        length = number(self.report, element, where, "length")
        return Cylinder(radius, length) if kind == "cylinder" else Capsule(radius, length)

    def mesh(self, element: Element, where: str) -> Mesh | None:
        filename = (element.get("filename") or "").replace("\\", "/")
        if not filename:
            self.report.fail(element, f'{where} has no attribute "filename"; give it a path')
        path = self.places.path_of(filename)
        scale = numbers(self.report, element, where, "scale", 3) if "scale" in element.attrib else (1.0, 1.0, 1.0)
        return None if path is None else Mesh(path, scale)


def read_collisions(report: Report, links: Iterable[Link], places: Places) -> dict[str, tuple[Shape, ...]]:
    """Shapes of each link that has some, in the link's frame."""
    unnamed = _Reader(replace(report, path="", strict=False), places)
    found: dict[str, tuple[Shape, ...]] = {}
    for link in links:
        shapes = []
        for element in link.element.iterchildren("collision"):
            try:
                shapes.append(unnamed.shape(element, link.name))
            except (FileError, ModelError) as failure:
                text = str(failure)
                what = text.partition(": ")[2] if isinstance(failure, FileError) else f"link {shown(link.name)}: {text}"
                report.repair("collision", element, f"{what}; left out")
        if any(shapes):
            found[link.name] = tuple(filter(None, shapes))
    return found


def carried(shapes: Shapes, frames: Mapping[str, tuple[str | None, Pose]]) -> dict[str | None, list[Shape]]:
    """Shapes by the body that carries their link, in its frame; of a link that is a body, first."""
    found: dict[str | None, list[Shape]] = {}
    for link, own in shapes.items():
        body, pose = frames.get(link, (link, IDENTITY))
        found.setdefault(body, []).extend(own if pose is IDENTITY else [shape.moved(pose) for shape in own])
    return found
