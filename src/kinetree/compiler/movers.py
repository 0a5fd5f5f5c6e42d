"""Code that moves the arrays of a group of states into the workspace ``[slot][lane]`` and back.

The ways to move n values per state, whichever the strides allow first, in vectors of W lanes of numbers of b bytes:

===========  =======================  ==============================================================
way          when                     how
===========  =======================  ==============================================================
one          one state, or broadcast  scalar load and splat; scalar store
batch-last   outer stride b, full     vector load and store
row-major    core stride b, n > 1     transposes of W states by W/2 values, the rest by W/4, ..., 2
elements     otherwise                lane by lane
===========  =======================  ==============================================================
"""

from collections.abc import Sequence

from kinetree.compiler.text import Lanes

__all__ = ["movers"]


def movers(rank_in: int, rank_out: int, lanes: Lanes) -> str:
    """LLVM text of ``@pack1 .. @pack{rank_in}`` and ``@unpack1 .. @unpack{rank_out}``."""
    text = _mover("pack", lanes) + _mover("unpack", lanes)
    for word, rank in (("pack", rank_in), ("unpack", rank_out)):
        text += "".join(_by_rows(word, r, lanes) for r in range(2, rank + 1))
    return text


def _by_rows(word: str, rank: int, lanes: Lanes) -> str:
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
  %w = getelementptr {lanes}, ptr %work, i64 %slots
  call void @{word}{rank - 1}(ptr %w, ptr %a, {rest}, i64 %outer, i64 %m)
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %n0
  br i1 %more, label %row, label %exit
exit:
  ret void
}}
"""


def _mover(word: str, lanes: Lanes) -> str:
    """The mover of one axis: n values per state, `core` bytes apart, states `outer` bytes apart, the first m lanes."""
    V, W, number, size = lanes, lanes.count, lanes.element.name, lanes.element.bytes
    pack, tallest = word == "pack", max(W // 2, 2)
    whole = "\n".join(
        f"  %w{l} = getelementptr i8, ptr {f'%w{l - 1}' if l else '%array'}, i64 {'%outer' if l else 0}" for l in range(W)
    )
    clamp = "\n".join(
        f"  %c{l}.in = icmp ult i64 {l}, %last\n  %c{l} = select i1 %c{l}.in, i64 {l}, i64 %last\n"
        f"  %c{l}.offset = mul i64 %c{l}, %outer\n  %c{l}.at = getelementptr i8, ptr %array, i64 %c{l}.offset"
        for l in range(W)
    )
    either = "\n".join(f"  %lane{l} = phi ptr [%w{l}, %whole], [%c{l}.at, %part]" for l in range(W))
    address = "  %{0}.bytes = mul i64 %{0}, %core\n  %{0}.a = getelementptr i8, ptr %array, i64 %{0}.bytes\n"
    address += f"  %{{0}}.w = getelementptr {V}, ptr %work, i64 %{{0}}"
    if pack:
        one = "\n".join([f"  %one.x = load {number}, ptr %one.a", *V.broadcast("%one.v", "%one.x")])
        one += f"\n  store {V} %one.v, ptr %one.w, align {V.bytes}"
        batch = f"  %batch.v = load {V}, ptr %batch.a, align {size}\n  store {V} %batch.v, ptr %batch.w, align {V.bytes}"
        elements, value = [], "poison"
        for l in range(W):
            elements += [
                f"  %e{l}.a = getelementptr i8, ptr %lane{l}, i64 %element.bytes",
                f"  %e{l}.x = load {number}, ptr %e{l}.a",
                f"  %e{l}.v = insertelement {V} {value}, {number} %e{l}.x, i64 {l}",
            ]
            value = f"%e{l}.v"
        elements.append(f"  store {V} {value}, ptr %element.w, align {V.bytes}")
    else:
        one = f"  %one.x = load {number}, ptr %one.w\n  store {number} %one.x, ptr %one.a"
        batch = f"  %batch.v = load {V}, ptr %batch.w, align {V.bytes}\n  store {V} %batch.v, ptr %batch.a, align {size}"
        elements = [f"  %element.v = load {V}, ptr %element.w, align {V.bytes}"]
        for l in range(W):
            elements += [
                f"  %e{l}.x = extractelement {V} %element.v, i64 {l}",
                f"  %e{l}.a = getelementptr i8, ptr %lane{l}, i64 %element.bytes",
                f"  store {number} %e{l}.x, ptr %e{l}.a",
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
  %outer.dense = icmp eq i64 %outer, {size}
  %vectors = and i1 %full, %outer.dense
  br i1 %vectors, label %batch.start, label %rows
rows:
  br i1 %full, label %whole, label %part
whole:
{whole}
  br label %lanes
part:
  %last = sub i64 %m, 1
{clamp}
  br label %lanes
lanes:
{either}
  %core.dense = icmp eq i64 %core, {size}
  %long = icmp sgt i64 %n, 1
  %tiles = and i1 %core.dense, %long
  br i1 %tiles, label %tiles{tallest}, label %element.start
one.start:
  br label %one.loop
{ways("one", one)}
batch.start:
  br label %batch.loop
{ways("batch", batch)}
element.start:
  br label %element.loop
{ways("element", newline.join(elements))}
{_tiles(pack, tallest, lanes)}
exit:
  ret void
}}
"""


def _tiles(pack: bool, tallest: int, lanes: Lanes) -> str:
    """Blocks that move n > 1 values per state by tiles of so many values, then of half of them; the last may overlap others."""
    text, done = "", "[0, %lanes]"
    for T in (2**k for k in reversed(range(1, tallest.bit_length()))):
        after = f"tiles{T // 2}" if T > 2 else "exit"
        least = T // 2 + 1 if T > 2 else 1  # fewer fit in a smaller tile
        text += f"""tiles{T}:
  %done{T} = phi i64 {done}
  %left{T} = sub i64 %n, %done{T}
  %many{T} = icmp sge i64 %left{T}, {least}
  %long{T} = icmp sge i64 %n, {T}
  %use{T} = and i1 %many{T}, %long{T}
  br i1 %use{T}, label %tile{T}, label %{after}
tile{T}:
  %at{T} = phi i64 [%done{T}, %tiles{T}], [%next{T}, %tile{T}]
  %last{T} = sub i64 %n, {T}
  %fits{T} = icmp slt i64 %at{T}, %last{T}
  %j{T} = select i1 %fits{T}, i64 %at{T}, i64 %last{T}
{chr(10).join(_tile(pack, T, lanes))}
  %next{T} = add i64 %at{T}, {T}
  %rest{T} = sub i64 %n, %next{T}
  %more{T} = icmp sge i64 %rest{T}, {least}
  br i1 %more{T}, label %tile{T}, label %{after}
"""
        done = f"[%done{T}, %tiles{T}], [%next{T}, %tile{T}]"
    return text


def _tile(pack: bool, T: int, lanes: Lanes) -> list[str]:
    """Move T values of W lanes: rows of the array one way, rows of the workspace the other, transposes of T by T between.

    Vector i holds the rows of lanes i, i + T, i + 2 T, ... end to end, so that lanes stay in order.
    """
    V, W, p = lanes, lanes.count, f"t{T}."
    lines: list[str] = []

    def put(name: str, text: str) -> str:
        lines.append(f"  %{p}{name} = {text}")
        return f"%{p}{name}"

    def shuffle(name: str, a: str, b: str, width: int, pick: Sequence[int]) -> str:
        mask, of = ", ".join(f"i32 {c}" for c in pick), Lanes(width, lanes.element)
        return put(name, f"shufflevector {of} {a}, {of} {b}, <{len(pick)} x i32> <{mask}>")

    row = Lanes(T, lanes.element)
    rows = [put(f"row{k}", f"getelementptr {lanes.element.name}, ptr %lane{k}, i64 %j{T}") for k in range(W)]
    columns = []
    for k in range(T):
        at = put(f"column{k}.j", f"add i64 %j{T}, {k}")
        columns.append(put(f"column{k}", f"getelementptr {V}, ptr %work, i64 {at}"))
    if pack:
        parts = [put(f"in{k}", f"load {row}, ptr {rows[k]}, align {lanes.element.bytes}") for k in range(W)]
        for width in (T * 2**k for k in range((W // T).bit_length() - 1)):
            parts = [
                shuffle(f"join{width}.{k}", parts[k + k // T * T], parts[k + k // T * T + T], width, range(2 * width))
                for k in range(len(parts) // 2)
            ]
    else:
        parts = [put(f"in{k}", f"load {V}, ptr {columns[k]}, align {V.bytes}") for k in range(T)]
    h = T // 2
    while h:
        straight = [c if not c & h else W + (c ^ h) for c in range(W)]
        crossed = [c ^ h if not c & h else W + c for c in range(W)]
        parts = [shuffle(f"turn{h}.{k}", parts[k & ~h], parts[k | h], W, crossed if k & h else straight) for k in range(T)]
        h //= 2
    if pack:
        return lines + [f"  store {V} {parts[k]}, ptr {columns[k]}, align {V.bytes}" for k in range(T)]
    # With repeated lanes the last store to a row wins, and all of them hold the same values.
    for k in range(W):
        part = parts[k % T]
        if T < W:
            part = shuffle(f"out{k}", part, "poison", W, range(k // T * T, k // T * T + T))
        lines.append(f"  store {row} {part}, ptr {rows[k]}, align {lanes.element.bytes}")
    return lines
