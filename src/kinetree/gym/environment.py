"""One environment: a batch of one."""

from __future__ import annotations

from typing import Any

import gymnasium  # pyright: ignore[reportMissingImports]
import numpy as np
from gymnasium.envs.registration import EnvSpec  # pyright: ignore[reportMissingImports]

from kinetree.errors import InputError
from kinetree.gym.rendering import Camera, check_render_mode
from kinetree.gym.task import Task
from kinetree.model import Model
from kinetree.spatial.scalars import Array

ANY, ENTRY = "kinetree/Model-v0", "kinetree.gym.environment:Environment"
"""What Gymnasium knows an environment of any model by, and where it finds it."""


class Environment(gymnasium.Env):
    """A model to act on: action m numbers in [-1, 1] of full effort, observation [coordinates, cos, sin, velocities].

    Parameters
    ----------
    model, and the options of `Task`
    render_mode : None or "rgb_array", which needs matplotlib

    The state is in `q` (nq,) and `v` (nv,); `reset(options={"q0": …, "v0": …})` sets it. An episode that diverged ends, with
    "diverged" in its info.

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012, Gymnasium's

    def __init__(self, model: Model | str, *, render_mode: str | None = None, **options: Any) -> None:
        self.task = Task(model, **options)
        self.metadata = self.metadata | {"render_fps": round(1.0 / self.task.dt)}
        self.render_mode = check_render_mode(render_mode)
        self.action_space, self.observation_space = spaces(self.task)
        self.q, self.v = self.task.model.neutral(), np.zeros(self.task.model.nv)
        self._camera: Camera | None = None
        self.spec = EnvSpec(ANY, entry_point=ENTRY, kwargs={"model": model, **options})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode: (observation, info)."""
        super().reset(seed=seed)
        (self.q,), (self.v,) = self.task.drawn([self.np_random], options)
        return self.task.seen(self.task.box.observation(self.q, self.v)), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """(observation, reward, terminated, truncated, info) after `dt` under an action."""
        try:
            actions = np.asarray(action)[None]
        except (TypeError, ValueError):
            raise InputError(f"an action must be an array of numbers, found {action!r:.60}.") from None
        q, v, seen, reward, over, diverged = self.task.step(self.q[None], self.v[None], actions)
        self.q, self.v = q[0], v[0]
        return seen[0], float(reward[0]), bool(over[0]), False, {"diverged": True} if diverged[0] else {}

    def render(self) -> Array | None:
        """The model as a picture (height, width, 3) of bytes, where render_mode asks for one."""
        if self.render_mode is None:
            return None
        self._camera = self._camera or Camera(self.task.model)
        return self._camera.picture(self.q)


def spaces(task: Task) -> tuple[Any, Any]:
    """The spaces of actions and of observations."""
    actions = gymnasium.spaces.Box(-1.0, 1.0, (len(task.driven),), np.float32)
    return actions, gymnasium.spaces.Box(task.box.low, task.box.high, dtype=np.float64)
