"""What ``data`` of a kernel points to: words at the places that `entry` names, then the addresses of its tables."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from kinetree.compiler.entry import DATA
from kinetree.compiler.threads import team_address
from kinetree.compiler.ufunc import host_address

__all__ = ["REFUSED", "data_words"]

_refused = ctypes.c_int64()
REFUSED = memoryview(_refused).cast("B").cast("q")
"""One number: how many vectors of states guarded kernels found something wrong with, since the process began."""


def data_words(least: int, grain: int, dtype: np.dtype[Any], tables: tuple[np.ndarray, ...]) -> ctypes.Array[ctypes.c_int64]:
    """The words of one kernel; `tables` must live as long as they do."""
    words = (ctypes.c_int64 * (DATA + len(tables)))(
        least, grain, team_address(), ctypes.addressof(_refused), host_address(dtype)
    )
    words[DATA:] = [table.ctypes.data for table in tables]
    return words
