"""kinetree's own model file, written: JSON, versioned, every number as Python writes it, so that it comes back exactly."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import FileError, InputError
from kinetree.model.bodies import Body, Limits
from kinetree.model.dynamics import JointDynamics
from kinetree.model.poses import Pose
from kinetree.model.shapes import Shape

if TYPE_CHECKING:
    from kinetree.model.model import Model

FORMAT, VERSION = "kinetree-model", 3


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json file that `load` reads back exactly. The file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: the suffix is {path.suffix!r}; a model is saved as .json")
    text = model_text(model, indent=1)
    with whole_file(path) as stream:
        stream.write(text.encode() + b"\n")


def model_text(model: Model, indent: int | None = None) -> str:
    """What a model's file holds."""
    separators = None if indent else (",", ":")
    return json.dumps(_document(model), indent=indent, separators=separators, allow_nan=False, ensure_ascii=False)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose file appears when all is written, whole, or not at all.

    Raises
    ------
    FileError : it cannot be written
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as stream:
            temporary = stream.name
            yield stream
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException as failure:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(failure, OSError):
            raise FileError(f"{path}: cannot be written: {failure.strerror or failure}") from None
        raise


def _document(model: Model) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "gravity": model.gravity.tolist(),
        "bodies": [_body(body) for body in model.bodies],
        "frames": {name: {"body": body, "pose": _pose(pose)} for name, (body, pose) in model.frames.items()},
        "diagnostics": [{f.name: getattr(note, f.name) for f in fields(note)} for note in model.diagnostics],
    }


def _body(body: Body) -> dict[str, Any]:
    joint = {f.name: np.asarray(getattr(body.joint, f.name)).tolist() for f in fields(body.joint)}
    inertia = {"mass": body.inertia.mass, "com": body.inertia.com.tolist(), "tensor": body.inertia.tensor.tolist()}
    limits = {f.name: [_bound(x) for x in getattr(body.limits, f.name).tolist()] for f in fields(Limits)}
    return {
        "name": body.name,
        "parent": body.parent,
        "joint": {"name": body.joint_name, "kind": body.joint.kind, **joint},
        "placement": _pose(body.placement),
        "inertia": inertia,
        "limits": limits,
        "dynamics": {f.name: getattr(body.dynamics, f.name).tolist() for f in fields(JointDynamics)},
        "shapes": [_shape(shape) for shape in body.shapes],
    }


def _shape(shape: Shape) -> dict[str, Any]:
    geometry = {f.name: getattr(shape.geometry, f.name) for f in fields(shape.geometry)}  # type: ignore[arg-type]
    return {"kind": shape.geometry.kind, "name": shape.name, **geometry, "placement": _pose(shape.placement)}


def _pose(pose: Pose) -> dict[str, Any]:
    return {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()}


def _bound(x: float) -> float | str:
    return x if math.isfinite(x) else "inf" if x > 0 else "-inf"
