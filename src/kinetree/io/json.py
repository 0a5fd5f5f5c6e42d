"""kinetree's own model file, read and checked; `kinetree.model.saving` writes it."""

import json
import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.report import Report, listed, shown
from kinetree.model import (
    Body,
    Cylindrical,
    Diagnostic,
    Free,
    Inertia,
    Joint,
    JointDynamics,
    Limits,
    Model,
    Planar,
    Pose,
    Prismatic,
    Revolute,
    Screw,
    Shape,
    Spherical,
    Universal,
    Weld,
)
from kinetree.model.checks import LARGEST
from kinetree.model.saving import FORMAT, VERSION
from kinetree.model.shapes import GEOMETRIES

_JOINTS: dict[str, type[Joint]] = {
    joint.kind: joint for joint in (Revolute, Prismatic, Screw, Cylindrical, Universal, Spherical, Planar, Free, Weld)
}
_KEYS = {
    1: ("name", "parent", "joint", "placement", "inertia", "limits"),
    2: ("name", "parent", "joint", "placement", "inertia", "limits", "dynamics"),
    3: ("name", "parent", "joint", "placement", "inertia", "limits", "dynamics", "shapes"),
}
"""What a body has, by the version of the file."""
Made = TypeVar("Made")
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def json_model(data: bytes, path: Path, name: str | None = None) -> Model:
    """The model that a .json file holds."""
    report = Report(str(path))
    document = _parsed(data, report)
    _object(report, document, "the file")
    found = document.get("format")
    if found != FORMAT:
        report.fail(1, f'"format" is {_found(found)}; allowed: "{FORMAT}"; is it a file that kinetree saved?')
    found = document.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or found not in _KEYS:
        report.fail(1, f'"version" is {_found(found)}; allowed: 1 to {VERSION}; a newer file needs a newer kinetree')
    body_keys = _KEYS[found]
    keys = ("format", "version", "name", "gravity", "bodies", "frames", "diagnostics")
    _object(report, document, "the file", keys)
    entries = _list(report, document, "bodies", "")
    bodies = [_read_body(report, entry, f"bodies[{i}]", body_keys) for i, entry in enumerate(entries)]
    names = {body.name for body in bodies}
    frames = {
        link: _read_frame(report, entry, f"frames[{shown(link)}]", names)
        for link, entry in _object(report, document["frames"], "frames").items()
    }
    notes = [
        _read_diagnostic(report, entry, f"diagnostics[{i}]")
        for i, entry in enumerate(_list(report, document, "diagnostics", ""))
    ]
    gravity = _array(report, document, "gravity", "", (3,))
    stored = _text(report, document, "name", "")
    return _checked(report, "the model", lambda: Model(tuple(bodies), gravity, name or stored, tuple(notes), frames))


def _parsed(data: bytes, report: Report) -> Any:
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        report.fail(data[: error.start].count(b"\n") + 1, "not UTF-8 text; is it a file that kinetree saved?")
    except json.JSONDecodeError as error:
        report.fail(error.lineno, f"not JSON: {error.msg} (column {error.colno}); correct the file or save it again")
    except RecursionError:
        report.fail(1, "lists or objects are nested too deep; is it a file that kinetree saved?")
    except ValueError as error:
        report.fail(1, f"not a model file: {error}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number; write finite numbers")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {shown(twice)} stands twice in one object; remove one")
    return found


def _read_body(report: Report, entry: Any, where: str, keys: tuple[str, ...]) -> Body:
    _object(report, entry, where, keys)
    name = _text(report, entry, "name", where)
    where = f"{where} {shown(name)}"
    parent = None if entry["parent"] is None else _text(report, entry, "parent", where)
    joint = _read_joint(report, entry["joint"], f"{where} joint")
    joint_name = _text(report, entry["joint"], "name", f"{where} joint")
    placement = _read_pose(report, entry["placement"], f"{where} placement")
    inertia = _object(report, entry["inertia"], f"{where} inertia", ("mass", "com", "tensor"))
    shapes = {"mass": (), "com": (3,), "tensor": (3, 3)}
    numbers = [_array(report, inertia, key, f"{where} inertia", shape) for key, shape in shapes.items()]
    bounds = _object(report, entry["limits"], f"{where} limits", tuple(f.name for f in fields(Limits)))
    limits = [_bounds(report, bounds, f.name, f"{where} limits", joint.nv) for f in fields(Limits)]
    of_joint = _read_dynamics(report, entry["dynamics"], f"{where} dynamics", joint.nv) if "dynamics" in keys else None
    shapes = _read_shapes(report, entry, where) if "shapes" in keys else ()
    return _checked(
        report,
        where,
        lambda: Body(
            name,
            parent,
            joint,
            placement,
            Inertia(*numbers),
            joint_name,
            Limits(*limits),
            None if of_joint is None else JointDynamics(**of_joint),  # type: ignore[arg-type]
            shapes,
        ),
    )


def _read_dynamics(report: Report, entry: Any, where: str, nv: int) -> dict[str, np.ndarray]:
    """Numbers of what a joint does by itself."""
    names = tuple(f.name for f in fields(JointDynamics))
    _object(report, entry, where, names)
    return {name: _array(report, entry, name, where, (nv,)) for name in names}


def _read_joint(report: Report, entry: Any, where: str) -> Joint:
    kind = _text(report, _object(report, entry, where), "kind", where)
    if kind not in _JOINTS:
        report.fail(None, f'{where} "kind" is {shown(kind)}; allowed: {", ".join(_JOINTS)}')
    parameters = [f.name for f in fields(_JOINTS[kind])]
    _object(report, entry, where, ("name", "kind", *parameters))
    values = [_array(report, entry, key, where, () if key == "pitch" else (3,)) for key in parameters]
    return _checked(report, where, lambda: _JOINTS[kind](*values))


def _read_shapes(report: Report, entry: Any, where: str) -> tuple[Shape, ...]:
    return tuple(_read_shape(report, x, f"{where} shapes[{n}]") for n, x in enumerate(_list(report, entry, "shapes", where)))


def _read_shape(report: Report, entry: Any, where: str) -> Shape:
    kind = _text(report, _object(report, entry, where), "kind", where)
    if kind not in GEOMETRIES:
        report.fail(None, f'{where} "kind" is {shown(kind)}; allowed: {", ".join(GEOMETRIES)}')
    parameters = [f.name for f in fields(GEOMETRIES[kind])]  # type: ignore[arg-type]
    _object(report, entry, where, ("kind", "name", *parameters, "placement"))
    name = None if entry["name"] is None else _text(report, entry, "name", where)
    placement = _read_pose(report, entry["placement"], f"{where} placement")
    return _checked(report, where, lambda: Shape(GEOMETRIES[kind](**{key: entry[key] for key in parameters}), placement, name))


def _read_pose(report: Report, entry: Any, where: str) -> Pose:
    _object(report, entry, where, ("rotation", "translation"))
    rotation = _array(report, entry, "rotation", where, (3, 3))
    translation = _array(report, entry, "translation", where, (3,))
    return _checked(report, where, lambda: Pose(rotation, translation))


def _read_frame(report: Report, entry: Any, where: str, bodies: set[str]) -> tuple[str | None, Pose]:
    _object(report, entry, where, ("body", "pose"))
    body = None if entry["body"] is None else _text(report, entry, "body", where)
    if body is not None and body not in bodies:
        report.fail(None, f'{where} "body" is {shown(body)}; allowed: null or a body of the model: {listed(bodies)}')
    return body, _read_pose(report, entry["pose"], f"{where} pose")


def _read_diagnostic(report: Report, entry: Any, where: str) -> Diagnostic:
    _object(report, entry, where, ("code", "message", "file", "line"))
    line = entry["line"]
    if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
        report.fail(None, f'{where} "line" is {_found(line)}; allowed: null or a whole number')
    file = None if entry["file"] is None else _text(report, entry, "file", where)
    return Diagnostic(_text(report, entry, "code", where), _text(report, entry, "message", where), file, line)


def _checked(report: Report, where: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except ModelError as error:
        report.fail(None, f"{where}: {error}")


def _object(report: Report, entry: Any, where: str, keys: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not isinstance(entry, dict):
        report.fail(None, f"{where} is {_found(entry)}; allowed: an object")
    if keys is not None and entry.keys() != set(keys):
        missing, unknown = [key for key in keys if key not in entry], [key for key in entry if key not in keys]
        wrong = f"lacks {listed(missing)}" if missing else f"has the unknown key {listed(unknown)}"
        report.fail(None, f"{where} {wrong}; allowed: exactly {', '.join(keys)}")
    return entry


def _list(report: Report, entry: dict[str, Any], key: str, where: str) -> list[Any]:
    if not isinstance(entry[key], list):
        report.fail(None, f"{_joined(where, key)} is {_found(entry[key])}; allowed: a list")
    return entry[key]


def _text(report: Report, entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        report.fail(None, f"{_joined(where, key)} is {_found(value)}; allowed: text that is not empty")
    return value


def _array(report: Report, entry: dict[str, Any], key: str, where: str, shape: tuple[int, ...]) -> np.ndarray:
    value = entry[key]
    if not _has_shape(value, shape):
        numbers = "a finite number" if not shape else f"finite numbers in lists of shape {shape}"
        allowed = f"{numbers}, of size up to {LARGEST:g}"
        report.fail(None, f"{_joined(where, key)} is {_found(value)}; allowed: {allowed}")
    return np.array(value, dtype=float)


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    if shape:
        return isinstance(value, list) and len(value) == shape[0] and all(_has_shape(x, shape[1:]) for x in value)
    return _is_number(value) and abs(value) <= LARGEST


def _is_number(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**1000
    return isinstance(value, float) and math.isfinite(value)


def _bounds(report: Report, entry: dict[str, Any], key: str, where: str, nv: int) -> np.ndarray:
    value = entry[key]
    if not isinstance(value, list) or len(value) != nv or not all(_is_bound(x) for x in value):
        report.fail(None, f'{_joined(where, key)} is {_found(value)}; allowed: a list of {nv} numbers, "inf" or "-inf"')
    return np.array([_INFINITIES.get(x, x) for x in value], dtype=float)


def _is_bound(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, str) and value in _INFINITIES)


def _joined(where: str, key: str) -> str:
    return f'{where} "{key}"' if where else f'"{key}"'


def _found(value: Any) -> str:
    if value is None:
        return "null or missing"
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
