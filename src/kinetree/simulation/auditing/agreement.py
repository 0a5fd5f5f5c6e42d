"""One motion in three forms: the accelerations that Newton–Euler, Lagrange and Hamilton give at states of a run."""

from __future__ import annotations

from functools import partial

import numpy as np

from kinetree import compilation, functions
from kinetree.algorithms.lagrange import coriolis_product
from kinetree.compiler.compile import kernel_of
from kinetree.model import Model
from kinetree.simulation.auditing.row import Row
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array

MOST_STATES = 64
MOST_WHOLE = 64
"""Bodies up to which matrices are made as a whole."""
MOST_NUMBERS = 2**21
"""Of all mass matrices together."""


def agreement(model: Model, run: Run) -> tuple[Row, ...]:
    """Two rows: by how much the accelerations of the other two forms differ from those of Newton and Euler.

    - Newton–Euler: a = FD(q, v, τ), the articulated recursion
    - Lagrange: ℳ a = τ − C v − g with dense ℳ and C, by LAPACK
    - Hamilton: ℳ a = ṗ(q, p, τ) − ℳ˙ v with p = ℳ v, ℳ˙ = C + C*, by the factored ℳ⁻¹

    The differences are relative to ‖ℳ⁻¹‖ (‖τ‖ + ‖C‖ ‖v‖ + ‖g‖ + ‖ℳ‖ ‖a‖), what rounding is multiplied by; a form is right to
    γ = 36 (N + 1) ε of that.

    Cost: O(m nv³) for m sampled states, at most 64; none where even one mass matrix is too large.
    """
    states = min(MOST_STATES, len(run.t), MOST_NUMBERS // model.nv**2)
    if states < 1:
        return ()
    sample = np.unique(np.linspace(0, len(run.t) - 1, states).astype(int))
    q, v, tau = run.q[sample], run.v[sample], np.nan_to_num(run.tau[sample])
    kernel = partial(compilation.compile, model=model)
    a = kernel(functions.forward_dynamics)(q, v, tau)
    (M, C), g = _matrices(model, q, v), kernel(functions.gravity_force)(q)
    by_lagrange = np.linalg.solve(M, (tau - np.einsum("kij,kj->ki", C, v) - g)[..., None])[..., 0]
    rate = kernel(functions.momentum_rate)(q, kernel(functions.momentum)(q, v), tau)
    M_rate = C + np.swapaxes(C, 1, 2)
    by_hamilton = kernel(functions.velocity)(q, rate - np.einsum("kij,kj->ki", M_rate, v))
    eigenvalues = np.linalg.eigvalsh(M)
    forces = _size(tau) + np.linalg.norm(C, axis=(1, 2)) * _size(v) + _size(g) + eigenvalues[:, -1] * _size(a)
    scale = forces / eigenvalues[:, 0]
    return (
        _row("Newton–Euler = Lagrange", model, run.t[sample], a, by_lagrange, scale),
        _row("Newton–Euler = Hamilton", model, run.t[sample], a, by_hamilton, scale),
    )


def _matrices(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """ℳ and C (m, nv, nv): by their kernels, or column by column, where the code of whole matrices would be long."""
    if model.nbodies <= MOST_WHOLE:
        return compilation.compile(functions.mass_matrix, model)(q), compilation.compile(functions.coriolis_matrix, model)(q, v)
    q, v, units = q[:, None], v[:, None], np.eye(model.nv)
    M = compilation.compile(functions.momentum, model)(q, units)
    C = kernel_of(coriolis_product, model)(q, v, units)
    return M, np.swapaxes(C, 1, 2)


def _size(x: Array) -> Array:
    return np.linalg.norm(x, axis=1)


def _row(quantity: str, model: Model, t: Array, a: Array, other: Array, scale: Array) -> Row:
    """The acceleration at the start, and the state whose two differ most of what rounding may do there."""
    difference = np.abs(other - a)
    size = np.where(scale > 0.0, scale, 1.0)
    relative = _size(other - a) / size
    k = int(np.argmax(relative))
    i = int(np.argmax(difference[k]))
    joint = next(name for name, s in zip(model.joint_names, model.v_slices, strict=True) if s.start <= i < s.stop)
    gamma = 36.0 * np.finfo(float).eps * (model.nbodies + 1)
    agree = bool(relative[k] <= gamma)
    return Row(
        quantity=quantity,
        unit="acceleration",
        start=float(_size(a)[0]),
        drift=float(difference[k].max()),
        relative=float(relative[k]),
        when=float(t[k]),
        where=joint if difference[k, i] else "",
        expected=True,
        verdict="agree" if agree else "differ",
        note=f"{len(t)} states, rounding {gamma:.0e}",
        times=t,
        error=relative,
        scale=1.0,
    )
