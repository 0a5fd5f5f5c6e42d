"""Object code as an image that runs wherever it is put in memory: the little of a linker that code of ours needs.

Importing LLVM takes longer than all else that a kernel needs to start from the disk, and its linker is all that would be
used of it. Code of ours is position-independent, in few sections, and asks for few outside names, so that a page will do:
ELF for x86-64, where everything is addressed relative to the place it is addressed from (System V ABI, AMD64 supplement,
section 4.4). What is not of that kind is left to LLVM.

An image is what is never written, then, in other pages, what is. Each outside name has a slot for its address in the first
part, and behind it an instruction that jumps there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Image", "image_of"]

_HEAD = b"\x7fELF\x02\x01\x01"  # 64 bits, little end first
_RELOCATABLE, _X86_64 = 1, 62
_SYMBOLS, _RELOCATIONS, _NOTHING_STORED, _UNWINDING = 2, 4, 8, 0x70000001
_WRITTEN, _ALLOCATED = 1, 2
_OUTSIDE, _FILE = 0, 4
_DIRECT, _BY_SLOT = (2, 4), (9, 41, 42)  # PC32, PLT32; GOTPCREL, GOTPCRELX, REX_GOTPCRELX
_SECTION = np.dtype("<u4,<u4,<u8,<u8,<u8,<u8,<u4,<u4,<u8,<u8")
_SECTION.names = ("name", "kind", "flags", "address", "offset", "size", "link", "info", "align", "entry")
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")])
_RELOCATION = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SLOT = 16
_JUMP = struct.pack("<HiH", 0x25FF, -14, 0)  # jmp *slot, which begins 8 bytes before


@dataclass(frozen=True)
class Image:
    """Bytes to be put at the beginning of a page.

    Attributes
    ----------
    data : bytes
    fixed : int
        How many of them are never written; whole pages.
    imports, exports : dict
        Where the slots of outside names are, and the functions that others may call.
    """

    data: bytes
    fixed: int
    imports: dict[str, int]
    exports: dict[str, int]


def image_of(code: bytes, page: int) -> Image | None:
    """The image of object code; None if there is something in it that is not known here."""
    if not code.startswith(_HEAD) or struct.unpack_from("<HH", code, 16) != (_RELOCATABLE, _X86_64):
        return None
    (at,), (count,) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<H", code, 60)
    sections = np.frombuffer(code, _SECTION, count, at)
    (table,) = sections[sections["kind"] == _SYMBOLS]
    symbols, strings = _part(code, table, _SYMBOL), int(sections[table["link"]]["offset"])
    names = [code[strings + x : code.index(b"\0", strings + x)].decode() for x in symbols["name"].tolist()]
    outside = [n for n, place in enumerate(symbols["section"].tolist()) if place == _OUTSIDE and names[n]]
    places, slots_at, fixed, size = _laid_out(sections, len(outside), page)
    known = np.isin(symbols["section"], [_OUTSIDE, *places]) | (symbols["info"] & 15 == _FILE)
    if not known.all():
        return None
    base = np.zeros(2**16, np.int64)
    base[list(places)] = list(places.values())
    targets = base[symbols["section"]] + symbols["value"].astype(np.int64)
    targets[outside] = slots_at + 8 + _SLOT * np.arange(len(outside))
    data = np.zeros(size, np.uint8)
    for n, place in places.items():
        if sections[n]["kind"] != _NOTHING_STORED:
            data[place : place + int(sections[n]["size"])] = _part(code, sections[n], np.uint8)
    for slot in targets[outside]:
        data[slot : slot + 8] = np.frombuffer(_JUMP, np.uint8)
    moved = [x for x in sections if x["kind"] == _RELOCATIONS and int(x["info"]) in places]
    if not all(_relocated(data, places[int(x["info"])], _part(code, x, _RELOCATION), targets, outside) for x in moved):
        return None
    exports = {names[n]: int(targets[n]) for n in np.flatnonzero(symbols["info"] >> 4) if n not in outside}
    return Image(data.tobytes(), fixed, {names[n]: int(targets[n]) - 8 for n in outside}, exports)


def _part(code: bytes, section: Any, kind: Any) -> Any:
    """What stands in a section."""
    kind = np.dtype(kind)
    return np.frombuffer(code, kind, int(section["size"]) // kind.itemsize, int(section["offset"]))


def _laid_out(sections: Any, outside: int, page: int) -> tuple[dict[int, int], int, int, int]:
    """Where sections go; where the slots begin; where what is written begins; and the end."""
    places: dict[int, int] = {}
    end = slots = fixed = 0
    for written in (0, _WRITTEN):
        for n, section in enumerate(sections):
            wanted = section["flags"] & (_ALLOCATED | _WRITTEN) == _ALLOCATED | written
            if wanted and section["kind"] != _UNWINDING:
                align = max(int(section["align"]), 1)
                places[n] = -(-end // align) * align
                end = places[n] + int(section["size"])
        if not written:
            slots = -(-end // _SLOT) * _SLOT
            end = fixed = -(-(slots + _SLOT * outside) // page) * page
    return places, slots, fixed, -(-end // page) * page


def _relocated(data: Any, place: int, moves: Any, targets: Any, outside: list[int]) -> bool:
    """Write the addresses that a section asks for; False if one is of a kind that is not known here."""
    by_slot = np.isin(moves["kind"], _BY_SLOT)
    if not (by_slot | np.isin(moves["kind"], _DIRECT)).all() or not np.isin(moves["symbol"][by_slot], outside).all():
        return False
    where = place + moves["offset"].astype(np.int64)
    values = targets[moves["symbol"]] - 8 * by_slot + moves["addend"] - where
    data[where[:, None] + np.arange(4)] = values.astype("<i4").view(np.uint8).reshape(-1, 4)
    return True
