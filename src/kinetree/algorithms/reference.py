"""The NumPy reference: the same node functions on float arrays, any leading batch axes, nothing compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.algorithms.arguments import array_arguments, shape_of
from kinetree.model import Model
from kinetree.spatial.scalars import Array, join, split


def interpret(
    algorithm: Callable[..., Any], model: Model, arrays: Mapping[str, Array | None], options: Mapping[str, Any]
) -> Any:
    """Result of an algorithm on float (or complex) arrays; its outputs have the broadcast batch shape in front."""
    given = [(name, arrays[name]) for name in array_arguments(algorithm) if arrays.get(name) is not None]
    cores = [len(shape_of(model, name)) for name, _ in given]
    values = [np.asarray(value) for _, value in given]
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - core] for x, core in zip(values, cores, strict=True)))
    scalars = {name: split(x, core) for (name, _), x, core in zip(given, values, cores, strict=True)}
    result = algorithm(model, **scalars, **options)
    if isinstance(result, tuple):
        return tuple(join(part, batch) for part in result)
    return join(result, batch)
