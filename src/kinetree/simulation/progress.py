"""A progress bar that shows itself only on a terminal and only when the work will take more than a second."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Any, Self

SETTLE, WORTH, PAUSE = 0.1, 1.0, 0.1
"""Seconds: before the whole is estimated, that the whole must take, between two refreshes."""


class ProgressBar:
    """`with ProgressBar(total, wanted) as bar: bar.at(k)`; wanted None means: on a terminal, when worth it."""

    def __init__(self, total: int, wanted: bool | None, what: str) -> None:
        self._total, self._what = total, what
        self._bar: Any = None
        self._always = wanted is True
        self._start = perf_counter()
        self._next = self._start + SETTLE if wanted or (wanted is None and sys.stderr.isatty()) else float("inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, done: int) -> None:
        """Tell how many steps are done; cheap enough for every step."""
        now = perf_counter()
        if now < self._next:
            return
        self._next = now + PAUSE
        if self._bar is None and (self._always or (now - self._start) * self._total > WORTH * done):
            self._bar = _rich_bar()
            self._task = self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=done)


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} steps/s", style="progress.data.speed")

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
