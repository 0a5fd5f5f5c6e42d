"""How types, constants and arithmetic are spelt in LLVM's text form."""

import struct
from collections.abc import Sequence

__all__ = ["Arithmetic", "bits", "number", "splat", "vector"]


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


class Arithmetic:
    """Arithmetic on vectors, line by line.

    Parameters
    ----------
    prefix : str
        Intermediate results are ``{prefix}1``, ``{prefix}2`` and so on.
    lanes : int
        Width of the vectors.

    Attributes
    ----------
    lines : list of str
        What was written so far.
    """

    def __init__(self, prefix: str, lanes: int):
        self.prefix = prefix
        self.lanes = lanes
        self.lines: list[str] = []

    def put(self, text: str, name: str | None = None) -> str:
        """The name of a result, one of its own if none is given."""
        name = name or f"{self.prefix}{len(self.lines) + 1}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """A float64 in each lane."""
        return splat(value, self.lanes)

    def whole(self, value: int) -> str:
        """A 64-bit integer in each lane."""
        return splat(value, self.lanes, "i64")

    def op(self, word: str, a: str, b: str, name: str | None = None) -> str:
        """``fadd``, ``fsub``, ``fmul`` or ``fdiv``."""
        return self.put(f"{word} contract {vector(self.lanes)} {a}, {b}", name)

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """``a b + c``, fused where the machine has such an instruction."""
        return self.op("fadd", self.op("fmul", a, b), c)

    def fused(self, a: str, b: str, c: str) -> str:
        """``a b + c`` with one rounding on every machine, however slowly."""
        V = vector(self.lanes)
        return self.put(f"call {V} @llvm.fma.v{self.lanes}f64({V} {a}, {V} {b}, {V} {c})")

    def horner(self, z: str, coefficients: Sequence[float]) -> str:
        """The polynomial in `z`, lowest coefficient first."""
        result = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.multiply_add(result, z, self.number(c))
        return result

    def integer(self, word: str, a: str, b: str, name: str | None = None) -> str:
        """Of 64-bit integers: ``add``, ``and``, ``lshr``, ``icmp eq`` and so on."""
        return self.put(f"{word} {vector(self.lanes, 'i64')} {a}, {b}", name)

    def select(self, condition: str, a: str, b: str, name: str | None = None) -> str:
        """`a` where `condition`, else `b`."""
        V = vector(self.lanes)
        return self.put(f"select {vector(self.lanes, 'i1')} {condition}, {V} {a}, {V} {b}", name)

    def bits_of(self, x: str) -> str:
        """Bit patterns of floats."""
        return self.put(f"bitcast {vector(self.lanes)} {x} to {vector(self.lanes, 'i64')}")

    def float_of(self, i: str, name: str | None = None) -> str:
        """Floats of bit patterns."""
        return self.put(f"bitcast {vector(self.lanes, 'i64')} {i} to {vector(self.lanes)}", name)
