"""A body that calls another several times: a rule that asks for the dynamics at states of its own choice.

The stage is compiled once, however often it is asked: Runge–Kutta's four accelerations of a humanoid as straight-line code
are four times as much text, and no faster. What the rule does in between are pieces. With x the inputs and a₁, a₂, … what the
stage gave::

    asked₁ = piece₀(x)    a₁ = stage(asked₁)    asked₂ = piece₁(x, a₁)    …    results = pieceₙ(x, a₁, …, aₙ)

Behind the results lie x, a₁, …, aₙ, end to end, the room of the stage, what is asked, the room of the pieces.
"""

from collections import Counter
from collections.abc import Sequence

from kinetree.compiler.kernel import KernelSource
from kinetree.compiler.layout import COPY, copied, joined, renamed, slots

__all__ = ["staged"]


def staged(stage: KernelSource, pieces: Sequence[KernelSource]) -> KernelSource:
    """The body of a rule that asks `stage` once between any two of the `pieces`."""
    T, asks, last = stage.lanes, len(pieces) - 1, pieces[-1]
    given, made = slots(pieces[0].inputs), slots(stage.outputs)
    asked = given + asks * made + stage.spare
    room = max(slots(piece.outputs) + piece.spare for piece in pieces)
    parts = [stage, *pieces]
    table, lines = 0, [copied("%known", "%in", given, T)]
    for n, part in enumerate(parts):
        lines.append(f"  %data{n} = getelementptr ptr, ptr %data, i64 {table}")
        table += len(part.arrays)
    for k in range(asks):
        lines += [
            f"  call void @body.{k + 1}(ptr %known, ptr %asked, ptr %data{k + 1})",
            f"  %a{k} = getelementptr {T}, ptr %known, i64 {given + k * made}",
            f"  call void @body.0(ptr %asked, ptr %a{k}, ptr %data0)",
        ]
    lines.append(f"  call void @body.{asks + 1}(ptr %known, ptr %asked, ptr %data{asks + 1})")
    lines.append(copied("%out", "%asked", slots(last.outputs), T))
    newline = "\n"
    text = f"""
{COPY}
define internal void @body(ptr noalias readonly %in, ptr noalias %out, ptr %data) noinline #0 {{
entry:
  %known = getelementptr {T}, ptr %out, i64 {slots(last.outputs)}
  %asked = getelementptr {T}, ptr %known, i64 {asked}
{newline.join(lines)}
  ret void
}}
"""
    operations = sum((part.operations for part in [stage] * asks + list(pieces)), start=Counter())
    return KernelSource(
        pieces[0].inputs,
        last.outputs,
        joined([*(renamed(part.text, str(n)) for n, part in enumerate(parts)), text]),
        asked + room,
        tuple(x for part in parts for x in part.arrays),
        operations,
        min(part.started for part in parts),
        T,
        sum(part.length for part in parts),
    )
