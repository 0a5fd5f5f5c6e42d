"""Mesh paths: never opened, since the dynamics need no mesh, but looked at, since a path may reach elsewhere."""

import posixpath
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

    def package(self, name: str) -> Path | None:
        """The folder of a package, which is a folder above the model, beside one of those, or in a root; None if not found."""
        if not (_is_name(name) and name not in (".", "..")):
            return None
        for place in (*self.roots, self.folder, *self.folder.parents):
            if place.name == name or (place / name).is_dir():
                return place if place.name == name else place / name
        return None

    def path_of(self, filename: str) -> str | None:
        """The path of a mesh, or its name as it stands if that names a package that is not found; None if it lies outside."""
        scheme, rest = _split(filename)
        if scheme != "package":
            inside = _is_inside(scheme, rest, self)
            return posixpath.normpath(posixpath.join(self.folder.as_posix(), unquote(rest))) if inside else None
        name, path = _in_package(rest)
        if _is_beyond(name, path):
            return None
        folder = self.package(name)
        return filename if folder is None else (folder / path).as_posix()


def check_meshes(report: Report, robot: Element, places: Places) -> None:
    """One note for all mesh paths that reach outside the model's places, one for all packages that are not found."""
    known: dict[str, bool] = {}
    outside: list[Element] = []
    unknown: list[Element] = []
    names: dict[str, None] = {}
    for mesh in robot.iter("mesh"):
        filename = (mesh.get("filename") or "").replace("\\", "/")
        scheme, rest = _split(filename)
        if scheme == "package":
            name, path = _in_package(rest)
            if _is_beyond(name, path):
                outside.append(mesh)
            elif not known.setdefault(name, known[name] if name in known else places.package(name) is not None):
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


def _split(filename: str) -> tuple[str, str]:
    """Scheme and rest."""
    scheme, found, rest = filename.partition("://")
    return (scheme, rest) if found else ("", filename)


def _in_package(rest: str) -> tuple[str, str]:
    """Package and path of what stands behind package://"""
    name, _, path = rest.lstrip("/").partition("/")
    return name, path


def _is_beyond(name: str, path: str) -> bool:
    return posixpath.normpath(path).startswith("..") or name in ("", ".", "..")


def _is_name(name: str) -> bool:
    return len(name) <= 255 and name.isprintable()


def _is_inside(scheme: str, path: str, places: Places) -> bool:
    if scheme not in ("", "file") or PureWindowsPath(path).drive:
        return False
    return places.holds(posixpath.normpath(posixpath.join(places.folder.as_posix(), unquote(path))))


def _others(meshes: list[Element]) -> str:
    return f" (and {len(meshes) - 1} more such)" if len(meshes) > 1 else ""
