"""Arrays whose entries may be floats, `Batch`es of floats, or traced expressions: the one definition runs on all three.

A node function sees small arrays such as (6, 6) and never a batch axis. Unbatched numbers are ordinary float arrays;
a batch (..., n) becomes an object array (n,) of `Batch`, each holding one coordinate of every state.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

Array = np.ndarray[Any, Any]
Scalar = Any


@final
class Batch:
    """One scalar of many states at once: arithmetic acts on all of them."""

    __slots__ = ("values",)

    def __init__(self, values: Array) -> None:
        self.values: Final = values

    def __repr__(self) -> str:
        return f"Batch({self.values!r})"

    def __neg__(self) -> Batch:
        return Batch(-self.values)

    def __abs__(self) -> Batch:
        return Batch(np.abs(self.values))

    def sin(self) -> Batch:
        return Batch(np.sin(self.values))

    def cos(self) -> Batch:
        return Batch(np.cos(self.values))

    def sqrt(self) -> Batch:
        return Batch(np.sqrt(self.values))

    def log(self) -> Batch:
        return Batch(np.log(self.values))

    def nonzero(self) -> Batch:
        return Batch(np.where(self.values != 0.0, 1.0, 0.0))

    def finite_check(self) -> Batch:
        return Batch(self.values - self.values)

    @staticmethod
    def _binary(operation):
        def forward(self: Batch, other: object):
            if isinstance(other, Batch):
                return Batch(operation(self.values, other.values))
            if isinstance(other, numbers.Number):
                return Batch(operation(self.values, other))
            return NotImplemented

        def reflected(self: Batch, other: object):
            return Batch(operation(other, self.values)) if isinstance(other, numbers.Number) else NotImplemented

        return forward, reflected

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __pow__, __rpow__ = _binary(operator.pow)


_nonzero = np.frompyfunc(lambda x: float(x != 0.0) if isinstance(x, numbers.Number) else x.nonzero(), 1, 1)


def nonzero(x: Array) -> Array:
    """1 where an entry is not 0, else 0."""
    return np.asarray(_nonzero(x)) if x.dtype == object else np.where(x != 0.0, 1.0, 0.0)


def array(entries: Sequence[Any]) -> Array:
    """The array of nested lists of scalars; float where every entry is a number, object otherwise."""
    shape: list[int] = []
    flat: list[Any] = [entries]
    while flat and isinstance(flat[0], (list, tuple, np.ndarray)):
        shape.append(len(flat[0]))
        flat = [entry for row in flat for entry in row]
    if all(isinstance(entry, numbers.Number) for entry in flat):
        return np.array(flat).reshape(shape) if flat else np.zeros(shape)
    out = np.empty(len(flat), dtype=object)
    for k, entry in enumerate(flat):
        out[k] = entry
    return out.reshape(shape)


def split(values: Array, core: int) -> Array:
    """The trailing `core` axes of a float array as an array of scalars, its leading axes inside each scalar."""
    batch_axes = values.ndim - core
    if batch_axes == 0:
        return values
    core_shape = values.shape[batch_axes:]
    out = np.empty(core_shape, dtype=object)
    for index in np.ndindex(core_shape):
        out[index] = Batch(values[(..., *index)])
    return out


def join(scalars: Array, batch_shape: tuple[int, ...]) -> Array:
    """The inverse of `split`: a float array of shape (*batch_shape, *scalars.shape)."""
    if scalars.dtype != object and not batch_shape:
        return np.array(scalars)
    entries = [s.values if isinstance(s, Batch) else s for s in scalars.reshape(-1)]
    dtype = np.result_type(float, *entries) if entries else float
    out = np.empty((*batch_shape, *scalars.shape), dtype=dtype)
    for index, entry in zip(np.ndindex(scalars.shape), entries, strict=True):
        out[(..., *index)] = entry
    return out
