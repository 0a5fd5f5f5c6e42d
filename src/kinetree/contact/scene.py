"""What may touch what, and how: the ground, pairs of bodies, friction and restitution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np

from kinetree.errors import InputError, ModelError
from kinetree.evaluation import body_of
from kinetree.model import GROUND, Model, Plane, Shape
from kinetree.model.shapes import shapes_of

LAWS: Final = ("newton", "poisson", "energetic")
GROUND_ALONE: Final = "ground"


@final
@dataclass(frozen=True)
class Scene:
    """What the shapes of a model may touch.

    Attributes
    ----------
    ground : geometries or `Shape`s fixed in the world
    pairs : [(body, body or None for the ground), …] by name; None takes every shape of the model with the ground, and with
        those of other bodies but parents and children; "ground" takes the ground alone
    friction : the coefficient μ of all pairs, or {(body, body or None): μ}, 0 for pairs that are not named
    restitution : ε from 0 to 1, likewise
    limits : whether joints end at their position limits as if they touched something
    law : "newton", "poisson" or "energetic": what ε means, see `kinetree.impact`

    Raises
    ------
    InputError
        The ground holds no shapes, a coefficient is out of range, the law is unknown. Names are checked with the model.
    """

    ground: Any = (Plane(),)
    pairs: Any = None
    friction: Any = 0.0
    restitution: Any = 0.0
    limits: bool = True
    law: str = "newton"

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "ground", shapes_of(self.ground, "the ground of a scene"))
        except ModelError as failure:
            raise InputError(str(failure)) from None
        if self.pairs is not None and self.pairs != GROUND_ALONE:
            object.__setattr__(self, "pairs", _pairs(self.pairs))
        for name, most in (("friction", math.inf), ("restitution", 1.0)):
            object.__setattr__(self, name, _coefficients(getattr(self, name), name, most))
        if not isinstance(self.limits, (bool, np.bool_)):
            raise InputError(f"limits of a scene must be True or False, found {self.limits!r:.80}.")
        if self.law not in LAWS:
            raise InputError(f"law must be one of {', '.join(map(repr, LAWS))}, found {self.law!r}.")

    __hash__ = object.__hash__


class Pair(NamedTuple):
    """Two shapes that may touch, each of a body by index or of the ground, −1; the first is of a body."""

    first: int
    shape: Shape
    second: int
    other: Shape


def pairs_of(model: Model, scene: Scene) -> list[Pair]:
    """Every two shapes of a model and a scene that may touch. Raises InputError."""
    if not isinstance(model, Model) or not isinstance(scene, Scene):
        raise InputError(
            f"contact takes a kinetree Model and a Scene, found {type(model).__name__} and {type(scene).__name__}."
        )
    if scene.pairs is None or scene.pairs == GROUND_ALONE:
        found = list(_everything(model, scene))
        return found if scene.pairs is None else [pair for pair in found if pair.second == GROUND]
    return list(_named(model, scene))


def coefficients(model: Model, scene: Scene, name: str, pairs: list[Pair]) -> list[float]:
    """Friction or restitution of each pair."""
    given = getattr(scene, name)
    if not isinstance(given, Mapping):
        return [given] * len(pairs)
    known = {frozenset(_index(model, x) for x in pair): value for pair, value in given.items()}
    return [known.get(frozenset((pair.first, pair.second)), 0.0) for pair in pairs]


def _everything(model: Model, scene: Scene) -> Iterator[Pair]:
    for n, (k, shape) in enumerate(model.shapes):
        for other in scene.ground:
            yield Pair(k, shape, GROUND, other)
        for j, other in model.shapes[:n]:
            if j != k and model.parents[k] != j and model.parents[j] != k:
                yield Pair(k, shape, j, other)


def _named(model: Model, scene: Scene) -> Iterator[Pair]:
    for names in scene.pairs:
        first, second = (_index(model, x) for x in names)
        if first == GROUND:
            first, second = second, first
        if first == second:
            raise InputError(f"pairs of a scene: {names!r} names the same twice; a body cannot touch itself, nor the ground.")
        for k in (first, second):
            if not _shapes(model, scene, k):
                if k == GROUND:
                    raise InputError(f"pairs of a scene: {names!r} names the ground, but ground=() holds no shape.")
                raise InputError(
                    f"pairs of a scene: body {model.body_names[k]!r} of {model.name!r} has no shapes. "
                    "Give it some: model.with_shapes({name: [...]})."
                )
        for shape in _shapes(model, scene, first):
            for other in _shapes(model, scene, second):
                yield Pair(first, shape, second, other)


def _shapes(model: Model, scene: Scene, body: int) -> tuple[Shape, ...]:
    return scene.ground if body == GROUND else model.bodies[body].shapes


def _index(model: Model, name: str | int | None) -> int:
    return GROUND if name is None else body_of(model, name)


def _pairs(given: Any) -> tuple[tuple[Any, Any], ...]:
    listed = [given] if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) else given
    if isinstance(listed, Iterable) and not isinstance(listed, (str, Mapping)):
        found = [tuple(pair) for pair in listed if isinstance(pair, (tuple, list))]
        if len(found) == len(list(listed)) and all(len(pair) == 2 for pair in found):
            return tuple((a, b) for a, b in found)
    raise InputError(
        'pairs of a scene must be a list of (body, body), None for the ground; or "ground"; or None for all; '
        f"found {given!r:.80}."
    )


def _coefficients(given: Any, name: str, most: float) -> Any:
    if isinstance(given, Mapping):
        keys = _pairs(list(given))
        return {key: _coefficient(x, f"{name} of {key!r}", most) for key, x in zip(keys, given.values(), strict=True)}
    return _coefficient(given, name, most)


def _coefficient(given: Any, what: str, most: float) -> float:
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = math.nan
    if not 0.0 <= found <= most or math.isinf(found):
        allowed = "a number of at least 0" if most == math.inf else f"a number from 0 to {most:g}"
        raise InputError(f"{what} of a scene must be {allowed}, or a mapping from pairs to such, found {given!r:.80}.")
    return found
