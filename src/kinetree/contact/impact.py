"""`impact`: what bodies do when they hit something, at one place or at many at once, with friction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.graph import where
from kinetree.compiler.kernel import build_once
from kinetree.compiler.routines import Area, Block, Routines
from kinetree.contact.contacts import Contact, arranged
from kinetree.contact.laws import positive
from kinetree.contact.moving import moving, struck
from kinetree.contact.restitution import Restitution
from kinetree.contact.scene import LAWS
from kinetree.contact.space import LOST, Sides, Space, inputs_of
from kinetree.errors import InputError
from kinetree.evaluation import batch_of, checked_arguments
from kinetree.model import Model
from kinetree.spatial.scalars import Array, Scalar

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
    Where no impulses obey the laws, as Newton's of redundant contacts with friction may ask for what cannot be, `residuals` say
    how near those found come. Where Newton's or Poisson's law would gain energy, as Newton's does when some contacts separate
    while others approach, restitution is lowered until it does not; the result says to what.

    Raises
    ------
    InputError : see `kinetree.functions`; a contact that is none; ε or μ outside their range; an unknown law

    Cost: O(N + m² · depth) for Delassus' matrix and O(m²) for each sweep
    """
    if law not in LAWS:
        raise InputError(f"law must be one of {', '.join(map(repr, LAWS))}, found {law!r}.")
    found = arranged(model, contacts)
    state = checked_arguments(impact, model, (q, v))
    eps = coefficients(restitution, found.count, "restitution", 1.0)
    mu = coefficients(friction, found.count, "friction", np.inf)
    # Not by the friction of all states: what one gets must not depend on the others.
    d = 1 if mu.ndim == 1 and not mu.any() else 3
    arrays = {"q": (state["q"], 1), "v": (state["v"], 1), "points": (found.points, 2), "frames": (found.frames, 3)}
    arrays |= {"restitution": (eps, 1), "friction": (mu, 1)}
    batch = batch_of(f"impact of {model.name!r}", {name: x.shape[: x.ndim - core] for name, (x, core) in arrays.items()})
    flat = {
        name: np.broadcast_to(x, batch + x.shape[x.ndim - core :]).reshape(-1, *x.shape[x.ndim - core :])
        for name, (x, core) in arrays.items()
    }
    q, v, points, frames, eps, mu = flat.values()
    moves = moving(model, q, v, found.bodies)
    kernel = _kernel(law, len(found.bodies), found.sides, d)
    impulses, W, residuals, returned, lost = kernel(*moves, points, frames, eps, mu)
    after, joint_impulses = struck(model, q, v, W, found.bodies)
    results = after, impulses, joint_impulses, *np.moveaxis(residuals, -1, 0), returned, lost != 0.0
    after, impulses, joint_impulses, *residuals, returned, lost = (x.reshape(batch + x.shape[1:]) for x in results)
    return Impact(after, impulses, joint_impulses, Residuals(*residuals), returned, lost)


@cache
def _kernel(law: str, k: int, sides: Sides, d: int) -> np.ufunc:
    """From what moves, points, frames, ε and μ: impulses in world axes and on bodies, residuals, possible ε, what is lost."""
    m = len(sides)

    def sources() -> Any:
        n, routines = d * m, Routines()
        shapes = [*inputs_of(k, m), (m,), (m,)]
        at = sum(int(np.prod(shape)) for shape in inputs_of(k, m))
        eps, mu = Area("%in", at, (1,)), Area("%in", at + m, (1,))
        world, W = routines.area(m, 3, strides=(3,)), routines.area(k, 6, strides=(6,))
        residuals, returned, gone = routines.area(5), routines.area(m), routines.area(m)
        space = Space(routines, k, sides, d)
        lost, x, possible = routines.area(n, strides=(d,)), routines.area(n, strides=(d,)), routines.area(1)
        restituted = Restitution(routines, law, m, space.u, space.A, eps, mu, lost, x, residuals, possible, d)
        one, three, six, each = Block(), Block(3), Block(6), space.each
        places = [routines.table(f"body{s}", [max(side[s], 0) for side in sides]) for s in range(2)]
        both = any(other >= 0 for _, other in sides)
        is_lost = routines.piece("is.lost", _is_lost, [Block(d, d, stride=n), each], [each, one])
        nothing = routines.piece("no.wrench", lambda: np.zeros(6), [], [six])
        act = routines.piece("act", lambda F, x, W: W + x @ F, [space.block, each, six], [six])
        turn = routines.piece("turn", lambda N, x: x @ N, [space.directions, each], [three])
        times = routines.piece("times", lambda a, b: a * b, [one, one], [one])
        with routines.procedure("body") as body:
            body.run(space.solve)
            with body.loop(0, m) as c:
                body.call(is_lost, space.A[c, c], space.size[c], lost[c], gone[c])
            body.run(restituted.solve)
            with body.loop(0, k) as j:
                body.call(nothing, W[j])
            with body.loop(0, m) as c:
                for side, table in enumerate(places[: 1 + both]):
                    j = body.lookup(table, c)
                    body.call(act, space.rows[c, side], x[c], W[j], W[j])
                body.call(turn, space.frames[c], x[c], world[c])
                body.call(times, possible[0], eps[c], returned[c])
        return routines.source(shapes, [(m, 3), (k, 6), (5,), (m,), (m,)]), None

    doc = "Impulses of an impact: (C, R, p, V, points, frames, eps, mu)."
    return build_once("impact", doc, (_kernel.__wrapped__, law, k, sides, d), sources, warn=False)


def _is_lost(A: Array, size: Array) -> tuple[Array, Scalar]:
    """Which directions (3,) give no way, and whether the normal does not."""
    found = [where(positive(A[i, i] - LOST * size[i]), 0.0, 1.0) for i in range(len(A))]
    return np.array(found, dtype=object), found[0]


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
