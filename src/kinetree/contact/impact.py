"""`impact`: what bodies do when they hit something, at one place or at many at once, with friction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.graph import finite_check, where
from kinetree.compiler.guard import Guarded
from kinetree.compiler.kernel import KernelSource, Sources, build_once
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.looped.lower import NARROW
from kinetree.compiler.routines import Area, Block, Routines
from kinetree.compiler.text import FLOAT64, Lanes
from kinetree.compiler.words import REFUSED
from kinetree.contact.contacts import SHORT, Arranged, Contact, arranged
from kinetree.contact.laws import maximum, positive
from kinetree.contact.moving import FEW, moving
from kinetree.contact.restitution import Restitution
from kinetree.contact.scene import LAWS
from kinetree.contact.space import Sides, Space
from kinetree.errors import InputError
from kinetree.evaluation import batch_of, checked_arguments
from kinetree.model import Model
from kinetree.spatial.scalars import Array, Scalar

LOST = 1e-12
"""Of the terms that make up nᵀ Ω n: below, they cancel, and no impulse moves the contact in that direction."""

__all__ = ["LOST", "Impact", "Residuals", "coefficients", "impact"]


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
    Where Newton's or Poisson's law would gain energy, as Newton's does when some contacts separate while others approach,
    restitution is lowered until it does not; the result says to what. It is 0 where no impulses obey the laws otherwise, as
    Newton's may ask with friction for what cannot be: contacts that move in few ways cannot part as they came.

    Raises
    ------
    InputError : see `kinetree.functions`; a contact that is none; ε or μ outside their range; an unknown law

    Cost: O(N + m² · depth) for Delassus' matrix and O(m²) for each sweep
    """
    if not isinstance(law, str) or law not in LAWS:
        raise InputError(f"law must be one of {', '.join(map(repr, LAWS))}, found {law!r}.")
    found = arranged(model, contacts)
    eps, mu = _wide(restitution, found.count, "restitution", 1.0), _wide(friction, found.count, "friction", np.inf)
    # Not by the friction of all states: what one gets must not depend on the others.
    d = 1 if mu.ndim == 1 and not mu.any() else 3
    if model.nv == 0:
        return _unmoved(model, found, q, v, eps, mu)
    kernel, before = _kernel(model, law, found.bodies, found.sides, d), REFUSED[0]
    try:
        results = kernel(q, v, found.points, found.normals, eps, mu)
    except (TypeError, ValueError) as failure:
        _check(model, found, q, v, eps, mu)
        raise InputError(f"impact of {model.name!r}: {failure}") from None
    if REFUSED[0] != before:
        _check(model, found, q, v, eps, mu)
        if not all(np.isfinite(x).all() for x in (results[0], results[3])):
            raise InputError(
                f"impact of {model.name!r}: the velocities after it, or the energy, are not finite, although the input is. "
                "Either the numbers given overflow, or the mass matrix is singular at this configuration."
            )
    after, impulses, joint_impulses, residuals, returned, lost = results
    named = Residuals(*(residuals[..., k] for k in range(5)))
    return Impact(after, impulses, joint_impulses, named, returned, lost != 0.0)


def _unmoved(model: Model, found: Arranged, q: Any, v: Any, eps: Array, mu: Array) -> Impact:
    """The impact of a model without coordinates: nothing moves, and no contact gives way."""
    _check(model, found, q, v, eps, mu)
    x, m = np.asarray(v, dtype=float), found.count
    batch = np.broadcast_shapes(x.shape[:-1], found.points.shape[:-2], found.normals.shape[:-2], eps.shape[:-1], mu.shape[:-1])
    none = np.zeros(batch)
    impulses, passed = np.zeros((*batch, m, 3)), np.zeros((*batch, model.nbodies, 6))
    eps = np.broadcast_to(eps, (*batch, m)).copy()
    return Impact(np.zeros((*batch, 0)), impulses, passed, Residuals(*[none] * 5), eps, np.ones((*batch, m), dtype=bool))


def _kernel(model: Model, law: str, bodies: tuple[int, ...], sides: Sides, d: int) -> np.ufunc:
    """From q, v, points, normals, ε and μ: velocities after, impulses in world axes and of joints, residuals, ε, lost."""
    key = impact, law, bodies, sides, d
    if key not in model.kernels:
        doc = f"An impact on {model.name}: (q, v, points, normals, restitution, friction)."

        def source(lanes: Lanes) -> KernelSource:
            return _source(lanes, model, law, bodies, sides, d)

        def sources() -> Sources:
            wide, narrow = host_lanes(), Lanes(NARROW // FLOAT64.bytes)
            return source(wide), source(narrow) if model.nbodies > FEW and wide.bytes > NARROW else None

        made = build_once("impact", doc, (model.digest, *key), sources, warn=False, frame=Guarded())
        model.kernels[key] = made
    return model.kernels[key]


def _source(lanes: Lanes, model: Model, law: str, bodies: tuple[int, ...], sides: Sides, d: int) -> KernelSource:
    m, n, routines = len(sides), d * len(sides), Routines(lanes)
    shapes = [(model.nq,), (model.nv,), (m, 3), (m, 3), (m,), (m,)]
    starts = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)]).tolist()
    points, normals, eps, mu = (Area("%in", at, (size,)) for at, size in zip(starts[2:], (3, 3, 1, 1), strict=False))
    results = [(model.nv,), (m, 3), (model.nbodies, 6), (5,), (m,), (m,), ()]
    after, world, f, residuals, returned, gone, guard = (
        routines.area(*shape or (1,), strides=strides)
        for shape, strides in zip(results, ((1,), (3,), (6,), (1,), (1,), (1,), (1,)), strict=True)
    )
    moves = moving(routines, model, bodies)
    space = Space(routines, sides, d, moves.R, moves.p, moves.V, points, normals)
    delassus = moves.delassus(space)
    lost, x, possible = routines.area(n, strides=(d,)), routines.area(n, strides=(d,)), routines.area(1)
    rank = min(model.nv, 6 * len(bodies))
    restituted = Restitution(routines, law, m, space.u, space.A, eps, mu, lost, x, residuals, possible, d, rank)
    one, three, six, each = Block(), Block(3), Block(6), space.each
    is_lost = routines.piece("is.lost", _is_lost, [space.square, each], [each, one])
    nothing = routines.piece("no.wrench", lambda: np.zeros(6), [], [six])
    act = routines.piece("act", lambda F, x, W: W + x @ F, [space.block, each, six], [six])
    turn = routines.piece("turn", lambda N, x: x @ N, [space.directions, each], [three])
    times = routines.piece("times", lambda a, b: a * b, [one, one], [one])
    wrong = routines.piece("wrong.contact", _wrong, [three, three, one, one, one, one], [one])
    overflow = routines.piece("overflow", _overflow, [each, each, one], [one])
    with routines.procedure("body") as body:
        moves.begin(body)
        body.run(space.solve)
        body.run(delassus)
        with body.loop(0, m) as c:
            body.call(is_lost, space.A[c, c], space.size[c], lost[c], gone[c])
        body.run(restituted.solve)
        with body.loop(0, len(bodies)) as j:
            body.call(nothing, moves.W[j])
        with body.loop(0, m) as c:
            for side, table in enumerate(space.places[: 1 + space.two]):
                j = body.lookup(table, c)
                body.call(act, space.rows[c, side], x[c], moves.W[j], moves.W[j])
            body.call(turn, space.frames[c], x[c], world[c])
            body.call(times, possible[0], eps[c], returned[c])
        moves.respond(body, after, f, guard)
        with body.loop(0, m) as c:
            body.call(overflow, space.u[c], space.size[c], residuals[4], residuals[4])
            body.call(wrong, points[c], normals[c], eps[c], mu[c], residuals[4], guard[0], guard[0])
    return routines.source(shapes, results)


def _overflow(u: Array, size: Array, energy: Scalar) -> Scalar:
    """The energy, or NaN if squares of the contact's velocities or levers are beyond what a number holds."""
    return energy + finite_check(u @ u + sum(size))


def _wrong(point: Array, normal: Array, eps: Scalar, mu: Scalar, energy: Scalar, guard: Scalar) -> Scalar:
    """More, or NaN, if what is said of a contact cannot be, or the energy is no number."""
    outside = where(positive(-eps), 1.0, where(positive(eps - 1.0), 1.0, where(positive(-mu), 1.0, 0.0)))
    largest = maximum(maximum(abs(normal[0]), abs(normal[1])), abs(normal[2]))
    nothing = where(positive(largest - SHORT), 0.0, 1.0)
    return guard + outside + nothing + finite_check(sum(point) + sum(normal) + mu) + finite_check(energy)


def _check(model: Model, found: Arranged, q: Any, v: Any, eps: Any, mu: Any) -> None:
    """The message of what is wrong, if anything is."""
    state = checked_arguments(impact, model, (q, v))
    eps, mu = coefficients(eps, found.count, "restitution", 1.0), coefficients(mu, found.count, "friction", np.inf)
    arrays = {"q": (state["q"], 1), "v": (state["v"], 1), "points": (found.points, 2), "frames": (found.frames, 3)}
    arrays |= {"restitution": (eps, 1), "friction": (mu, 1)}
    batch_of(f"impact of {model.name!r}", {name: x.shape[: x.ndim - core] for name, (x, core) in arrays.items()})


def _wide(given: Any, m: int, what: str, most: float) -> Array:
    """ε or μ (..., m), not checked where they are numbers in the right places."""
    found = np.asarray(given)
    if found.dtype.kind not in "fi" or found.dtype.itemsize > 8 or (found.ndim and found.shape[-1] != m):
        return coefficients(given, m, what, most)
    return found if found.ndim else np.full(m, found, dtype=float)


def _is_lost(A: Array, size: Array) -> tuple[Array, Scalar]:
    """Which directions (3,) give no way, and whether the normal does not."""
    found = [where(positive(A[i, i] - LOST * size[i]), 0.0, 1.0) for i in range(len(A))]
    return np.array(found, dtype=object), found[0]


def coefficients(given: Any, m: int, what: str, most: float) -> Array:
    """ε or μ (..., m), or an InputError if they are not between 0 and the most."""
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiub":
            raise TypeError
        found = found.astype(float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number or one for each contact, found {given!s:.80}.") from None
    wrong = ~((found >= 0.0) & (found <= most)) | ~np.isfinite(found)
    if wrong.any():
        allowed = "between 0 and 1" if most == 1.0 else "a finite number that is not negative"
        raise InputError(f"{what} must be {allowed}, found {np.atleast_1d(found)[np.atleast_1d(wrong)][0]}.")
    if found.ndim and found.shape[-1] not in (1, m):
        raise InputError(f"{what} must have one number for all or for each of {m} contacts, found shape {found.shape}.")
    return np.broadcast_to(found, (*found.shape[:-1], m))
