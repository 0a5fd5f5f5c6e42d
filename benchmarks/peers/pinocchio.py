"""Pinocchio: aba and rnea, called once, in a Python loop, and by its parallel batches."""

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.peer import FORWARD, INVERSE, Array, Contestant, Peer, Unfit

MOST_JOINTS = 300
"""Its Data needs memory as the cube of nv: 13.8 GB at 600 joints."""


class Pinocchio(Peer):
    """From the URDF; where there is none, from our bodies one by one."""

    computes = """
    `aba` and `rnea`, the same quantities; arguments are checked for their size only. Single calls return a new array;
    `abaInParallel` and `rneaInParallel` fill a given one, states as columns in Fortran order.
    """

    def __init__(self, case: Case, threads: int) -> None:
        if case.size > MOST_JOINTS:
            raise Unfit(f"its Data needs memory as nv³ (13.8 GB at 600 joints), so not beyond {MOST_JOINTS} joints")
        self.case, self.threads = case, threads
        self.model = _from_urdf(case) if case.urdf else _from_bodies(case.model)
        if (self.model.nq, self.model.nv) != (case.model.nq, case.model.nv):
            raise Unfit(f"its model has nq {self.model.nq} and nv {self.model.nv}: other joints than ours")
        self.data = self.model.createData()

    def coordinates(self, q: Array, v: Array) -> Coordinates:
        free = case_root_name(self.case)

        def places(name: str) -> tuple[int, int]:
            joint = self.model.joints[self.model.getJointId("root_joint" if name == free else name)]
            return joint.idx_q, joint.idx_v

        return Coordinates(self.case.model, q, v, places, world=False, scalar_last=True)

    def contestants(self, quantity: str, q: Array, v: Array, x: Array) -> Iterator[Contestant]:
        if quantity not in (FORWARD, INVERSE):
            return
        single, parallel = (pin.aba, pin.abaInParallel) if quantity == FORWARD else (pin.rnea, pin.rneaInParallel)
        there = self.coordinates(q, v)
        state = there.q, there.v, there.force(x)
        m, d = self.model, self.data
        if q.ndim == 1:
            yield Contestant("Pinocchio", lambda: lambda: single(m, d, *state), there.our_force)
            return
        if self.threads == 1:

            def loop():
                return [single(m, d, *one) for one in zip(*state, strict=True)]

            yield Contestant("Pinocchio, Python loop", lambda: loop, there.our_force)
        columns = [np.asfortranarray(array.T) for array in state]
        out, pool = np.empty((m.nv, len(q)), order="F"), pin.ModelPool(m, self.threads)

        def batch():
            parallel(self.threads, pool, *columns, out)
            return out

        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        yield Contestant(f"Pinocchio InParallel, {threads}", lambda: batch, lambda found: there.our_force(found.T))


def case_root_name(case: Case) -> str | None:
    """Our free root joint of a URDF, which Pinocchio calls root_joint."""
    return case.model.joint_names[0] if case.base == "free" else None


def _from_urdf(case: Case):
    return pin.buildModelFromXML(case.urdf, *((pin.JointModelFreeFlyer(),) if case.base == "free" else ()))


def _from_bodies(model: kt.Model):
    out, index = pin.Model(), {None: 0}
    out.gravity = pin.Motion(np.concatenate([model.gravity, np.zeros(3)]))
    for body in model.bodies:
        placement = pin.SE3(body.placement.rotation, body.placement.translation)
        index[body.name] = out.addJoint(index[body.parent], _joint(body.joint), placement, body.joint_name)
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
        out.appendBodyToJoint(index[body.name], inertia, pin.SE3.Identity())
    return out


def _joint(joint):
    """The class that its URDF reader chooses too: own classes for the axes x, y and z."""
    if joint.kind == "free":
        return pin.JointModelFreeFlyer()
    aligned = [k for k in range(3) if np.array_equal(joint.axis, np.eye(3)[k])]
    if joint.kind == "revolute":
        return (
            (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[aligned[0]]()
            if aligned
            else pin.JointModelRevoluteUnaligned(joint.axis)
        )
    if joint.kind == "prismatic":
        return (
            (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)[aligned[0]]()
            if aligned
            else pin.JointModelPrismaticUnaligned(joint.axis)
        )
    raise Unfit(f"no {joint.kind} joint was written for it here")
