"""From an algorithm and a model to a kernel: trace it once, check what a user may get wrong, compile, keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.algorithms.arguments import array_arguments, shape_of
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.kernel import build
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array, Scalar

QUATERNION_ARGUMENTS = ("q", "q0", "q1")


def kernel_of(
    algorithm: Callable[..., Any],
    model: Model,
    without: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
    guarded: bool = False,
) -> np.ufunc:
    """The kernel of an algorithm on a model, compiled at first use and kept with the model.

    A guarded kernel has one more output, `guard_value`, by which a public function knows bad input from good.
    """
    options = dict(options or {})
    key = (algorithm, without, tuple(sorted(options.items())), guarded)
    if key not in model.kernels:
        model.kernels[key] = _compile(algorithm, model, without, options, guarded)
    return model.kernels[key]


def _compile(algorithm, model: Model, without: tuple[str, ...], options: dict[str, Any], guarded: bool) -> np.ufunc:
    graph = Graph()
    names = [name for name in array_arguments(algorithm) if name not in without]
    inputs = {name: graph.input(shape_of(model, name)) for name in names}
    result = algorithm(model, **inputs, **options)
    outputs = list(result) if isinstance(result, tuple) else [result]
    if any(0 in np.shape(x) for x in (*inputs.values(), *outputs)):
        raise InputError(
            f"{algorithm.__name__} of {model.name!r} cannot be compiled: the model has no coordinates (nv = {model.nv})."
        )
    if guarded:
        outputs.append(guard_value(model, inputs, outputs))
    doc = f"{algorithm.__name__} of {model.name}: ({', '.join(names)}). NaN in, NaN out, as NumPy ufuncs do."
    return build(algorithm.__name__, doc, graph, list(inputs.values()), outputs, warn=not guarded)


def guard_value(model: Model, inputs: Mapping[str, Array], outputs: list[Array]) -> Scalar:
    """NaN if a number is not finite, else Σ (|u|² − 1)² over the quaternions u of q: 0 where all is well."""
    guard: Scalar = 0.0
    for entry in dict.fromkeys(entry for x in (*inputs.values(), *outputs) for entry in np.asarray(x).flat):
        if isinstance(entry, Expr):
            guard = guard + entry.finite_check()
    for name in QUATERNION_ARGUMENTS:
        if name in inputs:
            for body, where in zip(model.bodies, model.q_slices, strict=True):
                if body.joint.quaternion is not None:
                    u = inputs[name][where][body.joint.quaternion]
                    guard = guard + (u @ u - 1.0) ** 2
    return guard
