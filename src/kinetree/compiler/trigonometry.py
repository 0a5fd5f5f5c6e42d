"""Sine and cosine as vector arithmetic, because no vector mathematics library can be counted on.

::

    n = rint(2 x / π)                    by adding and taking away 1.5 * 2**52, which leaves n in the low bits as well
    r + e = x - n π/2                    Cody-Waite: π/2 = P1 + P2 + P3, where n P1 and n P2 are exact for n < 2**16
    sin(r + e), cos(r + e)               minimax polynomials of fdlibm (k_sin.c, k_cos.c), with the tail e
    exchanged when n is odd; the sign of the sine flips by bit 1 of n, of the cosine by bit 1 of n + 1

Within one ulp for ``|x| < LIMIT``, signed zeros and subnormals included. Lanes at or beyond `LIMIT`, infinite or NaN
are set to zero on this path, so that they raise no floating-point flags, and are then done by libm in a block that
hardly ever runs. Decided lane by lane: what a state gives does not depend on its neighbours in the vector.
"""

from collections.abc import Sequence

from kinetree.compiler.text import Arithmetic, bits, vector

__all__ = ["LIMIT", "SLOW_PATH", "sine_cosine_group"]

LIMIT = 1e5

_ROUNDER = 1.5 * 2.0**52
_TWO_OVER_PI = 0.6366197723675814
_P1 = float.fromhex("0x1.921fb54440000p+0")  # 37 bits of π/2
_P2 = float.fromhex("0x1.68c234c4c0000p-39")  # the next 37
_P3 = float.fromhex("0x1.98a2e03707345p-77")  # the next 53
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)

SLOW_PATH = f"""
declare double @sin(double)
declare double @cos(double)

define internal void @libm_sine_cosine(ptr %x, ptr %s, ptr %c, i64 %count) noinline cold {{
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%k.next, %next]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %test, label %exit
test:
  %px = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %px
  %i = bitcast double %v to i64
  %a = and i64 %i, 9223372036854775807
  %far = icmp uge i64 %a, {bits(LIMIT)}
  br i1 %far, label %call, label %next
call:
  %ps = getelementptr double, ptr %s, i64 %k
  %pc = getelementptr double, ptr %c, i64 %k
  %vs = call double @sin(double %v)
  %vc = call double @cos(double %v)
  store double %vs, ptr %ps
  store double %vc, ptr %pc
  br label %next
next:
  %k.next = add i64 %k, 1
  br label %head
exit:
  ret void
}}
"""


def sine_cosine_group(group: str, arguments: Sequence[str], lanes: int, block: str) -> tuple[list[str], list[str], str]:
    """Code for sine and cosine of several vectors, with one check for arguments beyond `LIMIT` for all of them.

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
    lines: list[str] = []
    for k, x in enumerate(arguments):
        lines += _fast_path(f"%{group}", k, x, lanes)
    beyond = f"%{group}far0"
    for k in range(1, n):
        lines.append(f"  %{group}any{k} = or <{lanes} x i1> {beyond}, %{group}far{k}")
        beyond = f"%{group}any{k}"
    cold, join = f"{group}cold", f"{group}join"
    lines += [
        f"  %{group}mask = bitcast <{lanes} x i1> {beyond} to i{lanes}",
        f"  %{group}rare = icmp ne i{lanes} %{group}mask, 0",
        f"  br i1 %{group}rare, label %{cold}, label %{join}, !prof !0",
        f"{cold}:",
    ]
    values = {"x": arguments, "fs": [f"%{group}fs{k}" for k in range(n)], "fc": [f"%{group}fc{k}" for k in range(n)]}
    for kind, names in values.items():
        for k, name in enumerate(names):
            lines.append(f"  %{group}{kind}at{k} = getelementptr {V}, ptr %{group}{kind}buffer, i64 {k}")
            lines.append(f"  store {V} {name}, ptr %{group}{kind}at{k}")
    buffers = ", ".join(f"ptr %{group}{kind}buffer" for kind in values)
    lines.append(f"  call void @libm_sine_cosine({buffers}, i64 {n * lanes})")
    for kind in ("fs", "fc"):
        lines += [f"  %{group}slow{kind}{k} = load {V}, ptr %{group}{kind}at{k}" for k in range(n)]
    lines += [f"  br label %{join}", f"{join}:"]
    for kind in ("s", "c"):
        for k in range(n):
            fast, slow = f"%{group}f{kind}{k}", f"%{group}slowf{kind}{k}"
            lines.append(f"  %{group}{kind}{k} = phi {V} [{fast}, %{block}], [{slow}, %{cold}]")
    allocations = [f"  %{group}{kind}buffer = alloca [{n} x {V}], align 64" for kind in values]
    return lines, allocations, join


def _fast_path(prefix: str, k: int, x: str, lanes: int) -> list[str]:
    """Lines that make ``{prefix}fs{k}`` (sine), ``{prefix}fc{k}`` (cosine) and ``{prefix}far{k}`` (lanes for libm)."""
    code = Arithmetic(f"{prefix}t{k}.", lanes)
    op, number, whole, horner = code.op, code.number, code.whole, code.horner

    # Integers decide, because comparing a NaN as floating point raises a flag.
    magnitude = code.integer("and", code.bits_of(x), whole(2**63 - 1))
    far = code.integer("icmp uge", magnitude, whole(bits(LIMIT)), f"{prefix}far{k}")
    x = code.select(far, number(0.0), x)
    shifted = op("fadd", op("fmul", x, number(_TWO_OVER_PI)), number(_ROUNDER))
    n = op("fsub", shifted, number(_ROUNDER))
    quadrant = code.bits_of(shifted)

    t = op("fsub", x, op("fmul", n, number(_P1)))  # exact
    w = op("fmul", n, number(_P2))  # exact
    r = op("fsub", t, w)
    lost = op("fsub", op("fsub", t, r), w)  # exact
    c = op("fsub", op("fmul", n, number(_P3)), lost)
    y = op("fsub", r, c)
    tail = op("fsub", op("fsub", r, y), c)

    z = op("fmul", y, y)
    cube = op("fmul", z, y)
    half_tail = op("fmul", tail, number(0.5))
    inner = op("fsub", half_tail, op("fmul", cube, horner(z, _SINE[1:])))
    inner = op("fsub", op("fmul", z, inner), tail)
    sine = op("fsub", y, op("fsub", inner, op("fmul", cube, number(_SINE[0]))))

    half_square = op("fmul", z, number(0.5))
    w = op("fsub", number(1.0), half_square)
    correction = op("fsub", op("fsub", number(1.0), w), half_square)
    quartic = op("fmul", op("fmul", z, z), horner(z, _COSINE))
    quartic = op("fsub", quartic, op("fmul", y, tail))
    cosine = op("fadd", w, op("fadd", correction, quartic))

    even = code.integer("icmp eq", code.integer("and", quadrant, whole(1)), whole(0))
    next_quadrant = code.integer("add", quadrant, whole(1))
    for name, first, second, turn in (("fs", sine, cosine, quadrant), ("fc", cosine, sine, next_quadrant)):
        value = code.select(even, first, second)
        sign = code.integer("shl", code.integer("and", turn, whole(2)), whole(62))
        code.float_of(code.integer("xor", code.bits_of(value), sign), f"{prefix}{name}{k}")
    return code.lines
