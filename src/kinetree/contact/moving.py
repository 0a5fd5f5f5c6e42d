"""What contacts need of a model: how the bodies that take part move, and what impulses on them do to all."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.algorithms import impulse, kinematics, operational
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build_once, straight_source
from kinetree.errors import InputError
from kinetree.evaluation import evaluate
from kinetree.model import Model
from kinetree.spatial.scalars import Array

FEW = 100
"""Bodies up to which code for some of them is straight-line."""


def moving(model: Model, q: Any, v: Any, bodies: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
    """Of k bodies: blocks of Ω (..., 6k, 6k), rotations (..., k, 3, 3), origins (..., k, 3), velocities (..., k, 6)."""
    C = evaluate(operational.compliance, model, q, bodies=bodies, frame="body")
    return C, *evaluate(kinematics.some_motions, model, q, v, bodies=bodies)


def struck(model: Model, q: Array, v: Array, wrenches: Array, bodies: tuple[int, ...]) -> tuple[Array, Array]:
    """v (B, nv) after impulses (B, k, 6) on k bodies, and what the joints pass on (B, nbodies, 6)."""
    if model.nv > 0 and model.nbodies <= FEW:
        after, f = _kernel(model, bodies)(q, v, wrenches)
    else:
        W = np.zeros((len(wrenches), model.nbodies, 6))
        W[:, list(bodies)] = wrenches
        dv, _, f = evaluate(impulse.impulse_response, model, q, W)
        after = v + dv
    if not np.isfinite(after).all():
        raise InputError(
            f"impact of {model.name!r}: the velocities after it are not finite, although the input is. Either the numbers "
            "given overflow, or the mass matrix is singular at this configuration."
        )
    return after, f


def _kernel(model: Model, bodies: tuple[int, ...]) -> np.ufunc:
    key = struck, bodies
    if key not in model.kernels:

        def sources() -> Any:
            graph = Graph()
            q, v, W = given = [graph.input(shape) for shape in ((model.nq,), (model.nv,), (len(bodies), 6))]
            wrenches = np.zeros((model.nbodies, 6), dtype=object)
            wrenches[list(bodies)] = W
            dv, _, f = impulse.impulse_response(model, q, wrenches)
            return straight_source(graph, given, [v + dv, f]), None

        doc = f"Velocities after impulses on some bodies of {model.name}, and those in all joints: (q, v, wrenches)."
        model.kernels[key] = build_once("struck", doc, (model.digest, *key), sources, warn=False)
    return model.kernels[key]
