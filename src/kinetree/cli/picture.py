"""The picture of `kinetree show --picture`: sparsity patterns side by side, by matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.cli.spy import BETWEEN, WITHIN, ZERO, Drawing
from kinetree.errors import MissingExtraError
from kinetree.simulation.picture import plain_text, write_figure

TITLES = "E", "φ = (1 − E)⁻¹", "ℳ = H φ M φ* H*"
MOST_NAMED = 60
"""Rows beyond which names would be too small to read."""
MOST_TILES = 400
"""Cells along an edge; of a larger pattern a cell is several rows, nonzero where any of them is."""
MOST_LINES = 150
"""Segments beyond which their borders would hide what they part."""
LONGEST_NAME = 28
COLORS = "#eef1f4", "#2f6fab", "#f0a04b"
"""Of zero, within a segment, between segments."""


def draw(drawing: Drawing, names: tuple[str, ...], title: str, path: str) -> None:
    """Write the drawing of E, φ and ℳ to a file; `names` are those of its rows.

    Raises
    ------
    MissingExtraError, FileError : no matplotlib; a suffix it does not know, a file that cannot be written
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError('a picture needs matplotlib: pip install "kinetree[plot]"') from None
    shown = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name in names]
    side = min(max(0.16 * len(names), 3.0), 6.0)
    words = 0.08 * max(len(name) for name in shown) if len(names) <= MOST_NAMED else 0.4
    figure = Figure(figsize=(3 * side + words + 0.6, side + words + 1.4), layout="compressed", dpi=150)
    panels = figure.subplots(1, 3)
    for panel, heading, marks in zip(panels, TITLES, drawing.marks, strict=True):
        panel.set_title(heading, fontsize=11)
        _pattern(panel, marks, drawing.borders)
        _names(panel, shown)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    _legend(figure, drawing)
    figure.suptitle(plain_text(title), fontsize=11)
    with (
        warnings.catch_warnings(),
        rc_context({"savefig.bbox": "tight", "savefig.pad_inches": 0.15, "svg.hashsalt": "kinetree"}),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing")  # names may be in any script; what is missing is drawn as a box
        write_figure(figure, Path(path))


def _pattern(panel: Any, marks: Any, borders: tuple[int, ...]) -> None:
    from matplotlib.colors import ListedColormap

    size = len(marks)
    edges = np.unique(np.linspace(0, size, min(size, MOST_TILES) + 1).astype(int))
    tiles = np.maximum.reduceat(np.maximum.reduceat(marks, edges[:-1], axis=0), edges[:-1], axis=1)
    gap = 0.0 if size > MOST_NAMED else 0.8 if size <= 20 else 0.4
    cells = {"edgecolors": "white" if gap else "none", "linewidth": gap, "rasterized": not gap}
    panel.pcolormesh(edges, edges, tiles, cmap=ListedColormap(COLORS), vmin=0, vmax=2, **cells)
    if len(borders) <= MOST_LINES:
        lines = {"color": "#222222", "linewidth": 0.9 if len(borders) <= 12 else 0.4}
        panel.hlines(borders, 0, size, **lines)
        panel.vlines(borders, 0, size, **lines)
    panel.set(xlim=(0, size), ylim=(size, 0), aspect="equal")


def _names(panel: Any, names: Sequence[str]) -> None:
    """Names of the rows where there is room, else ticks that count them."""
    panel.tick_params(length=0, labelsize=8 if len(names) <= 45 or len(names) > MOST_NAMED else 6)
    if len(names) <= MOST_NAMED:
        shown = [plain_text(name) for name in names]
        panel.set_xticks(np.arange(len(names)) + 0.5, shown, rotation=90)
        panel.set_yticks(np.arange(len(names)) + 0.5, shown)


def _legend(figure: Any, drawing: Drawing) -> None:
    from matplotlib.patches import Patch

    kinds = {WITHIN: "within a segment", BETWEEN: "between related segments", ZERO: "zero"}
    found = [kind for kind in kinds if any((marks == kind).any() for marks in drawing.marks)]
    patches = [Patch(facecolor=COLORS[kind], edgecolor="#888888", linewidth=0.5) for kind in found]
    names = [kinds[kind] for kind in found]
    figure.legend(patches, names, loc="outside lower center", ncols=len(found), frameon=False, fontsize=9)
