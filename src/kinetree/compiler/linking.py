"""Object code to functions of this process: put into memory as an image where that is possible, by LLVM's linker elsewhere."""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
import weakref
from dataclasses import dataclass
from typing import Any

from kinetree.compiler.image import Image, image_of
from kinetree.compiler.llvm import linked_by_llvm

__all__ = ["MachineCode", "linked"]


@dataclass(frozen=True)
class MachineCode:
    """Code in memory; it lives as long as `library` does.

    Attributes
    ----------
    addresses : dict
        Of the functions that can be called from elsewhere, by name.
    library : object
        Owner of the memory.
    """

    addresses: dict[str, int]
    library: Any


class _Pages:
    """An image in memory: pages that are written or run, never both."""

    def __init__(self, image: Image) -> None:
        self.memory = mmap.mmap(-1, len(image.data), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.memory.write(image.data)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for name, slot in image.imports.items():
            ctypes.c_void_p.from_address(self.start + slot).value = _address(name)
        if _process().mprotect(ctypes.c_void_p(self.start), ctypes.c_size_t(image.fixed), mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError("code cannot be made executable")


def linked(code: bytes, *names: str) -> MachineCode:
    """Object code, ready to run: its functions of these names. ``release``, if named, is called when it is dropped."""
    found = _in_pages(code, names) or MachineCode(*linked_by_llvm(code, names))
    if "release" in names:
        weakref.finalize(found, _release, found.addresses["release"], found.library).atexit = False
    return found


def _in_pages(code: bytes, names: tuple[str, ...]) -> MachineCode | None:
    image = image_of(code, mmap.PAGESIZE) if sys.platform == "linux" else None
    if image is None:
        return None
    try:
        pages = _Pages(image)
    except (OSError, ValueError):  # not allowed, or a name that is elsewhere: LLVM may find a way, or a better message
        return None
    return MachineCode({name: pages.start + image.exports[name] for name in names}, pages)


@functools.cache
def _process() -> Any:
    """What this process has loaded."""
    return ctypes.CDLL(None)


def _address(name: str) -> int:
    """Of a function or variable of this process. Raises ValueError."""
    return ctypes.addressof(ctypes.c_char.in_dll(_process(), name))


def _release(address: int, library: Any) -> None:
    """Free what a module kept from call to call; the library is an argument so that its code is still there."""
    ctypes.CFUNCTYPE(None)(address)()
