"""The record of a simulation: frozen arrays over time, and where they came from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from kinetree.model import Model
from kinetree.simulation.labels import Label
from kinetree.spatial.scalars import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARRAYS = ("t", "q", "v", "tau", "kinetic", "potential")
STATUSES = ("finished", "interrupted", "stopped")


@final
@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation left: K stored states and where they came from. Its arrays are read-only.

    t (K,) [s]; q (K, nq); v (K, nv); tau (K, nv) [N m or N], the joint forces of control, and those that do the work of
    external wrenches; kinetic, potential, energy (K,) [J]. status is "finished", "interrupted" (Ctrl-C) or "stopped" (an
    error, told in message). driven says whether control or external wrenches acted. q_labels and v_labels are the
    (name, unit) of each coordinate and velocity. model is what moved; None for a run from a file, if it was not told.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    kinetic: Array
    potential: Array
    model_name: str
    model_digest: str
    integrator: str
    dt: float
    driven: bool
    status: str
    message: str
    q_labels: tuple[Label, ...]
    v_labels: tuple[Label, ...]
    model: Model | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"Run({self.model_name!r}, {len(self.t)} states to t = {self.t[-1]:g} s, "
            f"{self.integrator}, dt={self.dt:g}, {self.status})"
        )

    @cached_property
    def energy(self) -> Array:
        """Total energy (K,) [J]: kinetic + potential."""
        total = self.kinetic + self.potential
        total.setflags(write=False)
        return total

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a .npz file that `load_run` reads back exactly. The file appears whole or not at all.

        Raises
        ------
        InputError : another suffix than .npz
        FileError : the path cannot be written
        """
        from kinetree.simulation.files import save_run

        save_run(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A matplotlib figure of coordinates, velocities and energy drift over time; written to path where one is given.

        Raises
        ------
        MissingExtraError : matplotlib is not installed
        FileError : the path cannot be written, or its suffix is not a picture's
        """
        from kinetree.simulation.picture import picture

        return picture(self, path)

    def provenance(self) -> dict[str, Any]:
        """Everything but the arrays and the model, as JSON holds it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in (*ARRAYS, "model")}
