"""A chain cut into segments that are swept side by side, one per lane of a vector; the segments are a chain themselves.

What a sweep over the bodies gives the first and the last body of each segment, `at_base` and `at_tip`, is what the segment
owns. Sweeps over the segments give each of them what it must know of the others, and that may be handed to its bodies again:
as one of their data, or as what the first of them finds at the ground.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def at_base(values: Any) -> Any:
    """What each segment's first body owns."""
    return values.program.at_end(values, "base")


def at_tip(values: Any) -> Any:
    """What each segment's last body owns."""
    return values.program.at_end(values, "tip")


def scatter_segments(node: Callable[..., Any], ground: Any, *data: Any) -> Any:
    """y(s) = node(y(segment before), data(s)) from the base to the tip."""
    return data[0].program.across("outward", node, ground, data)


def gather_segments(node: Callable[..., tuple[Any, Any]], tip: Any, *data: Any) -> Any:
    """y(s), message(s) = node(message of the segment beyond, data(s)) from the tip to the base."""
    return data[0].program.across("inward", node, tip, data)
