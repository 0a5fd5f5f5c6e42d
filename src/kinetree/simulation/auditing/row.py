"""One row of an audit: what a law says of one quantity, and what the run made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree.spatial.scalars import Array

TOLERANCE = 1e-6
"""Relative drift up to which a quantity counts as conserved, where none is told."""
GROWTH = 1.2
"""A drift whose largest value in the second half of a run exceeds that of the first by this factor grows with time."""


@final
@dataclass(frozen=True, eq=False)
class Row:
    """What became of one quantity.

    quantity, unit; start, its size at the start; drift, the largest deviation, relative to the scale of what it is made of
    where `relative` says so; when [s] that was; where, the joint that it points to; expected, whether a law conserves
    it in this run; verdict, "conserved", "drifts", "undecided" (the deviation is no larger than the error of finding it),
    "not expected", of energy that contacts take "only falls", or "falls" where it rises a little in between; for two ways to
    one number "agree", "differ"; note, why, or how it drifts. times and error are the deviation over time, doubt (K,) what of
    it may be the error of finding it.
    """

    quantity: str
    unit: str
    start: float
    drift: float
    relative: float
    when: float
    where: str
    expected: bool
    verdict: str
    note: str
    times: Array = field(repr=False)
    error: Array = field(repr=False)
    scale: float = field(repr=False)
    doubt: Array | None = field(repr=False, default=None)

    def data(self) -> dict[str, Any]:
        """All but what it was over time, as JSON holds it."""
        left_out = "times", "error", "scale", "doubt"
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out}


def conserved(
    quantity: str,
    unit: str,
    start: float,
    t: Array,
    error: Array,
    scale: float,
    tolerance: float,
    where: str = "",
    acting: str = "",
    doubt: Array | None = None,
) -> Row:
    """The row of a quantity that should stay what it was; `acting` says what changes it if it should not."""
    k = int(np.argmax(error))
    size = scale if scale > 0.0 else 1.0
    relative = float(error[k] / size)
    verdict, note = _judged(error, relative, tolerance, None if doubt is None else float(doubt.max() / size))
    if acting:
        verdict, note = "not expected", acting
    return Row(
        quantity,
        unit,
        float(start),
        float(error[k]),
        relative,
        float(t[k]),
        where,
        not acting,
        verdict,
        note,
        t,
        error,
        size,
        doubt,
    )


def _judged(error: Array, relative: float, tolerance: float, doubt: float | None) -> tuple[str, str]:
    told = "" if doubt is None else f"work known to {doubt:.0e}"
    if relative <= tolerance:
        return "conserved", told
    if doubt is not None and relative <= doubt:
        return "undecided", f"{told} only: store more states"
    half = len(error) // 2
    bounded = float(error[half:].max()) <= GROWTH * float(error[:half].max(initial=0.0))
    return "drifts", "; ".join(filter(None, (told, "does not grow" if bounded else "grows")))
