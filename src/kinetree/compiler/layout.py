"""Between NumPy's strided arrays and the workspace ``[slot][lane]`` of a kernel.

Every array argument of a group of states is packed into the workspace before the body runs, and every result unpacked
after it. A group has as many states as a vector has lanes; the last group of a batch may have fewer, and then its last
state is repeated in the spare lanes: the same code runs, and storing a repeated lane twice does no harm.

`movers` has the ways to move values.
"""

import math
import re
from collections.abc import Sequence

from kinetree.compiler.entry import ARGUMENTS, DATA
from kinetree.compiler.text import Lanes

__all__ = [
    "COPY",
    "WORKSPACE_ON_STACK",
    "arguments",
    "by_batch",
    "copied",
    "joined",
    "moved",
    "over_states",
    "renamed",
    "slots",
    "states",
]

WORKSPACE_ON_STACK = 256 * 1024  # bytes; beyond it the workspace comes from malloc

KEPT = 64
"""Large workspaces kept from call to call, because fresh pages cost more than the computation on them. Who calls takes one that
is kept, or makes one; whoever gives back leaves his where there is room."""

_HEAP = f"""
declare ptr @malloc(i64)
declare void @free(ptr)
@kept = internal global [{KEPT} x ptr] zeroinitializer

define internal ptr @take() noinline {{{{
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %none]
  %at = getelementptr ptr, ptr @kept, i64 %k
  %seen = load atomic ptr, ptr %at monotonic, align 8
  %empty = icmp eq ptr %seen, null
  br i1 %empty, label %none, label %try
try:
  %old = atomicrmw xchg ptr %at, ptr null seq_cst
  %gone = icmp eq ptr %old, null
  br i1 %gone, label %none, label %exit
none:
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, {KEPT}
  br i1 %more, label %look, label %fresh
fresh:
  %new = call ptr @malloc(i64 {{bytes}})
  br label %exit
exit:
  %work = phi ptr [%old, %try], [%new, %fresh]
  ret ptr %work
}}}}

define internal void @give(ptr %work) noinline {{{{
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %none]
  %at = getelementptr ptr, ptr @kept, i64 %k
  %left = cmpxchg ptr %at, ptr null, ptr %work seq_cst monotonic
  %done = extractvalue {{{{ ptr, i1 }}}} %left, 1
  br i1 %done, label %exit, label %none
none:
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, {KEPT}
  br i1 %more, label %look, label %full
full:
  call void @free(ptr %work)
  br label %exit
exit:
  ret void
}}}}

define void @release() {{{{
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %look]
  %at = getelementptr ptr, ptr @kept, i64 %k
  %old = atomicrmw xchg ptr %at, ptr null seq_cst
  call void @free(ptr %old)
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, {KEPT}
  br i1 %more, label %look, label %exit
exit:
  ret void
}}}}
"""
_TAKE = """  %heap = call ptr @take()
  %failed = icmp eq ptr %heap, null
  br i1 %failed, label %out.of.memory, label %ready
out.of.memory:
  ret i32 1
ready:
  %address = ptrtoint ptr %heap to i64
  %low = and i64 %address, 63
  %shift = sub i64 64, %low
  %work = getelementptr i8, ptr %heap, i64 %shift"""
_GIVE = "  call void @give(ptr %heap)"


# Asks for the next group's part of an array while this group computes, where the states lie end to end: without it a batch
# of G1 states that does not fit in the cache waits 60 ns per state for memory.
_AHEAD = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal void @ahead(ptr %next, i64 %after, i64 %bytes, i64 %core) noinline #0 {{
entry:
  %dense = icmp eq i64 %core, {size}
  %together = icmp eq i64 %after, %bytes
  %useful = and i1 %dense, %together
  br i1 %useful, label %line, label %exit
line:
  %at = phi i64 [0, %entry], [%at.next, %line]
  %address = getelementptr i8, ptr %next, i64 %at
  call void @llvm.prefetch.p0(ptr %address, i32 0, i32 2, i32 1)
  %at.next = add i64 %at, 64
  %more = icmp ult i64 %at.next, %bytes
  br i1 %more, label %line, label %exit
exit:
  ret void
}}
"""


def by_batch(wide: str, narrow: str, few: int) -> str:
    """One module of two that define ``@states``: the narrow one's for up to `few` states, the wide one's for more."""
    both = joined((renamed(wide, "wide"), renamed(narrow, "narrow")))
    releases = [f"  call void @release.{which}()" for which in ("wide", "narrow") if f"@release.{which}()" in both]
    newline = "\n"
    return f"""{both}
define internal i32 @states({ARGUMENTS}) #0 {{
entry:
  %n = load i64, ptr %dims
  %few = icmp sle i64 %n, {few}
  br i1 %few, label %narrow, label %wide
narrow:
  %narrow.failed = call i32 @states.narrow({ARGUMENTS})
  ret i32 %narrow.failed
wide:
  %wide.failed = call i32 @states.wide({ARGUMENTS})
  ret i32 %wide.failed
}}

define void @release() {{
entry:
{newline.join(releases)}
  ret void
}}
"""


def joined(parts: Sequence[str]) -> str:
    """Modules as one, what several declare declared once."""
    lines = [line for part in parts for line in part.splitlines()]
    declared = dict.fromkeys(line for line in lines if line.startswith("declare"))
    return "\n".join([*declared, *(line for line in lines if not line.startswith("declare"))])


def renamed(text: str, suffix: str) -> str:
    """The module with a suffix on every name that it defines."""
    names = re.findall(r"^define [^@]*@([\w.]+)\(|^@([\w.]+) =", text, flags=re.MULTILINE)
    own = {name for pair in names for name in pair if name}
    return re.sub(r"@([\w.]+)", lambda found: f"@{found[1]}.{suffix}" if found[1] in own else found[0], text)


def states(
    inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]], lanes: Lanes, spare: int = 0, watch: str = ""
) -> str:
    """LLVM text of ``@states``: a batch on one core, by the arguments of NumPy's inner loops (see `entry`).

    Parameters
    ----------
    inputs, outputs : sequence of tuple of int
        Core shapes.
    lanes : Lanes
        One state in each.
    spare : int
        Slots of the workspace behind the results, for the body's own use.
    watch : str
        Lines between the body and the moving of its results; they find ``%beyond``, the first spare slot, and go to ``%move``.
    """
    shapes, size = [*inputs, *outputs], lanes.element.bytes
    move_in, move_out, look_ahead, slot = [], [], [], 0
    for k, shape in enumerate(shapes):
        word, lines = ("pack", move_in) if k < len(inputs) else ("unpack", move_out)
        lines += [f"  %offset{k} = mul i64 %i, %outer{k}", f"  %array{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}"]
        lines += moved(word, k, shape, slot, lanes)
        last = f"%core{k}.{len(shape) - 1}" if shape else size
        look_ahead += [
            f"  %after{k} = mul i64 %outer{k}, {lanes.count}",
            f"  %here{k} = mul i64 %outer{k}, %i",
            f"  %there{k} = add i64 %here{k}, %after{k}",
            f"  %next{k} = getelementptr i8, ptr %base{k}, i64 %there{k}",
            f"  call void @ahead(ptr %next{k}, i64 %after{k}, i64 {lanes.bytes * slots([shape])}, i64 {last})",
        ]
        slot += slots([shape])
    newline = "\n"
    loop = f"""  br label %group
group:
  %i = phi i64 [0, %begin], [%i.next, %move]
  %left = sub i64 %n, %i
  %full = icmp sgt i64 %left, {lanes.count}
  %m = select i1 %full, i64 {lanes.count}, i64 %left
{newline.join(move_in)}
  br i1 %full, label %peek, label %compute
peek:
{newline.join(look_ahead)}
  br label %compute
compute:
  call void @body(ptr %work, ptr %result, ptr %tables)
  %beyond = getelementptr {lanes}, ptr %result, i64 {slots(outputs)}
{watch or "  br label %move"}
move:
{newline.join(move_out)}
  %i.next = add i64 %i, {lanes.count}
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %group, label %exit"""
    work = over_states(shapes, lanes.bytes * (slot + spare), f"{lanes}, ptr %work, i64 {slots(inputs)}", loop)
    return _AHEAD.format(size=size) + work


def arguments(shapes: Sequence[tuple[int | str, ...]]) -> list[str]:
    """Lines that read where argument k begins, ``%base{k}``, and its strides, ``%outer{k}`` and ``%core{k}.{axis}``."""
    lines, step = [], len(shapes)
    for k, shape in enumerate(shapes):
        lines += [
            f"  %args{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %base{k} = load ptr, ptr %args{k}",
            f"  %steps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %outer{k} = load i64, ptr %steps{k}",
        ]
        for axis in range(len(shape)):
            lines.append(f"  %core{k}.{axis}.at = getelementptr i64, ptr %steps, i64 {step}")
            lines.append(f"  %core{k}.{axis} = load i64, ptr %core{k}.{axis}.at")
            step += 1
    return lines


def moved(word: str, k: int, shape: tuple[int, ...], slot: int, lanes: Lanes, first: int = 0) -> list[str]:
    """Lines that "pack" ``%array{k}`` into the workspace from a slot on, or "unpack" it, for the group of states at hand.

    The axes of the shape are those of the argument from number `first` on.
    """
    axes = "".join(f"i64 {extent}, i64 %core{k}.{axis}, " for axis, extent in enumerate(shape, start=first))
    return [
        f"  %slot{k} = getelementptr {lanes}, ptr %work, i64 {slot}",
        f"  call void @{word}{max(len(shape), 1)}(ptr %slot{k}, ptr %array{k}, "
        f"{axes or f'i64 1, i64 {lanes.element.bytes}, '}i64 %outer{k}, i64 %m)",
    ]


def over_states(shapes: Sequence[tuple[int | str, ...]], size: int, results: str, loop: str) -> str:
    """LLVM text of ``@states`` around a loop, and what that needs declared.

    Parameters
    ----------
    shapes : core shapes of all arguments; a name stands for an extent that only strides ask for
    size : bytes of the workspace ``%work``
    results : of the workspace, where in it ``%result`` is: the type and the slot of a getelementptr
    loop : blocks that begin where ``%begin`` ends, and end in ``%exit``; ``%n`` states, at least one, and ``%tables`` are there
    """
    on_stack = size <= WORKSPACE_ON_STACK
    declarations = "" if on_stack else _HEAP.format(bytes=size + 64)
    take = f"  %work = alloca [{max(size, 64)} x i8], align 64" if on_stack else _TAKE
    newline = "\n"
    return f"""{declarations}
define internal i32 @states({ARGUMENTS}) #0 {{
start:
  %n = load i64, ptr %dims
  %tables = getelementptr ptr, ptr %data, i64 {DATA}
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %entry, label %nothing
entry:
{take}
  br label %begin
begin:
{newline.join(arguments(shapes))}
  %result = getelementptr {results}
{loop}
exit:
{"" if on_stack else _GIVE}
  ret i32 0
nothing:
  ret i32 0
}}
"""


COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


def copied(to: str, source: str, count: int, lanes: Lanes) -> str:
    """The line that copies so many slots of a workspace; the module declares `COPY`."""
    align, size = lanes.bytes, lanes.bytes * count
    return f"  call void @llvm.memcpy.p0.p0.i64(ptr align {align} {to}, ptr align {align} {source}, i64 {size}, i1 false)"


def slots(shapes: Sequence[tuple[int, ...]]) -> int:
    """How many numbers arrays of these shapes hold together."""
    return sum(math.prod(shape) for shape in shapes)
