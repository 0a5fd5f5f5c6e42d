"""Natural logarithm as vector arithmetic, because no vector mathematics library can be counted on.

::

    x = m 2**k                           m in [sqrt(1/2), sqrt(2)), by integer arithmetic on the bits of x
    f = m - 1,  s = f / (2 + f)          so that log(1 + f) = 2 artanh(s) = s (2 + R(s**2))
    R(z) = L1 z + L2 z**2 + ... + L7 z**7        minimax polynomial of fdlibm (e_log.c), within 2**-58.45
    log(x) = k ln2_hi - ((f**2/2 - (s (f**2/2 + R) + k ln2_lo)) - f)         k ln2_hi is exact

Within one ulp, subnormals included, and exactly +0 at 1. Straight-line code: what a state gives does not depend on its
neighbours in the vector.

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

from kinetree.compiler.text import Arithmetic, bits

__all__ = ["logarithm"]

_LN2_HIGH = 6.93147180369123816490e-01  # 32 bits
_LN2_LOW = 1.90821492927058770002e-10
_L = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_SUBNORMAL_SHIFT = 54
_BIAS = 1023  # of the exponent, which lies above the 52 bits of the significand
_LEAST_SIGNIFICAND = bits(0.5**0.5)
_MINUS_INFINITY = -(2**52)  # its bits as a signed integer; those of negative numbers are less, of -NaN greater


def logarithm(name: str, x: str, lanes: int) -> list[str]:
    """Lines that make `name`, the natural logarithm of the vector `x`.

    Parameters
    ----------
    name : str
        Of the result; intermediate results are ``{name}.1`` and so on.
    x : str
        A vector.
    lanes : int
        Width of the vectors.
    """
    code = Arithmetic(f"{name}.", lanes)
    op, number, integer, whole = code.op, code.number, code.integer, code.whole

    # Integers decide, because comparing a NaN as floating point raises a flag.
    i = code.bits_of(x)
    magnitude = integer("and", i, whole(2**63 - 1))
    zero = integer("icmp eq", magnitude, whole(0))
    negative = integer("icmp sle", i, whole(_MINUS_INFINITY))
    no_number = integer("icmp sge", magnitude, whole(bits(float("inf"))))
    subnormal = integer("icmp ult", i, whole(2**52))

    # Less the bits of sqrt(1/2), the exponent is k and what is left of the significand begins at sqrt(1/2). The bias keeps
    # it positive; below 2**52 in a float's low bits, it becomes a float by taking 2**52 away.
    i = code.bits_of(op("fmul", x, code.select(subnormal, number(2.0**_SUBNORMAL_SHIFT), number(1.0))))
    i = integer("sub", i, whole(_LEAST_SIGNIFICAND - (_BIAS << 52)))
    m = code.float_of(integer("add", integer("and", i, whole(2**52 - 1)), whole(_LEAST_SIGNIFICAND)))
    k = code.float_of(integer("or", integer("lshr", i, whole(52)), whole(bits(2.0**52))))
    zero_exponent = 2.0**52 + _BIAS
    shift = code.select(subnormal, number(-zero_exponent - _SUBNORMAL_SHIFT), number(-zero_exponent))
    k = op("fadd", k, code.select(no_number, x, shift))

    f = op("fsub", m, number(1.0))
    f = code.select(negative, number(-float("inf")), f)
    f = code.select(zero, number(-2.0), f)
    s = op("fdiv", f, op("fadd", f, number(2.0)))
    z = op("fmul", s, s)
    w = op("fmul", z, z)
    odd = op("fmul", z, code.horner(w, _L[0::2]))
    even = op("fmul", w, code.horner(w, _L[1::2]))
    half_square = op("fmul", op("fmul", f, number(0.5)), f)
    inner = op("fmul", s, op("fadd", half_square, op("fadd", even, odd)))
    inner = op("fadd", inner, op("fmul", k, number(_LN2_LOW)))
    inner = op("fsub", op("fsub", half_square, inner), f)
    op("fsub", op("fmul", k, number(_LN2_HIGH)), inner, name)
    return code.lines
