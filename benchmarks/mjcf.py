"""A compiled MuJoCo model as a kinetree model, and what is switched off in both so that they are the same system."""

from pathlib import Path

import mujoco
import numpy as np

import kinetree as kt

_OFF = ("CONSTRAINT", "CONTACT", "EQUALITY", "LIMIT", "FRICTIONLOSS", "SPRING", "DAMPER", "ACTUATION")


def plain(source: Path | str, model: kt.Model | None = None) -> mujoco.MjModel:
    """An MJCF file, or the text of a URDF with the gravity and the base of `model`: rigid bodies and joints, nothing else.

    Contacts, equalities (mimic joints too), limits, friction, springs, dampers, actuators and armature are off.
    """
    if isinstance(source, Path):
        m = mujoco.MjModel.from_xml_path(str(source))
    else:
        spec = mujoco.MjSpec.from_string(source)
        spec.compiler.fusestatic, spec.compiler.balanceinertia = True, False
        if model and model.bodies[0].joint.kind == "free":
            spec.worldbody.bodies[0].add_freejoint(name=model.joint_names[0])
        m = spec.compile()
    if model:
        m.opt.gravity = model.gravity
    for name in _OFF:
        m.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    m.dof_armature[:] = m.dof_damping[:] = m.dof_frictionloss[:] = 0
    return m


def kinetree_model(m: mujoco.MjModel, name: str) -> kt.Model:
    """Bodies in MuJoCo's order: of a body on k joints k bodies, the first k − 1 without mass; one on none joins its parent.

    Free joints, hinges and slides only.
    """
    kinds = mujoco.mjtJoint
    carriers: dict[int, tuple[str | None, kt.Pose]] = {0: (None, kt.Pose())}
    """Of each of their bodies: the kinetree body it belongs to, and its frame there."""
    joints: list[tuple] = []
    inertias: dict[str | None, kt.Inertia] = {None: kt.Inertia.zero()}
    for i in range(1, m.nbody):
        parent, frame = carriers[int(m.body_parentid[i])]
        placement = frame @ kt.Pose(_rotation(m.body_quat[i]), m.body_pos[i])
        first, count = int(m.body_jntadr[i]), int(m.body_jntnum[i])
        for j in range(first, first + count):
            kind, at = kinds(int(m.jnt_type[j])), kt.Pose(translation=m.jnt_pos[j])
            joint_name = m.joint(j).name
            if kind == kinds.mjJNT_FREE:
                joint, placement, at = kt.Free(), kt.Pose(), kt.Pose()
            elif kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE):
                joint = (kt.Revolute if kind == kinds.mjJNT_HINGE else kt.Prismatic)(m.jnt_axis[j])
            else:
                raise ValueError(f"joint {joint_name!r}: only free, hinge and slide joints are taken")
            joints.append((joint_name, parent, joint, placement @ at))
            inertias[joint_name] = kt.Inertia.zero()
            parent, placement = joint_name, at.inverse()
        carriers[i] = parent, placement
        inertias[parent] += _inertia(m, i).moved(placement)
    bodies = [kt.Body(name, parent, joint, placement, inertias[name]) for name, parent, joint, placement in joints]
    return kt.Model(bodies, gravity=tuple(m.opt.gravity), name=name)


def _inertia(m, i) -> kt.Inertia:
    R = _rotation(m.body_iquat[i])
    tensor = R @ np.diag(m.body_inertia[i]) @ R.T
    return kt.Inertia(m.body_mass[i], m.body_ipos[i], 0.5 * (tensor + tensor.T))


def _rotation(quaternion) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)
