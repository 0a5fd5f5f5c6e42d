"""How types and constants are spelt in LLVM's text form."""

import struct

__all__ = ["bits", "number", "splat", "vector"]


def vector(lanes: int, element: str = "double") -> str:
    """The type of a vector, one element per lane."""
    return f"<{lanes} x {element}>"


def bits(value: float) -> int:
    """The bit pattern of a float64 as an integer."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def number(value: float) -> str:
    """A float64 constant, exactly."""
    return f"0x{bits(value):016X}"


def splat(value: float | int, lanes: int, element: str = "double") -> str:
    """A constant vector with the same value in each lane."""
    return f"splat ({element} {number(value) if element == 'double' else value})"
