"""Ends of joints as constraints, in place of the springs that otherwise end a joint's range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kinetree.contact.scene import Scene
from kinetree.model import Model
from kinetree.model.bodies import Limits
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Ends:
    """Ends of joints whose coordinates can be subtracted, of each (n,): the body that the joint carries, coordinate and
    velocity by index, the side, 1 for a lower end and −1 for an upper one, and where it is.
    """

    body: Array
    q_index: Array
    v_index: Array
    side: Array
    at: Array
    names: tuple[str, ...]

    def gap(self, q: Array) -> Array:
        """How far each is away (n,) [rad or m]."""
        return self.side * (q[self.q_index] - self.at)

    def within(self, q: Array) -> Array:
        """q (nq,) with joints that are beyond an end at that end."""
        beyond, q = self.gap(q) < 0.0, q.copy()
        q[self.q_index[beyond]] = self.at[beyond]
        return q


def ends_of(model: Model, wanted: bool) -> Ends:
    """Those of a model; none where they are not wanted."""
    found = []
    for n, (body, qs, vs) in enumerate(zip(model.bodies, model.q_slices, model.v_slices, strict=True)):
        if not wanted or body.joint.quaternion is not None:
            continue
        for side, name, bounds in ((1.0, "lower", body.limits.lower), (-1.0, "upper", body.limits.upper)):
            for k in np.flatnonzero(np.isfinite(bounds)):
                found.append((n, qs.start + k, vs.start + k, side, bounds[k], f"{name} end of joint {body.joint_name!r}"))
    body, q_index, v_index, side, at, names = zip(*found, strict=True) if found else ((), (), (), (), (), ())
    real = np.array(side, dtype=float), np.array(at, dtype=float)
    return Ends(np.array(body, dtype=int), np.array(q_index, dtype=int), np.array(v_index, dtype=int), *real, tuple(names))


def without_stops(model: Model, scene: Scene | None) -> Model:
    """The model whose joints have no springs at their ends, where these are contacts."""
    if scene is None or not ends_of(model, scene.limits).names:
        return model

    def free(limits: Limits) -> Limits:
        return replace(limits, lower=np.full_like(limits.lower, -np.inf), upper=np.full_like(limits.upper, np.inf))

    return replace(
        model, bodies=tuple(b if b.joint.quaternion is not None else replace(b, limits=free(b.limits)) for b in model.bodies)
    )
