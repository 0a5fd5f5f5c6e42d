"""Named examples that touch something: their scene, and where they start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kinetree.contact.scene import Scene
from kinetree.model import Model, Plane
from kinetree.simulation.simulate import simulate
from kinetree.spatial.scalars import Array


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """A scene, and the state (q0 (nq,), v0 (nv,)) from which a model meets it."""

    scene: Scene
    q0: Array
    v0: Array


def two_link_impact(model: Model) -> Setting:
    """The tip comes to a wall with the links stretched, half a second after the start. Chain Impulse, section 3.

    At v = (1, −0.4) rad/s it jumps by (1 + ε) (2 θ̇₁ + θ̇₂) (1/4, −3/2), (38) and (39); the start is where it came from.
    """
    scene = Scene(ground=Plane((0.0, -1.0, 0.0)), pairs=[("link 2", None)], restitution=0.5)
    back = simulate(model, np.zeros(2), np.array([-1.0, 0.4]), duration=0.5, dt=1e-3)
    return Setting(scene, back.q[-1], -back.v[-1])


SETTINGS: Final[dict[str, Callable[[Model], Setting]]] = {"two-link-impact": two_link_impact}
"""By the names of the examples."""
