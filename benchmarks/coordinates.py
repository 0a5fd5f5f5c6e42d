"""Their coordinates from ours and back: position before quaternion, linear before angular, in the axes they use."""

from collections.abc import Callable

import numpy as np

import kinetree as kt

Array = np.ndarray


class Coordinates:
    """Where (columns) each of our joints stands in their q and v, found by name, at the states given.

    Free joints are `position, quaternion` there and `linear, angular`: angular in body axes; linear in body axes, or in the
    world's (`world`), where accelerations differ by ω × v as well as by the rotation.

    Parameters
    ----------
    places : of a joint's name, the first of its columns in their q and v
    scalar_last : whether their quaternions are x y z w
    """

    def __init__(
        self,
        model: kt.Model,
        q: Array,
        v: Array,
        places: Callable[[str], tuple[int, int]],
        *,
        world: bool,
        scalar_last: bool = False,
    ) -> None:
        nq, nv = np.empty(model.nq, int), np.empty(model.nv, int)
        self.free: list[tuple[Array, slice, slice]] = []
        rotations = kt.forward_kinematics(model, q)[0] if world else None
        for k, (name, own_q, own_v) in enumerate(zip(model.joint_names, model.q_slices, model.v_slices, strict=True)):
            at_q, at_v = places(name)
            if model.bodies[k].joint.kind == "free":
                at = (6, 3, 4, 5, 0, 1, 2) if scalar_last else (3, 4, 5, 6, 0, 1, 2)
                nq[own_q], nv[own_v] = at_q + np.array(at), at_v + np.array((3, 4, 5, 0, 1, 2))
                if rotations is not None:
                    self.free.append((rotations[..., k, :, :], *(slice(own_v.start + n, own_v.start + n + 3) for n in (0, 3))))
            else:
                nq[own_q], nv[own_v] = at_q, at_v
        self.q_columns, self.v_columns = nq, nv
        self._v = v
        self.q = np.empty_like(q)
        self.q[..., nq] = q
        self.v = self.force(v)

    def force(self, x: Array) -> Array:
        """Forces, and velocities, in theirs."""
        return self._theirs(x, 0.0)

    def acceleration(self, a: Array) -> Array:
        return self._theirs(a, 1.0)

    def our_force(self, x: Array) -> Array:
        return self._ours(x, 0.0)

    def our_acceleration(self, a: Array) -> Array:
        return self._ours(a, 1.0)

    def _theirs(self, x: Array, carried: float) -> Array:
        x, out = x.copy(), np.empty_like(x)
        for R, angular, linear in self.free:
            own = x[..., linear] + carried * np.cross(self._v[..., angular], self._v[..., linear])
            x[..., linear] = np.einsum("...ij,...j->...i", R, own)
        out[..., self.v_columns] = x
        return out

    def _ours(self, theirs: Array, carried: float) -> Array:
        x = np.asarray(theirs, dtype=float)[..., self.v_columns]
        for R, angular, linear in self.free:
            own = np.einsum("...ji,...j->...i", R, x[..., linear])
            x[..., linear] = own - carried * np.cross(self._v[..., angular], self._v[..., linear])
        return x
