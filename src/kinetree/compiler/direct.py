"""``@call``: one state, called without NumPy's machinery of ufuncs, which takes two thirds of a microsecond.

A ufunc is called through a pointer that it carries (PEP 590); that of a kernel leads here. If each argument is an array of
exactly the core shape, of the kernel's own numbers, contiguous and of no subclass, or a Python float where one number is asked
for, and nothing else is said but `out`, then the state is computed at once. Any other call goes the way it would have gone,
and so does one that raises floating-point flags somebody may want to hear of. What NumPy has to tell for that is read at run
time from `HOST`, so that code may be kept on disk. Dtypes are alike if kind, character, byte order and number are: an array
that came from another process has a dtype object of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kinetree.compiler.entry import ALL_EXCEPTIONS, HOST

__all__ = ["ARRAY_TYPE", "GENERAL", "MOST_WORK", "NEW_ARRAY", "NUMBERS", "OUT", "direct"]

MOST_WORK = 250_000
"""Vector operations up to which the interpreter may wait, some 100 µs of them: nobody else runs meanwhile."""
ARRAY_TYPE, NUMBERS, NEW_ARRAY, GENERAL, OUT = range(5)
"""Words at `HOST`: the type ndarray, the dtype, PyArray_NewFromDescr, where the pointer leads otherwise, the word "out"."""

_DENSE, _WRITEABLE = 0x101, 0x400  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE


def direct(
    inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]], size: int, head: int, at_data: int, warn: bool
) -> str:
    """LLVM text of ``@call``.

    Parameters
    ----------
    inputs, outputs : core shapes; those of outputs have an axis
    size : bytes of a number
    head : bytes of the head of a Python object
    at_data : where in a ufunc the address of its ``data`` is
    warn : whether somebody may want to hear of floating-point flags
    """
    shapes, first = [*inputs, *outputs], len(inputs)
    strides = [size * prod(shape) for shape in shapes]
    strides += [size * prod(shape[axis + 1 :]) for shape in shapes for axis in range(len(shape))]
    flags = f"call i32 @fetestexcept(i32 {ALL_EXCEPTIONS})" if warn else "add i32 0, 0"
    lines = [line for k, shape in enumerate(inputs) for line in _input(k, shape, head)]
    if len(outputs) == 1:
        lines += _output_given(inputs, outputs[0], size, head)
    for k, shape in enumerate(outputs, start=first):
        lines += _output_made(k, shape, head, first, may_be_given=len(outputs) == 1)
    for k in range(len(shapes)):
        lines += [f"  %args{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %numbers{k}, ptr %args{k}"]
    drop = [f"  call void @Py_DecRef(ptr %array{k})" for k in range(first, len(shapes))]
    words = [f"  %host{n}.at = getelementptr ptr, ptr %host, i64 {n}\n  %host{n} = load ptr, ptr %host{n}.at" for n in range(5)]
    newline = "\n"
    return f"""
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i32 @fetestexcept(i32)

@PyFloat_Type = external global i8
@steps = internal constant [{len(strides)} x i64] [{", ".join(f"i64 {x}" for x in strides)}]

define ptr @call(ptr %self, ptr %given, i64 %count, ptr %keywords) #0 {{
entry:
  %args = alloca [{len(shapes)} x ptr]
  %dims = alloca [{max(map(len, shapes))} x i64]
  %datas.at = getelementptr i8, ptr %self, i64 {at_data}
  %datas = load ptr, ptr %datas.at
  %data = load ptr, ptr %datas
  %host.at = getelementptr ptr, ptr %data, i64 {HOST}
  %host = load ptr, ptr %host.at
{newline.join(words)}
  %kind.at = getelementptr i8, ptr %host{NUMBERS}, i64 {head + 8}
  %kind = load i64, ptr %kind.at
  %plain = icmp eq ptr %keywords, null
  %number = and i64 %count, {2**63 - 1}
  %enough = icmp eq i64 %number, {first}
  %simple = and i1 %plain, %enough
  br i1 %simple, label %begin, label %other
other:
  %one.more = icmp eq i64 %number, {first + 1 if len(outputs) == 1 else -1}
  %out.last = and i1 %plain, %one.more
  br i1 %out.last, label %begin, label %named
named:
  %unnamed = xor i1 %enough, true
  %neither = or i1 %plain, %unnamed
  br i1 %neither, label %general, label %one.word
one.word:
  %words.at = getelementptr i8, ptr %keywords, i64 {head}
  %words = load i64, ptr %words.at
  %single.word = icmp eq i64 %words, {1 if len(outputs) == 1 else -1}
  br i1 %single.word, label %word, label %general
word:
  %word.at = getelementptr i8, ptr %keywords, i64 {tuple.__basicsize__}
  %word.given = load ptr, ptr %word.at
  %is.out = icmp eq ptr %word.given, %host{OUT}
  br i1 %is.out, label %begin, label %general
begin:
  %has.out = phi i1 [false, %entry], [true, %other], [true, %word]
{newline.join(lines)}
  store i64 1, ptr %dims
  %stale = {flags}
  %clean = icmp eq i32 %stale, 0
  br i1 %clean, label %compute, label %clear
clear:
  %cleared = call i32 @feclearexcept(i32 {ALL_EXCEPTIONS})
  br label %compute
compute:
  %failed = call i32 @states(ptr %args, ptr %dims, ptr @steps, ptr %data)
  %flags = {flags}
  %wrong = or i32 %failed, %flags
  %well = icmp eq i32 %wrong, 0
  br i1 %well, label %return, label %drop
drop:
{newline.join(drop)}
  br label %general
return:
{newline.join(_returned(first, len(shapes)))}
general:
  %result = musttail call ptr %host{GENERAL}(ptr %self, ptr %given, i64 %count, ptr %keywords)
  ret ptr %result
}}
"""


def _input(k: int, shape: tuple[int, ...], head: int) -> list[str]:
    if shape:
        return [*_taken(f"%array{k}", k), *_checked(f"array{k}", shape, head, _DENSE), *_numbers(k, f"%array{k}", head)]
    lines = [*_taken(f"%array{k}", k), *_field(f"%array{k}", "type", "ptr", head - 8, "@PyFloat_Type")]
    return [*lines, f"  %numbers{k} = getelementptr i8, ptr %array{k}, i64 {head}"]


def _output_given(inputs: Sequence[tuple[int, ...]], shape: tuple[int, ...], size: int, head: int) -> list[str]:
    """The array given as `out`, if there is one, and it shares no memory with the arguments: they may be needed again."""
    k = len(inputs)
    lines = [f"  br i1 %has.out, label %out.look, label %array{k}.make", "out.look:"]
    lines += [*_taken("%out", k), *_checked("out", shape, head, _DENSE | _WRITEABLE), *_numbers("out", "%out", head)]
    for n, other in enumerate(inputs):
        ours, theirs = size * prod(shape) - 1, size * prod(other)
        lines += [
            f"  %out.from{n} = ptrtoint ptr %numbersout to i64",
            f"  %out.to{n} = ptrtoint ptr %numbers{n} to i64",
            f"  %out.far{n} = sub i64 %out.from{n}, %out.to{n}",
            f"  %out.room{n} = add i64 %out.far{n}, {ours}",
            f"  %out.apart{n} = icmp uge i64 %out.room{n}, {ours + theirs}",
            f"  br i1 %out.apart{n}, label %out.apart{n}.fits, label %general",
            f"out.apart{n}.fits:",
        ]
    taken = ["  br label %out.taken", "out.taken:", "  call void @Py_IncRef(ptr %out)", f"  br label %array{k}.there"]
    return [*lines, *taken]


def _output_made(k: int, shape: tuple[int, ...], head: int, first: int, may_be_given: bool) -> list[str]:
    """A new array for a result; `_output_given` may have led around it."""
    extents = []
    for axis, extent in enumerate(shape):
        extents += [f"  %array{k}.extent{axis} = getelementptr i64, ptr %dims, i64 {axis}"]
        extents += [f"  store i64 {extent}, ptr %array{k}.extent{axis}"]
    rest = "ptr %dims, ptr null, ptr null, i32 0, ptr null"
    return [
        *([] if may_be_given else [f"  br label %array{k}.make"]),
        f"array{k}.make:",
        *extents,
        f"  call void @Py_IncRef(ptr %host{NUMBERS})",
        f"  %made{k} = call ptr %host{NEW_ARRAY}(ptr %host{ARRAY_TYPE}, ptr %host{NUMBERS}, i32 {len(shape)}, {rest})",
        f"  %made{k}.none = icmp eq ptr %made{k}, null",
        f"  br i1 %made{k}.none, label %array{k}.failed, label %array{k}.there",
        f"array{k}.failed:",
        *(f"  call void @Py_DecRef(ptr %array{n})" for n in range(first, k)),
        "  ret ptr null",
        f"array{k}.there:",
        f"  %array{k} = phi ptr [%made{k}, %array{k}.make]{', [%out, %out.taken]' if may_be_given else ''}",
        *_numbers(k, f"%array{k}", head),
    ]


def _taken(name: str, place: int) -> list[str]:
    """An argument, as it was given."""
    return [f"  {name}.at = getelementptr ptr, ptr %given, i64 {place}", f"  {name} = load ptr, ptr {name}.at"]


def _checked(name: str, shape: tuple[int, ...], head: int, flags: int) -> list[str]:
    """On to what follows if it is a ``PyArrayObject`` with nothing unusual about it."""
    lines = _field(f"%{name}", "type", "ptr", head - 8, f"%host{ARRAY_TYPE}")
    lines += [f"  %{name}.dtype.at = getelementptr i8, ptr %{name}, i64 {head + 40}"]
    lines += [f"  %{name}.dtype = load ptr, ptr %{name}.dtype.at"]
    lines += _field(f"%{name}.dtype", "kind", "i64", head + 8, "%kind")
    lines += _field(f"%{name}", "rank", "i32", head + 8, str(len(shape)))
    lines += _field(f"%{name}", "flags", "i32", head + 48, str(flags), mask=flags)
    lines += [f"  %{name}.shape.at = getelementptr i8, ptr %{name}, i64 {head + 16}"]
    lines += [f"  %{name}.shape = load ptr, ptr %{name}.shape.at"]
    for axis, extent in enumerate(shape):
        lines += _field(f"%{name}.shape", f"extent{axis}", "i64", 8 * axis, str(extent))
    return lines


def _field(name: str, word: str, kind: str, place: int, wanted: str, mask: int | None = None) -> list[str]:
    """On to what follows if a field of an object is as it should be."""
    field = f"{name}.{word}"
    lines = [f"  {field}.at = getelementptr i8, ptr {name}, i64 {place}", f"  {field} = load {kind}, ptr {field}.at"]
    if mask is not None:
        lines.append(f"  {field}.set = and {kind} {field}, {mask}")
        found = f"{field}.set"
    else:
        found = field
    lines.append(f"  {field}.same = icmp eq {kind} {found}, {wanted}")
    return [*lines, f"  br i1 {field}.same, label {field}.fits, label %general", f"{field[1:]}.fits:"]


def _numbers(k: int | str, array: str, head: int) -> list[str]:
    """Where the numbers of an array are."""
    return [f"  %numbers{k}.at = getelementptr i8, ptr {array}, i64 {head}", f"  %numbers{k} = load ptr, ptr %numbers{k}.at"]


def _returned(first: int, end: int) -> list[str]:
    if end - first == 1:
        return [f"  ret ptr %array{first}"]
    lines = [f"  %several = call ptr @PyTuple_New(i64 {end - first})", "  %none = icmp eq ptr %several, null"]
    lines += ["  br i1 %none, label %no.tuple, label %fill", "no.tuple:"]
    lines += [*(f"  call void @Py_DecRef(ptr %array{k})" for k in range(first, end)), "  ret ptr null", "fill:"]
    for k in range(first, end):
        lines.append(f"  %set{k} = call i32 @PyTuple_SetItem(ptr %several, i64 {k - first}, ptr %array{k})")
    return [*lines, "  ret ptr %several"]
