"""How a public function knows bad input from good, at next to no cost: its kernel counts what it finds wrong.

The kernel's body has one more result, `guard_value`. It is not handed out: where it is beyond `LIMIT`, or NaN, the number
`REFUSED` goes up. Who finds it changed looks for the cause; that may have been somebody else's, and then there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np

from kinetree.compiler.entry import REFUSALS
from kinetree.compiler.graph import Expr
from kinetree.compiler.kept import Shapes
from kinetree.compiler.kernel import Frame, KernelSource, batch_text
from kinetree.model import Joint, Model
from kinetree.spatial.scalars import Array, Scalar

__all__ = ["QUATERNION_ARGUMENTS", "QUATERNION_TOLERANCE", "Guarded", "body_guard", "guard_value"]

QUATERNION_ARGUMENTS = ("q", "q0", "q1")
QUATERNION_TOLERANCE = 1e-6
"""How far the length of a quaternion may be from 1; |u|² − 1 is twice that."""
LIMIT = (2.0 * QUATERNION_TOLERANCE) ** 2


@final
class Guarded(Frame):
    """Each state once; the last result of the body is its guard."""

    def shapes(self, body: KernelSource) -> tuple[Shapes, Shapes]:
        return body.inputs, body.outputs[:-1]

    def text(self, body: KernelSource) -> str:
        V = body.lanes
        return batch_text(
            body,
            body.outputs[:-1],
            f"""
  %guard = load {V}, ptr %beyond, align {V.bytes}
  %fine = fcmp ole {V} %guard, {V.splat(LIMIT)}
  %fine.bits = bitcast {V.truths} %fine to i{V.count}
  %all.fine = icmp eq i{V.count} %fine.bits, -1
  br i1 %all.fine, label %move, label %refuse
refuse:
  %refused.at = getelementptr ptr, ptr %data, i64 {REFUSALS}
  %refused = load ptr, ptr %refused.at
  %ignored = atomicrmw add ptr %refused, i64 1 monotonic
  br label %move""",
        )


def guard_value(model: Model, inputs: Mapping[str, Array], outputs: list[Array]) -> Scalar:
    """NaN if a number is not finite, else Σ (|u|² − 1)² over the quaternions u of q: 0 where all is well."""
    entries = dict.fromkeys(entry for x in (*inputs.values(), *outputs) for entry in np.asarray(x).flat)
    guard = _finite(entries)
    for name in QUATERNION_ARGUMENTS:
        if name in inputs:
            for body, where in zip(model.bodies, model.q_slices, strict=True):
                guard = guard + _length_error(body.joint, inputs[name][where])
    return guard


def body_guard(joint: Joint, owned: Mapping[str, Any], entries: list[Any]) -> Scalar:
    """What one body adds to `guard_value`."""
    guard = _finite(dict.fromkeys(entries))
    for name in QUATERNION_ARGUMENTS:
        if name in owned:
            guard = guard + _length_error(joint, owned[name])
    return guard


def _finite(entries: Iterable[Any]) -> Scalar:
    """NaN if one of the numbers is not finite, else 0, or NaN again if their sum overflows."""
    terms: list[Any] = [x for x in entries if isinstance(x, Expr)]
    while len(terms) > 1:  # by halves, so that sums need not wait for each other
        half = len(terms) // 2
        terms = [a + b for a, b in zip(terms, terms[half:], strict=False)][:half] + terms[2 * half :]
    return terms[0].finite_check() if terms else 0.0


def _length_error(joint: Joint, q: Array) -> Scalar:
    if joint.quaternion is None:
        return 0.0
    u = q[joint.quaternion]
    return (u @ u - 1.0) ** 2
