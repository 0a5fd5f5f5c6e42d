"""Sparsity patterns drawn with characters, side by side, as wide as the terminal lets them be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.spatial.scalars import Array

ZERO, WITHIN, BETWEEN = 0, 1, 2
"""What a block of a pattern is: zero, between nodes of one segment, between nodes of two related segments."""
CHARACTERS = "·■□"
LEGEND = "■ within a segment   □ between related segments   · zero"
_APART = "   "


@final
@dataclass(frozen=True)
class Drawing:
    """Patterns of several operators on the same rows.

    Parameters
    ----------
    titles : name of each operator
    marks : a square array of ZERO, WITHIN and BETWEEN for each operator
    labels : name of each row
    borders : rows that a line stands before
    rows : what the rows are, in words
    """

    titles: tuple[str, ...]
    marks: tuple[Array, ...]
    labels: tuple[str, ...]
    borders: tuple[int, ...]
    rows: str

    def lines(self, most: int) -> list[str] | None:
        """The drawing in lines of at most `most` characters, as roomy as they allow; None if it takes longer ones."""
        margin = max(map(len, self.labels)) + 1
        for space, borders in ((" ", self.borders), (" ", ()), ("", self.borders), ("", ())):
            size = len(self.labels) * (1 + len(space)) + len(borders) * (1 + len(space))
            if margin + len(self.titles) * (max(size, 3) + len(_APART)) <= most:
                return list(self._lines(margin, space, borders, max(size, 3)))
        return None

    def _lines(self, margin: int, space: str, borders: Sequence[int], width: int) -> Iterator[str]:
        def joined(label: str, parts: Sequence[str]) -> str:
            return (label.rjust(margin - 1) + " " + _APART.join(part.ljust(width) for part in parts)).rstrip()

        def row(cells: Sequence[str], line: str, between: str) -> str:
            return "".join((line + between if k in borders else "") + cell + between for k, cell in enumerate(cells))

        across = row(["─"] * len(self.labels), "┼", "─" * len(space))
        yield joined("", self.titles)
        for k, label in enumerate(self.labels):
            if k in borders:
                yield joined("", [across] * len(self.titles))
            yield joined(label, [row([CHARACTERS[mark] for mark in marks[k]], "│", space) for marks in self.marks])


@final
@dataclass(frozen=True)
class Spy:
    """The finest of some drawings that fits the terminal."""

    drawings: tuple[Drawing, ...]

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.text import Text

        refused = ""
        for drawing in self.drawings:
            lines = drawing.lines(options.max_width)
            if lines is not None:
                yield Text(f"\nRows and columns are {drawing.rows}{refused}.\n{LEGEND}\n")
                yield Text("\n".join(lines), no_wrap=True)
                return
            refused = f": {drawing.rows} do not fit in {options.max_width} columns"
        every = " nor ".join(drawing.rows for drawing in self.drawings)
        yield Text(f"\nNo drawing: neither {every} fit in {options.max_width} columns. --picture FILE.png draws them.")


def marks(pattern: Array, of: Sequence[int]) -> Array:
    """A pattern (n, n) as ZERO, WITHIN and BETWEEN, given the segment of each node."""
    segment = np.asarray(of)
    return np.where(segment[:, None] == segment, WITHIN, BETWEEN) * pattern
