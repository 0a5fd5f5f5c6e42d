"""Checks of an SKO model that a user gives: everything Jain's definition asks for, refused by name where it is not so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.algebra.application import entries
from kinetree.algebra.spaces import Space
from kinetree.errors import InputError, ModelError
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.scalars import Array, join, split

EPS = np.finfo(float).eps

RANK = 1e-12
"""Smallest singular value, relative to the largest, of a joint map of full rank; and of an inertia, below zero."""


def checked(
    tree: Tree,
    E: Sequence[Any] | Mapping[int, Any],
    H: Sequence[Any],
    M: Sequence[Any],
    Gamma: Sequence[Any] | None,
    labels: Sequence[str],
) -> tuple[list[Array], list[Array], list[Array], list[Array], tuple[int, ...] | None]:
    """Weights, joint maps, inertias and those of the joints as arrays of scalars, and their batch shape (None if traced)."""
    size = len(tree)
    if size == 0:
        raise ModelError("an SKO model needs at least one node: parents is empty.")
    if len(labels) != size or len(set(labels)) != size:
        raise ModelError(f"names must be {size} different names, one per node, found {list(labels)!r:.200}.")
    for what, given in (("H", H), ("M", M), *((("Gamma", Gamma),) if Gamma is not None else ())):
        _check_list(what, given, ModelError)
        if len(given) != size:
            raise ModelError(f"{what} must have one matrix per node: {size} as parents has, found {len(given)}.")
    maps = [_matrix(f"H of node {labels[k]!r}", X, ModelError) for k, X in enumerate(H)]
    inertias = [_matrix(f"M of node {labels[k]!r}", X, ModelError) for k, X in enumerate(M)]
    for k in range(size):
        _check_inertia(f"M of node {labels[k]!r}", "½ y* M y", inertias[k])
        _check_joint_map(labels[k], maps[k], inertias[k].shape[-1])
    inertias = [_symmetrized(X) for X in inertias]
    joint_inertias = _joint_inertias(Gamma, [X.shape[-2] for X in maps], labels)
    sizes = tuple(X.shape[-1] for X in inertias)
    weights = _edges("E", tree, E, sizes, 0, labels, ModelError)
    everything = [*weights, *maps, *inertias, *joint_inertias]
    if any(X.dtype == object for X in everything):
        return weights, maps, inertias, joint_inertias, None
    try:
        batch = np.broadcast_shapes(*(X.shape[:-2] for X in everything))
    except ValueError:
        raise ModelError("the batch axes of E, H, M and Gamma do not broadcast together.") from None
    scalars = ([split(X, 2) for X in part] for part in (weights, maps, inertias, joint_inertias))
    return *scalars, batch  # pyright: ignore[reportReturnType]


def parents(given: Any) -> tuple[Any, ...]:
    """What a user gives for the parents as a tuple; the tree looks at each."""
    if not _is_list(given):
        raise ModelError(f"parents must be a list with the parent of each node, −1 for the ground, found {given!r:.80}.")
    return tuple(given)


def sizes(name: str, given: Sequence[int], nodes: int) -> tuple[int, ...]:
    """Sizes of the blocks of a user's space."""
    found = tuple(given) if isinstance(given, (Sequence, np.ndarray)) else ()
    if len(found) != nodes or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in found):
        raise InputError(f"sizes of {name!r} must be {nodes} whole numbers, 0 or more, one per node, found {given!r:.80}.")
    return tuple(map(int, found))


def blocks(
    symbol: str, matrices: Sequence[Any], rows: Space, columns: Space, batch: tuple[int, ...] | None, symmetric: bool = False
) -> list[Array]:
    """Blocks of a user's block diagonal."""
    if symmetric and rows != columns:
        raise InputError(f"{symbol} takes {columns} and gives {rows}: it cannot be symmetric.")
    _check_list(symbol, matrices, InputError)
    if len(matrices) != len(rows):
        raise InputError(f"{symbol} must have one matrix per node: {len(rows)}, found {len(matrices)}.")
    made = []
    for k, X in enumerate(matrices):
        name = f"{symbol} of node {rows.labels[k] if rows.labels else k!r}"
        found, wanted = _matrix(name, X, InputError), (rows.sizes[k], columns.sizes[k])
        if found.shape[-2:] != wanted:
            raise InputError(f"{name} must have shape (…, {wanted[0]}, {wanted[1]}), found {found.shape}.")
        if symmetric and found.dtype != object and not _is_symmetric(found):
            raise InputError(f"{name} is not symmetric, which symmetric=True says it is.")
        made.append(_symmetrized(found) if symmetric else found)
    return _scalars(symbol, made, batch)


def edge_weights(
    symbol: str,
    tree: Tree,
    weights: Sequence[Any] | Mapping[int, Any],
    space: Space,
    ground: int,
    batch: tuple[int, ...] | None,
) -> list[Array]:
    """Weights of a user's influence matrix."""
    return _scalars(symbol, _edges(symbol, tree, weights, space.sizes, ground, space.labels, InputError), batch)


def check_pivots(
    D: Sequence[Array],
    H: Sequence[Array],
    R: Sequence[Array],
    Gamma: Sequence[Array],
    batch: tuple[int, ...],
    labels: Sequence[str],
) -> None:
    """D(k) must be positive definite, beside H R H* + Γ with all joints behind k locked, or the mass matrix is singular."""
    for label, *blocks in zip(labels, D, H, R, Gamma, strict=True):
        free, axes, whole, own = (join(X, batch) for X in blocks)
        if not (np.isfinite(whole).all() and np.isfinite(free).all()):
            raise ModelError(f"the inertia that node {label!r} carries overflows: weigh in other units.")
        locked = ((axes @ whole) * axes).sum(axis=-1) + np.diagonal(own, axis1=-2, axis2=-1)
        rounding = len(blocks[2]) * EPS * (axes**2).sum(axis=-1) * np.trace(whole, axis1=-2, axis2=-1)[..., None]
        unit = np.sqrt(np.where(locked > np.maximum(rounding, np.finfo(float).tiny), locked, np.inf))
        least = np.linalg.eigvalsh(free / (unit[..., :, None] * unit[..., None, :])).min(axis=-1, initial=1.0)
        if not (least > RANK).all():
            raise ModelError(
                f"D = H P H* of node {label!r} is not positive definite (smallest eigenvalue {least.min():.3g} where H R H* "
                "has 1 on its diagonal): its joint moves no inertia in some direction, so the mass matrix is singular. Give M "
                "of this node, or of one it carries, more inertia there, or its joint a Gamma."
            )


def check_regular(name: str, X: Array, symmetric: bool) -> None:
    """A block (..., m, m) that is inverted must not be singular to rounding, and positive definite if it is symmetric."""
    values = np.linalg.eigvalsh(X.real) if symmetric else np.linalg.svd(X, compute_uv=False)
    rounding = X.shape[-1] * EPS * np.abs(values).max(axis=-1, initial=0.0)
    if not (values.min(axis=-1, initial=np.inf) > rounding).all():
        raise InputError(f"{name} {'is not positive definite' if symmetric else 'is singular'}, so there is no inverse of it.")


def _scalars(symbol: str, made: list[Array], batch: tuple[int, ...] | None) -> list[Array]:
    if batch is None or any(X.dtype == object for X in made):
        return made
    for X in made:
        try:
            fits = np.broadcast_shapes(batch, X.shape[:-2]) == batch
        except ValueError:
            fits = False
        if not fits:
            raise InputError(f"{symbol} has the batch axes {X.shape[:-2]}, which do not broadcast to the model's {batch}.")
    return [split(X, 2) for X in made]


def _edges(
    symbol: str,
    tree: Tree,
    given: Sequence[Any] | Mapping[int, Any],
    sizes: Sequence[int],
    ground: int,
    labels: Sequence[str],
    error: type[ValueError],
) -> list[Array]:
    if not isinstance(given, Mapping):
        _check_list(symbol, given, error)
        if len(given) != len(tree):
            raise error(f"{symbol} must have one weight per node, None for roots: {len(tree)}, found {len(given)}.")
        given = dict(enumerate(given))
    unknown = [k for k in given if k not in range(len(tree))]
    if unknown:
        raise error(f"{symbol} has weights for the nodes {unknown}, which do not exist: nodes are 0 to {len(tree) - 1}.")
    weights = []
    for k, parent in enumerate(tree.parents):
        X = given.get(k)
        if parent == GROUND:
            if X is not None and np.any(np.asarray(X, dtype=object).astype(bool)):
                raise error(f"{symbol} of node {labels[k]!r}: a root has no parent, so its weight must be None.")
            weights.append(np.zeros((ground, sizes[k])))
            continue
        if X is None:
            raise error(f"{symbol} of node {labels[k]!r} is missing: it weighs the edge to its parent {labels[parent]!r}.")
        found = _matrix(f"{symbol} of node {labels[k]!r}", X, error)
        wanted = (sizes[parent], sizes[k])
        if found.shape[-2:] != wanted:
            raise error(
                f"{symbol} of node {labels[k]!r} must have shape (…, {wanted[0]}, {wanted[1]}), from the {wanted[1]} of this "
                f"node to the {wanted[0]} of its parent {labels[parent]!r}, found {found.shape}."
            )
        weights.append(found)
    return weights


def _check_list(what: str, given: Any, error: type[ValueError]) -> None:
    if not _is_list(given):
        raise error(f"{what} must be a list with one matrix per node, found {given!r:.80}.")


def _is_list(given: Any) -> bool:
    return given.ndim > 0 if isinstance(given, np.ndarray) else isinstance(given, Sequence) and not isinstance(given, str)


def _matrix(name: str, X: Any, error: type[ValueError]) -> Array:
    try:
        found = np.asarray(X)
        found = entries(found) if found.dtype == object else found
    except (TypeError, ValueError):
        found = None
    if found is None or found.dtype.kind not in "biufO" or found.ndim < 2:
        raise error(f"{name} must be a matrix of real numbers (…, rows, columns), found {X!r:.80}.")
    if found.dtype == object:
        return found
    found = found.astype(float)
    if not np.isfinite(found).all():
        raise error(f"{name} must be finite, found {found[~np.isfinite(found)][0]}.")
    return found


def _joint_inertias(given: Sequence[Any] | None, sizes: Sequence[int], labels: Sequence[str]) -> list[Array]:
    if given is None:
        return [np.zeros((n, n)) for n in sizes]
    made = []
    for label, n, X in zip(labels, sizes, given, strict=True):
        name = f"Gamma of node {label!r}"
        found = _matrix(name, X, ModelError)
        if found.shape[-2:] != (n, n):
            raise ModelError(f"{name} must have shape (…, {n}, {n}), as many as H has rows, found {found.shape}.")
        _check_inertia(name, "½ v* Γ v", found)
        made.append(_symmetrized(found))
    return made


def _check_inertia(name: str, energy: str, M: Array) -> None:
    if M.shape[-1] != M.shape[-2]:
        raise ModelError(f"{name} must be square, found shape {M.shape}.")
    if M.dtype == object or M.shape[-1] == 0:
        return
    if not _is_symmetric(M):
        what = name.split()[0]
        raise ModelError(f"{name} must be symmetric: {energy} is its kinetic energy. Found {what} ≠ {what}*.")
    values = np.linalg.eigvalsh(M)
    if (values[..., 0] < -RANK * np.abs(values).max(axis=-1)).any():
        least = values[..., 0].min()
        raise ModelError(
            f"{name} must be positive definite, found the eigenvalue {least:.3g}: the articulated inertias "
            "need not exist then (Jain II, lemma 7)."
        )


def _is_symmetric(X: Array) -> bool:
    skew, size = (np.abs(Y).max(axis=(-2, -1), initial=0.0) for Y in (X - np.swapaxes(X, -1, -2), X))
    return bool((skew <= 1e-9 * size).all())


def _symmetrized(X: Array) -> Array:
    """X without what rounding made of its symmetry."""
    return X if X.dtype == object else 0.5 * (X + np.swapaxes(X, -1, -2))


def _check_joint_map(label: str, H: Array, size: int) -> None:
    if H.shape[-1] != size:
        raise ModelError(f"H of node {label!r} must have as many columns as M, {size}, found shape {H.shape}.")
    if H.dtype == object or H.shape[-2] == 0:
        return
    lengths = np.linalg.norm(H, axis=-1, keepdims=True)
    values = np.linalg.svd(H / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    rank = int((values > RANK).sum(axis=-1).min())
    if rank < H.shape[-2]:
        raise ModelError(
            f"H of node {label!r} has the shape {H.shape} but rank {rank}: a joint map must have full row rank, or its "
            "velocities are not independent and D = H P H* has no inverse (Jain II, lemma 7). Leave out dependent rows."
        )
