"""The record of a simulation: frozen arrays over time, and where they came from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree import functions
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.simulation.impacts import Blow
from kinetree.simulation.labels import Label
from kinetree.spatial.scalars import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset  # pyright: ignore[reportMissingImports]

ARRAYS = ("t", "q", "v", "tau", "kinetic", "potential")
EVENTS = ("t_events", "q_events", "v_events")
FORCES = ("force_rows", "force_contacts", "forces")
STATUSES = ("finished", "event", "interrupted", "stopped")


@final
@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation left: K stored states and where they came from, in the spirit of SciPy's `solve_ivp`.

    Attributes
    ----------
    t (K,) [s], q (K, nq), v (K, nv) : the stored states
    p (K, nv) : their momenta ℳ v, computed when asked for
    tau (K, nv) [N m or N] : joint forces there, of control, and those that do the work of external wrenches; NaN
        where a file of an older version does not tell them
    kinetic, potential, energy (K,) [J]
    status : "finished"; "event", a terminal one came; "interrupted", by Ctrl-C; or "stopped", by an error
    success : whether it is one of the first two
    message : what happened, where it did not just finish
    t_events, q_events, v_events : for each event, its times (m,), configurations (m, nq) and velocities (m, nv)
    event_names : what the events are called
    contacts : names of what could touch, where the run had a scene: pairs of bodies, then ends of joints
    impacts : the impacts, each a `kinetree.simulation.Blow`
    contact_bodies : the two bodies of each, by index, −1 for the ground
    contact_forces(contact) (K, 3) [N] : of one contact, by name or place
    contact_steps : in how many steps each pushed for a time, resting, rolling or sliding
    steps, nfev : steps taken, and calls of the dynamics
    wall_time [s] : how long the computer took
    form, integrator, dt [s], rtol, atol, store_every, origin [s] : how it was made; steps are counted from the time `origin`
    carried (nv,) : the momenta that the form carried at the end, from which a restart goes on; None where it carries v
    driven : whether control or external wrenches acted, or joints by themselves
    passive : whether joints could
    model_name, model_digest, model : of what; the model is None in files of older versions
    q_labels, v_labels : the (name, unit) of each coordinate and velocity

    The arrays are read-only.
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
    form: str = "newton-euler"
    origin: float = 0.0
    store_every: int = 1
    rtol: float = 1e-8
    atol: float = 1e-10
    passive: bool = True
    steps: int = 0
    nfev: int = 0
    wall_time: float = 0.0
    event_names: tuple[str, ...] = ()
    t_events: tuple[Array, ...] = ()
    q_events: tuple[Array, ...] = ()
    v_events: tuple[Array, ...] = ()
    contacts: tuple[str, ...] = ()
    impacts: tuple[Blow, ...] = ()
    contact_bodies: tuple[tuple[int, int], ...] = ()
    contact_steps: tuple[int, ...] = ()
    force_rows: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    force_contacts: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    forces: Array = field(default_factory=lambda: np.zeros((0, 3)))
    carried: Array | None = None
    model: Model | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).setflags(write=False)
        for name in FORCES:
            getattr(self, name).setflags(write=False)
        for x in (*self.t_events, *self.q_events, *self.v_events, *(() if self.carried is None else (self.carried,))):
            x.setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"Run({self.model_name!r}, {len(self.t)} states to t = {self.t[-1]:g} s, "
            f"{self.integrator}, dt={self.dt:g}, {self.status})"
        )

    def __add__(self, later: Run) -> Run:
        """Both as one run, where the later one went on from the end of this one.

        Raises
        ------
        InputError : it did not, or is of another model, form, integrator, dt or other events
        """
        from kinetree.simulation.joining import joined

        return joined(self, later) if isinstance(later, Run) else NotImplemented

    @property
    def success(self) -> bool:
        """Whether it came to its end, or to a terminal event."""
        return self.status in ("finished", "event")

    def contact_forces(self, contact: str | int) -> Array:
        """Mean forces (K, 3) [N] of a contact over the step that led to each stored state, impacts aside, zero at the first.

        They act on the first of its bodies, world axes; of the end of a joint it is the size [N m or N], 0, 0. `contact` is its
        name or its place in `contacts`; a name that several begin with stands for their sum.

        Raises
        ------
        InputError : no contact of the run has that name, or begins with it
        """
        names = self.contacts
        if isinstance(contact, str):
            wanted = [k for k, name in enumerate(names) if name == contact or name.startswith(contact)]
        else:
            wanted = [contact] if 0 <= contact < len(names) else []
        if not wanted:
            listing = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
            raise InputError(f"the run has no contact {contact!r}. Contacts: {listing or 'none, it had no scene'}.")
        found, of = np.zeros((len(self.t), 3)), np.isin(self.force_contacts, wanted)
        np.add.at(found, self.force_rows[of], self.forces[of])
        return found

    @cached_property
    def energy(self) -> Array:
        """Total energy (K,) [J]: kinetic + potential."""
        total = self.kinetic + self.potential
        total.setflags(write=False)
        return total

    @cached_property
    def p(self) -> Array:
        """Generalized momenta ℳ v (K, nv).

        Raises
        ------
        InputError : the run is from a file of an older version, and was loaded without its model
        """
        momenta = functions.momentum(self.known_model("momenta"), self.q, self.v)
        momenta.setflags(write=False)
        return momenta

    def known_model(self, what: str) -> Model:
        """The model; an `InputError` that says it is needed for `what` if the run came without."""
        if self.model is None:
            raise InputError(
                f"the {what} of a run need its model, which files of older versions do not hold: "
                "load it with kt.load_run(path, model)."
            )
        return self.model

    def check_of(self, model: Model, said: str) -> None:
        """`InputError` unless it is a run of the model; `said` begins the message."""
        if model.digest != self.model_digest:
            raise InputError(
                f"{said} of {self.model_name!r} with digest {self.model_digest}, the model given is {model.name!r} "
                f"with digest {model.digest}."
            )

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

    def to_xarray(self) -> Dataset:
        """An xarray Dataset over time: q by the names of coordinates, v, tau and p by those of velocities, energies, units.

        Raises
        ------
        MissingExtraError : xarray is not installed
        """
        from kinetree.simulation.dataset import dataset

        return dataset(self)

    def provenance(self) -> dict[str, Any]:
        """Everything but arrays and the model, as JSON holds it."""
        left_out = {*ARRAYS, *EVENTS, "carried", "model", "impacts", *FORCES}
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out}
