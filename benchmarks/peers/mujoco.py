"""MuJoCo: mj_forward and mj_inverse, its batches and its rollouts, without contacts and constraints."""

from collections.abc import Iterator

import mujoco
import numpy as np

from benchmarks.coordinates import Coordinates
from benchmarks.mjcf import plain
from benchmarks.models import Case
from benchmarks.peers.peer import DT, FORWARD, INVERSE, ROLLOUT, STEPS, Array, Contestant, Peer, Unfit

MOST_JOINTS = 1000
"""Its mass matrix of a chain has nv² / 2 entries and its factor takes nv³ / 6 operations."""


def mujoco_model(case: Case) -> mujoco.MjModel:
    if case.mjcf:
        return plain(case.mjcf)
    if case.urdf is None or case.size > MOST_JOINTS:
        raise Unfit(f"its mass matrix of a chain is factored in O(N³), so not beyond {MOST_JOINTS} bodies")
    return plain(case.urdf, case.model)


def mujoco_coordinates(m: mujoco.MjModel, case: Case, q: Array, v: Array) -> Coordinates:
    def places(name: str) -> tuple[int, int]:
        joint = m.joint(name)
        return int(joint.qposadr[0]), int(joint.dofadr[0])

    return Coordinates(case.model, q, v, places, world=True)


class MuJoCo(Peer):
    """From the URDF without geometry, or the MJCF; linear velocity of a free base in world axes."""

    computes = """
    `mj_forward` and `mj_inverse` compute more than ours: the mass matrix and its factor too, and all positions. Contacts,
    limits, equalities, friction, springs, dampers, actuators and armature are off. A batch is `mujoco.batch.Batch.forward`,
    where the version has it; there is none for inverse dynamics. A single call copies the state in and the result out.
    Rollouts (`mujoco.rollout`, Euler) store every state, as ours do here.
    """

    def __init__(self, case: Case, threads: int) -> None:
        self.case, self.threads = case, threads
        self.model = mujoco_model(case)
        self.data = mujoco.MjData(self.model)

    def contestants(self, quantity: str, q: Array, v: Array, x: Array) -> Iterator[Contestant]:
        there = mujoco_coordinates(self.model, self.case, q, v)
        forward = quantity != INVERSE
        force = there.force(x) if forward else there.acceleration(x)
        ours = there.our_acceleration if forward else there.our_force
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        if quantity == ROLLOUT:
            yield Contestant(f"MuJoCo rollout, {threads}", lambda: self._rollout(there.q, there.v, force), self._last(there))
            return
        step = self._forward if forward else self._inverse
        if q.ndim == 1:
            yield Contestant("MuJoCo", lambda: lambda: step(there.q, there.v, force), ours)
            return
        if self.threads == 1:

            def loop():
                return [step(*one) for one in zip(there.q, there.v, force, strict=True)]

            yield Contestant("MuJoCo, Python loop", lambda: loop, ours)
        if quantity == FORWARD and _batches():
            yield Contestant(f"MuJoCo Batch, {threads}", lambda: self._batch(there.q, there.v, force), ours)

    def _forward(self, q, v, tau):
        d = self.data
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(self.model, d)
        return d.qacc.copy()

    def _inverse(self, q, v, a):
        d = self.data
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        mujoco.mj_inverse(self.model, d)
        return d.qfrc_inverse.copy()

    def _batch(self, q, v, tau):
        from mujoco.batch import Batch

        batch = Batch(self.model, nsim=len(q), nthread=self.threads)
        places = [batch.bind(name) for name in ("qpos", "qvel", "qfrc_applied")]
        out = batch.bind("qacc")

        def call():
            for place, values in zip(places, (q, v, tau), strict=True):
                place[:] = values
            batch.forward()
            return out

        return call

    def _rollout(self, q, v, tau):
        from mujoco.rollout import Rollout

        m = self.model
        m.opt.timestep, m.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_EULER
        size = mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        start = np.zeros((len(q), size))
        start[:, 1 : 1 + m.nq], start[:, 1 + m.nq : 1 + m.nq + m.nv] = q, v
        control = np.repeat(tau[:, None], STEPS, axis=1)
        state = np.empty((len(q), STEPS, size))
        sensors = np.empty((len(q), STEPS, m.nsensordata))
        data = [mujoco.MjData(m) for _ in range(self.threads)]
        runner = Rollout(nthread=self.threads if self.threads > 1 else 0)
        spec = mujoco.mjtState.mjSTATE_QFRC_APPLIED.value

        def call():
            runner.rollout(m, data, start, control, control_spec=spec, nstep=STEPS, state=state, sensordata=sensors)
            return state

        return call

    def _last(self, there: Coordinates):
        nq, nv = self.model.nq, self.model.nv

        def ours(state):
            q, v = state[:, -1, 1 : 1 + nq], state[:, -1, 1 + nq : 1 + nq + nv]
            return np.concatenate([q[:, there.q_columns], v[:, there.v_columns]], axis=-1)

        return ours


def _batches() -> bool:
    try:
        import mujoco.batch  # noqa: F401
    except ImportError:
        return False
    return True
