"""The public functions: arrays in, arrays out, through a kernel compiled for the model at first use.

Every one takes any leading batch axes and broadcasts them as NumPy does. Bad input raises `InputError`: a wrong shape
or dtype, a number that is not finite, a quaternion whose length is not 1 (to 1e-6), or a result that overflows.
A kernel made by `compile` checks nothing and behaves as NumPy ufuncs do: NaN in, NaN out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kinetree.algorithms import articulated, composite, inverse, kinematics
from kinetree.compiler.compile import kernel_of
from kinetree.errors import InputError
from kinetree.evaluation import body_of, evaluate, evaluate_reference
from kinetree.model import Model
from kinetree.spatial.scalars import Array

FRAMES = ("world", "body")

_algorithm_of: dict[Callable[..., Any], Callable[..., Any]] = {}


def _evaluates(algorithm: Callable[..., Any]) -> Callable[[Any], Any]:
    """Remember which algorithm a public function evaluates, so that `compile` and `reference` find it."""

    def remember(function: Any) -> Any:
        _algorithm_of[function] = algorithm
        return function

    return remember


@_evaluates(inverse.inverse_dynamics)
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None) -> Array:
    """Joint forces that produce the acceleration a: τ = M_q a + C v + gravity − external.

    Source: Jain II (1), (2), (10), in body axes.

    Parameters
    ----------
    q (..., nq), v (..., nv), a (..., nv) : joint coordinates, velocities, accelerations [rad or m, /s, /s²]
    external (..., nbodies, 6) : wrench [moment N m; force N] on each body at its joint frame, body axes

    Returns
    -------
    tau (..., nv) [N m or N]

    Raises
    ------
    InputError : see the module's docstring

    Cost: O(N)
    """
    if external is None:
        return evaluate(inverse.inverse_dynamics, model, q, v, a)
    return evaluate(inverse.inverse_dynamics, model, q, v, a, external)


@_evaluates(articulated.forward_dynamics)
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None) -> Array:
    """Accelerations under the joint forces τ: v̇ = M_q⁻¹ (τ − C v − gravity + external).

    Source: Jain II (33), (58), Algorithm 6.1, in body axes.

    Parameters
    ----------
    q (..., nq), v (..., nv), tau (..., nv) : joint coordinates, velocities, forces [rad or m, /s, N m or N]
    external (..., nbodies, 6) : wrench [moment N m; force N] on each body at its joint frame, body axes

    Returns
    -------
    a (..., nv) [rad/s² or m/s²]

    Raises
    ------
    InputError : see the module's docstring

    Cost: O(N)
    """
    if external is None:
        return evaluate(articulated.forward_dynamics, model, q, v, tau)
    return evaluate(articulated.forward_dynamics, model, q, v, tau, external)


@_evaluates(composite.mass_matrix)
def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """M_q (..., nv, nv) = H φ M φ* H*, symmetric positive definite.

    Source: Jain II (17)–(20), Algorithm 4.2. q (..., nq). Raises InputError. Cost: O(N · depth).
    """
    return evaluate(composite.mass_matrix, model, q)


@_evaluates(articulated.inverse_mass_matrix)
def inverse_mass_matrix(model: Model, q: ArrayLike) -> Array:
    """M_q⁻¹ (..., nv, nv) = (1 − H ψ K)* D⁻¹ (1 − H ψ K).

    Source: Jain II (51). q (..., nq). Raises InputError. Cost: O(N²), the size of the result.
    """
    return evaluate(articulated.inverse_mass_matrix, model, q)


@_evaluates(inverse.bias_force)
def bias_force(model: Model, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None) -> Array:
    """Joint forces (..., nv) [N m or N] at zero acceleration: C v + gravity − external.

    q (..., nq), v (..., nv), external (..., nbodies, 6). Raises InputError. Cost: O(N).
    """
    if external is None:
        return evaluate(inverse.bias_force, model, q, v)
    return evaluate(inverse.bias_force, model, q, v, external)


@_evaluates(inverse.gravity_force)
def gravity_force(model: Model, q: ArrayLike) -> Array:
    """∂U/∂q (..., nv) [N m or N]: the joint forces that hold the model still.

    Source: Lagrange (24). q (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate(inverse.gravity_force, model, q)


@_evaluates(kinematics.kinetic_energy)
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """T (...) [J] = ½ Σ V* M V.

    Source: Lagrange (11). q (..., nq), v (..., nv). Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.kinetic_energy, model, q, v)


@_evaluates(kinematics.potential_energy)
def potential_energy(model: Model, q: ArrayLike) -> Array:
    """U (...) [J] = −Σ m g·r, zero at the world's origin.

    Source: Lagrange (23). q (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.potential_energy, model, q)


@_evaluates(kinematics.forward_kinematics)
def forward_kinematics(model: Model, q: ArrayLike) -> tuple[Array, Array]:
    """Rotations (..., nbodies, 3, 3), body axes to world axes, and origins (..., nbodies, 3) [m] of the body frames.

    Source: Mass Matrix, formulas section 0. q (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.forward_kinematics, model, q)


@_evaluates(kinematics.center_of_mass)
def center_of_mass(model: Model, q: ArrayLike) -> Array:
    """Centre of mass (..., 3) [m] of all bodies, in the world.

    q (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.center_of_mass, model, q)


@_evaluates(kinematics.jacobian)
def jacobian(model: Model, q: ArrayLike, body: str | int, frame: str = "world") -> Array:
    """J (..., 6, nv): maps v to [ω; velocity of the body's joint origin], in world or body axes.

    Source: Mass Matrix (7) at the joint origin: J* = H φ. q (..., nq), body by name or index, frame "world" or "body".
    Raises InputError. Cost: O(depth).
    """
    if frame not in FRAMES:
        raise InputError(f"frame must be one of {', '.join(map(repr, FRAMES))}, found {frame!r}.")
    return evaluate(kinematics.jacobian, model, q, body=body_of(model, body), frame=frame)


@_evaluates(kinematics.integrate)
def integrate(model: Model, q: ArrayLike, v_dt: ArrayLike) -> Array:
    """Where the constant velocity v, held for dt, takes q (..., nq): q moved by v_dt (..., nv) on the manifold.

    The exponential of SO(3) for a spherical joint, of SE(3) for a free one, addition for all others.
    Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.integrate, model, q, v_dt)


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The v_dt (..., nv) for which integrate(model, q0, v_dt) is q1; rotations take the short way round.

    q0 (..., nq), q1 (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate_reference(kinematics.difference, model, q0, q1)


_algorithm_of[difference] = kinematics.difference


def compile(function: Callable[..., Any], model: Model, dtype: DTypeLike = np.float64, **options: Any) -> np.ufunc:
    """The kernel of a public function on one model: a NumPy generalized ufunc, compiled once and kept with the model.

    kernel(q, v, tau, out=None) broadcasts, casts and honours strides as every ufunc does. It checks nothing: NaN in,
    NaN out. `external=True` adds that argument; `body` and `frame` go to `jacobian`.

    Raises
    ------
    InputError : not a function of kinetree, an unknown option, a dtype other than float64, a model without coordinates
    """
    if np.dtype(dtype) != np.float64:
        raise InputError(f"kernels are compiled for float64, found dtype {np.dtype(dtype)}.")
    algorithm = algorithm_of(function)
    if algorithm is kinematics.difference:
        raise InputError("difference has no kernel: it runs through the NumPy reference. Call kinetree.difference.")
    without = () if options.pop("external", False) else ("external",)
    if algorithm is kinematics.jacobian:
        options = {"body": body_of(model, options.pop("body", None)), "frame": options.pop("frame", "world"), **options}
    known = {"body", "frame"} if algorithm is kinematics.jacobian else set()
    if set(options) - known:
        raise InputError(f"unknown options {sorted(set(options) - known)}; allowed: {sorted(known | {'external'})}.")
    return kernel_of(algorithm, model, without, options)


def reference(function: Callable[..., Any], model: Model, *arrays: ArrayLike | None, **options: Any) -> Any:
    """What a public function returns, by the NumPy reference: the same node functions, nothing compiled.

    Slow and plain; accepts complex arrays, so that derivatives can be taken by complex steps.
    """
    if "body" in options:
        options = {"frame": "world", **options, "body": body_of(model, options["body"])}
    return evaluate_reference(algorithm_of(function), model, *(x for x in arrays if x is not None), **options)


def algorithm_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The algorithm behind a public function; `InputError` listing those that have one."""
    if function not in _algorithm_of:
        names = ", ".join(f.__name__ for f in _algorithm_of)
        raise InputError(f"{function!r} is not a function that kinetree compiles. Those are: {names}.")
    return _algorithm_of[function]
