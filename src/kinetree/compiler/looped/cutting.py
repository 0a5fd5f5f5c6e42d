"""A serial chain as segments of equal length, one for each lane, and what is left over at the base.

Bodies in the same place of different segments run the same code at once, so they must be of one kind; it is better if their
constants are zero in the same places too. The bodies left over are swept as if each segment began with them, but count in the
first only: in the others they are inactive.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from kinetree.compiler.looped.values import columns, kind
from kinetree.errors import InputError
from kinetree.model import Body, LeanBody, LeanModel, Model, Pose
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.scalars import Array

SHORTEST = 8
"""Bodies in a segment, at least."""
MOST_TRIED = 64
"""Lengths of segments to choose from, the longest first."""
UNLIKE = 0.25
"""What a place costs whose bodies differ in their zeros, in bodies left over."""


@final
@dataclass(frozen=True, eq=False)
class Part:
    """A segment, behind the bodies left over, as if it were a model; `active` is 1 for each body that counts, else 0."""

    lean: LeanModel
    active: list[float]

    @property
    def tree(self) -> Tree:
        return self.lean.tree

    @property
    def q_slices(self) -> tuple[slice, ...]:
        return self.lean.q_slices

    @property
    def v_slices(self) -> tuple[slice, ...]:
        return self.lean.v_slices

    @property
    def gravity(self) -> Array:
        return self.lean.gravity

    @property
    def nv(self) -> int:
        return self.v_slices[-1].stop


@final
@dataclass(frozen=True, eq=False)
class Cut:
    """`lanes` segments of `length` bodies behind `left_over` others."""

    model: Model
    lanes: int
    length: int

    @property
    def left_over(self) -> int:
        return self.model.nbodies - self.lanes * self.length

    @cached_property
    def tree(self) -> Tree:
        """Of one part."""
        return Tree(tuple(range(GROUND, self.left_over + self.length - 1)))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(map(self._part, range(self.lanes)))

    def _part(self, lane: int) -> Part:
        lean, h = self.model.lean, self.left_over
        begin = h + lane * self.length
        own = [*range(h), *range(begin, begin + self.length)]
        q_slices, v_slices = (_end_to_end([x[k] for k in own]) for x in (lean.q_slices, lean.v_slices))
        bodies = tuple(_as_it_is(self.model.bodies[k]) for k in own)
        part = LeanModel(self.tree, bodies, q_slices, v_slices, lean.gravity)
        return Part(part, [float(lane == 0)] * h + [1.0] * self.length)

    def heads(self, argument: str) -> int:
        """Rows of an argument or result that belong to the bodies left over."""
        h, model = self.left_over, self.model
        if argument == "external":
            return h
        return (model.q_slices if argument == "q" else model.v_slices)[h].start

    def shape(self, argument: str, whole: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of a part of an argument."""
        head = self.heads(argument)
        return head + (whole[0] - head) // self.lanes, *whole[1:]


def cut_of(model: Model, lanes: int) -> Cut:
    """The best way to cut a chain. Raises InputError if it is none or too short, or if kinds of joints do not repeat."""
    n, tried = model.nbodies, []
    if model.tree.parents != tuple(range(GROUND, n - 1)):
        raise InputError(f'lowering="segmented" is for serial chains, and {model.name!r} branches. Use lowering="looped".')
    kinds, signs = _numbered([kind(body.joint) for body in model.bodies]), _numbered(_zeros(model))
    longest = n // lanes
    for length in range(longest, max(longest - MOST_TRIED, SHORTEST - 1), -1):
        left_over = n - lanes * length
        alike, zeros = (x[left_over:].reshape(lanes, length) for x in (kinds, signs))
        if left_over <= length and (alike == alike[0]).all():
            unlike = int((zeros != zeros[0]).any(axis=0).sum())
            tried.append((left_over + length + UNLIKE * unlike, length))
    if not tried:
        raise InputError(
            f"{model.name!r} cannot be cut into {lanes} segments of at least {SHORTEST} bodies with the same kinds of joints "
            'in the same order, and no more bodies left over than one has. Use lowering="looped".'
        )
    return Cut(model, lanes, min(tried)[1])


def _as_it_is(body: Body) -> LeanBody:
    """The body in its own frame with its own inertia: where a chain is cut, what rides on the parent would be cut off."""
    return LeanBody(body.joint, body.placement, body.inertia.pseudo_inertia, Pose(), body.dynamics.armature)


def _zeros(model: Model) -> list[Hashable]:
    """Of each body, where its constants are 0, 1 or −1."""
    found = []
    for body in model.bodies:
        numbers = np.concatenate([columns([x])[1][0] for x in (body.joint, body.placement, body.inertia.pseudo_inertia)])
        found.append(np.where(np.isin(numbers, (0.0, 1.0, -1.0)), numbers, 2.0).tobytes())
    return found


def _numbered(values: list[Hashable]) -> np.ndarray:
    """Equal values as equal numbers."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(x, len(numbers)) for x in values])


def _end_to_end(slices: list[slice]) -> tuple[slice, ...]:
    stops = np.cumsum([s.stop - s.start for s in slices]).tolist()
    return tuple(slice(stop - (s.stop - s.start), stop) for stop, s in zip(stops, slices, strict=True))
