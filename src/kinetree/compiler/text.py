"""How types, constants and arithmetic are spelt in LLVM's text form."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

__all__ = ["FLOAT32", "FLOAT64", "Arithmetic", "Element", "Lanes", "bits"]


@final
@dataclass(frozen=True)
class Element:
    """A kind of floating-point number.

    Attributes
    ----------
    name : str
        LLVM's.
    bytes : int
    significand : int
        How many of its bits follow the leading one.
    dtype : numpy.dtype
    """

    name: str
    bytes: int
    significand: int
    dtype: np.dtype[Any]

    @property
    def bits(self) -> int:
        """How many it has."""
        return 8 * self.bytes

    @property
    def integer(self) -> str:
        """The type of whole numbers of the same size."""
        return f"i{self.bits}"

    def bits_of(self, value: float) -> int:
        """The bit pattern of the nearest number of this kind as a whole number."""
        with np.errstate(over="ignore"):
            return int.from_bytes(np.array(value, self.dtype).astype(self.dtype.newbyteorder("<")).tobytes(), "little")

    def constant(self, value: float) -> str:
        """The nearest number of this kind, exactly; LLVM wants the bits of a float64 whatever the type."""
        with np.errstate(over="ignore"):
            return f"0x{bits(float(self.dtype.type(value))):016X}"


FLOAT64 = Element("double", 8, 52, np.dtype(np.float64))
FLOAT32 = Element("float", 4, 23, np.dtype(np.float32))


@final
@dataclass(frozen=True)
class Lanes:
    """The type of a vector, one state per lane; as text, LLVM's name of it.

    Attributes
    ----------
    count : int
    element : Element
    """

    count: int
    element: Element = FLOAT64

    def __str__(self) -> str:
        return f"<{self.count} x {self.element.name}>"

    @property
    def bytes(self) -> int:
        """Of one vector."""
        return self.count * self.element.bytes

    @property
    def integers(self) -> str:
        """The type of as many whole numbers of the same size."""
        return f"<{self.count} x {self.element.integer}>"

    @property
    def truths(self) -> str:
        """The type of as many truth values."""
        return f"<{self.count} x i1>"

    def splat(self, value: float) -> str:
        """A constant with the same number in each lane."""
        return f"splat ({self.element.name} {self.element.constant(value)})"

    def broadcast(self, name: str, x: str) -> list[str]:
        """Lines that make `name`, the number `x` in each lane."""
        zeros = f"<{self.count} x i32> zeroinitializer"
        return [
            f"  {name}.first = insertelement {self} poison, {self.element.name} {x}, i64 0",
            f"  {name} = shufflevector {self} {name}.first, {self} poison, {zeros}",
        ]

    def intrinsic(self, word: str) -> str:
        """LLVM's function of vectors of this type."""
        return f"@llvm.{word}.v{self.count}f{self.element.bits}"


def bits(value: float) -> int:
    """The bit pattern of a float64 as a whole number."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


class Arithmetic:
    """Arithmetic on vectors, line by line.

    Parameters
    ----------
    prefix : str
        Intermediate results are ``{prefix}1``, ``{prefix}2`` and so on.
    lanes : Lanes
        Type of the vectors.

    Attributes
    ----------
    lines : list of str
        What was written so far.
    """

    def __init__(self, prefix: str, lanes: Lanes):
        self.prefix = prefix
        self.lanes = lanes
        self.lines: list[str] = []

    def put(self, text: str, name: str | None = None) -> str:
        """The name of a result, one of its own if none is given."""
        name = name or f"{self.prefix}{len(self.lines) + 1}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """A number in each lane."""
        return self.lanes.splat(value)

    def whole(self, value: int) -> str:
        """A whole number in each lane."""
        return f"splat ({self.lanes.element.integer} {value})"

    def op(self, word: str, a: str, b: str, name: str | None = None) -> str:
        """``fadd``, ``fsub``, ``fmul`` or ``fdiv``."""
        return self.put(f"{word} contract {self.lanes} {a}, {b}", name)

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """``a b + c``, fused where the machine has such an instruction."""
        return self.op("fadd", self.op("fmul", a, b), c)

    def fused(self, a: str, b: str, c: str) -> str:
        """``a b + c`` with one rounding on every machine, however slowly."""
        V = self.lanes
        return self.put(f"call {V} {V.intrinsic('fma')}({V} {a}, {V} {b}, {V} {c})")

    def horner(self, z: str, coefficients: Sequence[float]) -> str:
        """The polynomial in `z`, lowest coefficient first."""
        result = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.multiply_add(result, z, self.number(c))
        return result

    def integer(self, word: str, a: str, b: str, name: str | None = None) -> str:
        """Of whole numbers: ``add``, ``and``, ``lshr``, ``icmp eq`` and so on."""
        return self.put(f"{word} {self.lanes.integers} {a}, {b}", name)

    def select(self, condition: str, a: str, b: str, name: str | None = None) -> str:
        """`a` where `condition`, else `b`."""
        return self.put(f"select {self.lanes.truths} {condition}, {self.lanes} {a}, {self.lanes} {b}", name)

    def bits_of(self, x: str) -> str:
        """Bit patterns of numbers."""
        return self.put(f"bitcast {self.lanes} {x} to {self.lanes.integers}")

    def float_of(self, i: str, name: str | None = None) -> str:
        """Numbers of bit patterns."""
        return self.put(f"bitcast {self.lanes.integers} {i} to {self.lanes}", name)
