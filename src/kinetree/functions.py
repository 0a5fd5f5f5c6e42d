"""The public functions: arrays in, arrays out, through a kernel compiled for the model at first use.

Every one takes any leading batch axes and broadcasts them as NumPy does. Bad input raises `InputError`: a wrong shape
or dtype, a number that is not finite, a quaternion whose length is not 1 (to 1e-6), or a result that overflows.
A kernel made by `compile` checks nothing and behaves as NumPy ufuncs do: NaN in, NaN out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import evaluation
from kinetree.algebra.sko import SKO
from kinetree.algorithms import articulated, composite, inverse, kinematics, lagrange, operational
from kinetree.algorithms import momentum as momenta
from kinetree.errors import InputError
from kinetree.evaluation import bodies_of, body_of, evaluate, evaluate_reference, numbers
from kinetree.model import Model
from kinetree.spatial.scalars import Array

FRAMES: Final = ("world", "body")
FORMS: Final = ("symmetric", "document")
Bodies = str | int | Sequence[str | int]

algorithm_of: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The algorithm behind each public function."""
variant_of: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}
"""Another one where an option is given."""


def algorithm_with(function: Callable[..., Any], options: Iterable[str]) -> Callable[..., Any]:
    """The algorithm behind a public function that is given options."""
    return next((variant_of[function, name] for name in options if (function, name) in variant_of), algorithm_of[function])


def _evaluates(algorithm: Callable[..., Any]) -> Callable[[Any], Any]:
    """Remember which algorithm a public function evaluates, so that `compile` and `reference` find it."""

    def remember(function: Any) -> Any:
        algorithm_of[function] = algorithm
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
    """M_q (..., nv, nv) = H φ M φ* H* + Γ, symmetric positive definite.

    Source: Jain II (17)–(20), Algorithm 4.2. q (..., nq). Raises InputError. Cost: O(N · depth).
    """
    return evaluate(composite.mass_matrix, model, q)


@_evaluates(articulated.inverse_mass_matrix)
def inverse_mass_matrix(model: Model, q: ArrayLike) -> Array:
    """M_q⁻¹ (..., nv, nv) = (1 − H ψ K)* D⁻¹ (1 − H ψ K).

    Source: Jain II (51). q (..., nq). Raises InputError. Cost: O(N²), the size of the result.
    """
    return evaluate(articulated.inverse_mass_matrix, model, q)


@_evaluates(articulated.logdet_mass_matrix)
def logdet_mass_matrix(model: Model, q: ArrayLike) -> Array:
    """log det M_q (...) = Σ log det D(k).

    Source: Jain II (52), (53). q (..., nq). Raises InputError. Cost: O(N).
    """
    return evaluate(articulated.logdet_mass_matrix, model, q)


@_evaluates(operational.compliance)
def compliance(model: Model, q: ArrayLike, bodies: Bodies, frame: str = "body") -> Array:
    """J M_q⁻¹ J* (..., 6m, 6m): what wrenches on m bodies do to their accelerations, blocks of Ω.

    Source: Jain II (59), (60), by the rules (25).

    Parameters
    ----------
    q (..., nq) : joint coordinates
    bodies : a body or a list of m different bodies, by name or index; [angular; linear] of the first, then the next
    frame : "body" axes or "world" axes, at each body's joint origin

    Raises
    ------
    InputError : see the module's docstring; an unknown body or one given twice

    Cost: O(N + m² · depth)
    """
    check_frame(frame)
    return evaluate(operational.compliance, model, q, bodies=bodies_of(model, bodies), frame=frame)


def operational_space_inertia(model: Model, q: ArrayLike, bodies: Bodies, frame: str = "body") -> Array:
    """Λ (..., 6m, 6m) = (J M_q⁻¹ J*)⁻¹: the inertia that wrenches on m bodies feel.

    Source: Jain II, section 6.2. Arguments as for `compliance`.

    Raises
    ------
    InputError : as for `compliance`; and if the stacked Jacobian J has lost rank, naming the directions in which these
        bodies cannot be accelerated independently

    Cost: O(N + m² · depth + m³)
    """
    found = bodies_of(model, bodies)
    return operational.inverse_compliance(model, found, compliance(model, q, found, frame))


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


@_evaluates(lagrange.coriolis_matrix)
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """C (..., nv, nv): C v is the part of `bias_force` that is quadratic in v, and the rate of ℳ less 2 C is skew.

    Of all such matrices the one of the Christoffel symbols, also where velocities are no rates of coordinates.

    Source: Lagrange (17)–(22); Echeandia and Wensing (2021), as operators. q (..., nq), v (..., nv). Raises InputError.
    Cost: O(N · depth).
    """
    return evaluate(lagrange.coriolis_matrix, model, q, v)


def christoffel(model: Model, q: ArrayLike, form: str = "symmetric") -> Array:
    """Christoffel symbols (..., nv, nv, nv) of the mass matrix: h_i = Σ c_ijk v_j v_k, and Σ_k c_ijk v_k is `coriolis_matrix`.

    Source: Lagrange (21), (22), erratum E-004-1.

    Parameters
    ----------
    q (..., nq) : joint coordinates
    form : "symmetric", c_ijk = ½ (∂ℳ_ij/∂q_k + ∂ℳ_ik/∂q_j − ∂ℳ_jk/∂q_i); or "document", C_ijk = ∂ℳ_ij/∂q_k − ½ ∂ℳ_jk/∂q_i,
        which gives the same h but leaves the rate of ℳ less 2 C not skew

    Free and spherical joints have angular velocities instead of rates of coordinates. The symmetric form then holds Hamel's
    terms, by which c_ijk and c_ikj differ; the document's is refused.

    Raises
    ------
    InputError : see the module's docstring; an unknown form; the document's form of a joint without rates of coordinates

    Cost: O(N · depth · nv)
    """
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(map(repr, FORMS))}, found {form!r}.")
    found = np.asarray(q)
    units = np.eye(model.nv) if isinstance(model, Model) else None
    c = np.moveaxis(evaluate(lagrange.coriolis_matrix, model, found[..., None, :] if found.ndim else found, units), -3, -1)
    if form == "symmetric":
        return c
    for body in model.bodies:
        if body.joint.quaternion is not None:
            raise InputError(
                f"the document's Christoffel symbols are derivatives by coordinates, but the velocities of joint "
                f'{body.joint_name!r} ({body.joint.kind}) are not their rates. Ask for form="symmetric".'
            )
    rate = c + np.swapaxes(c, -3, -2)  # ∂ℳ_ij/∂q_k
    return rate - 0.5 * np.moveaxis(rate, -1, -3)


algorithm_of[christoffel] = lagrange.christoffel


@_evaluates(momenta.momentum)
def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """p (..., nv) = ℳ v = H 𝒦: generalized momenta [kg m²/s or kg m/s].

    Source: Hamilton [3]–[6], (P.1a). q (..., nq), v (..., nv). Raises InputError. Cost: O(N).
    """
    return evaluate(momenta.momentum, model, q, v)


@_evaluates(momenta.velocity)
def velocity(model: Model, q: ArrayLike, p: ArrayLike) -> Array:
    """v (..., nv) = ℳ⁻¹ p: the velocities [rad/s or m/s] of generalized momenta, nothing dense formed.

    Source: Hamilton (P.5b). q (..., nq), p (..., nv). Raises InputError. Cost: O(N).
    """
    return evaluate(momenta.velocity, model, q, p)


@_evaluates(momenta.momentum_rate)
def momentum_rate(model: Model, q: ArrayLike, p: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None) -> Array:
    """ṗ (..., nv) = τ + H (W − V ×* 𝒦) + Ḣ 𝒦: Hamilton's second equation, for every joint.

    Source: Hamilton (P.3b), corrected (formulas section 7): the document's holds for revolute joints only. Where velocities
    are rates of coordinates it is τ − ∂H/∂q.

    Parameters
    ----------
    q (..., nq), p (..., nv), tau (..., nv) : joint coordinates, momenta, forces
    external (..., nbodies, 6) : wrench [moment N m; force N] on each body at its joint frame, body axes

    Raises
    ------
    InputError : see the module's docstring

    Cost: O(N)
    """
    if external is None:
        return evaluate(momenta.momentum_rate, model, q, p, tau)
    return evaluate(momenta.momentum_rate, model, q, p, tau, external)


@_evaluates(momenta.hamiltonian)
def hamiltonian(model: Model, q: ArrayLike, p: ArrayLike) -> Array:
    """H (...) [J] = ½ p* ℳ⁻¹ p + U, the total energy by coordinates and momenta.

    Source: Hamilton [1]. q (..., nq), p (..., nv). Raises InputError. Cost: O(N).
    """
    return evaluate(momenta.hamiltonian, model, q, p)


@_evaluates(kinematics.kinetic_energy)
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """T (...) [J] = ½ Σ V* M V + ½ v* Γ v.

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
def jacobian(model: Model, q: ArrayLike, body: str | int, frame: str = "world", point: ArrayLike | None = None) -> Array:
    """J (..., 6, nv): maps v to [ω; velocity of a point of the body], in world or body axes.

    Source: Mass Matrix (7): J* = H φ; Lagrange (13) at the centre of mass.

    Parameters
    ----------
    q (..., nq) : joint coordinates
    body : its name or index
    frame : "world" or "body" axes
    point (..., 3) [m] : in body axes; the joint's origin where not given

    Raises
    ------
    InputError : see the module's docstring; an unknown body or frame

    Cost: O(depth)
    """
    check_frame(frame)
    k = body_of(model, body)
    if point is None:
        return evaluate(kinematics.jacobian, model, q, body=k, frame=frame)
    r = numbers(point, (3,), "point")
    J = evaluate(kinematics.jacobian, model, q, body=k, frame="body")
    angular, linear = J[..., :3, :], J[..., 3:, :]
    linear = linear + np.cross(angular, r[..., None], axis=-2)  # v + ω × r
    if frame == "world":
        R = forward_kinematics(model, q)[0][..., k, :, :]
        angular, linear = R @ angular, R @ linear
    return np.concatenate(np.broadcast_arrays(angular, linear), axis=-2)


@_evaluates(kinematics.joint_forces)
def generalized_force(model: Model, q: ArrayLike, wrenches: ArrayLike) -> Array:
    """H φ W (..., nv) [N m or N]: the joint forces that do the same work as wrenches on the bodies.

    Source: Lagrange (26). q (..., nq); wrenches (..., nbodies, 6), [moment N m; force N] on each body at its joint frame, body
    axes, as `external` elsewhere. Raises InputError. Cost: O(N).
    """
    return evaluate(kinematics.joint_forces, model, q, wrenches)


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


algorithm_of[difference] = kinematics.difference


def operators(model: Model, q: ArrayLike) -> SKO:
    """The SKO model at q (..., nq): the operators E φ H M, and R P D G K ψ Ω, solved when first asked for.

    >>> ops = kt.operators(model, q)
    >>> mass = ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T
    >>> mass, mass.inv
    (H φ M φ* H*, (1 − H ψ K)* D⁻¹ (1 − H ψ K))
    >>> mass @ v, mass.inv @ tau, mass.logdet(), mass.dense()

    Source: Jain II, sections 2 to 6. Stacked vectors are (..., nv) on the joints and (..., 6 nbodies) on the bodies, in body
    axes; the leading axes of q and of the vectors broadcast. Complex q is welcome. Raises InputError.
    """
    return evaluation.operators(model, q)


def check_frame(frame: str) -> None:
    """`InputError` unless the frame is one of `FRAMES`."""
    if frame not in FRAMES:
        raise InputError(f"frame must be one of {', '.join(map(repr, FRAMES))}, found {frame!r}.")
