"""Code that moves the arrays of a group of states into the workspace ``[slot][lane]`` and back.

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

from kinetree.compiler.text import vector

__all__ = ["movers"]


def movers(rank_in: int, rank_out: int, lanes: int) -> str:
    """LLVM text of ``@pack1 .. @pack{rank_in}`` and ``@unpack1 .. @unpack{rank_out}``."""
    text = _mover("pack", lanes) + _mover("unpack", lanes)
    for word, rank in (("pack", rank_in), ("unpack", rank_out)):
        text += "".join(_by_rows(word, r, lanes) for r in range(2, rank + 1))
    return text


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
