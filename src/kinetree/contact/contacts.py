"""Where bodies touch: a contact, and several of them arranged for a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import InputError
from kinetree.evaluation import body_of, numbers
from kinetree.model import Model
from kinetree.spatial.scalars import Array

SHORT = 1e-150
"""Length up to which a normal counts as zero."""


@final
@dataclass(frozen=True, eq=False)
class Contact:
    """A point of a body that touches the world, or another body.

    Attributes
    ----------
    body : name or index of the body
    point (..., 3) [m] : on the body, in its axes
    normal (..., 3) : away from what is touched, towards the body, world axes; any length
    other : name or index of the body touched; None is the world
    """

    body: str | int
    point: Any
    normal: Any
    other: str | int | None = None


@final
@dataclass(frozen=True, eq=False)
class Arranged:
    """m contacts of a model.

    Attributes
    ----------
    bodies : the k bodies that take part, by index
    sides : (place of the body, place of the other or -1 for the world) of each contact, places among `bodies`
    points (..., m, 3) : in the axes of the first body of each
    normals (..., m, 3) : of any length, world axes
    names : of the normals, in messages
    """

    bodies: tuple[int, ...]
    sides: tuple[tuple[int, int], ...]
    points: Array
    normals: Array
    names: tuple[str, ...]

    @property
    def frames(self) -> Array:
        """Normal and two tangents, as rows, world axes (..., m, 3, 3). Raises InputError naming a normal that is zero."""
        return frame(self.normals, self.names)

    @property
    def count(self) -> int:
        """m."""
        return len(self.sides)


def arranged(model: Model, contacts: Contact | Iterable[Contact]) -> Arranged:
    """Contacts checked. Raises InputError naming the contact that is wrong."""
    try:
        listed = [contacts] if isinstance(contacts, Contact) else list(contacts)
    except TypeError:
        raise InputError(f"contacts must be a kt.Contact or a list of them, found {contacts!r:.80}.") from None
    if not listed:
        raise InputError("contacts is empty: name at least one kt.Contact(body, point, normal).")
    bodies: dict[int, int] = {}
    sides, names = [], []
    for n, contact in enumerate(listed):
        if not isinstance(contact, Contact):
            raise InputError(f"contact {n} must be a kt.Contact(body, point, normal, other), found {contact!r:.80}.")
        if contact.body is None:
            raise InputError(f"contact {n}: body is None, but the world cannot be hit alone: name the body first, as body.")
        own = body_of(model, contact.body)
        other = None if contact.other is None else body_of(model, contact.other)
        if own == other:
            raise InputError(f"contact {n}: body and other are both {model.body_names[own]!r}; a body cannot touch itself.")
        names.append(f"contact {n} of body {model.body_names[own]!r}")
        sides.append(tuple(-1 if k is None else bodies.setdefault(k, len(bodies)) for k in (own, other)))
    points = _vectors([contact.point for contact in listed], names, "point")
    normals = _vectors([contact.normal for contact in listed], names, "normal")
    return Arranged(tuple(bodies), tuple(sides), points, normals, tuple(f"{name}: normal" for name in names))


def frame(normal: Array, what: str | Sequence[str]) -> Array:
    """Rows n, t₁, t₂ (..., 3, 3), orthonormal, n along the normal (..., 3); t₁ and t₂ jump where n_z changes its sign.

    what is the name of the normal in a message; or as many as the last batch axis is long.
    """
    largest = np.abs(normal).max(axis=-1, keepdims=True)
    if not (largest > SHORT).all():
        first = tuple(np.argwhere(largest[..., 0] <= SHORT)[0])
        name = what if isinstance(what, str) else what[first[-1]]
        raise InputError(f"{name} must not be zero, found {normal[first]}.")
    n = normal / largest
    n = n / np.linalg.norm(n, axis=-1, keepdims=True)
    x, y, z = np.moveaxis(n, -1, 0)
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    t1 = np.stack([1.0 + sign * x * x * a, sign * b, -sign * x], axis=-1)
    t2 = np.stack([b, sign + y * y * a, -y], axis=-1)
    return np.stack([n, t1, t2], axis=-2)


def _vectors(given: list[Any], names: list[str], what: str) -> Array:
    """Vectors (..., m, 3) of m contacts. Raises InputError naming the one that is none."""
    with suppress(TypeError, ValueError):
        found = np.array(given, dtype=float)
        if found.shape == (len(given), 3) and np.isfinite(found).all():
            return found
    each = [numbers(x, (3,), f"{name}: {what}") for x, name in zip(given, names, strict=True)]
    try:
        return np.stack(np.broadcast_arrays(*each), axis=-2)
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in each)
        raise InputError(f"the {what}s of the contacts do not broadcast together: {shapes}.") from None
