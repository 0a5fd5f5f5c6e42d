"""Code with all that a kernel needs besides, as it goes to disk and comes back."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kinetree.compiler.cache import Entry, cache_path, read, write
from kinetree.compiler.fingerprint import fingerprint
from kinetree.compiler.llvm import object_code
from kinetree.compiler.stats import KernelStats

__all__ = ["Compiled", "Shapes", "key_text", "load", "object_code_once", "store"]

Shapes = tuple[tuple[int | str, ...], ...]
"""Core shapes; a word is an extent that each call chooses."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """A kernel that is not in memory yet.

    Attributes
    ----------
    inputs, outputs : Shapes
    names : tuple of str
        Functions that the code exports.
    grain : int
        States that threads take at a time.
    stats : KernelStats
    arrays : tuple of array
        Tables that the code reads.
    code : bytes
        Object code.
    """

    inputs: Shapes
    outputs: Shapes
    names: tuple[str, ...]
    grain: int
    stats: KernelStats
    arrays: tuple[np.ndarray, ...]
    code: bytes


def key_text(key: tuple[Any, ...]) -> str | None:
    """The key on disk of what follows from `key` and from `fingerprint` alone.

    None if the key has more in it than functions of kinetree's and plain values, or if nothing is kept.
    """
    spelt = _spelt(key)
    return None if spelt is None else _with_fingerprint(spelt)


def _with_fingerprint(text: str) -> str | None:
    if cache_path() is None:
        return None
    found = fingerprint()
    return None if found is None else f"{text}\n{found}"


def _spelt(x: Any) -> str | None:
    if isinstance(x, tuple):
        parts = [_spelt(y) for y in x]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if callable(x) and x.__module__.startswith("kinetree."):
        return f"{x.__module__}.{x.__qualname__}"
    if x is None or isinstance(x, (bool, int, float, str)):
        return repr(x)
    return None


def load(key: str | None) -> Compiled | None:
    """What is kept under a key."""
    entry = None if key is None else read(key)
    if entry is None:
        return None
    header, (*arrays, code) = entry.header, entry.parts
    return Compiled(
        _shapes(header["inputs"]),
        _shapes(header["outputs"]),
        tuple(header["names"]),
        header["grain"],
        KernelStats(**header["stats"]),
        tuple(np.frombuffer(x, dtype).reshape(shape) for x, (dtype, shape) in zip(arrays, header["arrays"], strict=True)),
        code,
    )


def store(key: str | None, made: Compiled) -> None:
    """Keep a kernel, if that is possible."""
    if key is None:
        return
    header = {
        "inputs": made.inputs,
        "outputs": made.outputs,
        "names": made.names,
        "grain": made.grain,
        "stats": asdict(made.stats),
        "arrays": [(x.dtype.str, x.shape) for x in made.arrays],
    }
    write(key, Entry(header, (*(x.tobytes() for x in made.arrays), made.code)))


def _shapes(found: list[list[int | str]]) -> Shapes:
    return tuple(map(tuple, found))


def object_code_once(text: str) -> tuple[bytes, bool]:
    """Object code of a module, and whether it was on disk."""
    key = _with_fingerprint(f"text {hashlib.sha256(text.encode()).hexdigest()}")
    entry = None if key is None else read(key)
    if entry is not None:
        return entry.parts[0], True
    code = object_code(text)
    if key is not None:
        write(key, Entry({}, (code,)))
    return code, False
