"""The picture of an audit: every relative drift over time on one logarithmic scale, and the energies it is seen against."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import MissingExtraError
from kinetree.simulation.auditing.laws import energies, work_done
from kinetree.simulation.auditing.row import Row
from kinetree.simulation.picture import plain_text, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinetree.simulation.auditing.audit import Audit

FLOOR = 1e-18
"""The lowest deviation drawn, below every rounding."""
ROUNDING = 1e-14
"""A deviation below it jumps from state to state, and is drawn as dots."""
MARKS = {"conserved": "✓", "agree": "✓", "only falls": "✓", "falls": "✓", "drifts": "✗", "differ": "✗", "undecided": "?"}


def picture(audit: Audit, path: str | os.PathLike[str] | None = None) -> Figure:
    """Two panels; never touches pyplot, so it needs no display and leaves no global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError('a picture needs matplotlib: pip install "kinetree[plot]"') from None
    figure = Figure(figsize=(11.0, 7.0), layout="constrained", dpi=150)
    drifts, energy = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    _drifts(drifts, audit)
    _energies(energy, audit)
    for panel in (drifts, energy):
        panel.grid(alpha=0.25, linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.margins(x=0.0)
        panel.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False)
    energy.set_xlabel("time [s]")
    figure.align_ylabels((drifts, energy))
    run = audit.run
    title = f"{plain_text(run.model_name)}: {run.integrator}, dt = {run.dt:g} s"
    figure.suptitle(f"{title}, {'everything kept' if audit.passed else 'not everything kept'}", fontsize=11)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _drifts(panel: Any, audit: Audit) -> None:
    from matplotlib import colormaps

    rows = [row for row in audit.rows if row.expected]
    colors = colormaps["tab10"](np.arange(10))
    for k, row in enumerate(rows):
        color, dots = colors[k % 10], row.relative < ROUNDING
        style: dict[str, Any] = {"marker": ".", "markersize": 2.5, "linestyle": "none"} if dots else {"linewidth": 1.2}
        x = np.where(row.error > 0.0, row.error, np.nan) / row.scale
        panel.plot(row.times, x, color=color, label=f"{MARKS[row.verdict]} {plain_text(row.quantity)}", **style)
        if row.drift > 0.0:
            panel.plot(row.when, row.relative, "o", color=color, markersize=5, markerfacecolor="none", clip_on=False)
        if row.doubt is not None and np.isfinite(row.doubt).all():
            _doubt(panel, row, color)
    panel.axhline(audit.tolerance, color="tab:red", linewidth=1.0, linestyle="--", label=f"tolerance {audit.tolerance:g}")
    panel.axhline(np.finfo(float).eps, color="black", linewidth=0.8, linestyle=":", label="rounding of one number, ε")
    panel.set_yscale("log")
    top = max([audit.tolerance, *(row.relative for row in rows)])
    panel.set_ylim(FLOOR, 10.0 * top)
    panel.set_ylabel("deviation, relative")


def _doubt(panel: Any, row: Row, color: Any) -> None:
    """What of a deviation may be the error of finding it."""
    doubt = np.maximum(np.asarray(row.doubt) / row.scale, FLOOR)
    panel.fill_between(row.times, FLOOR, doubt, color=color, alpha=0.12, linewidth=0, label="error of the integral of power")


def _energies(panel: Any, audit: Audit) -> None:
    run = audit.run
    kinetic, potential = energies(audit.model, run)
    work, _ = work_done(audit.model, run)
    panel.plot(run.t, kinetic, color="tab:blue", label="kinetic")
    panel.plot(run.t, potential - potential[0], color="tab:green", label="potential, from the start on")
    if run.driven:
        panel.plot(run.t, work, color="tab:orange", linestyle="--", label="work of the forces")
    total = "kinetic + potential" + (" − work" if run.driven else "")
    panel.plot(run.t, kinetic + potential - potential[0] - work, color="black", label=total)
    panel.set_ylabel("energy [J]")
    panel.ticklabel_format(axis="y", useOffset=False, scilimits=(-3, 4))
