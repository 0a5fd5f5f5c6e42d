"""Error messages kept in a JSON file beside their test. KINETREE_UPDATE_SNAPSHOTS=1 writes them anew."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import kinetree as kt

UPDATE = os.environ.get("KINETREE_UPDATE_SNAPSHOTS") == "1"


class Snapshots:
    """The messages of one test file, by name."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self.found: dict[str, str] = {}

    def check(self, name: str, act: Callable[[], object]) -> None:
        """`act` is refused with the message that is kept."""
        with pytest.raises(kt.KinetreeError) as caught:
            act()
        self.found[name] = f"{type(caught.value).__name__}: {caught.value}"
        if not UPDATE:
            assert self.found[name] == self.kept.get(name), "the message changed: look, then set KINETREE_UPDATE_SNAPSHOTS=1"

    def check_names(self, names: Iterable[str]) -> None:
        """Nothing is kept that is not tested."""
        assert UPDATE or set(self.kept) == set(names)

    def check_lengths(self) -> None:
        """One line each, of bounded length."""
        assert all("\n" not in text and len(text) < 600 for text in self.kept.values())

    def save(self) -> None:
        """Write what was found, if that is asked for."""
        if UPDATE:
            self.file.write_text(json.dumps(self.found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
