"""The options that every command has, and the arrays that users type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from kinetree.errors import InputError
from kinetree.io import load
from kinetree.io.robots import installed_robots
from kinetree.model import Model
from kinetree.model.examples import EXAMPLES, example
from kinetree.spatial.scalars import Array


@dataclass(frozen=True, kw_only=True)
class Source:
    """Which model a command works on, and how it answers."""

    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")]
    """A .urdf, a kinetree .json, or the name of an example or of an installed robot."""
    base: Literal["fixed", "free"] = "fixed"
    """Hold the root link of a URDF to the ground, or give it a free joint."""
    strict: bool = False
    """Make every repair of the file an error."""
    json: bool = False
    """Print JSON on stdout and nothing else."""

    @property
    def path(self) -> Path:
        """The file, whether given by its path or by a robot's name."""
        return installed_robots().get(self.file, Path(self.file))

    def model(self) -> Model:
        """The model named on the command line."""
        path = Path(self.file)
        if self.file in EXAMPLES and not path.is_file():
            if self.base == "free":
                raise InputError(f"--base free is for URDF files; the example {self.file!r} has the base it has.")
            return example(self.file)
        if not path.suffix and not path.exists() and self.file not in installed_robots():
            raise InputError(
                f"no file, example or installed robot named {self.file!r}. Examples: {', '.join(EXAMPLES)}. "
                f"{len(installed_robots())} robots are installed; pip install 'kinetree[robots]' brings some seventy."
            )
        return load(path, base=self.base, strict=self.strict)


def coordinates(model: Model, given: Sequence[float] | None, option: str) -> Array:
    """q from the command line; the neutral configuration where not given."""
    return model.neutral() if given is None else _counted(model, given, option, "nq", model.nq)


def velocities(model: Model, given: Sequence[float] | None, option: str) -> Array:
    """v, a or tau from the command line; zeros where not given."""
    return np.zeros(model.nv) if given is None else _counted(model, given, option, "nv", model.nv)


def _counted(model: Model, given: Sequence[float], option: str, what: str, count: int) -> Array:
    if len(given) != count:
        sizes = [(body.joint_name, getattr(body.joint, what)) for body in model.bodies]
        names = ", ".join(name if n == 1 else f"{name} ({n})" for name, n in sizes if n)
        raise InputError(f"{option} takes {what} = {count} numbers, found {len(given)}. One per joint, in this order: {names}.")
    return np.array(given, dtype=float)
