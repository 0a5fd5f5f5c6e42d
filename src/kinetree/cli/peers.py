"""Other libraries on the same URDF: states put into their order, so that results can be compared and timed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from kinetree.model import Model
from kinetree.spatial.scalars import Array

Call = Callable[[], Any]


class PeerUnable(Exception):  # noqa: N818
    """This peer cannot take part; the message says why."""


@final
@dataclass(frozen=True)
class Peer:
    """single(function, q, v, x) and batch(function, q, v, x) give calls ready to be timed, function "forward" or
    "inverse", states in our order; what a single call returns, taken at `order`, is in our order."""

    name: str
    single: Callable[[str, Array, Array, Array], Call]
    batch: Callable[[str, Array, Array, Array], Call] | None
    order: Array


def pinocchio_peer(model: Model, path: Path, base: str) -> Peer:
    """Pinocchio: aba and rnea, and their batches on one thread."""
    _urdf_only("Pinocchio", path)
    try:
        pin: Any = importlib.import_module("pinocchio")
    except ImportError:
        raise PeerUnable("Pinocchio is not installed: pip install pin") from None
    try:
        args = (pin.JointModelFreeFlyer(),) if base == "free" else ()
        peer = pin.buildModelFromUrdf(str(path), *args)
    except Exception as failure:
        raise PeerUnable(f"Pinocchio does not load {path}: {failure}") from None
    peer.gravity = pin.Motion(np.concatenate([model.gravity, np.zeros(3)]))
    data = peer.createData()
    order = np.empty(model.nv, dtype=int)
    for body, where in zip(model.bodies, model.v_slices, strict=True):
        joint = peer.joints[_index("Pinocchio", peer.getJointId, body.joint_name, peer.njoints)]
        if joint.nv != body.joint.nv or body.joint.kind not in ("revolute", "prismatic", "free"):
            raise PeerUnable(f"Pinocchio: joint {body.joint_name!r} ({body.joint.kind}) has other coordinates there")
        turned = (3, 4, 5, 0, 1, 2) if body.joint.kind == "free" else range(joint.nv)
        order[where] = joint.idx_v + np.array(turned)

    def theirs(q: Array, *xs: Array) -> list[Array]:
        """States in Pinocchio's order: position before quaternion, x y z w, and continuous joints as cos, sin."""
        out = np.empty((*q.shape[:-1], peer.nq))
        for body, where in zip(model.bodies, model.q_slices, strict=True):
            joint = peer.joints[peer.getJointId(body.joint_name)]
            own = q[..., where]
            if body.joint.kind == "free":
                own = own[..., [4, 5, 6, 1, 2, 3, 0]]
            elif joint.nq == 2:
                own = np.concatenate([np.cos(own), np.sin(own)], axis=-1)
            out[..., joint.idx_q : joint.idx_q + joint.nq] = own
        moved = [np.empty_like(x) for x in xs]
        for x, own in zip(xs, moved, strict=True):
            own[..., order] = x
        return [out, *moved]

    def single(function: str, q: Array, v: Array, x: Array) -> Call:
        run, state = (pin.aba if function == "forward" else pin.rnea), theirs(q, v, x)
        return lambda: run(peer, data, *state)

    pool = pin.ModelPool(peer, 1)

    def batch(function: str, q: Array, v: Array, x: Array) -> Call:
        state = [np.asfortranarray(part.T) for part in theirs(q, v, x)]
        out = np.zeros((peer.nv, len(q)), order="F")
        run = pin.abaInParallel if function == "forward" else pin.rneaInParallel
        return lambda: run(1, pool, *state, out)

    return Peer(f"Pinocchio {pin.__version__}", single, batch, order)


def mujoco_peer(model: Model, path: Path, base: str) -> Peer:
    """MuJoCo: mj_forward and mj_inverse, without geometry, limits, damping or friction."""
    _urdf_only("MuJoCo", path)
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ImportError:
        raise PeerUnable("MuJoCo is not installed: pip install mujoco") from None
    if base == "free":
        raise PeerUnable("MuJoCo: compared with a fixed base only")
    try:
        peer = mujoco.MjModel.from_xml_string(_without_geometry(path))
    except Exception as failure:
        raise PeerUnable(f"MuJoCo does not load {path}: {str(failure).splitlines()[0]}") from None
    ours = sum(body.inertia.mass for body in model.bodies)
    peer.opt.gravity[:] = model.gravity
    peer.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    peer.dof_damping[:] = peer.dof_frictionloss[:] = peer.dof_armature[:] = 0.0
    data = mujoco.MjData(peer)
    at, order = np.empty(model.nq, dtype=int), np.empty(model.nv, dtype=int)
    for body, q, v in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        joint = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_JOINT, body.joint_name)
        if joint < 0 or body.joint.kind not in ("revolute", "prismatic"):
            raise PeerUnable(f"MuJoCo: joint {body.joint_name!r} ({body.joint.kind}) is missing or differs there")
        at[q], order[v] = peer.jnt_qposadr[joint], peer.jnt_dofadr[joint]
    theirs = float(sum(peer.body_mass[k] for k in range(peer.nbody) if peer.body_weldid[k]))
    if abs(theirs - ours) > 1e-9 * ours:
        raise PeerUnable(f"MuJoCo: its moving mass is {theirs:.9g} kg, ours {ours:.9g} kg; not compared")

    def single(function: str, q: Array, v: Array, x: Array) -> Call:
        force = function == "forward"
        run = mujoco.mj_forward if force else mujoco.mj_inverse

        def call() -> Array:
            data.qpos[at], data.qvel[order] = q, v
            (data.qfrc_applied if force else data.qacc)[order] = x
            run(peer, data)
            return np.array(data.qacc if force else data.qfrc_inverse)

        return call

    return Peer(f"MuJoCo {mujoco.__version__}", single, None, order)


def _without_geometry(path: Path) -> str:
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    robot = etree.parse(str(path), parser).getroot()
    for link in robot.iter("link"):
        for name in ("visual", "collision"):
            for element in link.findall(name):
                link.remove(element)
    for old in robot.findall("mujoco"):
        robot.remove(old)
    options = etree.SubElement(etree.SubElement(robot, "mujoco"), "compiler")
    options.set("fusestatic", "true")
    options.set("balanceinertia", "false")
    return etree.tostring(robot, encoding="unicode")


def _urdf_only(who: str, path: Path) -> None:
    if path.suffix.lower() != ".urdf":
        raise PeerUnable(f"{who}: compared on URDF files only")


def _index(who: str, find: Callable[[str], int], name: str, count: int) -> int:
    joint = find(name)
    if joint >= count:
        raise PeerUnable(f"{who}: has no joint {name!r}")
    return joint
