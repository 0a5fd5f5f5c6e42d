"""A model as a picture of lines: from joint to joint, from the last to the centre of mass; a cross at every metre."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import functions
from kinetree.errors import InputError, MissingExtraError
from kinetree.model import GROUND, Model
from kinetree.spatial.scalars import Array

PIXELS = 400
"""Height and width of a picture."""
FLAT = 0.99
"""Share of the axes of rotation along one direction from which on a mechanism is looked at along it."""


def check_render_mode(mode: Any) -> str | None:
    """The mode; `InputError` unless it is known."""
    if mode not in (None, "rgb_array"):
        raise InputError(f'render_mode must be None or "rgb_array", found {mode!r:.60}.')
    return mode


@final
class Camera:
    """Looks at a model along its axes of rotation if they are parallel, else from a corner; gravity points down.

    Raises
    ------
    MissingExtraError : matplotlib is not installed
    """

    def __init__(self, model: Model) -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError('a picture needs matplotlib: pip install "kinetree[plot]"') from None
        self._model, self._view = model, _view(model)
        figure = Figure(figsize=(4.0, 4.0), dpi=PIXELS / 4)
        self._canvas = FigureCanvasAgg(figure)
        self._panel = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._reach = 1.1 * _reach(model)

    def picture(self, q: Array) -> Array:
        """The model at q, (PIXELS, PIXELS, 3) bytes."""
        rotations, origins = functions.forward_kinematics(self._model, q)
        panel, (across, up) = self._panel, self._view
        panel.clear()
        panel.set_axis_off()
        (x, y), r = (origins[0] @ across, origins[0] @ up), self._reach
        panel.set_xlim(x - r, x + r)
        panel.set_ylim(y - r, y + r)
        marks = np.meshgrid(np.arange(np.ceil(x - r), x + r), np.arange(np.ceil(y - r), y + r))
        panel.plot(*marks, "+", color="0.8", markersize=6)
        for k, body in enumerate(self._model.bodies):
            parent = self._model.parents[k]
            ends = [] if k in self._model.parents else [origins[k] + rotations[k] @ body.inertia.com]
            ends += [] if parent == GROUND else [origins[parent]]
            for end in ends:
                panel.plot(*_seen(self._view, origins[k], end), color="tab:blue", linewidth=4, solid_capstyle="round")
            panel.plot(*_seen(self._view, origins[k], origins[k]), "o", color="black", markersize=5)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()


def _seen(view: tuple[Array, Array], start: Array, end: Array) -> list[list[float]]:
    return [[float(start @ axis), float(end @ axis)] for axis in view]


def _view(model: Model) -> tuple[Array, Array]:
    """The directions in the world that are across and up in the picture."""
    g = model.gravity
    up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
    rotations, _ = functions.forward_kinematics(model, model.neutral())
    axes = [
        rotations[k] @ row[:3]
        for k, body in enumerate(model.bodies)
        for row in body.joint.H(body.joint.neutral())
        if np.any(row[:3])
    ]
    spread = sum((np.outer(a, a) for a in axes), np.zeros((3, 3)))
    sizes, directions = np.linalg.eigh(spread)
    towards = directions[:, -1] if sizes[-1] > FLAT * sizes.sum() else np.array([1.0, -1.0, 0.6])
    towards = towards - (towards @ up) * up
    if np.linalg.norm(towards) < 0.1:
        towards = np.eye(3)[int(np.argmin(np.abs(up)))]
        towards = towards - (towards @ up) * up
    across = np.cross(up, towards / np.linalg.norm(towards))
    return across, up


def _reach(model: Model) -> float:
    """How far from its first joint a model may extend [m]."""
    far = np.zeros(model.nbodies)
    for k, body in enumerate(model.bodies):
        parent = model.parents[k]
        far[k] = 0.0 if parent == GROUND else far[parent] + float(np.linalg.norm(body.placement.translation))
    tips = [far[k] + float(np.linalg.norm(body.inertia.com)) for k, body in enumerate(model.bodies)]
    return max([0.1, *tips])
