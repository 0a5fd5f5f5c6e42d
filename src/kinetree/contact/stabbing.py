"""How deep a segment reaches into a box.

In axes of the box the segment is a + t b, 0 ≤ t ≤ 1, and its depth the largest of six lines, one for each face,

    f(t) = max_i (|a_i + t b_i| − h_i)

the lowest of which is where a falling line meets a rising one, of faces i and j: n = λ n_i + μ n_j, λ + μ = 1, is then across
the segment, as it is across the edge of the box between the faces, and f / |n| is how far these two lines are from each other.
"""

from __future__ import annotations

import itertools

import numpy as np

from kinetree.compiler.graph import where
from kinetree.contact.extremes import clamped, minimum, unit
from kinetree.contact.laws import maximum, positive
from kinetree.spatial.scalars import Array, Scalar

LEVEL = 1e-7
"""Of the size of the box: depths that differ by less count as equal."""
WITHIN = 1e-9
"""Of the size of the box: how far the ends of what lies on a face are within the others."""
WIDE = 1e-3
"""Of the segment: less than that is no stretch but a point."""
FAR = 1e30


def stabbing(a: Array, b: Array, half: Array) -> tuple[Scalar, Array, Scalar]:
    """Minus the depth of the segment a + t b (3,) in a box of half edges (3,), its gradient (3,), and t.

    Outside it is positive, but no more than the distance: less where a corner is nearest, or an end of the segment.
    """
    signs, speeds, falling, rising = _lines(a, b, half)
    lowest, normal, foot = -FAR, np.zeros(3), 0.0
    for i, j in itertools.permutations(range(3), 2):
        both = speeds[i] + speeds[j]
        share = speeds[j] / where(both, both, 1.0)
        value = where(both, falling[i] * share + rising[j] * (1.0 - share), -FAR)
        n = -share * signs[i] * np.eye(3)[i] + (1.0 - share) * signs[j] * np.eye(3)[j]
        squared = speeds[i] * speeds[i] + speeds[j] * speeds[j]
        nearest = (falling[i] * speeds[i] - rising[j] * speeds[j]) / where(squared, squared, 1.0)  # to the edge of the box
        higher = positive(value - lowest)
        lowest, normal, foot = where(higher, value, lowest), where(higher, n, normal), where(higher, nearest, foot)
    level = LEVEL * sum(half)
    first, last = _below(falling, rising, speeds, [lowest + level] * 3)
    t = 0.5 * (first + last)
    depth, face = deepest(a + t * b, half)
    length, direction = unit(normal, face)
    is_edge = positive(lowest + 2.0 * level - depth)
    return (
        where(is_edge, lowest / where(length, length, 1.0), depth),
        where(is_edge, direction, face),
        where(where(is_edge, positive(WIDE - (last - first)), 0.0), clamped(foot), t),
    )


def deepest(y: Array, half: Array) -> tuple[Scalar, Array]:
    """max_i (|y_i| − h_i) of a point (3,) in axes of a box, and the normal (3,) of that face."""
    most, face = -FAR, np.zeros(3)
    for k, (x, h) in enumerate(zip(y, half, strict=True)):
        beyond, normal = abs(x) - h, where(positive(-x), -1.0, 1.0) * np.eye(3)[k]
        further = positive(beyond - most)
        most, face = where(further, beyond, most), where(further, normal, face)
    return most, face


def stretch(a: Array, b: Array, half: Array, inside: Scalar) -> tuple[Scalar, Scalar]:
    """From where to where in [0, 1] the segment a + t b lies on a face, within the others; not from low to high if nowhere.

    inside is minus its depth, as of `stabbing`.
    """
    size = sum(half)
    _, speeds, falling, rising = _lines(a, b, half)
    within = minimum(inside, 0.0) - WITHIN * size
    return _below(falling, rising, speeds, [where(positive(LEVEL * size - x), inside + LEVEL * size, within) for x in speeds])


def _lines(a: Array, b: Array, half: Array) -> tuple[list[Scalar], ...]:
    """Signs of b, and its magnitudes, the slopes of the lines; where the falling and the rising ones are at t = 0."""
    signs, speeds = [where(positive(-x), -1.0, 1.0) for x in b], [abs(x) for x in b]
    falling = [-(s * x + h) for s, x, h in zip(signs, a, half, strict=True)]
    rising = [s * x - h for s, x, h in zip(signs, a, half, strict=True)]
    return signs, speeds, falling, rising


def _below(falling: list[Scalar], rising: list[Scalar], speeds: list[Scalar], levels: list[Scalar]) -> tuple[Scalar, Scalar]:
    """From where to where in [0, 1] no line is above the level of its faces."""
    first, last = 0.0, 1.0
    for down, up, speed, level in zip(falling, rising, speeds, levels, strict=True):
        rate = where(speed, speed, 1.0)
        first = maximum(first, where(speed, (down - level) / rate, 0.0))
        last = minimum(last, where(speed, (level - up) / rate, 1.0))
    return clamped(first), clamped(last)
