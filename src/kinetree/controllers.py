"""Controllers as small functions of (t, q, v) that give joint forces (nv,), for `simulate(control=…)`.

>>> from kinetree.controllers import gravity_compensation, pd, together
>>> hold = together(gravity_compensation(model), pd(model, q_wanted, stiffness=50.0, damping=5.0))

A target is a configuration (nq,) to hold, or a function of t that gives q, (q, v) or (q, v, a). Gains are numbers or (nv,).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree import functions
from kinetree.algorithms import passive
from kinetree.algorithms.inverse import drift
from kinetree.compiler.compile import kernel_of
from kinetree.errors import InputError
from kinetree.evaluation import body_of, evaluate
from kinetree.model import Model
from kinetree.spatial.scalars import Array

Control = Callable[[float, Array, Array], Array]
"""control(t, q, v) → joint forces (nv,) [N m or N]."""


def together(*controls: Control) -> Control:
    """The sum of controllers."""
    return lambda t, q, v: sum(control(t, q, v) for control in controls)  # type: ignore[return-value]


def passive_force(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """τ (..., nv) [N m or N] of what joints do by themselves: damping, friction, springs, stops at position limits.

    `simulate` and `rollout` add it to the joint forces; `forward_dynamics` and `inverse_dynamics` do not know it, their τ is
    all of the joint forces. docs/simulation.md has the law of each. q (..., nq), v (..., nv). Raises InputError. Cost: O(N).
    """
    return evaluate(passive.passive_force, model, q, v)


functions.algorithm_of[passive_force] = passive.passive_force


def gravity_compensation(model: Model) -> Control:
    """τ = g(q): holds the model's weight, and nothing else."""
    return lambda t, q, v: functions.gravity_force(model, q)


def pd(model: Model, target: Any, stiffness: ArrayLike, damping: ArrayLike) -> Control:
    """τ = K (q_wanted − q) + D (v_wanted − v), the difference taken on the configuration manifold.

    Raises
    ------
    InputError : a target or gain of the wrong shape, a negative gain
    """
    wanted = _target(model, target)
    K, D = _gain(model, "stiffness", stiffness), _gain(model, "damping", damping)

    def control(t: float, q: Array, v: Array) -> Array:
        q_wanted, v_wanted, _ = wanted(t)
        return K * _error(model, q, q_wanted) + D * (v_wanted - v)

    return control


def computed_torque(model: Model, target: Any, stiffness: ArrayLike, damping: ArrayLike) -> Control:
    """τ = ID(q, v, a_wanted + D (v_wanted − v) + K (q_wanted − q)): errors decay as those of a spring and damper of unit mass.

    Raises
    ------
    InputError : a target or gain of the wrong shape, a negative gain
    """
    wanted = _target(model, target)
    K, D = _gain(model, "stiffness", stiffness), _gain(model, "damping", damping)

    def control(t: float, q: Array, v: Array) -> Array:
        q_wanted, v_wanted, a_wanted = wanted(t)
        a = a_wanted + D * (v_wanted - v) + K * _error(model, q, q_wanted)
        return functions.inverse_dynamics(model, q, v, a)

    return control


def partial_computed_torque(model: Model, joints: Sequence[str], acceleration: Control) -> Control:
    """τ of some joints alone that gives them the accelerations they should have; the others feel none and move as they must.

    τ_d = (S ℳ⁻¹ S*)⁻¹ (a_d − S FD(q, v, 0)), S the rows of the driven joints: cranes, floating bases, swing-ups.

    Parameters
    ----------
    joints : names of the driven joints
    acceleration : function of (t, q, v) that gives a_d, end to end in the order of the model

    Raises
    ------
    InputError : an unknown joint, or one twice; later, accelerations of the wrong shape
    """
    unknown = [name for name in joints if name not in model.joint_names]
    if isinstance(joints, str) or unknown or len(set(joints)) < len(joints):
        raise InputError(
            f"joints must be different names of joints, found {joints!r:.80}. Joints of {model.name!r}: "
            f"{', '.join(model.joint_names[:40])}."
        )
    driven = np.concatenate([np.r_[s] for n, s in zip(model.joint_names, model.v_slices, strict=True) if n in joints])
    still = np.zeros(model.nv)

    def control(t: float, q: Array, v: Array) -> Array:
        wanted = np.asarray(acceleration(t, q, v), dtype=float)
        if wanted.shape != driven.shape:
            raise InputError(
                f"partial_computed_torque of {model.name!r}: the accelerations at t = {t:.9g} s must have shape "
                f"{driven.shape}, one for each velocity of {', '.join(joints)}, found {wanted.shape}."
            )
        free = functions.forward_dynamics(model, q, v, still)[driven]
        answer = functions.inverse_mass_matrix(model, q)[np.ix_(driven, driven)]
        tau = np.zeros(model.nv)
        tau[driven] = np.linalg.solve(answer, wanted - free)
        return tau

    return control


def operational_space(
    model: Model, body: str | int, target: Any, stiffness: float, damping: float, point: ArrayLike = (0.0, 0.0, 0.0)
) -> Control:
    """τ = J* Λ (ẍ_wanted + D (ẋ_wanted − ẋ) + K (x_wanted − x) − J̇ v) + C v + g for a point of a body; Λ = (J ℳ⁻¹ J*)⁻¹.

    What the point does not see is left to coast; add a `pd` for it. Source: Jain II, section 6.2.

    Parameters
    ----------
    body : name or index
    target : position (3,) [m] in the world, or a function of t that gives x, (x, ẋ) or (x, ẋ, ẍ)
    stiffness [1/s²], damping [1/s]
    point (3,) [m] : in body axes

    Raises
    ------
    InputError : an unknown body, a target of the wrong shape; later, at a configuration where the point cannot be moved in
        every direction
    """
    k, r = body_of(model, body), np.asarray(point, dtype=float)
    wanted = _signals(target, (3,), "a target of operational_space must be a position (3,) in the world")
    acceleration = kernel_of(drift, model, options={"body": k, "point": tuple(map(float, r))})

    def control(t: float, q: Array, v: Array) -> Array:
        x_wanted, rate_wanted, a_wanted = wanted(t)
        rotations, origins = functions.forward_kinematics(model, q)
        J = functions.jacobian(model, q, k, point=r)[3:]
        x, rate = origins[k] + rotations[k] @ r, J @ v
        a = a_wanted + damping * (rate_wanted - rate) + stiffness * (x_wanted - x) - acceleration(q, v)
        answer = J @ functions.inverse_mass_matrix(model, q) @ J.T
        if np.linalg.cond(answer) > 1.0 / np.finfo(float).eps:
            raise InputError(
                f"operational_space of {model.name!r}: at t = {t:.9g} s body {model.body_names[k]!r} cannot be moved in every "
                "direction. Take a path away from the singular configuration, or control the joints there."
            )
        return J.T @ np.linalg.solve(answer, a) + functions.bias_force(model, q, v)

    return control


def _error(model: Model, q: Array, wanted: Array) -> Array:
    """q_wanted − q (nv,) on the manifold."""
    flat = model.nq == model.nv
    return wanted - q if flat else functions.difference(model, q, wanted)


def _target(model: Model, target: Any) -> Callable[[float], tuple[Array, Array, Array]]:
    what = f"a target for {model.name!r} must be a configuration ({model.nq},)"
    return _signals(target, (model.nq,), what, (model.nv,))


def _signals(target: Any, core: tuple[int, ...], what: str, rates: tuple[int, ...] = (3,)) -> Callable[[float], Any]:
    """target(t) as (x, ẋ, ẍ), zero where not given."""
    still = np.zeros(rates)

    def checked(value: Any) -> tuple[Array, Array, Array]:
        parts = list(value) if isinstance(value, tuple) else [value]
        shapes = (core, rates, rates)
        found = [np.asarray(x, dtype=float) for x in parts]
        if not 1 <= len(found) <= 3 or any(x.shape != shape for x, shape in zip(found, shapes, strict=False)):
            raise InputError(f"{what}, or with its rates, found {', '.join(str(x.shape) for x in found)}.")
        return tuple([*found, still, still][:3])  # type: ignore[return-value]

    if callable(target):
        return lambda t: checked(target(t))
    constant = checked(target)
    return lambda t: constant


def _gain(model: Model, name: str, value: ArrayLike) -> Array:
    found = np.asarray(value, dtype=float)
    if found.shape not in ((), (model.nv,)) or not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise InputError(f"{name} must be a number or ({model.nv},), finite and not negative, found {value!s:.80}.")
    return found
