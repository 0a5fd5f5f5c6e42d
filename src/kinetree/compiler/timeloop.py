"""Steps in time inside compiled code: a body that takes a state to the next, repeated, every so-manieth state stored.

The results of the body are the next values of its first inputs, the state; it stays in the workspace. An input that is driven
has a row for each step, any other is held. The kernel is called with out=, which says how many rows are stored::

    states, others (S, …) or (…), plan (2) = [rows, steps a row]  →  states (R, …)          S = rows × steps a row, R = rows

One group of states, as many as a vector has lanes, goes through all steps before the next begins.
"""

from collections.abc import Collection
from typing import final

from kinetree.compiler.kept import Shapes
from kinetree.compiler.kernel import Frame, KernelSource
from kinetree.compiler.layout import COPY, copied, joined, moved, over_states, slots
from kinetree.compiler.movers import movers

__all__ = ["TimeLoop"]


@final
class TimeLoop(Frame):
    """Many steps of each state; `driven` are the numbers of the body's inputs that have a row for each step."""

    repeats, is_direct = 100, False

    def __init__(self, driven: Collection[int]) -> None:
        self.driven = driven

    def shapes(self, body: KernelSource) -> tuple[Shapes, Shapes]:
        inputs = tuple(("s", *shape) if k in self.driven else shape for k, shape in enumerate(body.inputs))
        return (*inputs, (2,)), tuple(("r", *shape) for shape in body.outputs)

    def text(self, body: KernelSource) -> str:
        around = movers(max(map(len, body.inputs)), max(map(len, body.outputs)), body.lanes)
        return joined([around, body.text, _text(body, self.driven, *self.shapes(body))])


def _text(body: KernelSource, driven: Collection[int], inputs: Shapes, outputs: Shapes) -> str:
    lanes, state = body.lanes, slots(body.outputs)
    start, each, store, touch, slot = [], [], [], [], 0
    for k, shape in enumerate(body.inputs):
        if k in driven:
            each += _at_row(f"{k}", k, "%s") + moved("pack", k, shape, slot, lanes, first=1)
        else:
            start += [f"  %offset{k} = mul i64 %i, %outer{k}", f"  %array{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}"]
            start += moved("pack", k, shape, slot, lanes)
        slot += slots([shape])
    first, at = len(inputs), 0
    for k, shape in enumerate(body.outputs, start=first):
        touch += _at_row(f"{k}.ahead", k, "%r")
        touch.append(
            f"  call void @touch(ptr %array{k}.ahead, i64 %outer{k}, i64 %m, i64 {lanes.element.bytes * slots([shape])})"
        )
        store += _at_row(f"{k}", k, "%r") + moved("unpack", k, shape, at, lanes, first=1)
        at += slots([shape])
    newline, plan, number = "\n", first - 1, lanes.element.name
    loop = f"""  %rows.float = load {number}, ptr %base{plan}
  %rows = fptosi {number} %rows.float to i64
  %every.at = getelementptr i8, ptr %base{plan}, i64 %core{plan}.0
  %every.float = load {number}, ptr %every.at
  %every = fptosi {number} %every.float to i64
  br label %group
group:
  %i = phi i64 [0, %begin], [%i.next, %next]
  %left = sub i64 %n, %i
  %full = icmp sgt i64 %left, {lanes.count}
  %m = select i1 %full, i64 {lanes.count}, i64 %left
{newline.join(start)}
  br label %row
row:
  %r = phi i64 [0, %group], [%r.next, %store]
  %r.start = mul i64 %r, %every
  %r.end = add i64 %r.start, %every
{newline.join(touch)}
  br label %step
step:
  %s = phi i64 [%r.start, %row], [%s.next, %step]
{newline.join(each)}
  call void @body(ptr %work, ptr %result, ptr %tables)
{copied("%work", "%result", state, lanes)}
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %r.end
  br i1 %s.more, label %step, label %store
store:
{newline.join(store)}
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %next
next:
  %i.next = add i64 %i, {lanes.count}
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %group, label %exit"""
    size, results = lanes.bytes * (slot + state + body.spare), f"{lanes}, ptr %work, i64 {slot}"
    return f"{COPY}\n{_TOUCH}{over_states([*inputs, *outputs], size, results, loop)}"


# Asks for the memory of a row that is going to be written, while its states are computed: of 1,024 Panda arms, every state
# stored, a step takes 58 ns with it and 64 without.
_TOUCH = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal void @touch(ptr %rows, i64 %outer, i64 %m, i64 %bytes) noinline #0 {
entry:
  br label %lane
lane:
  %l = phi i64 [0, %entry], [%l.next, %lane.end]
  %offset = mul i64 %l, %outer
  %row = getelementptr i8, ptr %rows, i64 %offset
  br label %line
line:
  %at = phi i64 [0, %lane], [%at.next, %line]
  %address = getelementptr i8, ptr %row, i64 %at
  call void @llvm.prefetch.p0(ptr %address, i32 1, i32 3, i32 1)
  %at.next = add i64 %at, 64
  %more = icmp slt i64 %at.next, %bytes
  br i1 %more, label %line, label %lane.end
lane.end:
  %last.byte = sub i64 %bytes, 1
  %last = getelementptr i8, ptr %row, i64 %last.byte
  call void @llvm.prefetch.p0(ptr %last, i32 1, i32 3, i32 1)
  %l.next = add i64 %l, 1
  %again = icmp slt i64 %l.next, %m
  br i1 %again, label %lane, label %exit
exit:
  ret void
}
"""


def _at_row(name: str, k: int, row: str) -> list[str]:
    """Lines that make ``%array{k}``: a row of argument k for the group at hand."""
    return [
        f"  %offset{name} = mul i64 %i, %outer{k}",
        f"  %first{name} = getelementptr i8, ptr %base{k}, i64 %offset{name}",
        f"  %later{name} = mul i64 {row}, %core{k}.0",
        f"  %array{name} = getelementptr i8, ptr %first{name}, i64 %later{name}",
    ]
