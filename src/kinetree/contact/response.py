"""`impulse_response`: what one blow does to every joint and every body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import impulse as impulses
from kinetree.evaluation import body_of, evaluate, numbers
from kinetree.functions import algorithm_of, variant_of
from kinetree.model import Model
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class ImpulseResponse:
    """How a model answers to impulses.

    dv (..., nv) [rad/s or m/s], the jump of the velocities; twists (..., nbodies, 6), that of each body's [angular; linear]
    velocity at its joint frame; joint_impulses (..., nbodies, 6) [N m s; N s], what each joint passes on from the parent to the
    body, at the joint frame. All in body axes.
    """

    dv: Array
    twists: Array
    joint_impulses: Array


def impulse_response(model: Model, q: ArrayLike, body: str | int, point: ArrayLike, impulse: ArrayLike) -> ImpulseResponse:
    """What an impulse on a point of a body does: Δv = ℳ⁻¹ H φ W, ΔV = φ* H* Δv = Ω W, f = φ (M ΔV − W).

    Source: Chain Impulse (11)–(14), (24), (27), for any tree; Jain II (58) with the impulse for b.

    Parameters
    ----------
    q (..., nq) : joint coordinates
    body : its name or index
    point (..., 3) [m] : where, in body axes
    impulse (..., 3) [N s], world axes; or (..., 6) : [moment N m s; force N s]

    Raises
    ------
    InputError : see `kinetree.functions`; an unknown body; a point or an impulse of another shape

    Cost: O(N)
    """
    k = body_of(model, body)
    r, given = numbers(point, (3,), "point"), np.asarray(impulse, dtype=object)
    acting = numbers(impulse, (6,) if given.shape[-1:] == (6,) else (3,), "impulse")
    if acting.shape[-1] == 3:
        acting = np.concatenate([np.zeros_like(acting), acting], axis=-1)
    return ImpulseResponse(*evaluate(impulses.blow, model, q, r, acting, body=k))


algorithm_of[impulse_response] = impulses.impulse_response
variant_of[impulse_response, "body"] = impulses.blow
