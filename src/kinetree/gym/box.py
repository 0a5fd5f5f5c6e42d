"""The box that observations live in: what is seen of each coordinate, and how far it may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import InputError
from kinetree.model import Body, Model
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Box:
    """Observations [coordinates; cosines and sines of the angles without limits; velocities], and their bounds.

    seen (n,), turning (m,) : which entries of q are seen as they are, and which as cosine and sine
    low, high (n + 2 m + nv,) : the bounds
    """

    seen: Array
    turning: Array
    low: Array
    high: Array

    def observation(self, q: Array, v: Array) -> Array:
        """What is seen of states, (..., n + 2 m + nv)."""
        angles = np.ascontiguousarray(q[..., self.turning])
        return np.concatenate([q[..., self.seen], np.cos(angles), np.sin(angles), v], axis=-1)

    def left(self, observation: Array) -> Array:
        """Whether states (...) are outside."""
        return np.asarray(~((observation >= self.low) & (observation <= self.high)).all(-1))


def box_of(model: Model, reach: Any, speed: Any) -> Box:
    """The box of a model: limits widened by as much again (stops give way), reach [m] where a length has none, ±speed."""
    far, fast = positive(model, "reach", reach, ()), positive(model, "speed", speed, (model.nv,))
    parts = [_bounds(body, float(far)) for body in model.bodies]
    low, high = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    turning = np.isnan(low)
    turns = np.ones(2 * int(turning.sum()))
    velocities = np.broadcast_to(fast, (model.nv,))
    return Box(
        np.flatnonzero(~turning),
        np.flatnonzero(turning),
        np.concatenate([low[~turning], -turns, -velocities]),
        np.concatenate([high[~turning], turns, velocities]),
    )


def _bounds(body: Body, reach: float) -> tuple[Array, Array]:
    """Bounds (nq,) of a joint's coordinates; NaN for angles without."""
    joint = body.joint
    if joint.quaternion is not None:
        # A hair more than the length of a unit quaternion, which rounding may exceed.
        high = np.full(joint.nq, reach)
        high[joint.quaternion] = 1.0 + 1e-9
        return -high, high
    low, high = body.limits.lower, body.limits.upper
    room = np.maximum(high - low, 1e-3)
    free = np.array([np.nan if k in joint.angles else reach for k in range(joint.nq)])
    known = np.isfinite(room)
    with np.errstate(invalid="ignore"):
        return np.where(known, low - room, -free), np.where(known, high + room, free)


def positive(model: Model, name: str, value: Any, shape: tuple[int, ...], zero: bool = False) -> Array:
    """A number, or an array of that shape, finite and positive; `zero` allows 0."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape not in ((), shape) or not (np.isfinite(found) & ((found > 0.0) | (zero & (found == 0.0)))).all():
        allowed = f"a number or {shape}" if shape else "a number"
        sign = "not negative" if zero else "positive"
        raise InputError(f"{name} of {model.name!r} must be {allowed}, finite and {sign}, found {value!r:.80}.")
    return found
