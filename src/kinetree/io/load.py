"""`load`: a model from a file, by what the file is."""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from kinetree.errors import FileError, InputError
from kinetree.io.files import file_bytes
from kinetree.io.json import json_model
from kinetree.io.robots import installed_robots
from kinetree.model import Model

_URDF, _JSON = (".urdf", ".xml"), (".json",)


def load(
    path: str | os.PathLike[str],
    *,
    base: Literal["fixed", "free"] = "fixed",
    name: str | None = None,
    strict: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
) -> Model:
    """A model from a URDF (.urdf, or .xml with a <robot>) or from kinetree's own .json.

    Links behind fixed joints are merged into the body that carries them; `model.frames` says where they are. Bodies
    stand depth-first, children in the order in which the file lists their joints. What was repaired or passed over is
    listed in `model.diagnostics`.

    Parameters
    ----------
    path : the file, nothing else is opened; or the name of a robot of the package example-robot-data, such as "panda"
    base : "fixed" holds the root link to the ground, "free" gives it a free joint named "root_joint"
    name : the model's name, instead of the one in the file
    strict : make every diagnostic of the loader an error
    roots : folders, beside the model's own, in which mesh paths and packages may lie

    Raises
    ------
    FileError
        The file is missing, is not what its suffix says, or does not hold a physical tree; the message begins with
        file:line.

    Cost
    ----
    O(N) in the number of links and joints.
    """
    try:
        path = Path(path)
        roots = tuple(Path(root).absolute() for root in ((roots,) if isinstance(roots, str) else roots))
    except TypeError as error:
        raise InputError(f"path and roots are strings or os.PathLike, found: {error}") from None
    if base not in ("fixed", "free"):
        raise InputError(f'base is {base!r}; allowed: "fixed" or "free"')
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        path = _robot(str(path))
    suffix = path.suffix.lower()
    if suffix in _URDF:
        from kinetree.io.urdf import urdf_model  # here, so that importing kinetree does not import lxml

        return urdf_model(file_bytes(path), path, base, name, strict, roots)
    if suffix in _JSON:
        if base == "free":
            raise InputError(f'{path}: base="free" is for URDF; a .json model has the base it was saved with')
        return json_model(file_bytes(path), path, name)
    hint = "; expand it with xacro first" if suffix == ".xacro" else ""
    raise FileError(f"{path}: the suffix is {suffix!r}; allowed: {', '.join((*_URDF, *_JSON))}{hint}")


def _robot(name: str) -> Path:
    robots = installed_robots()
    if name in robots:
        return robots[name]
    if robots:
        near = difflib.get_close_matches(name, robots, n=5) or sorted(robots)[:5]
        raise FileError(
            f"no file {name!r}, and no installed robot of that name; {len(robots)} are installed, such as {', '.join(near)}"
        )
    raise FileError(f'no file {name!r}; robots go by name once installed: pip install "kinetree[robots]"')
