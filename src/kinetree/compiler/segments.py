"""One state on all lanes of a vector: a chain cut into segments, one for each lane.

An argument is rows of the bodies left over at the base, then those of each segment; in the workspace a row has the numbers of
all segments. What is left over goes to all lanes, and comes from the first.
"""

from collections.abc import Sequence
from typing import final

from kinetree.compiler.kept import Shapes
from kinetree.compiler.kernel import Frame, KernelSource
from kinetree.compiler.layout import joined, over_states, slots
from kinetree.compiler.movers import movers
from kinetree.compiler.text import Lanes

__all__ = ["Segments"]


@final
class Segments(Frame):
    """Each state once, its segments side by side; `heads` are the rows left over of each argument and result."""

    is_direct = False

    def __init__(self, heads: Sequence[int]) -> None:
        self.heads = tuple(heads)

    def shapes(self, body: KernelSource) -> tuple[Shapes, Shapes]:
        whole = tuple(
            (head + body.lanes.count * (shape[0] - head), *shape[1:])
            for head, shape in zip(self.heads, (*body.inputs, *body.outputs), strict=True)
        )
        return whole[: len(body.inputs)], whole[len(body.inputs) :]

    def text(self, body: KernelSource) -> str:
        around = movers(max(map(len, body.inputs)), max(map(len, body.outputs)), body.lanes)
        return joined([around, body.text, self._states(body)])

    def _states(self, body: KernelSource) -> str:
        shapes, count = (*body.inputs, *body.outputs), len(body.inputs)
        inward, outward, slot = [], [], 0
        for k, shape in enumerate(shapes):
            lines = inward if k < count else outward
            lines += [f"  %offset{k} = mul i64 %i, %outer{k}", f"  %array{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}"]
            lines += self._moved("pack" if k < count else "unpack", k, shape, slot, body.lanes)
            slot += slots([shape])
        newline = "\n"
        loop = f"""  br label %state
state:
  %i = phi i64 [0, %begin], [%i.next, %state]
{newline.join(inward)}
  call void @body(ptr %work, ptr %result, ptr %tables)
{newline.join(outward)}
  %i.next = add i64 %i, 1
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %state, label %exit"""
        size, results = body.lanes.bytes * (slot + body.spare), f"{body.lanes}, ptr %work, i64 {slots(body.inputs)}"
        return over_states(shapes, size, results, loop)

    def _moved(self, word: str, k: int, shape: tuple[int, ...], slot: int, lanes: Lanes) -> list[str]:
        """Lines that move what is left over of argument k, then its segments."""
        head, length, rest = self.heads[k], shape[0] - self.heads[k], shape[1:]
        own = "".join(f", i64 {extent}, i64 %core{k}.{axis}" for axis, extent in enumerate(rest, start=1))
        lines = [
            f"  %head{k} = getelementptr {lanes}, ptr %work, i64 {slot}",
            f"  %slot{k} = getelementptr {lanes}, ptr %work, i64 {slot + head * slots([rest])}",
            f"  %before{k} = mul i64 %core{k}.0, {head}",
            f"  %segments{k} = getelementptr i8, ptr %array{k}, i64 %before{k}",
            f"  %span{k} = mul i64 %core{k}.0, {length}",
        ]
        if head:
            lines.append(
                f"  call void @{word}{len(shape)}(ptr %head{k}, ptr %array{k}, i64 {head}, i64 %core{k}.0{own}, i64 0, i64 1)"
            )
        call = f"@{word}{len(shape)}(ptr %slot{k}, ptr %segments{k}, i64 {length}, i64 %core{k}.0{own}"
        return [*lines, f"  call void {call}, i64 %span{k}, i64 {lanes.count})"]
