"""Where a problem lies and what becomes of it: an error at once, or a repair that the model remembers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from kinetree.errors import FileError
from kinetree.model import Diagnostic


def shown(value: str, limit: int = 60) -> str:
    """The value quoted, cut where it is long, control characters escaped."""
    return ascii(value) if len(value) <= limit else f"{value[:limit]!a}... ({len(value)} characters)"


def listed(names: Iterable[str], limit: int = 8) -> str:
    """The first names quoted, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(shown(name) for name in names[:limit]) + more


def _no_lines(place: Any) -> int | None:
    return None


@dataclass(frozen=True)
class Report:
    """Errors and repairs of one file. With `strict`, a repair is an error.

    A place is a line number, None, or anything that `line_of` turns into a line number.
    """

    path: str
    strict: bool = False
    line_of: Callable[[Any], int | None] = _no_lines
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def fail(self, place: Any, message: str) -> NoReturn:
        line = self._line(place)
        raise FileError(f"{self.path}: {message}" if line is None else f"{self.path}:{line}: {message}")

    def repair(self, code: str, place: Any, message: str) -> None:
        if self.strict:
            self.fail(place, f"{message} [{code}; an error because strict=True]")
        self.diagnostics.append(Diagnostic(code, message, self.path, self._line(place)))

    def _line(self, place: Any) -> int | None:
        return place if place is None or isinstance(place, int) else self.line_of(place)
