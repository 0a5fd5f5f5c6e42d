"""frax: forward dynamics by mass matrix and Cholesky, inverse dynamics by a vectorised Newton-Euler."""

import tempfile
from pathlib import Path

import frax
import jax.numpy as jnp

from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.jax_peer import JaxPeer
from benchmarks.peers.peer import FORWARD, Array, Unfit

UP = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])


class Frax(JaxPeer):
    """From the URDF; a free base with a quaternion, linear velocity in world axes."""

    name = "frax"
    computes = """
    The same quantities: `forward_dynamics` by mass matrix and Cholesky, O(N³), `rnea` with N × N matrices of ancestors.
    """

    def __init__(self, case: Case, threads: int) -> None:
        if case.urdf is None:
            raise Unfit("it reads URDF, with one base")
        self.case = case
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "robot.urdf")
            path.write_text(case.urdf, encoding="utf-8")
            self.robot = frax.Robot(str(path), floating_base="quaternion" if case.base == "free" else None)

    def coordinates(self, q: Array, v: Array) -> Coordinates:
        robot = self.robot

        def places(name: str) -> tuple[int, int]:
            if name not in robot.joint_name_to_index:
                return 0, 0
            index = robot.joint_name_to_index[name]
            return robot.velocity_to_configuration_index[index], index

        return Coordinates(self.case.model, q, v, places, world=True)

    def function(self, quantity):
        if quantity == FORWARD:
            return lambda q, v, tau: self.robot.forward_dynamics(q, v, tau, None)
        return lambda q, v, a: self.robot.rnea(q, v, a, UP, None)
