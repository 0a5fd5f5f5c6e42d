"""Compiled code kept on disk from process to process. It is code, so it is trusted only as far as it can be checked.

An entry is used if its folder and its file belong to the user and to nobody else (no links), if its digest is that of all its
bytes, and if it carries the very key that is asked for. Anything else is as if it were not there: it is made anew, and
replaced. Nothing is pickled; an entry is::

    magic   sha256 of the rest   size of key   key   size of header   header (JSON)   parts, end to end

An entry is written beside its place and moved there whole, so that processes may read and write at once. A disk that is full,
read-only or not there makes no difference but time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinetree.errors import InputError

__all__ = ["Entry", "cache_contents", "cache_path", "clear_cache", "read", "write"]

SWITCH, PLACE = "KINETREE_CACHE", "KINETREE_CACHE_DIR"
MOST_BYTES = 512 * 2**20
"""Beyond so many bytes in all, the entries that were not used for longest are removed."""
_MAGIC = b"kinetree code 1\n"
_DIGEST = 32
_SUFFIX = ".kernel"
_FOLDER = "kernels"
_POSIX = hasattr(os, "geteuid")
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Entry:
    """What is kept under one key: a header of plain values, and parts in bytes."""

    header: dict[str, Any]
    parts: tuple[bytes, ...]


def cache_path() -> Path | None:
    """Where entries are kept: ``KINETREE_CACHE_DIR``, else the user's cache; None where that is not known or not wanted.

    Raises InputError if ``KINETREE_CACHE`` is neither 0 nor 1.
    """
    wanted = os.environ.get(SWITCH, "").strip()
    if wanted not in ("", "0", "1"):
        raise InputError(f"the environment variable {SWITCH} must be 0 or 1, found {wanted!r}.")
    if wanted == "0":
        return None
    place = os.environ.get(PLACE, "").strip()
    found = Path(place) if place else _user_caches() / "kinetree"
    return found / _FOLDER if place or found.is_absolute() else None


def _user_caches() -> Path:
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    found = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return found if found.is_absolute() else home / ".cache"


def read(key: str) -> Entry | None:
    """The entry of a key, checked; None if there is none, or none that can be trusted."""
    path, name = cache_path(), _name(key)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError), _opened(path) as folder:
        found = _decoded(folder.read(name), key)
        folder.touch(name)
        return found
    return None


def write(key: str, entry: Entry) -> None:
    """Keep an entry, if that is possible."""
    path = cache_path()
    with contextlib.suppress(OSError), _opened(path, make=True) as folder:
        folder.write(_name(key), _encoded(key, entry))
        folder.trim(MOST_BYTES)


def cache_contents() -> tuple[int, int]:
    """How many entries there are, and their bytes."""
    with contextlib.suppress(OSError), _opened(cache_path()) as folder:
        sizes = [size for _, size, _ in folder.entries()]
        return len(sizes), sum(sizes)
    return 0, 0


def clear_cache() -> tuple[int, int]:
    """Remove every entry; how many there were, and their bytes."""
    with contextlib.suppress(OSError), _opened(cache_path()) as folder:
        return folder.trim(0)
    return 0, 0


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest() + _SUFFIX


def _encoded(key: str, entry: Entry) -> bytes:
    header = json.dumps({"sizes": [len(part) for part in entry.parts], "header": entry.header}).encode()
    rest = b"".join(x for text in (key.encode(), header) for x in (len(text).to_bytes(8, "little"), text))
    rest += b"".join(entry.parts)
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def _decoded(data: bytes, key: str) -> Entry:
    """Raises ValueError or KeyError unless `data` is a whole entry of this key."""
    start = len(_MAGIC) + _DIGEST
    if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(data[start:]).digest() != data[len(_MAGIC) : start]:
        raise ValueError("damaged")
    texts = []
    for _ in range(2):
        size = int.from_bytes(data[start : start + 8], "little")
        texts.append(data[start + 8 : start + 8 + size])
        start += 8 + size
    if texts[0] != key.encode():
        raise ValueError("an entry of another key")
    outer = json.loads(texts[1])
    parts = []
    for size in outer["sizes"]:
        parts.append(data[start : start + size])
        start += size
    if start != len(data):
        raise ValueError("sizes do not add up")
    return Entry(outer["header"], tuple(parts))


@contextlib.contextmanager
def _opened(path: Path | None, make: bool = False) -> Iterator[_Folder]:
    """The folder of the cache. Raises OSError if it cannot be had or trusted."""
    if path is None:
        raise FileNotFoundError
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    if not _POSIX:
        yield _Folder(path, None)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _check_owner(os.fstat(descriptor), stat.S_ISDIR)
        yield _Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _check_owner(found: os.stat_result, is_kind: Any) -> None:
    """Raises PermissionError unless it is of a kind, the user's, and closed to everybody else."""
    if not is_kind(found.st_mode) or (_POSIX and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077)):
        raise PermissionError("not the user's alone")


class _Folder:
    """A folder by its descriptor, so that it stays the one that was checked; by its path where there are no such calls."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self.descriptor = path, descriptor

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def read(self, name: str) -> bytes:
        descriptor = os.open(self._at(name), _READ, dir_fd=self.descriptor)
        with open(descriptor, "rb") as file:
            _check_owner(os.fstat(descriptor), stat.S_ISREG)
            return file.read()

    def touch(self, name: str) -> None:
        """Remember that it was used now."""
        with contextlib.suppress(OSError):
            os.utime(self._at(name), dir_fd=self.descriptor)

    def write(self, name: str, data: bytes) -> None:
        passing = f"{name}.{secrets.token_hex(8)}"
        try:
            with open(os.open(self._at(passing), _WRITE, 0o600, dir_fd=self.descriptor), "wb") as file:
                file.write(data)
            os.replace(self._at(passing), self._at(name), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(self._at(passing), dir_fd=self.descriptor)
            raise

    def trim(self, most: int) -> tuple[int, int]:
        """Remove what was used longest ago, until no more than `most` bytes are left; how many entries, and their bytes."""
        found = self.entries()
        excess, removed = sum(size for _, size, _ in found) - most, []
        for _, size, name in sorted(found):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(self._at(name), dir_fd=self.descriptor)
            excess -= size
            removed.append(size)
        return len(removed), sum(removed)

    def entries(self) -> Sequence[tuple[float, int, str]]:
        """When each was used, its size, its name."""
        found = []
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as listing:
            for item in listing:
                with contextlib.suppress(OSError):
                    if _SUFFIX in item.name:
                        seen = item.stat(follow_symlinks=False)
                        found.append((seen.st_mtime, seen.st_size, item.name))
        return found
