"""Matrices of models too large for straight-line code: column by column, by the kernel of a product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.algorithms import articulated, composite, kinematics, lagrange, momentum, operational
from kinetree.compiler.compile import FEW_BODIES, kernel_of
from kinetree.model import Model
from kinetree.spatial.scalars import Array

MOST_BLOCKS = 700
"""Blocks of a matrix beyond which straight-line code for it takes many seconds to compile."""


@final
@dataclass(frozen=True, eq=False)
class ByColumns:
    """A guarded kernel that applies `product` to unit vectors and picks the rows that go with them.

    Attributes
    ----------
    product : guarded kernel of q and a vector
    units : the unit vectors (n, ...)
    rows : where the same entries stand in a result of the product, flattened
    turns : guarded kernel of rotations (..., nbodies, 3, 3) and the bodies whose axes are to be turned to the world's
    """

    product: np.ufunc
    units: Array
    rows: Array
    turns: tuple[np.ufunc, Array] | None = None

    def __call__(self, q: Any) -> Array:
        q = np.asarray(q)
        found = self.product(q[..., None, :], self.units)
        columns = found.reshape(*found.shape[: q.ndim], -1)[..., self.rows]
        if self.turns is not None:
            kernel, bodies = self.turns
            rotations, _ = kernel(q)
            R = rotations[..., bodies.repeat(2), :, :]  # for moments and for forces
            parts = columns.reshape(*columns.shape[:-2], 2 * len(bodies), 3, 2 * len(bodies), 3)
            columns = np.einsum("...iab,...ibjd,...jcd->...iajc", R, parts, R).reshape(columns.shape)
        upper = np.triu(columns)
        return upper + np.swapaxes(np.triu(columns, 1), -1, -2)


@final
@dataclass(frozen=True, eq=False)
class JacobianByRows:
    """A guarded kernel of J* f for unit wrenches f on one body: the rows of its Jacobian.

    Attributes
    ----------
    product : guarded kernel of q and wrenches
    wrenches : the unit wrenches (6, nbodies, 6)
    poses : guarded kernel of rotations, if the rows are to be those of the world; None for the body's own
    body : its number
    """

    product: np.ufunc
    wrenches: Array
    poses: np.ufunc | None
    body: int

    def __call__(self, q: Any) -> Array:
        q = np.asarray(q)
        found = self.product(q[..., None, :], self.wrenches)
        if self.poses is not None:
            R = self.poses(q)[0][..., self.body, :, :]
            found = np.concatenate([R @ found[..., :3, :], R @ found[..., 3:, :]], axis=-2)
        return found


@final
@dataclass(frozen=True, eq=False)
class CoriolisByColumns:
    """A guarded kernel of C x applied to unit vectors: the columns of the Coriolis matrix."""

    product: np.ufunc
    units: Array

    def __call__(self, q: Any, v: Any) -> Array:
        return np.swapaxes(self.product(np.asarray(q)[..., None, :], np.asarray(v)[..., None, :], self.units), -1, -2)


def by_columns(algorithm: Callable[..., Any], model: Model, options: Mapping[str, Any]) -> Any:
    """The kernel of a matrix by its columns, where straight-line code for the whole matrix would be too long."""
    make = _MAKERS.get(algorithm)
    return None if make is None or model.nbodies <= FEW_BODIES else make(model, **options)


def _mass_matrix(model: Model) -> ByColumns | None:
    if sum(model.tree.depths) <= MOST_BLOCKS:
        return None
    return ByColumns(kernel_of(momentum.momentum, model, guarded=True), np.eye(model.nv), np.arange(model.nv))


def _inverse_mass_matrix(model: Model) -> ByColumns | None:
    if model.nbodies**2 <= 2 * MOST_BLOCKS:
        return None
    return ByColumns(kernel_of(momentum.velocity, model, guarded=True), np.eye(model.nv), np.arange(model.nv))


def _coriolis_matrix(model: Model) -> CoriolisByColumns | None:
    if 4 * sum(model.tree.depths) <= MOST_BLOCKS:
        return None
    return CoriolisByColumns(kernel_of(lagrange.coriolis_product, model, guarded=True), np.eye(model.nv))


def _compliance(model: Model, bodies: tuple[int, ...], frame: str) -> ByColumns | None:
    if model.nbodies <= 2 * FEW_BODIES or len(bodies) <= operational.MOST_GATHERED:
        return None
    rows = np.add.outer(6 * np.array(bodies), np.arange(6)).ravel()
    units = np.zeros((len(rows), 6 * model.nbodies))
    units[np.arange(len(rows)), rows] = 1.0
    wrenches = units.reshape(-1, model.nbodies, 6)
    turns = (kernel_of(kinematics.forward_kinematics, model, guarded=True), np.array(bodies)) if frame == "world" else None
    return ByColumns(kernel_of(operational.compliance_product, model, guarded=True), wrenches, rows, turns)


def _jacobian(model: Model, body: int, frame: str) -> JacobianByRows | None:
    if model.tree.depths[body] <= 2 * FEW_BODIES:
        return None
    wrenches = np.zeros((6, model.nbodies, 6))
    wrenches[:, body] = np.eye(6)
    poses = kernel_of(kinematics.forward_kinematics, model, guarded=True) if frame == "world" else None
    return JacobianByRows(kernel_of(kinematics.joint_forces, model, guarded=True), wrenches, poses, body)


_MAKERS: dict[Callable[..., Any], Callable[..., Any]] = {
    kinematics.jacobian: _jacobian,
    composite.mass_matrix: _mass_matrix,
    articulated.inverse_mass_matrix: _inverse_mass_matrix,
    operational.compliance: _compliance,
    lagrange.coriolis_matrix: _coriolis_matrix,
}
