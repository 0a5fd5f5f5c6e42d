"""What contacts need of a model, within one kernel: how the bodies that take part move, Delassus' matrix, and what impulses do.

Straight-line code shares what follows from q between all three, articulated inertias above all. Where there are many bodies,
each of them is loops over these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from kinetree.algorithms import impulse, kinematics, operational
from kinetree.compiler.cuts import Trace
from kinetree.compiler.guard import body_guard, guard_value
from kinetree.compiler.looped.lower import looped_source
from kinetree.compiler.routines import Area, Block, Procedure, Routines
from kinetree.contact.delassus import by_answers, by_blocks
from kinetree.contact.space import Space
from kinetree.model import Model
from kinetree.spatial.scalars import Array

FEW = 60
"""Bodies up to which code is straight-line."""
ONE = Block()


class Moving(ABC):
    """A model at q and v, which have to be the first arguments of the kernel's body, and k of its bodies.

    Attributes
    ----------
    R, p, V : Area
        Rotations (3, 3), origins (3,) and velocities (6,) of these, once `begin` was called.
    W : Area
        Where impulses (6,) on them have to be put, in their axes.
    """

    R: Area
    p: Area
    V: Area
    W: Area

    def __init__(self, routines: Routines, model: Model, bodies: tuple[int, ...]) -> None:
        self.routines, self.model, self.bodies = routines, model, bodies

    @abstractmethod
    def begin(self, p: Procedure) -> None:
        """Finds R, p and V."""

    @abstractmethod
    def delassus(self, space: Space) -> Procedure:
        """What fills A of a contact space."""

    @abstractmethod
    def respond(self, p: Procedure, after: Area, f: Area, guard: Area) -> None:
        """Velocities (nv,) after the impulses W, what the joints pass on (nbodies, 6), and a number as of `guard_value`."""


@final
class Straight(Moving):
    """By straight-line code."""

    def __init__(self, routines: Routines, model: Model, bodies: tuple[int, ...]) -> None:
        super().__init__(routines, model, bodies)
        k, self._trace = len(bodies), Trace(routines)
        self._q, self._v = self._trace.at(_given(0), model.nq), self._trace.at(_given(model.nq), model.nv)
        self.R, self.p, self.V = (routines.area(k, size, strides=(size,)) for size in (9, 3, 6))
        self.W = routines.area(k, 6, strides=(6,))
        moved = kinematics.some_motions(model, self._q, self._v, bodies=bodies)
        for area, x in zip((self.R, self.p, self.V), moved, strict=True):
            self._trace.keep(area, x)

    def begin(self, p: Procedure) -> None:
        p.call(self._trace.known)

    def delassus(self, space: Space) -> Procedure:
        return by_answers(self.routines, self._trace, self._q, self.model, self.bodies, space)

    def respond(self, p: Procedure, after: Area, f: Area, guard: Area) -> None:
        model, q, v = self.model, self._q, self._v

        def answer(W: Array) -> tuple[Any, ...]:
            results = impulse.struck(model, q, v, W, bodies=self.bodies)
            return *results, guard_value(model, {"q": q, "v": v, "W": W}, list(results))

        blocks = [Block(model.nv), Block(model.nbodies, 6), ONE]
        respond = self._trace.piece("respond", answer, [Block(6 * len(self.bodies))], blocks)
        p.call(respond, self.W[0], after[0], f[0], guard[0])


@final
class Looped(Moving):
    """By loops over the bodies."""

    def __init__(self, routines: Routines, model: Model, bodies: tuple[int, ...]) -> None:
        super().__init__(routines, model, bodies)
        k, nq, nv = len(bodies), model.nq, model.nv
        state = {"q": (nq,), "v": (nv,)}
        shapes = {**state, "impulses": (6 * k,)}
        options = {"bodies": bodies}
        moved, _ = looped_source(_moved, model, state, options, routines.lanes)
        struck, _ = looped_source(impulse.struck, model, shapes, options, routines.lanes, body_guard)
        (self._moved, self._struck), self._room = routines.embed(moved, struck)
        self._count = 36 * k * k + 18 * k
        self._found = routines.area(self._count, strides=(1,))
        at = np.cumsum([self._found.slot, 36 * k * k, 9 * k, 3 * k]).tolist()
        places = [Area("%out", slot, size) for slot, size in zip(at, ((36 * k, 6), (9,), (3,), (6,)), strict=True)]
        self._C, self.R, self.p, self.V = places
        self._asked = routines.area(nq + nv + 6 * k, strides=(1,))
        self.W = Area("%out", self._asked.slot + nq + nv, (6,))
        self._copy = routines.piece("copy.number", lambda x: x, [ONE], [ONE])

    def begin(self, p: Procedure) -> None:
        p.compute(self._moved, _given(0)[0], self._room[0])
        self._copied(p, self._room, self._found, self._count)
        self._copied(p, _given(0), self._asked, self.model.nq + self.model.nv)

    def delassus(self, space: Space) -> Procedure:
        return by_blocks(self.routines, self._C, len(self.bodies), space)

    def respond(self, p: Procedure, after: Area, f: Area, guard: Area) -> None:
        p.compute(self._struck, self._asked[0], self._room[0])
        nv, passed = self.model.nv, 6 * self.model.nbodies
        for start, area, count in ((0, after, nv), (nv, f, passed), (nv + passed, guard, 1)):
            source, target = (Area(x.base, x.slot + more, (1,)) for x, more in ((self._room, start), (area, 0)))
            self._copied(p, source, target, count)

    def _copied(self, p: Procedure, source: Area, target: Area, count: int) -> None:
        with p.loop(0, count) as k:
            p.call(self._copy, source[k], target[k])


def moving(routines: Routines, model: Model, bodies: tuple[int, ...]) -> Moving:
    """The one or the other."""
    return (Straight if model.nbodies <= FEW else Looped)(routines, model, bodies)


def _given(slot: int) -> Area:
    return Area("%in", slot, (1,))


def _moved(model: Model, q: Array, v: Array, *, bodies: tuple[int, ...]) -> tuple[Array, ...]:
    C = operational.gathered(model, q, bodies, "body")
    return C, *kinematics.some_motions(model, q, v, bodies=bodies)
