"""`kinetree eval`: one quantity at one state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, final

import numpy as np
import tyro

from kinetree import functions
from kinetree.cli.report import Report, add_row, heading, number, plain, table
from kinetree.cli.source import Source, coordinates, velocities
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.simulation.labels import velocity_labels
from kinetree.spatial.scalars import Array

Quantity = Literal[
    "mass_matrix",
    "inverse_mass_matrix",
    "logdet_mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "bias_force",
    "gravity_force",
    "coriolis_matrix",
    "momentum",
    "velocity",
    "momentum_rate",
    "hamiltonian",
    "kinetic_energy",
    "potential_energy",
    "forward_kinematics",
    "center_of_mass",
    "jacobian",
    "compliance",
    "operational_space_inertia",
]
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "bias_force": ("q", "v"),
    "coriolis_matrix": ("q", "v"),
    "momentum": ("q", "v"),
    "velocity": ("q", "p"),
    "momentum_rate": ("q", "p", "tau"),
    "hamiltonian": ("q", "p"),
    "kinetic_energy": ("q", "v"),
    "jacobian": ("q", "body", "frame"),
    "compliance": ("q", "bodies", "frame"),
    "operational_space_inertia": ("q", "bodies", "frame"),
}
"""What each quantity takes; those not here take q."""


@final
@dataclass(frozen=True, kw_only=True)
class Evaluate(Source):
    """One quantity of a model at one state; coordinates are neutral and everything else zero where not given.

    Example: kinetree eval double-pendulum forward_dynamics --q 0.5 -0.2 --v 1 0 --tau 0 0.1
    """

    quantity: Annotated[tyro.conf.Positional[Quantity], tyro.conf.arg(metavar="QUANTITY")]
    """What to evaluate."""
    q: tuple[float, ...] | None = None
    """Joint coordinates [rad or m]."""
    v: tuple[float, ...] | None = None
    """Velocities."""
    a: tuple[float, ...] | None = None
    """Accelerations, for inverse_dynamics."""
    p: tuple[float, ...] | None = None
    """Momenta, for velocity, momentum_rate and hamiltonian."""
    tau: tuple[float, ...] | None = None
    """Joint forces, for forward_dynamics and momentum_rate."""
    body: str | None = None
    """Name of the body, for jacobian; the last one where not given."""
    bodies: tuple[str, ...] | None = None
    """Names of the bodies, for compliance and operational_space_inertia; the last one where not given."""
    frame: Literal["world", "body"] | None = None
    """Axes; where not given, world for the jacobian, each body's own for the compliance and its inverse."""

    def report(self) -> Report:
        """The quantity, as numbers with the names they belong to."""
        takes = ARGUMENTS.get(self.quantity, ("q",))
        for option in ("v", "a", "p", "tau", "body", "bodies", "frame"):
            if getattr(self, option) is not None and option not in takes:
                raise InputError(f"{self.quantity} takes {', '.join('--' + x for x in takes)}; --{option} has no effect on it.")
        model = self.model()
        given: dict[str, Any] = {"q": coordinates(model, self.q, "--q")}
        for name in ("v", "a", "p", "tau"):
            if name in takes:
                given[name] = velocities(model, getattr(self, name), f"--{name}")
        if "body" in takes:
            given |= {"body": self.body or model.body_names[-1], "frame": self.frame or "world"}
        if "bodies" in takes:
            given |= {"bodies": list(self.bodies or model.body_names[-1:]), "frame": self.frame or "body"}
        result = getattr(functions, self.quantity)(model, **given)
        data = {
            "model": model.name,
            "quantity": self.quantity,
            **{k: plain(x) for k, x in given.items()},
            "result": plain(result),
        }
        return Report(data, _drawn(model, self.quantity, result, given))


def _drawn(model: Model, quantity: str, result: Any, given: dict[str, Any]) -> list[Any]:
    title = quantity.replace("_", " ") + f" of {model.name}"
    if quantity == "forward_kinematics":
        return _poses(model, title, *result)
    x = np.asarray(result)
    names = [name for name, _ in velocity_labels(model)]
    if x.ndim == 0:
        return [f"{title}: {x:.12g}" + (" J" if quantity.endswith(("energy", "hamiltonian")) else "")]
    if quantity == "center_of_mass":
        return _matrix(f"{title} [m]", ["x", "y", "z"], [""], x[:, None])
    if quantity == "jacobian":
        rows = ["ωx", "ωy", "ωz", "vx", "vy", "vz"]
        return _matrix(f"{title}: body {given['body']}, {given['frame']} axes", rows, names, x)
    if "bodies" in given:
        bodies = given["bodies"]
        suffixes = [f" {body}" for body in bodies] if len(bodies) > 1 else [""]
        on = [part + suffix for suffix in suffixes for part in ("mx", "my", "mz", "fx", "fy", "fz")]
        moved = [part + suffix for suffix in suffixes for part in ("αx", "αy", "αz", "ax", "ay", "az")]
        sides = (moved, on) if quantity == "compliance" else (on, moved)
        return _matrix(f"{title}: {', '.join(bodies)}, {given['frame']} axes", *sides, x)
    if x.ndim == 1:
        units = [_unit(quantity, unit) for _, unit in velocity_labels(model)]
        made = table("joint", ">value", "unit")
        for name, value, unit in zip(names, x, units, strict=True):
            add_row(made, name, f"{value:.10g}", unit)
        return [heading(title), made]
    return _matrix(title, names, names, x)


def _unit(quantity: str, unit: str) -> str:
    if quantity == "velocity":
        return unit
    if quantity == "forward_dynamics":
        return unit + "²"
    if quantity == "momentum":
        return "N m s" if unit.startswith("rad") else "N s"
    return "N m" if unit.startswith("rad") else "N"


def _matrix(title: str, rows: list[str], columns: list[str], x: Array) -> list[Any]:
    """Rows of numbers; where columns are many, by number as NumPy prints them."""
    if len(columns) > 10:
        with np.printoptions(precision=6, suppress=True, linewidth=118, threshold=10**6):
            return [f"{title}, columns {', '.join(columns)}:\n{x}"]
    made = table("", *(">" + name for name in columns))
    for name, values in zip(rows, x, strict=True):
        add_row(made, name, *map(number, values))
    return [heading(title), made]


def _poses(model: Model, title: str, rotations: Array, origins: Array) -> list[Any]:
    made = table("body", ">x [m]", ">y [m]", ">z [m]", "rotation, row by row")
    for name, R, p in zip(model.body_names, rotations, origins, strict=True):
        add_row(made, name, *map(number, p), "  ".join(" ".join(f"{x:.4f}" for x in row) for row in R))
    return [heading(title), made]
