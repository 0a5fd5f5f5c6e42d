"""The directions in which constraints push: normal and tangents of contacts, the one coordinate of an end of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Directions:
    """c contacts and then e ends, k in all, three directions each; those of an end are its coordinate, nothing, nothing.

    Attributes
    ----------
    own, other (c,) : bodies, −1 the world
    frames (c, 3, 3) : normal and tangents as rows, world axes
    W, W_other (c, 3, 6) : what unit forces along them are on both bodies, [moment; force] in their axes
    v_index, side (e,) : of ends, the velocity that it holds back, and from which side, 1 or −1
    """

    own: Array
    other: Array
    frames: Array
    W: Array
    W_other: Array
    v_index: Array
    side: Array

    @property
    def count(self) -> int:
        """k."""
        return len(self.own) + len(self.side)

    @property
    def rank(self) -> int:
        """In how many directions the bodies and joints that take part can move, at most."""
        bodies = {*self.own.tolist(), *self.other.tolist()} - {-1}
        return 6 * len(bodies) + len(self.side)

    def speeds(self, V: Array, v: Array) -> Array:
        """u (3k,) of bodies that move with V (nbodies + 1, 6), the world last, where velocities are v (nv,)."""
        u = np.zeros((self.count, 3))
        c = len(self.own)
        u[:c] = (self.W @ V[self.own][:, :, None] + self.W_other @ V[self.other][:, :, None])[:, :, 0]
        u[c:, 0] = self.side * v[self.v_index]
        return u.ravel()

    def loads(self, nbodies: int, nv: int) -> tuple[Array, Array]:
        """Unit forces as wrenches (3k, nbodies, 6) on bodies, and as forces (3k, nv) in joints."""
        k, c = self.count, len(self.own)
        wrenches, forces = np.zeros((k, 3, nbodies, 6)), np.zeros((k, 3, nv))
        places, two = np.arange(c), np.flatnonzero(self.other >= 0)
        wrenches[places, :, self.own] = self.W
        wrenches[two, :, self.other[two]] = self.W_other[two]
        forces[np.arange(c, k), 0, self.v_index] = self.side
        return wrenches.reshape(-1, nbodies, 6), forces.reshape(-1, nv)

    def world(self, x: Array) -> Array:
        """Impulses (k, 3) in world axes of x (3k,); those of ends are left as they are."""
        impulses = x.reshape(-1, 3).copy()
        c = len(self.own)
        impulses[:c] = (impulses[:c, None] @ self.frames)[:, 0]
        return impulses
