"""`kinetree cache`: compiled code kept on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinetree.cli.report import Report
from kinetree.compiler.cache import MOST_BYTES, cache_contents, cache_path, clear_cache


@final
@dataclass(frozen=True, kw_only=True)
class Cache:
    """Where compiled code is kept from process to process, and how much of it there is.

    Example: kinetree cache --clear
    """

    clear: bool = False
    """Remove all of it; it is made anew when it is needed."""
    json: bool = False
    """Print JSON, and nothing else."""

    def report(self) -> Report:
        """The folder, and what is or was in it."""
        path = cache_path()
        entries, size = clear_cache() if self.clear else cache_contents()
        data = {"path": None if path is None else str(path), "entries": entries, "bytes": size, "cleared": self.clear}
        where = "code is not kept on disk" if path is None else str(path)
        what = f"{entries} kernels, {size / 2**20:.1f} MB{' removed' if self.clear else f' of at most {MOST_BYTES // 2**20}'}"
        return Report(data, [where, what])
