"""Gymnasium environments on any model: one, or thousands whose step is one call of a kernel.

>>> import gymnasium, kinetree.gym
>>> env = gymnasium.make("kinetree/DoublePendulum-v0")
>>> many = gymnasium.make_vec("kinetree/DoublePendulum-v0", num_envs=1024)
>>> own = kinetree.gym.Environment(model, dt=0.02, effort=5.0, reward=lambda q, v, tau: -(v**2).sum(-1))

Importing this module registers the environments of `TASKS`; it needs Gymnasium, `pip install "kinetree[gym]"`.

task → environment (a batch of one), vector (a batch) → registration
"""

from kinetree.errors import MissingExtraError

try:
    import gymnasium  # noqa: F401 # pyright: ignore[reportMissingImports]
except ImportError:
    raise MissingExtraError('kinetree.gym needs Gymnasium: pip install "kinetree[gym]"') from None

from kinetree.gym.environment import Environment
from kinetree.gym.registration import TASKS, register
from kinetree.gym.task import Task
from kinetree.gym.vector import VectorEnvironment

__all__ = ["TASKS", "Environment", "Task", "VectorEnvironment", "register"]

register()
