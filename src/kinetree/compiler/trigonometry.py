"""Sine and cosine as vector arithmetic, because no vector mathematics library can be counted on.

::

    n = rint(2 x / π)                    by adding and taking away ROUNDER, which leaves n in the low bits as well
    y = x - n P1 - n P2 - n P3           π/2 = P1 + P2 + P3; fused, so that x - n P1 is exact and n P2 not rounded
    sin y = y + y (z S(z)),  cos y = 1 + z (-1/2 + z C(z)),  z = y**2        minimax polynomials (for float64 fdlibm's)
    exchanged when n is odd; the sign of the sine flips by bit 1 of n, of the cosine by bit 1 of n + 1

Errors of the sine, in units of the last place (ulp): the rounding of y counts 1/2, or 1 where sin y lies below a power of
two that y does not; the last sum 1/2; products before it 0.2. Of the cosine: 0.35 from y, 0.25 from z, 0.25 from products
with it, 1/2 from the last sum. So both are within 1.7; the most found was 1.51 in 10**8 float64 below 10**5, and 1.54 in all
float32 below 10**5. Signed zeros and subnormals are right.

Of a group of arguments one test finds whether all are below `LIMIT` (or a little beyond), by whole numbers, because
comparing a NaN as floating point raises a flag. Where one is not, a function that hardly ever runs does the group: the
same arithmetic for its near lanes, libm for far, infinite and NaN ones, no flags raised on their behalf. Decided lane by
lane: what a state gives does not depend on its neighbours in the vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from kinetree.compiler.text import FLOAT32, FLOAT64, Arithmetic, Element, Lanes

__all__ = ["LIMIT", "far_path", "sine_cosine_group"]

LIMIT = 1e5

_NEAR = 2**16  # |n| below which the arithmetic is used
_TWO_OVER_PI = 0.6366197723675814


@final
@dataclass(frozen=True)
class _Constants:
    """Of one kind of number: the parts of -π/2, all of one sign so that y = -0 for x = -0; S; -1/2 and C; libm's suffix."""

    minus_half_pi: tuple[str, str, str]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]
    suffix: str


_OF = {
    FLOAT64: _Constants(
        ("-0x1.921fb54442d18p+0", "-0x1.1a62633145c06p-54", "-0x1.c1cd129024e09p-107"),
        (
            -1.66666666666666324348e-01,
            8.33333333332248946124e-03,
            -1.98412698298579493134e-04,
            2.75573137070700676789e-06,
            -2.50507602534068634195e-08,
            1.58969099521155010221e-10,
        ),
        (
            -0.5,
            4.16666666666666019037e-02,
            -1.38888888888741095749e-03,
            2.48015872894767294178e-05,
            -2.75573143513906633035e-07,
            2.08757232129817482790e-09,
            -1.13596475577881948265e-11,
        ),
        "",
    ),
    FLOAT32: _Constants(
        ("-0x1.921fb4p+0", "-0x1.4442dp-24", "-0x1.846988p-48"),
        (-0.16666655242443085, 0.008332186378538609, -0.00019517596228979528),
        (-0.5, 0.04166664555668831, -0.00138873013202101, 2.4430670237052254e-05),
        "f",
    ),
}


def far_path(lanes: Lanes) -> str:
    """LLVM text of what the code of `sine_cosine_group` calls."""
    V, number, suffix = lanes, lanes.element.name, _OF[lanes.element].suffix
    code = Arithmetic("%t", lanes)
    far = code.integer("icmp ne", _beyond(code, ["%v"]), code.whole(0), "%far")
    x = code.select(far, code.number(0.0), "%v")
    _near_path(code, x, "%vs", "%vc")
    newline = "\n"
    return f"""
declare {number} @sin{suffix}({number})
declare {number} @cos{suffix}({number})
declare {V} {V.intrinsic("fma")}({V}, {V}, {V})

define internal void @far_sine_cosine(ptr %x, ptr %s, ptr %c, i64 %count) noinline cold #0 {{
entry:
  br label %vector
vector:
  %k = phi i64 [0, %entry], [%k.next, %after]
  %px = getelementptr {V}, ptr %x, i64 %k
  %ps = getelementptr {V}, ptr %s, i64 %k
  %pc = getelementptr {V}, ptr %c, i64 %k
  %v = load {V}, ptr %px
{newline.join(code.lines)}
  store {V} %vs, ptr %ps
  store {V} %vc, ptr %pc
  br label %lane
lane:
  %l = phi i64 [0, %vector], [%l.next, %next]
  %far.lane = extractelement {V.truths} %far, i64 %l
  br i1 %far.lane, label %call, label %next
call:
  %lx = getelementptr {number}, ptr %px, i64 %l
  %ls = getelementptr {number}, ptr %ps, i64 %l
  %lc = getelementptr {number}, ptr %pc, i64 %l
  %xl = load {number}, ptr %lx
  %sl = call {number} @sin{suffix}({number} %xl)
  %cl = call {number} @cos{suffix}({number} %xl)
  store {number} %sl, ptr %ls
  store {number} %cl, ptr %lc
  br label %next
next:
  %l.next = add i64 %l, 1
  %l.more = icmp ult i64 %l.next, {V.count}
  br i1 %l.more, label %lane, label %after
after:
  %k.next = add i64 %k, 1
  %k.more = icmp ult i64 %k.next, %count
  br i1 %k.more, label %vector, label %exit
exit:
  ret void
}}
"""


def sine_cosine_group(group: str, arguments: Sequence[str], lanes: Lanes, block: str) -> tuple[list[str], list[str], str]:
    """Code for sine and cosine of several vectors, with one check for far arguments for all of them.

    Parameters
    ----------
    group : str
        Prefix of every name made here.
    arguments : sequence of str
        Vectors to take sine and cosine of; argument ``k`` gives ``%{group}s{k}`` and ``%{group}c{k}``.
    lanes : Lanes
        Type of the vectors.
    block : str
        Label of the block that the code is appended to.

    Returns
    -------
    lines : list of str
    allocations : list of str
        To be put in the function's entry block.
    block : str
        Label of the block that the code ends in.
    """
    V, n = lanes, len(arguments)
    cold, near, join = f"{group}cold", f"{group}near", f"{group}join"
    code = Arithmetic(f"%{group}t", lanes)
    far = code.integer("icmp ne", _beyond(code, arguments), code.whole(0))
    code.lines += [
        f"  %{group}mask = bitcast {V.truths} {far} to i{V.count}",
        f"  %{group}rare = icmp ne i{V.count} %{group}mask, 0",
        f"  br i1 %{group}rare, label %{cold}, label %{near}, !prof !0",
        f"{cold}:",
    ]
    for k, x in enumerate(arguments):
        code.lines.append(f"  %{group}xat{k} = getelementptr {V}, ptr %{group}xbuffer, i64 {k}")
        code.lines.append(f"  store {V} {x}, ptr %{group}xat{k}")
    buffers = ", ".join(f"ptr %{group}{kind}buffer" for kind in "xsc")
    code.lines.append(f"  call void @far_sine_cosine({buffers}, i64 {n})")
    for kind in "sc":
        for k in range(n):
            code.lines.append(f"  %{group}{kind}at{k} = getelementptr {V}, ptr %{group}{kind}buffer, i64 {k}")
            code.lines.append(f"  %{group}far{kind}{k} = load {V}, ptr %{group}{kind}at{k}")
    code.lines += [f"  br label %{join}", f"{near}:"]
    for k, x in enumerate(arguments):
        _near_path(code, x, f"%{group}nears{k}", f"%{group}nearc{k}")
    code.lines += [f"  br label %{join}", f"{join}:"]
    for kind in "sc":
        for k in range(n):
            incoming = f"[%{group}near{kind}{k}, %{near}], [%{group}far{kind}{k}, %{cold}]"
            code.lines.append(f"  %{group}{kind}{k} = phi {V} {incoming}")
    allocations = [f"  %{group}{kind}buffer = alloca [{n} x {V}], align 64" for kind in "xsc"]
    return code.lines, allocations, join


def _beyond(code: Arithmetic, arguments: Sequence[str]) -> str:
    """Bits that are all zero in lanes where every argument is near."""
    found, element = "", code.lanes.element
    for x in arguments:
        changed = code.integer("xor", code.bits_of(_rounded(code, x)), code.whole(element.bits_of(_rounder(element) - _NEAR)))
        found = code.integer("or", found, changed) if found else changed
    return code.integer("and", found, code.whole(-2 * _NEAR))


def _rounder(element: Element) -> float:
    """What leaves n + _NEAR in the low bits when n is added to it: 17 bits exactly for near arguments."""
    return 1.5 * 2.0**element.significand + _NEAR


def _rounded(code: Arithmetic, x: str) -> str:
    """ROUNDER + n."""
    return code.multiply_add(x, code.number(_TWO_OVER_PI), code.number(_rounder(code.lanes.element)))


def _near_path(code: Arithmetic, x: str, sine: str, cosine: str) -> None:
    """Lines that make `sine` and `cosine` of an `x` below the limit."""
    number, whole, integer = code.number, code.whole, code.integer
    element, constants = code.lanes.element, _OF[code.lanes.element]
    rounded = _rounded(code, x)
    quadrant = code.bits_of(rounded)
    n = code.op("fsub", rounded, number(_rounder(element)))
    y = x
    for part in constants.minus_half_pi:
        y = code.fused(n, number(float.fromhex(part)), y)
    z = code.op("fmul", y, y)
    # Adding zero makes -0 of z S(z) a +0, without which the sine of -0 would be +0; it costs nothing.
    s = code.multiply_add(z, code.horner(z, constants.sine), number(0.0))
    s = code.multiply_add(s, y, y)
    c = code.multiply_add(z, code.horner(z, constants.cosine), number(1.0))
    odd = integer("icmp ne", integer("and", quadrant, whole(1)), whole(0))
    top = element.bits - 1
    turn = integer("shl", quadrant, whole(top - 1))
    for name, first, second, flip in ((sine, c, s, turn), (cosine, s, c, integer("add", turn, whole(2 ** (top - 1))))):
        sign = integer("and", flip, whole(-(2**top)))
        code.float_of(integer("xor", code.bits_of(code.select(odd, first, second)), sign), name)
