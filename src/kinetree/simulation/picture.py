"""The picture of a run: coordinates, velocities and energy drift over time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import FileError, MissingExtraError
from kinetree.simulation.labels import Label
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 12
"""Curves beyond which a legend says less than it hides."""


def picture(run: Run, path: str | os.PathLike[str] | None = None) -> Figure:
    """A figure of three panels; never touches pyplot, so it needs no display and leaves no global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError('a picture needs matplotlib: pip install "kinetree[plot]"') from None
    figure = Figure(figsize=(9.0, 8.0), layout="constrained", dpi=150)
    panels = figure.subplots(3, 1, sharex=True)
    _curves(panels[0], run.t, run.q, run.q_labels, "coordinates")
    _curves(panels[1], run.t, run.v, run.v_labels, "velocities")
    _energy(panels[2], run)
    for panel in panels:
        panel.grid(alpha=0.25, linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.margins(x=0.0)
        panel.ticklabel_format(axis="y", useOffset=False, scilimits=(-3, 4))
    panels[2].set_xlabel("time [s]")
    figure.align_ylabels(panels)
    figure.suptitle(f"{plain_text(run.model_name)}: {run.integrator}, dt = {run.dt:g} s", fontsize=11)
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def _curves(panel: Any, t: Array, x: Array, labels: tuple[Label, ...], what: str) -> None:
    from matplotlib import colormaps

    named = len(labels) <= MOST_NAMED
    colors = (
        (*colormaps["tab10"](np.arange(10)), "black", "gold")
        if named
        else colormaps["viridis"](np.linspace(0, 0.95, len(labels)))
    )
    for k, (name, _) in enumerate(labels):
        panel.plot(t, x[:, k], color=colors[k], linewidth=1.2 if named else 0.8, label=plain_text(name))
    units = dict.fromkeys(unit for _, unit in labels if unit != "1")
    panel.set_ylabel(f"{what} [{', '.join(units) or '1'}]")
    if named:
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)


def _energy(panel: Any, run: Run) -> None:
    if run.driven:
        panel.plot(run.t, run.energy - run.energy[0], color="tab:red", linewidth=1.2)
        panel.set_ylabel("energy gained [J]")
    else:
        panel.plot(run.t, run.energy - run.energy[0], color="tab:red", linewidth=1.0)
        panel.set_ylabel("energy drift [J]")
    panel.axhline(0.0, color="black", linewidth=0.6, alpha=0.5)


def plain_text(text: str) -> str:
    """A name as it is: matplotlib would read $...$ as mathematics and hide labels that begin with an underscore."""
    escaped = text.replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def write_figure(figure: Figure, path: Path) -> None:
    known = figure.canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in known:
        raise FileError(f"{path}: the suffix is {path.suffix!r}; allowed: {', '.join('.' + name for name in sorted(known))}")
    try:
        figure.savefig(path)
    except OSError as failure:
        raise FileError(f"{path}: cannot be written: {failure.strerror or failure}") from None
