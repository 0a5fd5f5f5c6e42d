"""Which pairs of bodies can touch at all: not those whose shapes overlap from the start."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.contact.gaps import candidates
from kinetree.contact.scene import Scene
from kinetree.model import GROUND, Model

TOUCHING: Final = 1e-6
"""Penetration [m] up to which shapes touch and do not overlap."""


def apart(model: Model, scene: Scene, q: ArrayLike) -> Scene:
    """The scene without the pairs of bodies that overlap at q; what overlaps the ground stays.

    Shapes of robots often overlap at a joint, and across one that is small. Such pairs can never be apart.

    Parameters
    ----------
    q (..., nq) : the start of a simulation; or several configurations, of which one is enough

    Raises
    ------
    InputError : as `candidates`
    """
    found = candidates(model, scene)
    gap = found.at(q).gap
    deep = (gap < -TOUCHING).any(axis=tuple(range(gap.ndim - 1)))
    overlap = {found.bodies[k] for k in np.flatnonzero(deep) if found.bodies[k][1] != GROUND}
    left = [pair for pair in dict.fromkeys(found.bodies) if pair not in overlap]
    names = (*model.body_names, None)
    return replace(scene, pairs=[(names[first], names[second]) for first, second in left])
