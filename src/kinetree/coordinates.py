"""Equations of motion in coordinates of one's own: absolute angles, transmissions, joints that move as one.

With q = f(θ) and v = B(θ) θ̇ every term follows by virtual work:

ℳ' = B* ℳ B        C' = B* (C B + ℳ Ḃ)        g' = B* g        Q = B* τ

Source: Lagrange (26), (27), for linear maps; the same for any smooth one. ℳ'˙ − 2 C' is skew because ℳ˙ − 2 C is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import functions
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array

STEP = 1e-30
"""Of a complex step; a derivative by it has no rounding error of a difference."""


@final
class Coordinates:
    """Coordinates θ (n,) of a model with q = f(θ).

    >>> absolute = kt.Coordinates(model, [[1, 0], [-1, 1]])          # q = B θ
    >>> absolute.mass_matrix(theta), absolute.generalized_force(theta, tau)

    Parameters
    ----------
    model : the model
    B : (nv, n) matrix of a linear map; or a function of θ (n,) that gives the matrix with v = B(θ) θ̇, by arithmetic that
        complex numbers pass through
    offset (nq,) : q = B θ + offset, zero where not given; of a linear map only
    q : function of θ (n,) that gives q (nq,), where B is a function

    n may be less than nv: then the joints move as the map says, and the forces that make them so do no work.

    Raises
    ------
    InputError : a wrong shape or type; a linear map of a model whose velocities are no rates of coordinates
    """

    def __init__(
        self, model: Model, B: ArrayLike | Callable[[Array], Any], offset: ArrayLike | None = None, q: Any = None
    ) -> None:
        if not isinstance(model, Model):
            raise InputError(f"the first argument must be a kinetree Model, found {type(model).__name__}.")
        self.model = model
        if callable(B):
            if not callable(q) or offset is not None:
                raise InputError("where B is a function of θ, q must be one too, and there is no offset.")
            self._B, self._q = B, q
            return
        matrix = _numbers("B", B)
        if matrix.ndim != 2 or matrix.shape[0] != model.nv or matrix.shape[1] > model.nv:
            raise InputError(f"B must have shape (nv = {model.nv}, n ≤ nv), found {matrix.shape}.")
        if q is not None:
            raise InputError("q is for a B that is a function of θ; a linear map takes an offset.")
        bodies = [body.joint_name for body in model.bodies if body.joint.quaternion is not None]
        if bodies:
            raise InputError(
                f"q = B θ is for coordinates that can be added, but joint {bodies[0]!r} has a quaternion. "
                "Give functions of θ for B and q."
            )
        shift = np.zeros(model.nq) if offset is None else _numbers("offset", offset)
        if shift.shape != (model.nq,):
            raise InputError(f"offset must have shape (nq = {model.nq},), found {shift.shape}.")
        self._B, self._q = lambda theta: matrix, lambda theta: matrix @ theta + shift

    def q(self, theta: ArrayLike) -> Array:
        """Joint coordinates (nq,)."""
        return _shaped("q(θ)", self._q(_theta(theta)), (self.model.nq,))

    def v(self, theta: ArrayLike, rate: ArrayLike) -> Array:
        """Velocities (nv,) = B θ̇."""
        return self.B(theta) @ np.asarray(rate, dtype=float)

    def B(self, theta: ArrayLike) -> Array:
        """The Jacobian (nv, n) with v = B θ̇."""
        given = _theta(theta)
        return _shaped("B(θ)", self._B(given), (self.model.nv, len(given)))

    def B_rate(self, theta: ArrayLike, rate: ArrayLike) -> Array:
        """Ḃ (nv, n) along θ̇, by a complex step."""
        return np.imag(self._B(_theta(theta) + 1j * STEP * np.asarray(rate, dtype=float))) / STEP

    def mass_matrix(self, theta: ArrayLike) -> Array:
        """ℳ' (n, n) = B* ℳ B."""
        B = self.B(theta)
        return B.T @ functions.mass_matrix(self.model, self.q(theta)) @ B

    def coriolis_matrix(self, theta: ArrayLike, rate: ArrayLike) -> Array:
        """C' (n, n) = B* (C B + ℳ Ḃ)."""
        q, B = self.q(theta), self.B(theta)
        C = functions.coriolis_matrix(self.model, q, self.v(theta, rate))
        return B.T @ (C @ B + functions.mass_matrix(self.model, q) @ self.B_rate(theta, rate))

    def gravity_force(self, theta: ArrayLike) -> Array:
        """g' (n,) = B* g = ∂U/∂θ."""
        return self.B(theta).T @ functions.gravity_force(self.model, self.q(theta))

    def generalized_force(self, theta: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None) -> Array:
        """Q (n,) = B* τ: what joint forces τ (nv,) and wrenches (nbodies, 6) on the bodies do along θ."""
        acting = np.asarray(tau, dtype=float)
        if external is not None:
            acting = acting + functions.generalized_force(self.model, self.q(theta), external)
        return self.B(theta).T @ acting

    def forward_dynamics(self, theta: ArrayLike, rate: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None) -> Array:
        """θ̈ (n,): ℳ' θ̈ + C' θ̇ + g' = Q."""
        rest = self.coriolis_matrix(theta, rate) @ np.asarray(rate, dtype=float) + self.gravity_force(theta)
        return np.linalg.solve(self.mass_matrix(theta), self.generalized_force(theta, tau, external) - rest)


def _theta(theta: ArrayLike) -> Array:
    found = _numbers("θ", theta)
    if found.ndim != 1:
        raise InputError(f"θ must be one state, shape (n,), found {found.shape}.")
    return found


def _numbers(name: str, x: Any) -> Array:
    try:
        found = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, found {x!s:.80}.") from None
    if not np.isfinite(found).all():
        raise InputError(f"{name} must be finite, found {found[~np.isfinite(found)][0]}.")
    return found


def _shaped(name: str, x: Any, shape: tuple[int, ...]) -> Array:
    found = _numbers(name, x)
    if found.shape != shape:
        raise InputError(f"{name} must have shape {shape}, found {found.shape}.")
    return found
