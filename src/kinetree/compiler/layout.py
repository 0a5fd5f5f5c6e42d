"""Between NumPy's strided arrays and the workspace ``[slot][lane]`` of a kernel.

Every array argument of a group of states is packed into the workspace before the body runs, and every result unpacked
after it. A group has as many states as a vector has lanes; the last group of a batch may have fewer, and then its last
state is repeated in the spare lanes: the same code runs, and storing a repeated lane twice does no harm.

The ways to move n values per state, whichever the strides allow first:

===========  =======================  ===============================================
way          when                     how
===========  =======================  ===============================================
one          one state, or broadcast  scalar load and splat; scalar store
batch-last   outer stride 8, full     vector load and store
row-major    core stride 8, n >= W    W x W transposes, the last one overlapping
elements     otherwise                lane by lane
===========  =======================  ===============================================
"""

import re
from collections.abc import Sequence

from kinetree.compiler.text import vector

__all__ = ["WORKSPACE_ON_STACK", "by_batch", "loop", "movers", "quiet"]

WORKSPACE_ON_STACK = 256 * 1024  # bytes; beyond it the workspace comes from malloc

# A large workspace is kept from call to call, because fresh pages cost more than the computation on them. Whoever calls takes
# what is kept, or makes another if somebody else has it; the last to give back leaves his.
_HEAP = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyErr_NoMemory()
@kept = internal global ptr null

define internal ptr @take() noinline {{
entry:
  %old = atomicrmw xchg ptr @kept, ptr null seq_cst
  %none = icmp eq ptr %old, null
  br i1 %none, label %fresh, label %exit
fresh:
  %new = call ptr @malloc(i64 {bytes})
  br label %exit
exit:
  %work = phi ptr [%old, %entry], [%new, %fresh]
  ret ptr %work
}}

define internal void @give(ptr %work) noinline {{
entry:
  %other = atomicrmw xchg ptr @kept, ptr %work seq_cst
  call void @free(ptr %other)
  ret void
}}

define void @release() {{
entry:
  call void @give(ptr null)
  ret void
}}

define internal void @no_memory() noinline cold {{
entry:
  %gil = call i32 @PyGILState_Ensure()
  %ignored = call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %gil)
  ret void
}}
"""
_TAKE = """  %heap = call ptr @take()
  %failed = icmp eq ptr %heap, null
  br i1 %failed, label %out.of.memory, label %ready
out.of.memory:
  call void @no_memory()
  ret void
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

define internal void @ahead(ptr %next, i64 %after, i64 %bytes, i64 %core) noinline #0 {
entry:
  %dense = icmp eq i64 %core, 8
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
}
"""

# Every bit that is a floating-point exception on x86, ARM or Windows, whichever bit means which.
_ALL_EXCEPTIONS = 31


def quiet(text: str) -> str:
    """The module with a ``@loop`` that leaves no floating-point flags behind, so that NumPy has nothing to warn of."""
    arguments = "ptr %args, ptr %dims, ptr %steps, ptr %data"
    return (
        text.replace("define void @loop(", "define internal void @computing_loop(")
        + f"""
declare i32 @feclearexcept(i32)
define void @loop({arguments}) #0 {{
  call void @computing_loop({arguments})
  %cleared = call i32 @feclearexcept(i32 {_ALL_EXCEPTIONS})
  ret void
}}
"""
    )


def by_batch(wide: str, narrow: str, few: int) -> str:
    """One module of two that define ``@loop``: the narrow one's for up to `few` states, the wide one's for more."""
    wide, narrow = _renamed(wide, "wide"), _renamed(narrow, "narrow")
    declared = {line for line in wide.splitlines() if line.startswith("declare")}
    narrow = "\n".join(line for line in narrow.splitlines() if line not in declared)
    arguments = "ptr %args, ptr %dims, ptr %steps, ptr %data"
    releases = [f"  call void @release.{which}()" for which in ("wide", "narrow") if f"@release.{which}()" in wide + narrow]
    newline = "\n"
    return f"""{wide}
{narrow}
define void @loop({arguments}) #0 {{
entry:
  %n = load i64, ptr %dims
  %few = icmp sle i64 %n, {few}
  br i1 %few, label %narrow, label %wide
narrow:
  call void @loop.narrow({arguments})
  ret void
wide:
  call void @loop.wide({arguments})
  ret void
}}

define void @release() {{
entry:
{newline.join(releases)}
  ret void
}}
"""


def _renamed(text: str, suffix: str) -> str:
    """The module with a suffix on every name that it defines."""
    names = re.findall(r"^define [^@]*@([\w.]+)\(|^@([\w.]+) =", text, flags=re.MULTILINE)
    own = {name for pair in names for name in pair if name}
    return re.sub(r"@([\w.]+)", lambda found: f"@{found[1]}.{suffix}" if found[1] in own else found[0], text)


def loop(inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]], lanes: int, spare: int = 0) -> str:
    """LLVM text of ``@loop``, NumPy's inner loop ``void(char **args, npy_intp *dims, npy_intp *steps, void *data)``.

    Parameters
    ----------
    inputs, outputs : sequence of tuple of int
        Core shapes.
    lanes : int
        States per vector.
    spare : int
        Slots of the workspace behind the results, for the body's own use.
    """
    shapes = [*inputs, *outputs]
    sizes = [_size(shape) for shape in shapes]
    slots_in = sum(sizes[: len(inputs)])
    total = 8 * lanes * (sum(sizes) + spare)
    on_stack = total <= WORKSPACE_ON_STACK
    entry, move_in, move_out, look_ahead = [], [], [], []
    step, slot = len(shapes), 0
    for k, shape in enumerate(shapes):
        entry += [
            f"  %args{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %base{k} = load ptr, ptr %args{k}",
            f"  %steps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %outer{k} = load i64, ptr %steps{k}",
        ]
        axes = ""
        for axis, extent in enumerate(shape):
            entry.append(f"  %core{k}.{axis}.at = getelementptr i64, ptr %steps, i64 {step}")
            entry.append(f"  %core{k}.{axis} = load i64, ptr %core{k}.{axis}.at")
            axes += f"i64 {extent}, i64 %core{k}.{axis}, "
            step += 1
        word, lines = ("pack", move_in) if k < len(inputs) else ("unpack", move_out)
        lines += [
            f"  %offset{k} = mul i64 %i, %outer{k}",
            f"  %array{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}",
            f"  %slot{k} = getelementptr {vector(lanes)}, ptr %work, i64 {slot}",
            f"  call void @{word}{max(len(shape), 1)}(ptr %slot{k}, ptr %array{k}, "
            f"{axes or 'i64 1, i64 8, '}i64 %outer{k}, i64 %m)",
        ]
        last_axis = f"%core{k}.{len(shape) - 1}" if shape else "8"
        look_ahead += [
            f"  %after{k} = mul i64 %outer{k}, {lanes}",
            f"  %here{k} = mul i64 %outer{k}, %i",
            f"  %there{k} = add i64 %here{k}, %after{k}",
            f"  %next{k} = getelementptr i8, ptr %base{k}, i64 %there{k}",
            f"  call void @ahead(ptr %next{k}, i64 %after{k}, i64 {8 * lanes * sizes[k]}, i64 {last_axis})",
        ]
        slot += sizes[k]
    newline = "\n"
    if on_stack:
        declarations, take, give = "", f"  %work = alloca [{max(total, 64)} x i8], align 64", ""
    else:
        declarations, take, give = _HEAP.format(bytes=total + 64), _TAKE, _GIVE
    return f"""{declarations}{_AHEAD}
define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) #0 {{
start:
  %n = load i64, ptr %dims
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %entry, label %nothing
entry:
{take}
{newline.join(entry)}
  %result = getelementptr {vector(lanes)}, ptr %work, i64 {slots_in}
  br label %group
group:
  %i = phi i64 [0, %{"ready" if give else "entry"}], [%i.next, %compute]
  %left = sub i64 %n, %i
  %full = icmp sgt i64 %left, {lanes}
  %m = select i1 %full, i64 {lanes}, i64 %left
{newline.join(move_in)}
  br i1 %full, label %peek, label %compute
peek:
{newline.join(look_ahead)}
  br label %compute
compute:
  call void @body(ptr %work, ptr %result)
{newline.join(move_out)}
  %i.next = add i64 %i, {lanes}
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %group, label %exit
exit:
{give}
  ret void
nothing:
  ret void
}}
"""


def movers(rank_in: int, rank_out: int, lanes: int) -> str:
    """LLVM text of ``@pack1 .. @pack{rank_in}`` and ``@unpack1 .. @unpack{rank_out}``."""
    text = _mover("pack", lanes) + _mover("unpack", lanes)
    for word, rank in (("pack", rank_in), ("unpack", rank_out)):
        text += "".join(_by_rows(word, r, lanes) for r in range(2, rank + 1))
    return text


def _size(shape: tuple[int, ...]) -> int:
    n = 1
    for extent in shape:
        n *= extent
    return n


def _by_rows(word: str, rank: int, lanes: int) -> str:
    """The mover of `rank` axes in terms of the next lower one: the first two axes as one where strides allow."""
    axes = ", ".join(f"i64 %n{k}, i64 %s{k}" for k in range(rank))
    rest = ", ".join(f"i64 %n{k}, i64 %s{k}" for k in range(1, rank))
    merged = ", ".join(["i64 %merged, i64 %s1", *(f"i64 %n{k}, i64 %s{k}" for k in range(2, rank))])
    inner = "\n".join(f"  %p{k} = mul i64 %p{k - 1}, %n{k}" for k in range(2, rank))
    return f"""
define internal void @{word}{rank}(ptr %work, ptr %array, {axes}, i64 %outer, i64 %m) noinline #0 {{
entry:
  %span = mul i64 %n1, %s1
  %dense = icmp eq i64 %span, %s0
  br i1 %dense, label %merge, label %prepare
merge:
  %merged = mul i64 %n0, %n1
  call void @{word}{rank - 1}(ptr %work, ptr %array, {merged}, i64 %outer, i64 %m)
  ret void
prepare:
  %p1 = add i64 %n1, 0
{inner}
  br label %row
row:
  %k = phi i64 [0, %prepare], [%k.next, %row]
  %offset = mul i64 %k, %s0
  %a = getelementptr i8, ptr %array, i64 %offset
  %slots = mul i64 %k, %p{rank - 1}
  %w = getelementptr {vector(lanes)}, ptr %work, i64 %slots
  call void @{word}{rank - 1}(ptr %w, ptr %a, {rest}, i64 %outer, i64 %m)
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %n0
  br i1 %more, label %row, label %exit
exit:
  ret void
}}
"""


def _mover(word: str, lanes: int) -> str:
    """The mover of one axis: n values per state, `core` bytes apart, states `outer` bytes apart, the first m lanes."""
    V, W = vector(lanes), lanes
    pack = word == "pack"
    clamp = "\n".join(
        f"  %c{l}.in = icmp ult i64 {l}, %last\n  %c{l} = select i1 %c{l}.in, i64 {l}, i64 %last\n"
        f"  %c{l}.offset = mul i64 %c{l}, %outer\n  %lane{l} = getelementptr i8, ptr %array, i64 %c{l}.offset"
        for l in range(W)
    )
    address = "  %{0}.bytes = mul i64 %{0}, %core\n  %{0}.a = getelementptr i8, ptr %array, i64 %{0}.bytes\n"
    address += f"  %{{0}}.w = getelementptr {V}, ptr %work, i64 %{{0}}"
    if pack:
        one = f"  %one.x = load double, ptr %one.a\n  %one.i = insertelement {V} poison, double %one.x, i64 0\n"
        one += f"  %one.v = shufflevector {V} %one.i, {V} poison, <{W} x i32> zeroinitializer\n"
        one += f"  store {V} %one.v, ptr %one.w, align {8 * W}"
        batch = f"  %batch.v = load {V}, ptr %batch.a, align 8\n  store {V} %batch.v, ptr %batch.w, align {8 * W}"
        elements, value = [], "poison"
        for l in range(W):
            elements += [
                f"  %e{l}.a = getelementptr i8, ptr %lane{l}, i64 %element.bytes",
                f"  %e{l}.x = load double, ptr %e{l}.a",
                f"  %e{l}.v = insertelement {V} {value}, double %e{l}.x, i64 {l}",
            ]
            value = f"%e{l}.v"
        elements.append(f"  store {V} {value}, ptr %element.w, align {8 * W}")
    else:
        one = "  %one.x = load double, ptr %one.w\n  store double %one.x, ptr %one.a"
        batch = f"  %batch.v = load {V}, ptr %batch.w, align {8 * W}\n  store {V} %batch.v, ptr %batch.a, align 8"
        elements = [f"  %element.v = load {V}, ptr %element.w, align {8 * W}"]
        for l in range(W):
            elements += [
                f"  %e{l}.x = extractelement {V} %element.v, i64 {l}",
                f"  %e{l}.a = getelementptr i8, ptr %lane{l}, i64 %element.bytes",
                f"  store double %e{l}.x, ptr %e{l}.a",
            ]

    def ways(name: str, text: str) -> str:
        return f"""{name}.loop:
  %{name} = phi i64 [0, %{name}.start], [%{name}.next, %{name}.loop]
{address.format(name)}
{text}
  %{name}.next = add i64 %{name}, 1
  %{name}.more = icmp slt i64 %{name}.next, %n
  br i1 %{name}.more, label %{name}.loop, label %exit
"""

    newline = "\n"
    return f"""
define internal void @{word}1(ptr %work, ptr %array, i64 %n, i64 %core, i64 %outer, i64 %m) noinline #0 {{
entry:
  %single = icmp eq i64 %m, 1
  %still = icmp eq i64 %outer, 0
  %same = or i1 %single, %still
  br i1 %same, label %one.start, label %several
several:
  %full = icmp eq i64 %m, {W}
  %outer.dense = icmp eq i64 %outer, 8
  %vectors = and i1 %full, %outer.dense
  br i1 %vectors, label %batch.start, label %lanes
lanes:
  %last = sub i64 %m, 1
{clamp}
  %core.dense = icmp eq i64 %core, 8
  %long = icmp sge i64 %n, {W}
  %tiles = and i1 %core.dense, %long
  br i1 %tiles, label %tile.start, label %element.start
one.start:
  br label %one.loop
{ways("one", one)}
batch.start:
  br label %batch.loop
{ways("batch", batch)}
element.start:
  br label %element.loop
{ways("element", newline.join(elements))}
tile.start:
  %tile.last = sub i64 %n, {W}
  br label %tile.loop
tile.loop:
  %tile = phi i64 [0, %tile.start], [%tile.next, %tile.loop]
  %tile.fits = icmp slt i64 %tile, %tile.last
  %j = select i1 %tile.fits, i64 %tile, i64 %tile.last
{newline.join(_tile(pack, W))}
  %tile.next = add i64 %tile, {W}
  %tile.more = icmp slt i64 %tile.next, %n
  br i1 %tile.more, label %tile.loop, label %exit
exit:
  ret void
}}
"""


def _tile(pack: bool, W: int) -> list[str]:
    """Move W values of W lanes: rows of the array one way, rows of the workspace the other, a transpose between."""
    V = vector(W)
    rows, columns = [], []
    for k in range(W):
        rows.append(f"  %row{k} = getelementptr double, ptr %lane{k}, i64 %j")
        columns.append(f"  %column{k}.j = add i64 %j, {k}")
        columns.append(f"  %column{k} = getelementptr {V}, ptr %work, i64 %column{k}.j")
    here, there = (("row", 8), ("column", 8 * W)) if pack else (("column", 8 * W), ("row", 8))
    lines = rows + columns
    lines += [f"  %x0.{k} = load {V}, ptr %{here[0]}{k}, align {here[1]}" for k in range(W)]
    stage, h = 0, W // 2
    while h:
        for k in range(W):
            first, second = (k, k | h) if not k & h else (k & ~h, k)
            pick = [c if not c & h else W + (c ^ h) for c in range(W)] if not k & h else [
                c ^ h if not c & h else W + c for c in range(W)
            ]  # fmt: skip
            mask = ", ".join(f"i32 {c}" for c in pick)
            operands = f"{V} %x{stage}.{first}, {V} %x{stage}.{second}"
            lines.append(f"  %x{stage + 1}.{k} = shufflevector {operands}, <{W} x i32> <{mask}>")
        stage, h = stage + 1, h // 2
    # With repeated lanes the last store to a row wins, and all of them hold the same values.
    lines += [f"  store {V} %x{stage}.{k}, ptr %{there[0]}{k}, align {there[1]}" for k in range(W)]
    return lines
