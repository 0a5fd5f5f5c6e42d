"""Many environments whose step is one call of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding  # pyright: ignore[reportMissingImports]
from gymnasium.vector import AutoresetMode, VectorEnv  # pyright: ignore[reportMissingImports]
from gymnasium.vector.utils import batch_space  # pyright: ignore[reportMissingImports]

from kinetree.errors import InputError
from kinetree.gym.environment import spaces
from kinetree.gym.rendering import Camera, check_render_mode
from kinetree.gym.task import Task
from kinetree.model import Model
from kinetree.simulation.checks import whole_number
from kinetree.spatial.scalars import Array


class VectorEnvironment(VectorEnv):
    """`num_envs` of the same `Environment`, with the same numbers bit for bit, all stepped at once.

    Environment k is seeded with seed + k. One that is over starts anew at the next step, which ignores its action and gives it
    the reward 0 (Gymnasium's mode "next step").

    Parameters
    ----------
    num_envs : how many
    model, and the options of `Task`
    max_episode_steps : steps after which an episode is truncated; None, never
    render_mode : None or "rgb_array"

    The states are in `q` (num_envs, nq) and `v` (num_envs, nv).

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    """

    metadata: dict[str, Any] = {  # noqa: RUF012, Gymnasium's
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        model: Model | str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.task, self.num_envs = Task(model, **options), whole_number(num_envs, "num_envs")
        self._most = None if max_episode_steps is None else whole_number(max_episode_steps, "max_episode_steps")
        self.metadata = self.metadata | {"render_fps": round(1.0 / self.task.dt)}
        self.render_mode = check_render_mode(render_mode)
        self.single_action_space, self.single_observation_space = spaces(self.task)
        self.action_space, self.observation_space = (
            batch_space(space, self.num_envs) for space in (self.single_action_space, self.single_observation_space)
        )
        model = self.task.model
        self.q, self.v = np.tile(model.neutral(), (self.num_envs, 1)), np.zeros((self.num_envs, model.nv))
        self._over, self._steps = np.zeros(self.num_envs, bool), np.zeros(self.num_envs, int)
        self._generators: list[np.random.Generator] = []
        self._camera: Camera | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """New episodes everywhere: (observations, infos)."""
        if seed is not None:
            self._generators = [seeding.np_random(one)[0] for one in self._seeds(seed)]
        self._draw(np.ones(self.num_envs, bool), options)
        self._over = np.zeros(self.num_envs, bool)
        return self.task.seen(self.task.box.observation(self.q, self.v)), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """(observations, rewards, terminations, truncations, infos) after `dt` under actions (num_envs, m)."""
        q, v, seen, reward, over, diverged = self.task.step(self.q, self.v, actions)
        self.q, self.v = q, v
        anew, self._steps = self._over, self._steps + 1
        if anew.any():
            self._draw(anew)
            seen[anew] = self.task.seen(self.task.box.observation(self.q[anew], self.v[anew]))
            reward[anew], over[anew], diverged[anew] = 0.0, False, False
        truncated = np.zeros(self.num_envs, bool) if self._most is None else self._steps >= self._most
        self._over = over | truncated
        infos = {"diverged": diverged, "_diverged": diverged.copy()} if diverged.any() else {}
        return seen, reward, over, truncated, infos

    def render(self) -> tuple[Array, ...] | None:
        """A picture of each, where render_mode asks for them."""
        if self.render_mode is None:
            return None
        self._camera = self._camera or Camera(self.task.model)
        return tuple(self._camera.picture(q) for q in self.q)

    def _draw(self, which: Array, options: dict[str, Any] | None = None) -> None:
        """Start some anew."""
        self._generators = self._generators or [seeding.np_random()[0] for _ in range(self.num_envs)]
        generators = [self._generators[k] for k in np.flatnonzero(which)]
        self.q[which], self.v[which] = self.task.drawn(generators, options)
        self._steps[which] = 0

    def _seeds(self, seed: Any) -> Sequence[int | None]:
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + k for k in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(f"seed must be one number or {self.num_envs} of them, found {len(seed)}.")
        return seed
