"""What a motion keeps: energy, or its balance with work; momenta of cyclic coordinates and of free trees; quaternions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree import compilation, functions
from kinetree.model import GROUND, Model
from kinetree.simulation.auditing.quadrature import integral, work_along
from kinetree.simulation.auditing.row import TOLERANCE, Row, conserved
from kinetree.simulation.auditing.symmetry import cyclic_coordinates, root_laws, tree_momenta
from kinetree.simulation.labels import velocity_labels
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array

SHARE = 1e-3
"""Of the energy that contacts took: up to what rise in between it counts as falling. Their steps are of second order."""


def laws(model: Model, run: Run, tolerance: float = TOLERANCE) -> tuple[Row, ...]:
    """The rows of everything that a law says this run should keep.

    Cost: O(K N) for K stored states
    """
    momenta = compilation.compile(functions.momentum, model)(run.q, run.v)
    return (
        _energy(model, run, momenta, tolerance),
        *_cyclic(model, run, momenta, tolerance),
        *_roots(model, run, tolerance),
        *_quaternions(model, run, tolerance),
    )


def unknown_forces(run: Run) -> bool:
    """Whether something acted that the run does not tell, as one from a file of the first version."""
    return bool(np.isnan(run.tau).any())


def energies(model: Model, run: Run) -> tuple[Array, Array]:
    """Kinetic and potential energy (K,) [J] by the stored states."""
    kinetic = compilation.compile(functions.kinetic_energy, model)(run.q, run.v)
    return kinetic, compilation.compile(functions.potential_energy, model)(run.q)


def work_done(model: Model, run: Run) -> tuple[Array, Array]:
    """∫ τ* v dt (K,) [J] of the stored forces, and the error of that integral (K,)."""
    if touched(run):
        return work_along(model, run.t, run.q, run.tau, np.array([blow.t for blow in run.impacts]))
    return integral(run.t, np.einsum("kn,kn->k", run.tau, run.v))


def touched(run: Run) -> list[tuple[int, int]]:
    """The pairs of bodies between which contacts or ends of joints pushed, −1 for the ground."""
    found = np.array(run.contact_steps, dtype=int) > 0
    for blow in run.impacts:
        found[blow.contacts] = True
    return [run.contact_bodies[k] for k in np.flatnonzero(found)]


def _energy(model: Model, run: Run, momenta: Array, tolerance: float) -> Row:
    """E(t) − E(0) − ∫ τ* v dt, of which the work is nothing where nothing acts; with contacts, how much it ever rose."""
    kinetic, potential = energies(model, run)
    gained = kinetic + potential - (kinetic[0] + potential[0])
    scale = max(float(kinetic.max()), 0.0) or float(np.abs(potential[0]))
    name, doubt, acting = "total energy", None, ""
    if unknown_forces(run):
        acting = "what acted was not stored"
    elif run.driven:
        work, doubt = work_done(model, run)
        name, gained = "energy − work", gained - work
        scale = max(scale, float(np.abs(work).max()))
    taken = gained
    if touched(run):
        gained = gained - np.minimum.accumulate(gained)
        tolerance = tolerance if doubt is None else max(tolerance, float(doubt.max()) / (scale or 1.0))
    where = _busiest(model, run, momenta, gained)
    start, error = kinetic[0] + potential[0], np.abs(gained)
    row = conserved(name, "J", start, run.t, error, scale, tolerance, where, acting, doubt)
    return _falling(row, max(0.0, -float(taken.min()))) if touched(run) else row


def _falling(row: Row, taken: float) -> Row:
    """The row of an energy that contacts may take, and took so much of [J]; its error is by how much it ever rose."""
    note = f"contacts took {taken:.3g} J"
    if row.verdict == "conserved":
        return replace(row, verdict="only falls", note="; ".join(filter(None, (note, row.note))))
    if row.verdict == "drifts" and row.drift <= SHARE * taken:
        return replace(row, verdict="falls", note=f"{note}, and gave {row.drift:.2g} J back at most")
    return row


def _busiest(model: Model, run: Run, momenta: Array, gained: Array) -> str:
    """The joint with most of the kinetic energy when the error grew fastest."""
    if len(gained) < 2 or not gained.any():
        return ""
    k = int(np.argmax(np.abs(np.diff(gained))))
    shares = [np.abs((momenta[k + 1, s] * run.v[k + 1, s]).sum()) for s in model.v_slices]
    return model.joint_names[int(np.argmax(shares))]


def _cyclic(model: Model, run: Run, momenta: Array, tolerance: float) -> list[Row]:
    """Momenta of coordinates that nothing depends on; only what acts along them changes these."""
    rows = []
    indices = np.flatnonzero(cyclic_coordinates(model))
    carriers = [next(k for k, s in enumerate(model.v_slices) if s.start <= i < s.stop) for i in indices]
    for i, tree in zip(indices, tree_momenta(model, run.q, run.v, carriers), strict=True):
        (name, rate), p = velocity_labels(model)[i], momenta[:, i]
        unit, scale = ("kg m²/s", tree.size_angular) if rate == "rad/s" else ("kg m/s", tree.size_linear)
        scale = max(scale, float(np.abs(p).max()))
        acting = _acting(model, run, carriers[len(rows)], slice(i, i + 1), "a force acts along it")
        rows.append(conserved(f"momentum p of {name}", unit, p[0], run.t, np.abs(p - p[0]), scale, tolerance, name, acting))
    return rows


def _roots(model: Model, run: Run, tolerance: float) -> list[Row]:
    """Momenta that the joint between a tree and the ground leaves alone, of several trees the worst."""
    worst: dict[str, Row] = {}
    found = root_laws(model)
    for law, tree in zip(found, tree_momenta(model, run.q, run.v, [law.root for law in found]), strict=True):
        x, scale = law.component(tree, model.gravity, run.t)
        drift, start = np.linalg.norm(x - x[0], axis=1), float(np.linalg.norm(x[0]))
        acting = _acting(model, run, law.root, model.v_slices[law.root], "a force acts on its base")
        where = model.joint_names[law.root]
        row = conserved(law.quantity, law.unit, start, run.t, drift, scale, tolerance, where, acting)
        if law.quantity not in worst or row.relative > worst[law.quantity].relative:
            worst[law.quantity] = row
    return list(worst.values())


def _acting(model: Model, run: Run, body: int, velocities: slice, what: str) -> str:
    """What changes the momenta of some velocities of a body's joint in this run, if anything does."""
    if unknown_forces(run):
        return "what acted was not stored"
    if run.tau[:, velocities].any():
        return what
    carried = {GROUND: False}  # by the body, itself included
    for k in model.tree.order:
        carried[k] = k == body or carried[model.parents[k]]
    return "contacts push" if any(carried[a] != carried[b] for a, b in touched(run)) else ""


def _quaternions(model: Model, run: Run, tolerance: float) -> list[Row]:
    worst: Row | None = None
    for body, where in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.quaternion is None:
            continue
        error = np.abs(np.linalg.norm(run.q[:, where][:, body.joint.quaternion], axis=1) - 1.0)
        row = conserved("length of quaternions", "1", 1.0, run.t, error, 1.0, tolerance, body.joint_name)
        if worst is None or row.drift > worst.drift:
            worst = row
    return [] if worst is None else [worst]
