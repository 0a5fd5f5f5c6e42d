"""The environments known by name to `gymnasium.make` and `gymnasium.make_vec`."""

from __future__ import annotations

from typing import Any

import gymnasium  # pyright: ignore[reportMissingImports]

from kinetree.gym.environment import ANY, ENTRY

TASKS: dict[str, dict[str, Any]] = {
    "kinetree/CartPole-v0": {"model": "moving-base-pendulum", "effort": (20.0, 0.0), "reach": 3.0},
    "kinetree/DoublePendulum-v0": {"model": "double-pendulum", "effort": (8.0, 4.0)},
    "kinetree/Acrobot-v0": {"model": "double-pendulum", "effort": (0.0, 8.0)},
    "kinetree/Planar2R-v0": {"model": "planar-2r", "effort": (8.0, 4.0)},
}
"""Swing-ups of named examples, and how each differs from the defaults of `Task`."""
MOST_STEPS = 500
"""Steps after which an episode is truncated: 10 s."""


def register() -> None:
    """Make the environments of `TASKS` known to Gymnasium, once, and one that takes any model."""
    for name, options in {**TASKS, ANY: {}}.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=ENTRY,
                vector_entry_point="kinetree.gym.vector:VectorEnvironment",
                max_episode_steps=MOST_STEPS if options else None,
                kwargs=dict(options),
            )
