"""Sine and cosine as vector arithmetic, because no vector mathematics library can be counted on.

::

    n = rint(2 x / π)                    by adding and taking away ROUNDER, which leaves n in the low bits as well
    y = x - n P1 - n P2 - n P3           π/2 = P1 + P2 + P3; fused, so that x - n P1 is exact and n P2 never rounded
    sin y = y + y (z S(z)),  cos y = 1 + z (-1/2 + z C(z)),  z = y**2        minimax polynomials of fdlibm
    exchanged when n is odd; the sign of the sine flips by bit 1 of n, of the cosine by bit 1 of n + 1

Errors of the sine, in units of the last place (ulp): the rounding of y counts 1/2, or 1 where sin y lies below a power of
two that y does not; the last sum 1/2; products before it 0.2. Of the cosine: 0.35 from y, 0.25 from z, 0.25 from products
with it, 1/2 from the last sum. So both are within 1.7; the most found, in 10**8 arguments below 10**5, was 1.51. Signed
zeros and subnormals are right.

Of a group of arguments one test finds whether all are below `LIMIT` (or a little beyond), by whole numbers, because
comparing a NaN as floating point raises a flag. Where one is not, a function that hardly ever runs does the group: the
same arithmetic for its near lanes, libm for far, infinite and NaN ones, no flags raised on their behalf. Decided lane by
lane: what a state gives does not depend on its neighbours in the vector.
"""

from collections.abc import Sequence

from kinetree.compiler.text import Arithmetic, bits, vector

__all__ = ["LIMIT", "far_path", "sine_cosine_group"]

LIMIT = 1e5

_NEAR = 2**16  # |n| below which the arithmetic is used
_ROUNDER = 1.5 * 2.0**52 + _NEAR  # so that what was added to it is n + _NEAR, which has 17 bits exactly for near arguments
_TWO_OVER_PI = 0.6366197723675814
_MINUS_HALF_PI = (
    -float.fromhex("0x1.921fb54442d18p+0"),
    -float.fromhex("0x1.1a62633145c06p-54"),
    -float.fromhex("0x1.c1cd129024e09p-107"),
)  # all of one sign, so that y = -0 for x = -0
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    -0.5,
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def far_path(lanes: int) -> str:
    """LLVM text of what the code of `sine_cosine_group` calls."""
    V = vector(lanes)
    code = Arithmetic("%t", lanes)
    far = code.integer("icmp ne", _beyond(code, ["%v"]), code.whole(0), "%far")
    x = code.select(far, code.number(0.0), "%v")
    _near_path(code, x, "%vs", "%vc")
    newline = "\n"
    return f"""
declare double @sin(double)
declare double @cos(double)
declare {V} @llvm.fma.v{lanes}f64({V}, {V}, {V})

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
  %far.lane = extractelement <{lanes} x i1> %far, i64 %l
  br i1 %far.lane, label %call, label %next
call:
  %lx = getelementptr double, ptr %px, i64 %l
  %ls = getelementptr double, ptr %ps, i64 %l
  %lc = getelementptr double, ptr %pc, i64 %l
  %xl = load double, ptr %lx
  %sl = call double @sin(double %xl)
  %cl = call double @cos(double %xl)
  store double %sl, ptr %ls
  store double %cl, ptr %lc
  br label %next
next:
  %l.next = add i64 %l, 1
  %l.more = icmp ult i64 %l.next, {lanes}
  br i1 %l.more, label %lane, label %after
after:
  %k.next = add i64 %k, 1
  %k.more = icmp ult i64 %k.next, %count
  br i1 %k.more, label %vector, label %exit
exit:
  ret void
}}
"""


def sine_cosine_group(group: str, arguments: Sequence[str], lanes: int, block: str) -> tuple[list[str], list[str], str]:
    """Code for sine and cosine of several vectors, with one check for far arguments for all of them.

    Parameters
    ----------
    group : str
        Prefix of every name made here.
    arguments : sequence of str
        Vectors to take sine and cosine of; argument ``k`` gives ``%{group}s{k}`` and ``%{group}c{k}``.
    lanes : int
        Width of the vectors.
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
    V, n = vector(lanes), len(arguments)
    cold, near, join = f"{group}cold", f"{group}near", f"{group}join"
    code = Arithmetic(f"%{group}t", lanes)
    far = code.integer("icmp ne", _beyond(code, arguments), code.whole(0))
    code.lines += [
        f"  %{group}mask = bitcast <{lanes} x i1> {far} to i{lanes}",
        f"  %{group}rare = icmp ne i{lanes} %{group}mask, 0",
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
    found = ""
    for x in arguments:
        changed = code.integer("xor", code.bits_of(_rounded(code, x)), code.whole(bits(_ROUNDER - _NEAR)))
        found = code.integer("or", found, changed) if found else changed
    return code.integer("and", found, code.whole(-2 * _NEAR))


def _rounded(code: Arithmetic, x: str) -> str:
    """ROUNDER + n."""
    return code.multiply_add(x, code.number(_TWO_OVER_PI), code.number(_ROUNDER))


def _near_path(code: Arithmetic, x: str, sine: str, cosine: str) -> None:
    """Lines that make `sine` and `cosine` of an `x` below the limit."""
    number, whole, integer = code.number, code.whole, code.integer
    rounded = _rounded(code, x)
    quadrant = code.bits_of(rounded)
    n = code.op("fsub", rounded, number(_ROUNDER))
    y = x
    for part in _MINUS_HALF_PI:
        y = code.fused(n, number(part), y)
    z = code.op("fmul", y, y)
    # Adding zero makes -0 of z S(z) a +0, without which the sine of -0 would be +0; it costs nothing.
    s = code.multiply_add(z, code.horner(z, _SINE), number(0.0))
    s = code.multiply_add(s, y, y)
    c = code.multiply_add(z, code.horner(z, _COSINE), number(1.0))
    odd = integer("icmp ne", integer("and", quadrant, whole(1)), whole(0))
    turn = integer("shl", quadrant, whole(62))
    for name, first, second, flip in ((sine, c, s, turn), (cosine, s, c, integer("add", turn, whole(2**62)))):
        sign = integer("and", flip, whole(-(2**63)))
        code.float_of(integer("xor", code.bits_of(code.select(odd, first, second)), sign), name)
