"""The model: bodies on a tree, every physical check made once, frozen."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.bodies import Body, Limits
from kinetree.model.checks import real_array
from kinetree.model.dynamics import JointDynamics
from kinetree.model.lean import LeanModel, lean_bodies, once_each
from kinetree.model.poses import Pose
from kinetree.model.resistance import Resistance, resistances, resists, without_resistance
from kinetree.model.saving import save
from kinetree.model.shapes import Shape, shapes_of
from kinetree.model.singular import joint_without_inertia
from kinetree.model.tree import GROUND, Tree
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True)
class Diagnostic:
    """Something about a model that was repaired or is worth knowing."""

    code: str
    message: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return f"{where}{self.message} [{self.code}]"


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A tree of rigid bodies under gravity.

    Parameters
    ----------
    bodies : parents before children
    gravity (3,) [m/s²] in world axes
    name : shown in messages and tables
    diagnostics : what a loader repaired; inertias that break the triangle inequality are added here
    frames : names of links merged into a body → (body name or None for the ground, pose in its frame)

    Raises
    ------
    ModelError
        No bodies; names empty or used twice; a parent unknown or after its child; numbers not finite; a joint that
        moves no inertia, so that the mass matrix would be singular.
    """

    bodies: tuple[Body, ...]
    gravity: Any = (0.0, 0.0, -9.81)
    name: str = "model"
    diagnostics: tuple[Diagnostic, ...] = ()
    frames: Mapping[str, tuple[str | None, Pose]] = field(default_factory=dict)
    kernels: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """Compiled kernels of this model, by (function, options)."""

    def __post_init__(self) -> None:
        bodies = _bodies(self.bodies)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "gravity", real_array(self.gravity, (3,), "gravity"))
        object.__setattr__(self, "tree", Tree(_parents(bodies)))
        _check_every_joint_moves_inertia(bodies)
        loaded = any(note.file for note in self.diagnostics)
        notes = [*self.diagnostics, *(note for body in bodies if not loaded for note in _triangle_note(body))]
        object.__setattr__(self, "diagnostics", tuple(dict.fromkeys(notes)))
        object.__setattr__(self, "frames", dict(self.frames))

    tree: Tree = field(init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the kernels, which live in one process."""
        return {**self.__dict__, "kernels": {}}

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv})"

    @property
    def nbodies(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    @cached_property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return sum(body.joint.nv for body in self.bodies)

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of each body's parent, −1 for the ground."""
        return self.tree.parents

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, parents first."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Name of the joint that carries each body."""
        return tuple(body.joint_name for body in self.bodies)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Where each joint's coordinates stand in q."""
        return _slices(body.joint.nq for body in self.bodies)

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Where each joint's velocities stand in v."""
        return _slices(body.joint.nv for body in self.bodies)

    @cached_property
    def inertias(self) -> tuple[Array, ...]:
        """M of each body (6, 6) at its joint frame, body axes."""
        return tuple(body.inertia.matrix for body in self.bodies)

    @cached_property
    def joint_inertias(self) -> tuple[Array, ...]:
        """Γ of each joint (nv_k, nv_k): its armature."""
        return tuple(once_each(np.diag, [body.dynamics.armature for body in self.bodies]))

    @cached_property
    def resistances(self) -> tuple[Resistance, ...]:
        """What each joint opposes to its motion."""
        return resistances(self.bodies)

    @cached_property
    def resists(self) -> bool:
        """Whether any joint does anything by itself but turn a rotor, or ends somewhere."""
        return any(map(resists, self.bodies))

    @cached_property
    def without_resistance(self) -> Model:
        """The model with joints that do nothing by themselves and end nowhere; rotors stay."""
        return replace(self, bodies=tuple(map(without_resistance, self.bodies))) if self.resists else self

    @cached_property
    def lean(self) -> LeanModel:
        """The same mechanism by fewer numbers; see `lean`."""
        return LeanModel(self.tree, lean_bodies(self.bodies, self.tree), self.q_slices, self.v_slices, self.gravity)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of everything that decides the motion but for contact; a run file carries it."""
        text = repr((self.gravity.tolist(), self.parents))
        for body in self.bodies:
            text += repr((body.name, body.joint_name, body.joint.kind, body.joint.parameters, _numbers(body), *_of_joint(body)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def shapes(self) -> tuple[tuple[int, Shape], ...]:
        """What bodies touch others with: (index of the body, shape) of each, in the order of the bodies."""
        return tuple((k, shape) for k, body in enumerate(self.bodies) for shape in body.shapes)

    def with_shapes(self, shapes: Mapping[str, Any]) -> Model:
        """The model with other shapes on the bodies named: {body: geometry, Shape, or several}; the rest keep theirs.

        The digest and the compiled kernels stay the same. Raises ModelError.
        """
        if not isinstance(shapes, Mapping):
            raise ModelError(f"with_shapes takes {{body: shapes}}, such as {{'foot': [Sphere(0.1)]}}, found {shapes!r:.80}.")
        bodies = list(self.bodies)
        for name, given in shapes.items():
            k = self.body_index(name)
            bodies[k] = replace(bodies[k], shapes=shapes_of(given, f"body {bodies[k].name!r}"))
        found = replace(self, bodies=tuple(bodies))
        object.__setattr__(found, "kernels", self.kernels)
        return found

    def body_index(self, body: str | int) -> int:
        """Index of a body given by name or index; `ModelError` listing the names that exist."""
        if isinstance(body, str):
            if body in self.body_names:
                return self.body_names.index(body)
            if body in self.frames:
                carrier = self.frames[body][0]
                to = "the ground" if carrier is None else f"body {carrier!r}: name that, and see model.frames for the pose"
                raise ModelError(f"{body!r} of {self.name!r} is no body of its own: it is welded to {to}.")
            raise ModelError(f"no body named {body!r} in {self.name!r}. Bodies: {_listing(self.body_names)}.")
        if isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < self.nbodies:
            return int(body)
        raise ModelError(f"a body is given by name or by index 0 to {self.nbodies - 1}, found {body!r}.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a .json file, whole or not at all; `kinetree.load` reads it back exactly."""
        save(self, path)

    def neutral(self) -> Array:
        """Coordinates (nq,) at which every body frame is its joint frame: zeros, and [1, 0, 0, 0] for quaternions."""
        return np.concatenate([body.joint.neutral() for body in self.bodies])

    def random(self, seed: int | np.random.Generator = 0, size: int | tuple[int, ...] = ()) -> Array:
        """Random coordinates (*size, nq), within the joint limits where there are any. Raises ModelError."""
        try:
            rng = np.random.default_rng(seed)
            size = np.empty(size, dtype=[]).shape
        except (TypeError, ValueError) as failure:
            raise ModelError(
                f"random takes a seed (a whole number, 0 or more, or a NumPy Generator) and a size (n, or several): {failure}."
            ) from None
        parts = [body.joint.random(rng, size, body.limits.lower, body.limits.upper) for body in self.bodies]
        return np.concatenate(parts, axis=-1)


def _bodies(bodies: Iterable[Body]) -> tuple[Body, ...]:
    bodies = tuple(bodies)
    if not bodies:
        raise ModelError("a model needs at least one body.")
    for what in ("name", "joint_name"):
        seen: set[str] = set()
        for body in bodies:
            if not isinstance(body, Body):
                raise ModelError(f"bodies must be kinetree Body objects, found {body!r}.")
            name = getattr(body, what)
            if name in seen:
                raise ModelError(f"two bodies have the {what.replace('_', ' ')} {name!r}; names must be unique.")
            seen.add(name)
    return bodies


def _parents(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    index = {body.name: i for i, body in enumerate(bodies)}
    parents = []
    for i, body in enumerate(bodies):
        parent = GROUND if body.parent is None else index.get(body.parent)
        if parent is None:
            raise ModelError(
                f"body {body.name!r} has the unknown parent {body.parent!r}. Bodies: {_listing(index)}; None is the ground."
            )
        if parent >= i:
            why = "is its own parent" if parent == i else f"stands before its parent {body.parent!r} (or is on a cycle)"
            raise ModelError(f"body {body.name!r} {why}. List parents before children, without cycles.")
        parents.append(parent)
    return tuple(parents)


def _check_every_joint_moves_inertia(bodies: tuple[Body, ...]) -> None:
    body = joint_without_inertia(bodies)
    if body is not None:
        raise ModelError(
            f"joint {body.joint_name!r} ({body.joint.kind}) moves body {body.name!r} and what it carries, but in some direction"
            " they have no inertia of their own, so the mass matrix is singular."
            " Give the body a mass and an inertia tensor, or the joint an armature, or weld it."
        )


def _triangle_note(body: Body) -> list[Diagnostic]:
    excess = body.inertia.triangle_excess
    if excess <= 1e-6 * float(np.abs(body.inertia.tensor).max()):
        return []
    moments = np.linalg.eigvalsh(body.inertia.tensor)
    return [
        Diagnostic(
            "inertia-triangle",
            f"body {body.name!r}: principal moments {moments.tolist()} kg m² break the triangle inequality "
            f"by {excess:.3g}; no distribution of mass has them. Kept as given.",
        )
    ]


def _slices(sizes: Iterable[int]) -> tuple[slice, ...]:
    slices, start = [], 0
    for size in sizes:
        slices.append(slice(start, start + size))
        start += size
    return tuple(slices)


def _numbers(body: Body) -> list[Any]:
    inertia, placement = body.inertia, body.placement
    return [
        inertia.mass,
        inertia.com.tolist(),
        inertia.tensor.tolist(),
        placement.rotation.tolist(),
        placement.translation.tolist(),
    ]


def _of_joint(body: Body) -> list[Any]:
    """What the joint does by itself and where it ends, if anything."""
    parts = (
        part for part, none in ((body.limits, Limits.none), (body.dynamics, JointDynamics.none)) if part != none(body.joint.nv)
    )
    return [[type(part).__name__, *(getattr(part, f.name).tolist() for f in fields(part))] for part in parts]


def _listing(names: Iterable[str], most: int = 40) -> str:
    names = list(names)
    more = f", … ({len(names) - most} more)" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
