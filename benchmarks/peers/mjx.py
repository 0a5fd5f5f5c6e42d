"""MuJoCo XLA: forward and inverse of the same model as MuJoCo's."""

from mujoco import mjx

from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.jax_peer import JaxPeer
from benchmarks.peers.mujoco import mujoco_coordinates, mujoco_model
from benchmarks.peers.peer import FORWARD, Array


class MJX(JaxPeer):
    """`mjx.put_model` of the model MuJoCo has here."""

    name = "MJX"
    computes = """
    As MuJoCo's: `mjx.forward` and `mjx.inverse` of the model without contacts and constraints. Along a chain from a fixed base,
    Panda's too, its kinematics as XLA compiles them for a CPU take many times longer with every body.
    """

    def __init__(self, case: Case, threads: int) -> None:
        self.case, self.plain = case, mujoco_model(case)
        self.model = mjx.put_model(self.plain)
        self.data = mjx.make_data(self.plain)

    def coordinates(self, q: Array, v: Array) -> Coordinates:
        return mujoco_coordinates(self.plain, self.case, q, v)

    def function(self, quantity):
        m, d = self.model, self.data
        if quantity == FORWARD:
            return lambda q, v, tau: mjx.forward(m, d.replace(qpos=q, qvel=v, qfrc_applied=tau)).qacc
        return lambda q, v, a: mjx.inverse(m, d.replace(qpos=q, qvel=v, qacc=a)).qfrc_inverse
