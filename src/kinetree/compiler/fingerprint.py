"""Everything besides the model and the function that decides what code comes out, as text: the key of code kept on disk."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
import time
from pathlib import Path

import numpy as np

from kinetree.compiler.llvm import compiler_fingerprint, host_fingerprint

__all__ = ["fingerprint"]

_IMPORTED = time.time()
_CHANGING = {"processor", "cpu mhz", "bogomips", "physical id", "siblings", "core id", "cpu cores", "apicid", "initial apicid"}
"""What /proc/cpuinfo says of one core and not of the next."""


@functools.cache
def fingerprint() -> str | None:
    """Versions, sources and processor; None if the sources are not there or have changed since they were imported."""
    sources = _sources()
    if sources is None:
        return None
    python = f"{platform.python_implementation()} {sys.version}"
    return "\n".join(
        (f"kinetree {sources}", python, f"numpy {np.__version__}", compiler_fingerprint(), platform.machine(), _processor())
    )


def _processor() -> str:
    """What the system says of the first core where it says so; importing LLVM to ask it takes longer than all else here."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            text = file.read(16384)
    except OSError:
        return host_fingerprint()
    first, complete, _ = text.partition("\n\n")
    lines = [line for line in first.splitlines() if line.partition(":")[0].strip().lower() not in _CHANGING]
    said = any(line.lower().startswith(("flags", "features")) for line in lines)
    return "\n".join(lines) if complete and said else host_fingerprint()


def _sources() -> str | None:
    """The digest of kinetree's own files."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    found = sorted(root.rglob("*.py"))
    for path in found:
        text, seen = path.read_bytes(), path.stat()
        if max(seen.st_mtime, seen.st_ctime) >= _IMPORTED:
            return None
        digest.update(f"{path.relative_to(root).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest() if found else None
