"""`impact`: what bodies do when they hit something, at one place or at many at once, with friction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.impulse import impulse_response
from kinetree.contact.contacts import Arranged, Contact, arranged
from kinetree.contact.solver import solved
from kinetree.contact.space import ContactSpace, contact_space
from kinetree.errors import InputError
from kinetree.evaluation import batch_of, checked_arguments, evaluate
from kinetree.model import Model
from kinetree.spatial.scalars import Array

CHUNK = 512
"""States that are computed at once, so that their Delassus matrices stay in the cache."""
LOST = 1e-12
"""Of the terms that make up nᵀ Ω n: below, they cancel, and no impulse moves the contact in that direction."""
GROWTH = 1e-12
"""Of the kinetic energy that the contacts exchange: what counts as rounding, not as growth."""
SEARCHES, WORK, MOST_RETURNED = 40, 1e-10, 2.0
"""Halvings for Stronge's law, how exact its work is to be, and the largest multiple of ε that is looked at."""


@final
@dataclass(frozen=True, eq=False)
class Residuals:
    """How far from the laws of contact impulses are, each (...), and what the energy did.

    signorini [m/s] : how fast a contact still approaches
    complementarity [J] : impulse times velocity where one of both should be zero
    cone [N s] : by how much a tangential impulse exceeds μ times the normal one
    dissipation [J] : by how much friction takes less from a slipping contact than it should
    energy [J] : change of the kinetic energy; not positive, but for rounding
    """

    signorini: Array
    complementarity: Array
    cone: Array
    dissipation: Array
    energy: Array


@final
@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact of m contacts did.

    v (..., nv), the velocities after it; impulses (..., m, 3) [N s], on the first body of each contact, world axes;
    joint_impulses (..., nbodies, 6) [N m s; N s], what each joint passes on to its body, body axes; residuals; restitution
    (..., m), the coefficients that were possible without a gain of energy: those asked for, or as much less as it takes; lost
    (..., m), the contacts that no impulse along their normal moves, as of a stretched chain pushed along itself.
    """

    v: Array
    impulses: Array
    joint_impulses: Array
    residuals: Residuals
    restitution: Array
    lost: Array


def impact(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contact | Iterable[Contact],
    restitution: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
    law: str = "newton",
) -> Impact:
    """Velocities after bodies hit the world or each other.

    Source: Chain Impulse (19)–(22) for one contact; for many, Signorini's and Coulomb's laws on the impulses, all contacts at
    once, with Delassus' matrix from blocks of Ω, Jain II (59), (60).

    Parameters
    ----------
    q (..., nq), v (..., nv) : the state before
    contacts : one `Contact` or several
    restitution (..., m) : ε of each contact, 0 ≤ ε ≤ 1; or one for all
    friction (..., m) : Coulomb's μ ≥ 0 of each contact; or one for all
    law : what ε means. "newton": a contact leaves at ε times the speed at which it came. "poisson": the normal impulse of
        decompression is ε times that of compression. "energetic" (Stronge): normal forces give back ε² of the work that
        compression took. The three agree without friction at a single contact.

    Where contacts are redundant, of the impulses that do the same the shortest are taken, as far as the laws leave them free.
    Where no impulses obey the laws, as Newton's of redundant contacts with friction may ask for what cannot be, `residuals` say
    how near those found come. Where Newton's or Poisson's law would gain energy, as Newton's does when some contacts separate
    while others approach, restitution is lowered until it does not; the result says to what.

    Raises
    ------
    InputError : see `kinetree.functions`; a contact that is none; ε or μ outside their range; an unknown law

    Cost: O(N + m² · depth) for Delassus' matrix and O(m²) for each sweep
    """
    if law not in _LAWS:
        raise InputError(f"law must be one of {', '.join(map(repr, _LAWS))}, found {law!r}.")
    found = arranged(model, contacts)
    state = checked_arguments(impact, model, (q, v))
    eps = coefficients(restitution, found.count, "restitution", 1.0)
    mu = coefficients(friction, found.count, "friction", np.inf)
    arrays = {"q": (state["q"], 1), "v": (state["v"], 1), "points": (found.points, 2), "frames": (found.frames, 3)}
    arrays |= {"restitution": (eps, 1), "friction": (mu, 1)}
    batch = batch_of(f"impact of {model.name!r}", {name: x.shape[: x.ndim - core] for name, (x, core) in arrays.items()})
    flat = {
        name: np.broadcast_to(x, batch + x.shape[x.ndim - core :]).reshape(-1, *x.shape[x.ndim - core :])
        for name, (x, core) in arrays.items()
    }
    parts = [
        _impact(model, found, law, *(x[k : k + CHUNK] for x in flat.values())) for k in range(0, max(1, len(flat["q"])), CHUNK)
    ]
    return _whole(parts, batch)


def _impact(
    model: Model, contacts: Arranged, law: str, q: Array, v: Array, points: Array, frames: Array, eps: Array, mu: Array
):
    """The parts of an `Impact` for states in a row."""
    space = contact_space(model, q, v, Arranged(contacts.bodies, contacts.sides, points, frames))
    stiffness = np.diagonal(space.A, axis1=-2, axis2=-1)
    lost = stiffness <= LOST * space.size
    x, phases, possible = impulses_of(law, space, eps, mu, lost)
    W = _wrenches(model, contacts, space, x)
    dv, _, joint_impulses = evaluate(impulse_response, model, q, W)
    m = contacts.count
    world = np.einsum("bci,bcij->bcj", x.reshape(-1, m, 3), frames)
    return v + dv, world, joint_impulses, *_residuals(space, x, phases, mu), possible[:, None] * eps, lost[:, ::3]


@final
@dataclass(frozen=True, eq=False)
class _Phase:
    """Impulses x (B, 3m) that obey the laws of contact with b and the least normal impulses."""

    x: Array
    b: Array
    least: Array


def _phase(space: ContactSpace, b: Array, least: Array, mu: Array, lost: Array) -> _Phase:
    return _Phase(solved(space.A, b, least, mu, lost), b, least)


def _compression(space: ContactSpace, mu: Array, lost: Array) -> _Phase:
    return _phase(space, space.u, np.zeros_like(mu), mu, lost)


def _decompression(space: ContactSpace, first: _Phase, eps: Array, mu: Array, lost: Array) -> _Phase:
    return _phase(space, space.u + _times(space.A, first.x), eps * first.x[:, ::3], mu, lost)


def _newton(space: ContactSpace, eps: Array, mu: Array, lost: Array) -> list[_Phase]:
    b = space.u.copy()
    b[:, ::3] += eps * np.minimum(space.u[:, ::3], 0.0)  # w_n = u_n⁺ + ε u_n⁻ ≥ 0
    return [_phase(space, b, np.zeros_like(mu), mu, lost)]


def _poisson(space: ContactSpace, eps: Array, mu: Array, lost: Array) -> list[_Phase]:
    first = _compression(space, mu, lost)
    return [first, _decompression(space, first, eps, mu, lost)]


def _energetic(space: ContactSpace, eps: Array, mu: Array, lost: Array) -> list[_Phase]:
    """Poisson's law with coefficients κ ε, κ such that the work of decompression is what ε² asks for."""
    first, second = _poisson(space, eps, mu, lost)
    wanted = -(eps**2 * _normal_work(space, first)).sum(axis=1)
    low, high = np.zeros(len(eps)), np.full(len(eps), MOST_RETURNED)
    off = np.flatnonzero(np.abs(_normal_work(space, second).sum(axis=1) - wanted) > WORK * np.abs(wanted))
    part, begun = _some(space, off), _Phase(first.x[off], first.b[off], first.least[off])
    low, high = low[off], high[off]
    found = begun
    for _ in range(SEARCHES if off.size else 0):
        middle = 0.5 * (low + high)
        found = _decompression(part, begun, middle[:, None] * eps[off], mu[off], lost[off])
        less = _normal_work(part, found).sum(axis=1) < wanted[off]
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    if off.size:
        second.x[off], second.least[off] = found.x, found.least
    return [first, second]


_LAWS: Final[dict[str, Callable[[ContactSpace, Array, Array, Array], list[_Phase]]]] = {
    "newton": _newton,
    "poisson": _poisson,
    "energetic": _energetic,
}


def _normal_work(space: ContactSpace, phase: _Phase) -> Array:
    """Work (B, m) of the normal impulses of a compression or decompression: ½ x_n (w_n before + w_n after)."""
    return 0.5 * (phase.x * (2.0 * phase.b + _times(space.A, phase.x)))[:, ::3]


def impulses_of(law: str, space: ContactSpace, eps: Array, mu: Array, lost: Array) -> tuple[Array, list[_Phase], Array]:
    """x (B, 3m), the phases it comes from, and how much of ε was possible (B,), by one of the laws.

    Where energy would be gained, x lies between the impulses of ε = 0, which take energy, and those asked for, as near to these
    as it may.
    """
    phases = _LAWS[law](space, eps, mu, lost)
    x, possible = np.sum([phase.x for phase in phases], axis=0), np.ones(len(eps))
    gains = np.flatnonzero(_energy(space, x) > GROWTH * np.abs(x * space.u).sum(axis=1))
    if gains.size:
        part = _some(space, gains)
        plastic = _compression(part, mu[gains], lost[gains])
        d = x[gains] - plastic.x
        after = part.u + _times(part.A, plastic.x)
        # ½ (d·A d) s² + (d·u₀) s + E₀ = 0, E₀ ≤ 0: the root that is not negative
        a, half, E = 0.5 * (d * _times(part.A, d)).sum(axis=1), 0.5 * (d * after).sum(axis=1), _energy(part, plastic.x)
        step = (-half + np.sqrt(np.maximum(half * half - a * E, 0.0))) / np.where(a > 0.0, a, 1.0)
        possible[gains] = np.clip(step * (1.0 - 1e-9), 0.0, 1.0)
        x[gains] = plastic.x + possible[gains, None] * d
    return x, phases, possible


def _some(space: ContactSpace, k: Array) -> ContactSpace:
    return ContactSpace(space.u[k], space.A[k], space.size[k], space.wrenches[k])


def _energy(space: ContactSpace, x: Array) -> Array:
    """Change of the kinetic energy (B,) [J]: ½ x·(u⁻ + u⁺)."""
    return 0.5 * (x * (2.0 * space.u + _times(space.A, x))).sum(axis=1)


def _residuals(space: ContactSpace, x: Array, phases: list[_Phase], mu: Array) -> tuple[Array, ...]:
    signorini = np.maximum(0.0, -(space.u + _times(space.A, x))[:, ::3]).max(axis=1)
    worst = [np.maximum.reduce(each) for each in zip(*(_of_phase(space, phase, mu) for phase in phases), strict=True)]
    return signorini, *worst, _energy(space, x)


def _of_phase(space: ContactSpace, phase: _Phase, mu: Array) -> tuple[Array, Array, Array]:
    x, w = phase.x.reshape(*mu.shape, 3), (phase.b + _times(space.A, phase.x)).reshape(*mu.shape, 3)
    tangential, slip = np.linalg.norm(x[..., 1:], axis=-1), np.linalg.norm(w[..., 1:], axis=-1)
    limit = mu * x[..., 0]
    loss = limit * slip + (x[..., 1:] * w[..., 1:]).sum(axis=-1)
    return (
        np.abs((x[..., 0] - phase.least) * w[..., 0]).max(axis=1),
        np.maximum(0.0, tangential - limit).max(axis=1),
        np.abs(loss).max(axis=1),
    )


def _wrenches(model: Model, contacts: Arranged, space: ContactSpace, x: Array) -> Array:
    """What the impulses are on all bodies (B, nbodies, 6)."""
    m = contacts.count
    acting = np.einsum("bci,bcisk->bcsk", x.reshape(-1, m, 3), space.wrenches.reshape(-1, m, 3, 2, 6))
    W = np.zeros((len(x), model.nbodies, 6))
    for c, sides in enumerate(contacts.sides):
        for place, j in enumerate(sides):
            if j >= 0:
                W[:, contacts.bodies[j]] += acting[:, c, place]
    return W


def _times(A: Array, x: Array) -> Array:
    return np.einsum("bij,bj->bi", A, x)


def coefficients(given: Any, m: int, what: str, most: float) -> Array:
    """ε or μ (..., m), or an InputError if they are not between 0 and the most."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number or one for each contact, found {given!s:.80}.") from None
    wrong = ~((found >= 0.0) & (found <= most)) | ~np.isfinite(found)
    if wrong.any():
        allowed = "between 0 and 1" if most == 1.0 else "a finite number that is not negative"
        raise InputError(f"{what} must be {allowed}, found {np.atleast_1d(found)[np.atleast_1d(wrong)][0]:g}.")
    if found.ndim and found.shape[-1] not in (1, m):
        raise InputError(f"{what} must have one number for all or for each of {m} contacts, found shape {found.shape}.")
    return np.broadcast_to(found, (*found.shape[:-1], m))


def _whole(parts: list[tuple[Array, ...]], batch: tuple[int, ...]) -> Impact:
    v, impulses, joint_impulses, *residuals, possible, lost = (
        np.concatenate(x).reshape((*batch, *x[0].shape[1:])) for x in zip(*parts, strict=True)
    )
    return Impact(v, impulses, joint_impulses, Residuals(*residuals), possible, lost)
