"""adam-robotics: aba of a floating base; where it has no function, what a user would write with its mass matrix and bias."""

import jax.numpy as jnp
import numpy as np
from adam import Representations
from adam.jax import KinDynComputations

from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.jax_peer import JaxPeer
from benchmarks.peers.peer import FORWARD, Array, Unfit


class Adam(JaxPeer):
    """From the URDF; every robot has a floating base there, velocities in its axes."""

    many = "jit, its own batch axis"
    name = "adam"
    computes = """
    `aba` is of a floating base. Inverse dynamics, which it lacks, is `mass_matrix` @ a + `bias_force`: more work than ours.
    Forward dynamics of a fixed base is a solve with the joints' block of `mass_matrix`. It takes batches without vmap,
    under which it fails with this JAX; prismatic joints, such as Panda's fingers, fail in it too.
    """

    def __init__(self, case: Case, threads: int) -> None:
        if case.urdf is None:
            raise Unfit("it is given URDF here, with one base")
        self.case, self.free = case, case.base == "free"
        self.joints = [body.joint_name for body in case.model.bodies if body.joint.kind != "free"]
        gravity = np.concatenate([case.model.gravity, np.zeros(3)])
        self.there = KinDynComputations(case.urdf, joints_name_list=self.joints, gravity=gravity)
        self.there.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)

    def coordinates(self, q: Array, v: Array) -> Coordinates:
        q0, v0 = (7, 6) if self.free else (0, 0)
        index = {name: k for k, name in enumerate(self.joints)}

        def places(name: str) -> tuple[int, int]:
            return (index[name] + q0, index[name] + v0) if name in index else (0, 0)

        return Coordinates(self.case.model, q, v, places, world=False)

    def function(self, quantity):
        if self.free and quantity == FORWARD:
            return self._aba
        return self._solve if quantity == FORWARD else self._multiply

    def _aba(self, q, v, tau):
        pose = _pose(q[..., :7])
        return self.there.aba(pose, q[..., 7:], v[..., :6], v[..., 6:], tau[..., 6:])  # no force on the base in our races

    def _system(self, q, v):
        """ℳ and the bias force; of a fixed base their joints' part."""
        d = self.there
        if self.free:
            pose, s = _pose(q[..., :7]), q[..., 7:]
            return d.mass_matrix(pose, s), d.bias_force(pose, s, v[..., :6], v[..., 6:])
        still = jnp.broadcast_to(jnp.eye(4), (*q.shape[:-1], 4, 4)), jnp.zeros((*q.shape[:-1], 6))
        return d.mass_matrix(still[0], q)[..., 6:, 6:], d.bias_force(still[0], q, still[1], v)[..., 6:]

    def _solve(self, q, v, tau):
        M, h = self._system(q, v)
        return jnp.linalg.solve(M, (tau - h)[..., None])[..., 0]

    def _multiply(self, q, v, a):
        M, h = self._system(q, v)
        return jnp.einsum("...ij,...j->...i", M, a) + h


def _pose(q):
    """Homogeneous transforms (..., 4, 4) of [position, quaternion w x y z]."""
    w, x, y, z = jnp.moveaxis(q[..., 3:], -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), q[..., 0]],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), q[..., 1]],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), q[..., 2]],
        [jnp.zeros_like(w), jnp.zeros_like(w), jnp.zeros_like(w), jnp.ones_like(w)],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)
