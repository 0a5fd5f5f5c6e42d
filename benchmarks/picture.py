"""A run as a picture: every contestant of the robots' batches, and how the time of humanoids and chains grows."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.bars import THREADS_BATCH
from benchmarks.peers import LIBRARIES
from benchmarks.peers.peer import FORWARD, INVERSE
from benchmarks.race import Row
from benchmarks.report import spoken
from benchmarks.suite import Report

COLORS = dict(zip(LIBRARIES, ("#1b7f4d", "#1f5fa8", "#c2562d", "#8a5fbf", "#b8860b", "#c4508f", "#7a7a7a"), strict=True))
QUANTITIES = (FORWARD, INVERSE)


def draw(report: Report, file: Path) -> None:
    """Top: robots, a dot per contestant, logarithmic. Below: time per state against size. The limit is the black line."""
    rows = [row for row in report.rows if row.seconds is not None and row.quantity in QUANTITIES and row.states < THREADS_BATCH]
    robots = list(dict.fromkeys(row.model for row in rows if row.family == "robots"))
    families = [name for name in ("humanoids", "chains") if len({r.model for r in rows if r.family == name}) > 1]
    heights = ([2.9] if robots else []) + [3.1] * len(families)
    if not heights:
        return
    figure = Figure(figsize=(13, 1.6 * sum(heights)), layout="constrained")
    parts = np.atleast_1d(figure.subfigures(len(heights), 1, height_ratios=heights))
    limits = {(one["model"], one["quantity"]): one["flop_bound"] for one in report.limits}
    if robots:
        _robots(parts[0], rows, robots, limits)
    for family, part in zip(families, parts[-len(families) :] if families else (), strict=True):
        _growth(part, [row for row in rows if row.family == family], family, limits)
    figure.savefig(file, dpi=120)


def _robots(part, rows: list[Row], robots: list[str], limits) -> None:
    grid = part.subplots(1, 2, sharey=True)
    some = [row for row in rows if row.family == "robots" and row.states > 1]
    lines = list(dict.fromkeys(row.who for row in some))
    for axes, quantity in zip(grid, QUANTITIES, strict=True):
        for place, robot in enumerate(robots):
            for row in (row for row in some if row.model == robot and row.quantity == quantity):
                y = lines.index(row.who) + 0.22 * (place - (len(robots) - 1) / 2)
                axes.plot(row.seconds, y, "os^D"[place % 4], color=COLORS[row.peer], alpha=_alpha(row), markersize=6)
            at = limits.get((robot, quantity))
            if at:
                axes.axvline(at, color="black", linewidth=0.9, linestyle=("-", "--", ":", "-.")[place % 4])
        axes.set_xscale("log")
        axes.set_title(f"{quantity}, per state of a batch", fontsize=11)
        _tidy(axes)
        axes.xaxis.set_major_formatter(_tick)
    grid[0].set_yticks(range(len(lines)), lines, fontsize=9)
    grid[0].invert_yaxis()
    marks = [grid[0].plot([], [], "os^D"[k % 4], color="black", label=name)[0] for k, name in enumerate(robots)]
    dashes = [
        grid[0].plot(
            [],
            [],
            color="black",
            linewidth=0.9,
            linestyle=("-", "--", ":", "-.")[k % 4],
            label=f"{name}, flop-bound limit in float64",
        )[0]
        for k, name in enumerate(robots)
    ]
    part.legend(handles=[*marks, *dashes], loc="outside lower center", ncols=2 * len(robots), frameon=False, fontsize=9)


def _growth(part, rows: list[Row], family: str, limits) -> None:
    grid = part.subplots(1, 2, sharey=True)
    for axes, quantity in zip(grid, QUANTITIES, strict=True):
        some = [row for row in rows if row.quantity == quantity]
        for who in dict.fromkeys(row.who for row in some):
            for single in (False, True):
                own = [row for row in some if row.who == who and (row.states == 1) == single]
                if own and "public" not in who and "loop" not in who:
                    style = "--" if single else "-"
                    label = f"{who}{', one state' if single else ''}"
                    sizes, seconds = [row.nv for row in own], [row.seconds for row in own]
                    axes.loglog(
                        sizes,
                        seconds,
                        style,
                        marker=".",
                        color=COLORS[own[0].peer],
                        alpha=_alpha(own[0]),
                        label=label,
                        linewidth=1.4,
                    )
        at = {row.nv: limits[row.model, quantity] for row in some if (row.model, quantity) in limits}
        if at:
            axes.loglog(list(at), list(at.values()), color="black", linewidth=0.9, label="flop-bound limit, float64")
        axes.set_title(f"{family}: {quantity}, per state", fontsize=11)
        axes.set_xlabel("degrees of freedom")
        _tidy(axes)
        axes.yaxis.set_major_formatter(_tick)
        if family == "humanoids":
            axes.set_xticks(sorted({row.nv for row in some}))
            axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    handles = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    part.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False, fontsize=8)


def _alpha(row: Row) -> float:
    return 1.0 if row.dtype == "float64" else 0.45


def _tick(seconds: float, _) -> str:
    value, unit = spoken(seconds).split()
    return f"{float(value.replace(',', '')):g} {unit}"


def _tidy(axes) -> None:
    axes.tick_params(which="minor", length=0)
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
