"""What a command has to say: data for --json, and the same drawn for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np


@final
@dataclass(frozen=True)
class Report:
    """data as JSON holds it; parts, rich renderables or lines of plain text; the exit code."""

    data: Any
    parts: Sequence[Any] = field(default_factory=list)
    code: int = 0

    def print(self, as_json: bool) -> None:
        """Write to stdout; as JSON, nothing but JSON."""
        if as_json:
            json.dump(self.data, sys.stdout, indent=1, allow_nan=False, ensure_ascii=False)
            sys.stdout.write("\n")
            return
        from rich.console import Console

        console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 120)
        for part in self.parts:
            console.print(part, markup=False, soft_wrap=True) if isinstance(part, str) else console.print(part)


def heading(title: str) -> Any:
    """A line that stands above a table."""
    from rich.text import Text

    return Text(title, style="bold")


def table(*columns: str) -> Any:
    """An empty table; a column named with a leading '>' is set flush right, as numbers are."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(Text(column.lstrip(">")), justify="right" if column.startswith(">") else "left", overflow="fold")
    return made


def add_row(made: Any, *cells: object) -> None:
    """Add a row of plain text: names from files are never read as markup."""
    from rich.text import Text

    made.add_row(*(Text(str(cell)) for cell in cells))


def number(x: float) -> str:
    """Six digits, aligned."""
    return f"{x:.6g}"


def plain(x: Any) -> Any:
    """Arrays as lists, for JSON."""
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, (tuple, list)):
        return [plain(y) for y in x]
    return x.item() if isinstance(x, np.generic) else x
