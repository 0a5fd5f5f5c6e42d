"""Mesh paths: never opened, since the dynamics need no mesh, but looked at, since a path may reach elsewhere."""

import posixpath
from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple
from urllib.parse import unquote

from kinetree.io.report import Report, shown
from kinetree.io.xml import Element


class Places(NamedTuple):
    """Where a model's meshes may lie: its folder, the folder above it, where `../meshes` usually is, and the roots."""

    folder: Path
    roots: tuple[Path, ...]

    def holds(self, path: str) -> bool:
        """Whether a normalised absolute path lies in one of the places."""
        return any(PurePosixPath(path).is_relative_to(place.as_posix()) for place in (self.folder.parent, *self.roots))

    def has_package(self, name: str) -> bool:
        """Whether a package is a folder above the model, beside one of those, or in a root."""
        above = (self.folder, *self.folder.parents)
        return any(place.name == name or (place / name).is_dir() for place in (*self.roots, *above))


def check_meshes(report: Report, robot: Element, folder: Path, roots: Iterable[Path]) -> None:
    """One note for all mesh paths that reach outside the model's places, one for all packages that are not found."""
    places = Places(folder, tuple(roots))
    known: dict[str, bool] = {}
    outside: list[Element] = []
    unknown: list[Element] = []
    names: dict[str, None] = {}
    for mesh in robot.iter("mesh"):
        filename = (mesh.get("filename") or "").replace("\\", "/")
        scheme, rest = filename.split("://", 1) if "://" in filename else ("", filename)
        if scheme == "package":
            name, _, path = rest.lstrip("/").partition("/")
            if posixpath.normpath(path).startswith("..") or name in ("", ".", ".."):
                outside.append(mesh)
            elif not known.setdefault(name, known[name] if name in known else _is_name(name) and places.has_package(name)):
                unknown.append(mesh)
                names[name] = None
        elif filename and not _is_inside(scheme, rest, places):
            outside.append(mesh)
    if outside:
        report.repair(
            "mesh-outside",
            outside[0],
            f"mesh filename {shown(outside[0].get('filename', ''))} lies outside the model's folder, the folder above "
            f"it and roots{_others(outside)}; not opened; move the meshes or declare their folder in roots",
        )
    if unknown:
        report.repair(
            "mesh-package",
            unknown[0],
            f"mesh filename {shown(unknown[0].get('filename', ''))} names a package that is not found above or beside "
            f"the model's folder or in roots{_others(unknown)}; not opened; declare the package's folder in roots",
        )


def _is_name(name: str) -> bool:
    return len(name) <= 255 and name.isprintable()


def _is_inside(scheme: str, path: str, places: Places) -> bool:
    if scheme not in ("", "file") or PureWindowsPath(path).drive:
        return False
    return places.holds(posixpath.normpath(posixpath.join(places.folder.as_posix(), unquote(path))))


def _others(meshes: list[Element]) -> str:
    return f" (and {len(meshes) - 1} more such)" if len(meshes) > 1 else ""
