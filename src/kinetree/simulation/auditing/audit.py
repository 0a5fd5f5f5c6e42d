"""`audit`: the table of what a run kept and whether three forms of its dynamics agree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.simulation.auditing.agreement import agreement
from kinetree.simulation.auditing.laws import laws
from kinetree.simulation.auditing.row import TOLERANCE, Row
from kinetree.simulation.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAILURES = "drifts", "differ", "undecided"


@final
@dataclass(frozen=True, eq=False)
class Audit:
    """Rows of an audit. `str()` of it is a table, `plot(path)` a picture; `passed` says that nothing drifts or differs."""

    run: Run = field(repr=False)
    model: Model = field(repr=False)
    rows: tuple[Row, ...]
    tolerance: float = TOLERANCE

    @property
    def passed(self) -> bool:
        """Whether every quantity that should be conserved is, and the forms agree."""
        return not any(row.verdict in FAILURES for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, quantity: str) -> Row:
        """The row of a quantity, by its name or how that begins. Raises InputError."""
        for row in self.rows:
            if isinstance(quantity, str) and row.quantity.startswith(quantity):
                return row
        rows = ", ".join(row.quantity for row in self.rows)
        raise InputError(f"the audit has no row {quantity!r:.80}; ask for a quantity by its name or how that begins: {rows}.")

    def __str__(self) -> str:
        cells = [HEADINGS, *(cells_of(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in cells) for k in range(len(HEADINGS))]
        aligned = [
            "  ".join(x.rjust(w) if k in NUMERIC else x.ljust(w) for k, (x, w) in enumerate(zip(line, widths, strict=True)))
            for line in cells
        ]
        title = f"{self.run.model_name}: {self.run.integrator}, dt = {self.run.dt:g} s, to t = {self.run.t[-1]:g} s"
        return "\n".join(line.rstrip() for line in (title, aligned[0], "─" * len(aligned[0]), *aligned[1:]))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A matplotlib figure of every relative drift over time, and of the energies; written to path where one is given.

        Raises
        ------
        MissingExtraError : matplotlib is not installed
        FileError : the path cannot be written, or its suffix is not a picture's
        """
        from kinetree.simulation.auditing.picture import picture

        return picture(self, path)


HEADINGS = ("quantity", "at start", "largest drift", "relative", "at time", "joint", "verdict")
NUMERIC = (1, 2, 3, 4)


def cells_of(row: Row) -> tuple[str, ...]:
    """A row as text, in the order of HEADINGS."""
    forms = row.unit == "acceleration"
    unit = "" if row.unit == "1" or forms else f" {row.unit}"
    verdict = f"{row.verdict} ({row.note})" if row.note else row.verdict
    when = f"{row.when:.4g} s" if row.drift else ""
    return (
        row.quantity,
        "" if forms else f"{row.start:.6g}{unit}",
        f"{row.drift:.1e}{unit}",
        f"{row.relative:.1e}",
        when,
        row.where if row.drift else "",
        verdict,
    )


def audit(run: Run, model: Model | None = None, tolerance: float = TOLERANCE) -> Audit:
    """Whether a run kept what nature keeps, and whether three forms of its dynamics agree: an `Audit`, a table of rows.

    - energy; or, where control or external wrenches act, energy less the work ∫ τ* v dt, with the error of that integral
    - momenta p_i of cyclic coordinates: those with ṗ_i = 0 whatever the state
    - linear and angular momentum of each tree, in the directions that its joint with the ground leaves free
    - lengths of quaternions
    - at up to 64 states the accelerations of Newton–Euler, Lagrange and Hamilton

    Everything is computed anew from q, v and tau of the run. Every row names its worst time and joint and has a verdict.

    Source: Hamilton [8], (P.1c–g), (P.3b); Lagrange (14), (17)–(25); formulas section 7.

    Parameters
    ----------
    run : of `simulate` or `load_run`
    model : where the run does not hold it, as files of older versions do not
    tolerance : relative drift up to which a quantity counts as conserved

    Raises
    ------
    InputError : no run; no model, or another one; a tolerance that is not a positive number

    Cost: O(K N) for K stored states, and O(nv³) for each sampled one
    """
    found = _model_of(run, model)
    if isinstance(tolerance, (bool, np.bool_)) or not isinstance(tolerance, (int, float)) or not 0.0 < tolerance < np.inf:
        raise InputError(f"tolerance must be a positive number, relative to each quantity's scale, found {tolerance!r:.60}.")
    with np.errstate(all="ignore"):
        rows = *laws(found, run, tolerance), *agreement(found, run)
    return Audit(run, found, rows, float(tolerance))


def _model_of(run: Any, model: Any) -> Model:
    """The model that a run is of, checked."""
    if not isinstance(run, Run):
        hint = " The run comes first: audit(run, model)." if isinstance(model, Run) else ""
        raise InputError(f"audit takes a Run of simulate or load_run, found {type(run).__name__}.{hint}")
    if model is None:
        model = run.known_model("audit")
    if not isinstance(model, Model):
        raise InputError(f"audit takes a kinetree Model after the run, found {type(model).__name__}.")
    run.check_of(model, "the run is")
    return model
