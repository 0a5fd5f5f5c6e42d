"""From plain arrays to blocks and back: what `A @ x` does around the sweeps."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algebra.sweeps import split as blocks
from kinetree.algebra.sweeps import stacked
from kinetree.errors import InputError
from kinetree.spatial.scalars import Array, join, split

if TYPE_CHECKING:
    from kinetree.algebra.expression import Operator


def act(A: Operator, x: Any, rows_only: bool = False) -> Array:
    """A x for stacked vectors x (…, n) or columns (…, n, c); the leading axes broadcast with those of A."""
    if hasattr(x, "found_size"):  # an argument of a function being compiled, whose size is not known yet
        x.found_size(A.columns.dimension)
    if hasattr(x, "program"):  # recorded: one vector, block by block
        return stacked(A.apply(blocks(A.columns.slices, x)), A.rows.slices)
    x, columns = _read(A, x, rows_only)
    if not A.batch or x.dtype == object:
        return _act_on_columns(A, x, columns)
    lead = x.shape[: x.ndim - 1 - columns]
    try:
        batch = np.broadcast_shapes(A.batch, lead)
    except ValueError:
        raise InputError(f"{A} has the batch axes {A.batch}, x has {lead}: they do not broadcast together.") from None
    return joined(np.concatenate(A.apply(A.columns.split(split(x, 1 + columns)))), batch)


def joined(entries: Array, batch: tuple[int, ...] | None) -> Array:
    """An array of scalars as a plain array with its batch axes in front; as it is if it is traced."""
    return entries if batch is None else join(entries, batch)


def entries(x: Array) -> Array | None:
    """An array of objects as it is if traced numbers are among them, a plain array of plain numbers; None of anything else."""
    plain = [isinstance(entry, numbers.Number) for entry in x.flat]
    if all(plain):
        return x.astype(complex if any(isinstance(entry, (complex, np.complexfloating)) for entry in x.flat) else float)
    return x if all(p or hasattr(entry, "finite_check") for p, entry in zip(plain, x.flat, strict=True)) else None


def _act_on_columns(A: Operator, x: Array, columns: bool) -> Array:
    """One matrix on many vectors: all of them are columns of one application."""
    n = A.columns.dimension
    wide = np.moveaxis(x, -2, 0) if columns else np.moveaxis(x, -1, 0)
    flat = wide.reshape(n, math.prod(wide.shape[1:])) if x.ndim > 1 else x
    y = np.concatenate(A.apply(A.columns.split(flat)))
    y = y.reshape(y.shape[0], *wide.shape[1:])
    return np.moveaxis(y, 0, -2 if columns else -1)


def _read(A: Operator, x: Any, rows_only: bool) -> tuple[Array, bool]:
    """x as an array, and whether it holds columns (…, n, c) rather than stacked vectors (…, n)."""
    n = A.columns.dimension
    try:
        given = x = np.asarray(x)
    except (TypeError, ValueError):
        raise InputError(f"{A} is applied to an array of numbers, found {x!s:.80}.") from None
    if x.dtype == object:
        x = entries(x)
    if x is None or x.dtype.kind not in "biufcO":
        raise InputError(f"{A} is applied to an array of numbers, found dtype {given.dtype}.")
    fits_rows = x.ndim >= 1 and x.shape[-1] == n
    fits_columns = not rows_only and x.ndim >= 2 and x.shape[-2] == n
    if not (fits_rows or fits_columns):
        if rows_only:
            raise InputError(f"x @ {A.T}: x must have shape (…, {n}), a row for each result, found {x.shape}.")
        raise InputError(f"{A} takes {A.columns}: x must have shape (…, {n}), or (…, {n}, c) for columns, found {x.shape}.")
    if x.dtype != object and not np.isfinite(x).all():
        where = tuple(map(int, np.argwhere(~np.isfinite(x))[0]))
        raise InputError(f"{A} @ x: x must be finite, found {x[where]} at index {where}.")
    return x, fits_columns and not (fits_rows and _is_one_per_state(A.batch or (), x.shape[:-1]))


def _is_one_per_state(batch: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    return len(lead) == len(batch) and all(n in (1, size) for n, size in zip(lead, batch, strict=True))
