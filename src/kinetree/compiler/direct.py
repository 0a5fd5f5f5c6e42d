"""``@call``: one state, called without NumPy's machinery of ufuncs, which takes two thirds of a microsecond.

A ufunc is called through a pointer that it carries (PEP 590); that of a kernel leads here. If each argument is an array of
exactly the core shape, of the kernel's own numbers, contiguous and of no subclass, or a Python float where one number is asked
for, and nothing else is said, then the state is computed at once. Any other call goes the way it would have gone, and so does
one that raises floating-point flags somebody may want to hear of. What NumPy has to tell for that is read at run time from
`HOST`, so that code may be kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kinetree.compiler.entry import ALL_EXCEPTIONS, HOST

__all__ = ["ARRAY_TYPE", "GENERAL", "MOST_WORK", "NEW_ARRAY", "NUMBERS", "direct"]

MOST_WORK = 250_000
"""Vector operations up to which the interpreter may wait, some 100 µs of them: nobody else runs meanwhile."""
ARRAY_TYPE, NUMBERS, NEW_ARRAY, GENERAL = range(4)
"""Words at `HOST`: the type ndarray, the dtype, PyArray_NewFromDescr, and what a ufunc's pointer leads to otherwise."""

_FITS = 0x101  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED


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
    lines = [line for k, shape in enumerate(inputs) for line in _given(k, shape, head)]
    lines += [line for k, shape in enumerate(outputs, start=first) for line in _made(k, shape, head, first)]
    drop = [f"  call void @Py_DecRef(ptr %array{k})" for k in range(first, len(shapes))]
    words = [f"  %host{n}.at = getelementptr ptr, ptr %host, i64 {n}\n  %host{n} = load ptr, ptr %host{n}.at" for n in range(4)]
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
  %plain = icmp eq ptr %keywords, null
  %number = and i64 %count, {2**63 - 1}
  %enough = icmp eq i64 %number, {first}
  %simple = and i1 %plain, %enough
  br i1 %simple, label %array0.look, label %general
{newline.join(lines)}
array{len(shapes)}.look:
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


def _given(k: int, shape: tuple[int, ...], head: int) -> list[str]:
    """An argument, if it is all that it should be: a ``PyArrayObject`` of NumPy's, or a ``PyFloatObject``."""
    checks = [("type", "ptr", head - 8, f"%host{ARRAY_TYPE}"), ("dtype", "ptr", head + 40, f"%host{NUMBERS}")]
    checks += [("rank", "i32", head + 8, str(len(shape)))]
    lines = [
        f"array{k}.look:",
        f"  %array{k}.at = getelementptr ptr, ptr %given, i64 {k}",
        f"  %array{k} = load ptr, ptr %array{k}.at",
    ]

    def unless(same: str, what: str) -> None:
        lines.extend([f"  br i1 {same}, label %array{k}.{what}.fits, label %general", f"array{k}.{what}.fits:"])

    if not shape:
        checks = [("type", "ptr", head - 8, "@PyFloat_Type")]
    for word, kind, place, wanted in checks:
        name = f"%array{k}.{word}"
        lines += [f"  {name}.at = getelementptr i8, ptr %array{k}, i64 {place}", f"  {name} = load {kind}, ptr {name}.at"]
        lines += [f"  {name}.same = icmp eq {kind} {name}, {wanted}"]
        unless(f"{name}.same", word)
    if not shape:
        at = [f"  %numbers{k} = getelementptr i8, ptr %array{k}, i64 {head}", *_argument(k)]
        return [*lines, *at, f"  br label %array{k + 1}.look"]
    name = f"%array{k}.flags"
    lines += [f"  {name}.at = getelementptr i8, ptr %array{k}, i64 {head + 48}", f"  {name} = load i32, ptr {name}.at"]
    lines += [f"  {name}.set = and i32 {name}, {_FITS}", f"  {name}.same = icmp eq i32 {name}.set, {_FITS}"]
    unless(f"{name}.same", "flags")
    name = f"%array{k}.shape"
    lines += [f"  {name}.at = getelementptr i8, ptr %array{k}, i64 {head + 16}", f"  {name} = load ptr, ptr {name}.at"]
    for axis, extent in enumerate(shape):
        name = f"%array{k}.extent{axis}"
        lines += [f"  {name}.at = getelementptr i64, ptr %array{k}.shape, i64 {axis}", f"  {name} = load i64, ptr {name}.at"]
        lines += [f"  {name}.same = icmp eq i64 {name}, {extent}"]
        unless(f"{name}.same", f"extent{axis}")
    return [*lines, *_numbers_of(k, head), f"  br label %array{k + 1}.look"]


def _made(k: int, shape: tuple[int, ...], head: int, first: int) -> list[str]:
    """An array for a result."""
    shape_lines = []
    for axis, extent in enumerate(shape):
        shape_lines += [f"  %array{k}.extent{axis} = getelementptr i64, ptr %dims, i64 {axis}"]
        shape_lines += [f"  store i64 {extent}, ptr %array{k}.extent{axis}"]
    rest = "ptr %dims, ptr null, ptr null, i32 0, ptr null"
    return [
        f"array{k}.look:",
        *shape_lines,
        f"  call void @Py_IncRef(ptr %host{NUMBERS})",
        f"  %array{k} = call ptr %host{NEW_ARRAY}(ptr %host{ARRAY_TYPE}, ptr %host{NUMBERS}, i32 {len(shape)}, {rest})",
        f"  %array{k}.none = icmp eq ptr %array{k}, null",
        f"  br i1 %array{k}.none, label %array{k}.failed, label %array{k}.there",
        f"array{k}.failed:",
        *(f"  call void @Py_DecRef(ptr %array{n})" for n in range(first, k)),
        "  ret ptr null",
        f"array{k}.there:",
        *_numbers_of(k, head),
        f"  br label %array{k + 1}.look",
    ]


def _numbers_of(k: int, head: int) -> list[str]:
    at = f"  %numbers{k}.at = getelementptr i8, ptr %array{k}, i64 {head}"
    return [at, f"  %numbers{k} = load ptr, ptr %numbers{k}.at", *_argument(k)]


def _argument(k: int) -> list[str]:
    return [f"  %args{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %numbers{k}, ptr %args{k}"]


def _returned(first: int, end: int) -> list[str]:
    if end - first == 1:
        return [f"  ret ptr %array{first}"]
    lines = [f"  %several = call ptr @PyTuple_New(i64 {end - first})", "  %none = icmp eq ptr %several, null"]
    lines += ["  br i1 %none, label %no.tuple, label %fill", "no.tuple:"]
    lines += [*(f"  call void @Py_DecRef(ptr %array{k})" for k in range(first, end)), "  ret ptr null", "fill:"]
    for k in range(first, end):
        lines.append(f"  %set{k} = call i32 @PyTuple_SetItem(ptr %several, i64 {k - first}, ptr %array{k})")
    return [*lines, "  ret ptr %several"]
