"""Symmetric matrices of models too large for straight-line code: column by column, by the kernel of a product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.algorithms import articulated, composite
from kinetree.compiler.compile import kernel_of
from kinetree.model import Model
from kinetree.spatial.scalars import Array

PRODUCTS: dict[Callable[..., Any], Callable[..., Any]] = {
    composite.mass_matrix: composite.mass_product,
    articulated.inverse_mass_matrix: articulated.inverse_mass_product,
}
MOST_BLOCKS = 700
"""Blocks of related bodies beyond which straight-line code for a matrix takes many seconds to compile."""


@final
@dataclass(frozen=True, eq=False)
class ByColumns:
    """A guarded kernel that applies `product` to every unit vector."""

    product: np.ufunc
    size: int

    def __call__(self, q: Any) -> tuple[Array, Array]:
        q = np.asarray(q)
        columns, guards = self.product(q[..., None, :], np.eye(self.size))
        upper = np.triu(columns)
        return upper + np.swapaxes(np.triu(columns, 1), -1, -2), guards.max(axis=-1)


def by_columns(algorithm: Callable[..., Any], model: Model) -> ByColumns | None:
    """The kernel of a matrix by its columns, where straight-line code for the whole matrix would be too long."""
    if algorithm not in PRODUCTS:
        return None
    blocks = sum(model.tree.depths) if algorithm is composite.mass_matrix else model.nbodies**2
    if blocks <= (MOST_BLOCKS if algorithm is composite.mass_matrix else 2 * MOST_BLOCKS):
        return None
    return ByColumns(kernel_of(PRODUCTS[algorithm], model, guarded=True), model.nv)
