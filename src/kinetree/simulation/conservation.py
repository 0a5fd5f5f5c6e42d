"""What a motion ought to conserve, and by how much it did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree import compilation, functions
from kinetree.algebra.rigid import joint_maps, weights
from kinetree.algorithms.kinematics import velocities
from kinetree.compiler.compile import kernel_of
from kinetree.errors import InputError
from kinetree.model import GROUND, Free, Model
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True)
class Conserved:
    """One quantity of a run: its size at the start, its largest drift, that drift relative to `scale`, and whether the
    laws of mechanics conserve it in this run; if not, why says what changes it."""

    quantity: str
    unit: str
    start: float
    drift: float
    relative: float
    should: bool
    why: str


def conserved(model: Model, run: Run) -> tuple[Conserved, ...]:
    """What was conserved in a run: energy, momenta of a free-floating model, lengths of quaternions.

    Energy E = T + U, relative to the largest T (to |E| at the start where nothing moves). For a model whose every root
    is free: linear momentum p − m g t, and angular momentum about the centre of mass, which uniform gravity does not turn.

    Raises
    ------
    InputError : the run is of another model

    Cost: O(K N) for K stored states
    """
    if model.digest != run.model_digest:
        raise InputError(
            f"the run is of {run.model_name!r} with digest {run.model_digest}, the model given is {model.name!r} "
            f"with digest {model.digest}."
        )
    why = "control or external wrenches do work" if run.driven else ""
    rows = [_energy(run, why)]
    if all(isinstance(model.bodies[k].joint, Free) for k in model.tree.roots):
        rows += _momenta(model, run, "control or external wrenches may act on the base" if run.driven else "")
    rows += _quaternions(model, run)
    return tuple(rows)


def _energy(run: Run, why: str) -> Conserved:
    drift = np.abs(run.energy - run.energy[0]).max()
    scale = max(run.kinetic.max(), 0.0) or abs(run.energy[0])
    return _row("total energy", "J", run.energy[0], drift, scale, why)


def _momenta(model: Model, run: Run, why: str) -> list[Conserved]:
    h = kernel_of(spatial_momentum, model)(run.q, run.v)
    c = compilation.compile(functions.center_of_mass, model)(run.q)
    mass = sum(body.inertia.mass for body in model.bodies)
    linear = h[:, 3:] - mass * run.t[:, None] * model.gravity
    angular = h[:, :3] - np.cross(c, h[:, 3:])
    falling = " − m g t" if model.gravity.any() else ""
    return [
        _vector(f"linear momentum{falling}", "kg m/s", linear, np.abs(h[:, 3:]).max(), why),
        _vector("angular momentum about the centre of mass", "kg m²/s", angular, np.abs(angular).max(), why),
    ]


def _vector(quantity: str, unit: str, x: Array, scale: float, why: str) -> Conserved:
    drift = float(np.linalg.norm(x - x[0], axis=1).max())
    return _row(quantity, unit, float(np.linalg.norm(x[0])), drift, scale, why)


def _quaternions(model: Model, run: Run) -> list[Conserved]:
    parts = [
        run.q[:, where][:, body.joint.quaternion]
        for body, where in zip(model.bodies, model.q_slices, strict=True)
        if body.joint.quaternion is not None
    ]
    if not parts:
        return []
    worst = max(float(np.abs(np.linalg.norm(u, axis=1) - 1.0).max()) for u in parts)
    return [_row("length of quaternions", "1", 1.0, worst, 1.0, "")]


def _row(quantity: str, unit: str, start: float, drift: float, scale: float, why: str) -> Conserved:
    relative = float(drift / scale) if scale > 0.0 else 0.0
    return Conserved(quantity, unit, float(start), float(drift), relative, not why, why)


def spatial_momentum(model: Model, q: Array, v: Array) -> Array:
    """Σ φ(ground, k) M V (6,): [angular momentum about the world's origin; linear momentum], world axes."""
    phi = weights(model, q)
    V = velocities(model, phi, joint_maps(model, q), v)
    h = [M @ Vk for M, Vk in zip(model.inertias, V, strict=True)]
    ground = np.zeros(6)
    for k in reversed(range(model.nbodies)):
        carried, parent = phi[k] @ h[k], model.parents[k]
        if parent == GROUND:
            ground = ground + carried
        else:
            h[parent] = h[parent] + carried
    return ground
