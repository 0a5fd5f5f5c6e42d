"""What cannot be passed: surfaces of bodies and ends of joints, as one list of gaps g ≥ 0 with their rates ġ = J v."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from kinetree.algorithms import kinematics
from kinetree.compiler.compile import kernel_of
from kinetree.contact.contacts import frame
from kinetree.contact.gaps import candidates
from kinetree.contact.patches import corners
from kinetree.contact.scene import Scene
from kinetree.errors import InputError
from kinetree.model import GROUND, Model
from kinetree.model.bodies import Limits
from kinetree.simulation.run import Run
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Ends:
    """Ends of joints whose coordinates can be subtracted, of each (n,): the body that the joint carries, coordinate and
    velocity by index, the side, 1 for a lower end and −1 for an upper one, and where it is.
    """

    body: Array
    q_index: Array
    v_index: Array
    side: Array
    at: Array
    names: tuple[str, ...]

    def gap(self, q: Array) -> Array:
        """How far each is away (n,) [rad or m]."""
        return self.side * (q[self.q_index] - self.at)


def ends_of(model: Model, wanted: bool) -> Ends:
    """Those of a model; none where they are not wanted."""
    found = []
    for n, (body, qs, vs) in enumerate(zip(model.bodies, model.q_slices, model.v_slices, strict=True)):
        if not wanted or body.joint.quaternion is not None:
            continue
        for side, name, bounds in ((1.0, "lower", body.limits.lower), (-1.0, "upper", body.limits.upper)):
            for k in np.flatnonzero(np.isfinite(bounds)):
                found.append((n, qs.start + k, vs.start + k, side, bounds[k], f"{name} end of joint {body.joint_name!r}"))
    body, q_index, v_index, side, at, names = zip(*found, strict=True) if found else ((), (), (), (), (), ())
    real = np.array(side, dtype=float), np.array(at, dtype=float)
    return Ends(np.array(body, dtype=int), np.array(q_index, dtype=int), np.array(v_index, dtype=int), *real, tuple(names))


def without_stops(model: Model, scene: Scene | None) -> Model:
    """The model whose joints have no springs at their ends, where these are contacts."""
    if scene is None or not ends_of(model, scene.limits).names:
        return model

    def free(limits: Limits) -> Limits:
        return replace(limits, lower=np.full_like(limits.lower, -np.inf), upper=np.full_like(limits.upper, np.inf))

    return replace(
        model, bodies=tuple(b if b.joint.quaternion is not None else replace(b, limits=free(b.limits)) for b in model.bodies)
    )


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """n constraints at a state: gap (n,) [m or rad], and of contacts the points and normals; R, p: poses of the bodies."""

    q: Array
    gap: Array
    rate: Array
    points: Array
    normals: Array
    R: Array
    p: Array


@final
class Unilateral:
    """m contacts of a model in a scene, then the ends of its joints: n constraints in all.

    names; bodies (n, 2), both that a constraint acts between, −1 for the ground; friction (n,), restitution (n,), those of
    joint ends being zero.
    """

    def __init__(self, model: Model, scene: Scene) -> None:
        found = candidates(model, scene)
        if not isinstance(scene.pairs, tuple) and not model.shapes:
            raise InputError(
                f"contact: no body of {model.name!r} has shapes, so that nothing can touch. Give it some, model.with_shapes"
                "({body: kinetree.contact.Sphere(0.1)}), or ask for the ends of its joints alone, Scene(pairs=[])."
            )
        self._touching = found.at if found.count else None
        self._ends = ends_of(model, scene.limits)
        sides = np.array(found.bodies, dtype=int).reshape(-1, 2)
        self._own, self._other = sides.T
        self._touched = np.flatnonzero(self._other >= 0)
        ends = self._ends.body
        self.bodies = np.concatenate([sides, np.stack([ends, np.array(model.parents, dtype=int)[ends]], axis=1)])
        self.contacts = found.count
        still = np.zeros(len(self._ends.names))
        self.names = (*found.names, *self._ends.names)
        self.friction = np.concatenate([found.friction, still])
        self.restitution = np.concatenate([found.restitution, still])
        self._motions, self._forces = kernel_of(kinematics.body_motions, model), kernel_of(kinematics.joint_forces, model)
        self._shape = model.nbodies, model.nv

    def gap(self, q: Array) -> Array:
        """g (n,)."""
        ends = self._ends.gap(q)
        return ends if self._touching is None else np.concatenate([self._touching(q)[0], ends])

    def seen(self, q: Array, v: Array) -> Seen:
        """Everything at a state."""
        R, p, V = self._motions(q, v)
        if self._touching is None:
            none = np.empty((0, 3))
            return Seen(q, self._ends.gap(q), self._ends.side * v[self._ends.v_index], none, none, R, p)
        gap, points, normals = self._touching(q)
        gap = np.concatenate([gap, self._ends.gap(q)])
        seen = Seen(q, gap, gap, points, normals, R, p)
        return replace(seen, rate=self._rates(seen, V, v))

    def rate(self, seen: Seen, v: Array) -> Array:
        """ġ (n,) with other velocities (nv,)."""
        return self._rates(seen, self._motions(seen.q, v)[2], v)

    def _rates(self, seen: Seen, V: Array, v: Array) -> Array:
        ends = self._ends.side * v[self._ends.v_index]
        if not self.contacts:
            return ends
        own, R = self._own, seen.R
        u = _world(R[own], V[own], seen.points)
        if self._touched.size:
            k = self._touched
            u[k] -= _world(R[self._other[k]], V[self._other[k]], self._levers(seen, k))
        return np.concatenate([(u * seen.normals).sum(-1), ends])

    def _levers(self, seen: Seen, contacts: Array) -> Array:
        """Points (k, 3) on the other bodies, in their axes."""
        own, other, R, p = self._own[contacts], self._other[contacts], seen.R, seen.p
        x = p[own] + (R[own] @ seen.points[contacts][:, :, None])[:, :, 0]
        return ((x - p[other])[:, None, :] @ R[other])[:, 0]

    def essential(self, seen: Seen, which: Array) -> Array:
        """Those among `which` from which the others follow: of contacts on one face, its corners."""
        contacts = which[which < self.contacts]
        if len(contacts) < 4:
            return which
        own = self._own[contacts]
        points = seen.p[own] + (seen.R[own] @ seen.points[contacts][:, :, None])[:, :, 0]
        keep = corners(self.bodies[contacts].tolist(), points, seen.normals[contacts], seen.gap[contacts])
        return np.concatenate([contacts[keep], which[len(contacts) :]])

    def frames(self, seen: Seen, which: Array) -> Array:
        """Rows n, t₁, t₂ (k, 3, 3), world axes, of those among `which` that are contacts."""
        return frame(seen.normals[which[which < self.contacts]], "a normal")

    def jacobian(self, seen: Seen, which: Array) -> Array:
        """J (3k, nv): rows normal, tangent, tangent of each; ends have no tangents, their rows are zero."""
        nbodies, nv = self._shape
        J = np.zeros((len(which), 3, nv))
        contacts = which[which < self.contacts]
        if (k := len(contacts)) > 0:
            N, W = self.frames(seen, which), np.zeros((k, 3, nbodies, 6))
            places, own, other = np.arange(k), self._own[contacts], self._other[contacts]
            W[places, :, own] = _unit_wrenches(N @ seen.R[own], seen.points[contacts])
            two = np.flatnonzero(other >= 0)
            W[two, :, other[two]] -= _unit_wrenches(N[two] @ seen.R[other[two]], self._levers(seen, contacts[two]))
            J[:k] = self._forces(seen.q, W)
        ends = which[k:] - self.contacts
        J[np.arange(k, len(which)), 0, self._ends.v_index[ends]] = self._ends.side[ends]
        return J.reshape(-1, nv)


START: Final = 1e-6
"""Penetration [m or rad] up to which a start counts as touching."""


def check_scene(given: Any, earlier: Run | None) -> None:
    """`InputError` unless it is a scene, or None where the run to go on from had none."""
    if given is None and earlier is not None and earlier.contacts:
        raise InputError(
            "the run to go on from had contacts, and a scene is not part of a run: give contact= again, or --floor; "
            "contact=Scene(pairs=[], limits=False) goes on without."
        )
    if given is not None and not isinstance(given, Scene):
        raise InputError(
            f"contact must be a kinetree.contact.Scene, found {type(given).__name__}. "
            "Scene() is a floor at z = 0 under everything that has shapes."
        )


def check_start(constraints: Unilateral, q: Array) -> None:
    """`InputError` naming what has penetrated at the start of a simulation (nq,)."""
    gap = constraints.gap(q)
    if gap.size and gap.min() < -START:
        k = int(np.argmin(gap))
        deep = np.flatnonzero(gap < -START)
        more = f", and {len(deep) - 1} more" if len(deep) > 1 else ""
        if k < constraints.contacts:
            way = (
                "Start higher, or with the ground lower: Scene(ground=Plane(offset=...)), --floor HEIGHT."
                if constraints.bodies[k, 1] == GROUND
                else 'Start apart, or leave the pair out: Scene(pairs="ground") has contacts with the ground alone.'
            )
            raise InputError(
                f"q0 penetrates: {constraints.names[k]} by {-gap[k]:.4g} m{more}; at most {START:g} m counts as touching. {way}"
            )
        raise InputError(
            f"q0 is {-gap[k]:.4g} beyond the {constraints.names[k]}{more}; at most {START:g} counts as touching. "
            "Start within the limits, or use Scene(limits=False), which leaves them to the springs of the joints."
        )


def _world(R: Array, V: Array, r: Array) -> Array:
    """Velocities (k, 3), world axes, of points (k, 3) of bodies that move with V (k, 6)."""
    return (R @ (V[:, 3:] + _cross(V[:, :3], r))[:, :, None])[:, :, 0]


def _unit_wrenches(D: Array, r: Array) -> Array:
    """[moment; force] (k, 3, 6) of unit forces along rows D (k, 3, 3) at points r (k, 3), body axes."""
    return np.concatenate([_cross(r[:, None, :], D), D], axis=-1)


def _cross(a: Array, b: Array) -> Array:
    """a × b along the last axis; `np.cross` takes longer over its axes than over the numbers."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
