"""What joints oppose to their motion, in numbers that a node function takes: damping, friction, springs, stops, effort limits.

Friction and stops are not given by their sizes alone: a friction that changes its direction at once, or a stop as hard as
steel, would ask for infinitely short steps. Both are softened by a time constant T and the inertia I that the joint feels, the
harmonic mean of D at some configurations in the ranges of the joints::

    friction of size f      as damping at speeds below f T / I, T = 1 ms
    a stop                  a spring I / T² with critical damping, T = `stop_time`, that pushes and never pulls

so that a joint of inertia I which runs into its stop at speed v goes v T / e beyond it and leaves it after 2 T with a seventh
of that speed, e⁻² v. A constant force F holds it F T² / I beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kinetree.model.bodies import Body, Limits
from kinetree.model.dynamics import JointDynamics
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, congruence
from kinetree.spatial.turns import placed

CONFIGURATIONS = 4
"""How many the felt inertia is a mean of."""
FRICTION_TIME = 0.001
"""Time constant [s] in which friction alone would stop what is slow."""
NOWHERE = 1e30
"""A limit [rad or m] where there is none, though there is one at the other end."""


@final
@dataclass(frozen=True, eq=False)
class Resistance:
    """Of one joint, each (nv,), zeros where there is nothing.

    Friction is friction v / √(v² + slow); `stop` is the stiffness [N m/rad] of what ends the range; effort limits hold where
    `is_limited` is 1.
    """

    damping: Array
    friction: Array
    slow: Array
    stiffness: Array
    rest: Array
    lower: Array
    upper: Array
    stop: Array
    stop_time: Array
    effort: Array
    is_limited: Array


def resists(body: Body) -> bool:
    """Whether the joint does anything by itself but turn a rotor, or ends somewhere."""
    dynamics, limits = body.dynamics, body.limits
    bounds = (limits.lower, limits.upper, limits.effort)
    return bool(dynamics.damping.any() or dynamics.friction.any() or dynamics.stiffness.any()) or any(
        np.isfinite(x).any() for x in bounds
    )


def without_resistance(body: Body) -> Body:
    """The body on a joint that has nothing but its rotor and its largest speed."""
    if not resists(body):
        return body
    nv, own = body.joint.nv, body.dynamics
    rotor = JointDynamics(armature=own.armature) if own.armature.any() else None
    return replace(body, dynamics=rotor, limits=replace(Limits.none(nv), velocity=body.limits.velocity))


def resistances(bodies: Sequence[Body]) -> tuple[Resistance, ...]:
    """One for each joint."""
    inertias = felt_inertias(bodies) if any(map(_is_softened, bodies)) else [np.ones(body.joint.nv) for body in bodies]
    return tuple(map(_resistance, bodies, inertias))


def strongest(bodies: Sequence[Body], of: Sequence[Resistance]) -> tuple[str, float]:
    """The joint whose damping, friction or spring is fastest, by name, and its rate [1/s]; stops are left out."""
    found = [("", 0.0)]
    for body, inertia, own in zip(bodies, felt_inertias(bodies), of, strict=True):
        rates = (own.damping + own.friction / np.sqrt(own.slow)) / inertia, np.sqrt(own.stiffness / inertia)
        found.append((body.joint_name, float(np.max(rates, initial=0.0))))
    return max(found, key=lambda x: x[1])


def felt_inertias(bodies: Sequence[Body]) -> list[Array]:
    """1 / mean of 1 / diagonal of D = H P H* + Γ (nv_k,) of each joint, over configurations drawn from the joints' ranges."""
    rng = np.random.default_rng(0)
    drawn = [_pivots(bodies, rng) for _ in range(CONFIGURATIONS)]
    return [1.0 / np.mean([1.0 / D for D in own], axis=0) for own in zip(*drawn, strict=True)]


def _pivots(bodies: Sequence[Body], rng: np.random.Generator) -> list[Array]:
    """The diagonal of D of each joint at one configuration. Source: Jain II (33)."""
    P = {body.name: body.inertia.matrix for body in bodies}
    found = []
    for body in reversed(bodies):
        joint, placement, own = body.joint, body.placement, P[body.name]
        q = joint.random(rng, (), body.limits.lower, body.limits.upper)
        H = joint.H(q)
        HP = H @ own
        D = HP @ H.T + np.diag(body.dynamics.armature)
        found.append(np.diagonal(D))
        if body.parent is not None:
            turn, shift = joint.displacement(q)
            phi = Shift(placed(placement.rotation, turn), placement.rotation @ shift + placement.translation)
            P[body.parent] = P[body.parent] + congruence(phi, own - HP.T @ np.linalg.solve(D, HP))
    return found[::-1]


def _is_softened(body: Body) -> bool:
    return bool(body.dynamics.friction.any() or np.isfinite(body.limits.lower).any() or np.isfinite(body.limits.upper).any())


def _resistance(body: Body, inertia: Array) -> Resistance:
    own, limits = body.dynamics, body.limits
    hard = inertia / own.stop_time**2 * (body.joint.quaternion is None)
    slow = (own.friction * FRICTION_TIME / inertia) ** 2
    below, above, limited = (np.isfinite(x) for x in (limits.lower, limits.upper, limits.effort))
    return Resistance(
        damping=own.damping,
        friction=own.friction,
        slow=np.where(slow > 0.0, slow, 1.0),
        stiffness=own.stiffness,
        rest=own.rest,
        lower=np.where(below, limits.lower, -NOWHERE),
        upper=np.where(above, limits.upper, NOWHERE),
        stop=np.where(below | above, hard, 0.0),
        stop_time=own.stop_time,
        effort=np.where(limited, limits.effort, 0.0),
        is_limited=limited.astype(float),
    )
