"""A body that repeats another until nothing changes: an implicit rule, whose equations are solved for each state by itself.

With x the inputs, z the unknowns, u what comes with them, δ the square of what is missing and s that of all there is::

    z = begin(x)[1:]    repeat: z, u, δ, s = improve(x, z)    results = finish(x, z, u)

What else begin(x) gives are further inputs of the other two. A lane stops for itself, so that its numbers do not depend on its
neighbours: where δ, or the δ to come if it falls as it last did, is below `ROUNDING` of the largest s seen, or where it falls
no more and is below `SMALL` of it. Where that has not come after `LIMIT` times, all results are NaN.

Behind the results lie x, what begin gave (z last), u; then what improve gives, and the room of all three.
"""

from collections import Counter
from typing import Final

from kinetree.compiler.kernel import KernelSource
from kinetree.compiler.layout import COPY, copied, joined, renamed, slots

__all__ = ["LIMIT", "ROUNDING", "SMALL", "iterated"]

ROUNDING: Final = 2.0**-102
SMALL: Final = 1e-16
LIMIT: Final = 60
USUAL: Final = 6
"""Repetitions that operations are counted for."""


def iterated(begin: KernelSource, improve: KernelSource, finish: KernelSource, unknowns: int, counted: bool) -> KernelSource:
    """The body; the last `unknowns` results of begin, and as many first ones of improve, are z.

    `counted` adds the number of repetitions to the results.
    """
    T, parts = begin.lanes, [begin, improve, finish]
    given, started = slots(begin.inputs), slots(begin.outputs)
    z, made, results = slots(begin.outputs[-unknowns:]), slots(improve.outputs), slots(finish.outputs)
    changing = made - 2
    known = given + started + changing - z
    room = max(slots(part.outputs) + part.spare for part in parts)
    tables = [0, len(begin.arrays), len(begin.arrays) + len(improve.arrays)]
    data = "\n".join(f"  %data{n} = getelementptr ptr, ptr %data, i64 {at}" for n, at in enumerate(tables))
    counter = f"  %count.at = getelementptr {T}, ptr %out, i64 {results}\n  store {T} %count.next, ptr %count.at"
    text = f"""
{COPY}
declare i1 @llvm.vector.reduce.or.v{T.count}i1({T.truths})

define internal void @body(ptr noalias readonly %in, ptr noalias %out, ptr %data) noinline #0 {{
entry:
{data}
  %known = getelementptr {T}, ptr %out, i64 {results + counted}
  %start = getelementptr {T}, ptr %known, i64 {given}
  %z = getelementptr {T}, ptr %known, i64 {given + started - z}
  %made = getelementptr {T}, ptr %known, i64 {known}
  %missing.at = getelementptr {T}, ptr %made, i64 {changing}
  %size.at = getelementptr {T}, ptr %made, i64 {changing + 1}
{copied("%known", "%in", given, T)}
  call void @body.0(ptr %known, ptr %made, ptr %data0)
{copied("%start", "%made", started, T)}
  br label %repeat
repeat:
  %k = phi i64 [0, %entry], [%k.next, %judge]
  %active = phi {T.truths} [splat (i1 true), %entry], [%active.next, %judge]
  %solved = phi {T.truths} [zeroinitializer, %entry], [%solved.next, %judge]
  %before = phi {T} [{T.splat(float("nan"))}, %entry], [%missing, %judge]
  %count = phi {T} [zeroinitializer, %entry], [%count.next, %judge]
  %most = phi {T} [zeroinitializer, %entry], [%most.next, %judge]
  call void @body.1(ptr %known, ptr %made, ptr %data1)
  br label %take
take:
  %slot = phi i64 [0, %repeat], [%slot.next, %take]
  %from = getelementptr {T}, ptr %made, i64 %slot
  %to = getelementptr {T}, ptr %z, i64 %slot
  %new = load {T}, ptr %from
  %old = load {T}, ptr %to
  %kept = select {T.truths} %active, {T} %new, {T} %old
  store {T} %kept, ptr %to
  %slot.next = add i64 %slot, 1
  %slot.more = icmp slt i64 %slot.next, {changing}
  br i1 %slot.more, label %take, label %judge
judge:
  %missing = load {T}, ptr %missing.at
  %size = load {T}, ptr %size.at
  %larger = fcmp ogt {T} %size, %most
  %most.next = select {T.truths} %larger, {T} %size, {T} %most
  %rounding = fmul {T} %most.next, {T.splat(ROUNDING)}
  %small = fmul {T} %most.next, {T.splat(SMALL)}
  %square = fmul {T} %missing, %missing
  %bound = fmul {T} %before, %rounding
  %nothing = fcmp ole {T} %missing, %rounding
  %soon = fcmp ole {T} %square, %bound
  %standing = fcmp oge {T} %missing, %before
  %little = fcmp ole {T} %missing, %small
  %floor = and {T.truths} %standing, %little
  %either = or {T.truths} %nothing, %soon
  %enough = or {T.truths} %either, %floor
  %now = and {T.truths} %active, %enough
  %solved.next = or {T.truths} %solved, %now
  %finite = fcmp olt {T} %missing, {T.splat(float("inf"))}
  %lacking = xor {T.truths} %enough, splat (i1 true)
  %worth = and {T.truths} %lacking, %finite
  %active.next = and {T.truths} %active, %worth
  %any = call i1 @llvm.vector.reduce.or.v{T.count}i1({T.truths} %active.next)
  %one = select {T.truths} %active, {T} {T.splat(1.0)}, {T} zeroinitializer
  %count.next = fadd {T} %count, %one
  %k.next = add i64 %k, 1
  %time = icmp slt i64 %k.next, {LIMIT}
  %again = and i1 %any, %time
  br i1 %again, label %repeat, label %done
done:
  call void @body.2(ptr %known, ptr %made, ptr %data2)
  br label %give
give:
  %at = phi i64 [0, %done], [%at.next, %give]
  %result.from = getelementptr {T}, ptr %made, i64 %at
  %result.to = getelementptr {T}, ptr %out, i64 %at
  %result = load {T}, ptr %result.from
  %told = select {T.truths} %solved.next, {T} %result, {T} {T.splat(float("nan"))}
  store {T} %told, ptr %result.to
  %at.next = add i64 %at, 1
  %at.more = icmp slt i64 %at.next, {results}
  br i1 %at.more, label %give, label %exit
exit:
{counter if counted else ""}
  ret void
}}
"""
    operations = Counter({name: USUAL * n for name, n in improve.operations.items()}) + begin.operations + finish.operations
    return KernelSource(
        begin.inputs,
        (*finish.outputs, ()) if counted else finish.outputs,
        joined([*(renamed(part.text, str(n)) for n, part in enumerate(parts)), text]),
        known + room,
        tuple(x for part in parts for x in part.arrays),
        operations,
        min(part.started for part in parts),
        T,
        sum(part.length for part in parts),
    )
