"""Natural logarithm as vector arithmetic, because no vector mathematics library can be counted on.

::

    x = m 2**k                           m in [sqrt(1/2), sqrt(2)), by integer arithmetic on the bits of x
    f = m - 1,  s = f / (2 + f)          so that log(1 + f) = 2 artanh(s) = s (2 + R(s**2))
    R(z) = L1 z + L2 z**2 + ... + L7 z**7        minimax polynomials of fdlibm (e_log.c; to L4, e_logf.c)
    log(x) = k ln2_hi - ((f**2/2 - (s (f**2/2 + R) + k ln2_lo)) - f)         k ln2_hi is exact

Within one ulp (0.86 found; 0.84 in all float32), subnormals included, and exactly +0 at 1. Straight-line code: what a state
gives does not depend on its neighbours in the vector.

What is no positive number has bits like any other, so m and k are harmless numbers there too. Three selections on top of
them make the line of arithmetic above end in the right value by itself, with the floating-point flags of `numpy.log`:

=================  ==============  ===========================  ======================
x                  instead         then                         flags
=================  ==============  ===========================  ======================
+0, -0             f = -2          s = -2 / 0, log x = -inf     division by zero
negative, -inf     f = -inf        s = f / f, log x = NaN       invalid
+inf               k = inf         log x = inf                  none
NaN                k = NaN         log x = NaN                  none (invalid if it signals)
=================  ==============  ===========================  ======================
"""

from dataclasses import dataclass
from typing import final

from kinetree.compiler.text import FLOAT32, FLOAT64, Arithmetic, Lanes

__all__ = ["logarithm"]


@final
@dataclass(frozen=True)
class _Constants:
    """Of one kind of number: ln 2 = high + low, L; what makes subnormals normal is 2**shift; the bias of exponents."""

    ln2: tuple[float, float]
    L: tuple[float, ...]
    shift: int
    bias: int


_OF = {
    FLOAT64: _Constants(
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),  # the first has 32 bits
        (
            6.666666666666735130e-01,
            3.999999999940941908e-01,
            2.857142874366239149e-01,
            2.222219843214978396e-01,
            1.818357216161805012e-01,
            1.531383769920937332e-01,
            1.479819860511658591e-01,
        ),
        54,
        1023,
    ),
    FLOAT32: _Constants(
        (6.9313812256e-01, 9.0580006145e-06),  # the first has 15 bits
        (6.6666662693e-01, 4.0000972152e-01, 2.8498786688e-01, 2.4279078841e-01),
        25,
        127,
    ),
}


def logarithm(name: str, x: str, lanes: Lanes) -> list[str]:
    """Lines that make `name`, the natural logarithm of the vector `x`.

    Parameters
    ----------
    name : str
        Of the result; intermediate results are ``{name}.1`` and so on.
    x : str
        A vector.
    lanes : Lanes
        Type of the vectors.
    """
    code = Arithmetic(f"{name}.", lanes)
    op, number, integer, whole = code.op, code.number, code.integer, code.whole
    element, constants = lanes.element, _OF[lanes.element]
    below = element.significand  # bits below the exponent
    least_significand = element.bits_of(0.5**0.5)
    infinity = element.bits_of(float("inf"))

    # Integers decide, because comparing a NaN as floating point raises a flag. As signed integers, the bits of negative
    # numbers are at most those of -infinity, those of -NaN more.
    i = code.bits_of(x)
    magnitude = integer("and", i, whole(2 ** (element.bits - 1) - 1))
    zero = integer("icmp eq", magnitude, whole(0))
    negative = integer("icmp sle", i, whole(infinity - 2 ** (element.bits - 1)))
    no_number = integer("icmp sge", magnitude, whole(infinity))
    subnormal = integer("icmp ult", i, whole(2**below))

    # Less the bits of sqrt(1/2), the exponent is k and what is left of the significand begins at sqrt(1/2). The bias keeps
    # it positive; in the low bits of the power of two below which all is whole, it becomes a number by taking that away.
    i = code.bits_of(op("fmul", x, code.select(subnormal, number(2.0**constants.shift), number(1.0))))
    i = integer("sub", i, whole(least_significand - (constants.bias << below)))
    m = code.float_of(integer("add", integer("and", i, whole(2**below - 1)), whole(least_significand)))
    k = code.float_of(integer("or", integer("lshr", i, whole(below)), whole(element.bits_of(2.0**below))))
    zero_exponent = 2.0**below + constants.bias
    shift = code.select(subnormal, number(-zero_exponent - constants.shift), number(-zero_exponent))
    k = op("fadd", k, code.select(no_number, x, shift))

    f = op("fsub", m, number(1.0))
    f = code.select(negative, number(-float("inf")), f)
    f = code.select(zero, number(-2.0), f)
    s = op("fdiv", f, op("fadd", f, number(2.0)))
    z = op("fmul", s, s)
    w = op("fmul", z, z)
    odd = op("fmul", z, code.horner(w, constants.L[0::2]))
    even = op("fmul", w, code.horner(w, constants.L[1::2]))
    half_square = op("fmul", op("fmul", f, number(0.5)), f)
    inner = op("fmul", s, op("fadd", half_square, op("fadd", even, odd)))
    inner = op("fadd", inner, op("fmul", k, number(constants.ln2[1])))
    inner = op("fsub", op("fsub", half_square, inner), f)
    op("fsub", op("fmul", k, number(constants.ln2[0])), inner, name)
    return code.lines
