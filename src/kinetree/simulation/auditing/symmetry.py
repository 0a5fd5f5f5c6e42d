"""Where a model has a symmetry, so that Noether's theorem keeps a momentum. Source: Hamilton [8], (P.1c–g).

- A coordinate that neither ℳ nor gravity depends on is cyclic: ∂H/∂q_i = 0, so its p_i is constant.
- A tree on the ground whose joint lets all of it translate along n has n·P' = m n·g; and where the joint also lets it turn
  about n, its angular momentum about its centre of mass along n is constant: gravity has no moment there.
- A tree that turns about a fixed point keeps its angular momentum there along gravity; all of it without gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree import compilation, functions
from kinetree.algorithms.momentum import spatial_momenta
from kinetree.compiler.compile import kernel_of
from kinetree.model import GROUND, Model
from kinetree.spatial.scalars import Array

SAMPLES = 8
"""Random states at which a momentum's rate must vanish for its coordinate to be cyclic."""
VANISHES = 1e-10
"""Of the largest rate of any momentum; rounding is below it, a dependence that matters is not."""
AT_ONCE = 2**21
"""Numbers per chunk of states."""


def cyclic_coordinates(model: Model) -> Array:
    """Which coordinates (nv,) nothing depends on: ṗ_i = 0 at random states under no force."""
    q, v = model.random(0, SAMPLES), np.random.default_rng(0).normal(size=(SAMPLES, model.nv))
    p = compilation.compile(functions.momentum, model)(q, v)
    rate = np.abs(compilation.compile(functions.momentum_rate, model)(q, p, np.zeros(model.nv))).max(axis=0)
    scale = max(float(rate.max()), float(np.abs(p).max() * np.abs(v).max()))
    return rate <= VANISHES * scale


@final
@dataclass(frozen=True, eq=False)
class RootLaw:
    """A momentum of the tree that hangs on one joint on the ground, along the rows of `directions` (d, 3), world axes."""

    root: int
    quantity: str
    unit: str
    directions: Array

    def component(self, tree: TreeMomenta, gravity: Array, t: Array) -> tuple[Array, float]:
        """What stays constant (K, d), and how large the momenta are that it is made of."""
        if self.unit == "kg m/s":
            falling = tree.mass * (gravity @ self.directions.T) * t[:, None]
            return tree.linear @ self.directions.T - falling, tree.size_linear
        about_center = self.quantity.startswith("angular momentum about the centre")
        angular = tree.angular - np.cross(tree.center, tree.linear) if about_center else tree.angular
        return angular @ self.directions.T, tree.size_angular


@final
@dataclass(frozen=True, eq=False)
class TreeMomenta:
    """Of a body and all it carries over time, world axes.

    linear, angular momentum about the body's joint, centre of mass from there (K, 3); mass; and how large the momenta of the
    subtrees in it are, which may add up to nothing.
    """

    linear: Array
    angular: Array
    center: Array
    mass: float
    size_linear: float
    size_angular: float


def first_moving(model: Model) -> list[int]:
    """The bodies that move on the ground, or on what is welded to it."""
    still: set[int] = {GROUND}
    found = []
    for k in model.tree.order:
        if model.parents[k] in still:
            still |= {k} if model.bodies[k].joint.nv == 0 else set()
            found += [k] if model.bodies[k].joint.nv else []
    return found


def root_laws(model: Model) -> list[RootLaw]:
    """What the joints on the ground conserve, beyond momenta of cyclic coordinates."""
    found, cyclic = [], cyclic_coordinates(model)
    rotations, _ = compilation.compile(functions.forward_kinematics, model)(model.neutral())
    for k in first_moving(model):
        if model.bodies[k].dynamics.armature.any():
            continue  # the ground turns the rotor
        joint, R = model.bodies[k].joint, rotations[k]  # at neutral the body's axes are its joint's
        H = joint.H(joint.neutral())
        slides, turns = ~H[:, :3].any(axis=1), ~H[:, 3:].any(axis=1)
        if slides.any() and not cyclic[model.v_slices[k]][slides].all():
            found.append(_linear(model, k, H[slides, 3:] @ R.T))
        if slides.sum() >= 2 and turns.any():
            found.append(_angular(k, "angular momentum about the centre of mass", H[turns, :3] @ R.T))
        elif turns.sum() == 3:
            g, name = model.gravity, "angular momentum about the fixed point"
            axes = (g / np.linalg.norm(g))[None] if g.any() else np.eye(3)
            found.append(_angular(k, name, axes))
    return found


def _linear(model: Model, root: int, directions: Array) -> RootLaw:
    falling = " − m g t" if (directions @ model.gravity).any() else ""
    return RootLaw(root, f"linear momentum{_along(directions)}{falling}", "kg m/s", directions)


def _angular(root: int, name: str, directions: Array) -> RootLaw:
    return RootLaw(root, name + _along(directions), "kg m²/s", directions)


def _along(directions: Array) -> str:
    """In words, which of the three directions there are; nothing if all."""
    if len(directions) == 3:
        return ""
    n = directions[0] if len(directions) == 1 else np.cross(*directions)
    n = n * np.sign(n[np.argmax(np.abs(n))]) + 0.0  # no −0
    axis = (
        "xyz"[int(np.argmax(n))] if np.isclose(n.max(), 1.0, rtol=0.0, atol=1e-12) else f"({', '.join(f'{x:.3g}' for x in n)})"
    )
    return f" along {axis}" if len(directions) == 1 else f" across {axis}"


def tree_momenta(model: Model, q: Array, v: Array, bodies: Sequence[int]) -> list[TreeMomenta]:
    """Momenta of the trees that begin with some bodies, by states q (K, nq), v (K, nv)."""
    if not bodies:
        return []
    momenta, kinematics = kernel_of(spatial_momenta, model), compilation.compile(functions.forward_kinematics, model)
    masses = np.array([body.inertia.mass for body in model.bodies])
    moments = masses[:, None] * np.array([body.inertia.com for body in model.bodies])
    trees = [_subtree(model, k) for k in bodies]
    parts: list[list[Array]] = [[] for _ in bodies]
    sizes = np.zeros((model.nbodies, 2))
    rows = max(1, AT_ONCE // (18 * model.nbodies))
    for start in range(0, len(q), rows):
        K, (R, x) = momenta(q[start : start + rows], v[start : start + rows]), kinematics(q[start : start + rows])
        sizes = np.maximum(sizes, np.linalg.norm(K.reshape(len(K), -1, 2, 3), axis=-1).max(axis=0))
        for k, tree, found in zip(bodies, trees, parts, strict=True):
            angular, linear = np.moveaxis(np.einsum("kij,ksj->ksi", R[:, k], K[:, k].reshape(-1, 2, 3)), 1, 0)
            first = np.einsum("knij,nj->ki", R[:, tree], moments[tree]) + np.einsum("n,kni->ki", masses[tree], x[:, tree])
            found.append(np.stack([linear, angular, first / masses[tree].sum() - x[:, k]]))
    return [_joined(found, masses[tree].sum(), sizes[tree].max(axis=0)) for tree, found in zip(trees, parts, strict=True)]


def _joined(parts: list[Array], mass: float, sizes: Array) -> TreeMomenta:
    linear, angular, center = np.concatenate(parts, axis=1)
    return TreeMomenta(linear, angular, center, float(mass), size_linear=float(sizes[1]), size_angular=float(sizes[0]))


def _subtree(model: Model, root: int) -> list[int]:
    members = {root}
    for k in model.tree.order:
        if model.parents[k] in members:
            members.add(k)
    return sorted(members)
