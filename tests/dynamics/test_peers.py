"""Pinocchio and MuJoCo on real robots: mass matrix, bias, forward dynamics and energies to 1e-9 relative."""

from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import zoo
from mujoco_urdf import mujoco_spec
from tolerance import assert_close

import kinetree as kt

AGREEMENT = 1e-9

ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "fixed"),
    "z1": ("z1_description/urdf/z1.urdf", "fixed"),
    "kinova": ("kinova_description/robots/kinova.urdf", "fixed"),
    "so101": ("so_arm_description/urdf/so101.urdf", "fixed"),
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", "fixed"),
    "double pendulum": ("double_pendulum_description/urdf/double_pendulum.urdf", "fixed"),
    "baxter": ("baxter_description/urdf/baxter.urdf", "fixed"),
    "a1": ("a1_description/urdf/a1.urdf", "free"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "free"),
    "solo12": ("solo_description/robots/solo12.urdf", "free"),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", "free"),
    "go2": ("go2_description/urdf/go2.urdf", "free"),
    "bolt": ("bolt_description/robots/bolt.urdf", "free"),
    "simple humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", "free"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "free"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
}


NOT_IN_MUJOCO = {"bolt": "MuJoCo drops the inertia of its feet, links without mass; Pinocchio and we add it to the parent"}


@cache
def ours(name):
    file, base = ROBOTS[name]
    return kt.load(zoo.robots_folder() / file, base=base)


def state(model):
    rng = np.random.default_rng(7)
    v, x = rng.uniform(-1, 1, (2, model.nv))
    return model.random(rng), v, x


class Peer:
    """A map between our coordinates and a peer's, joint by joint, by name."""

    def __init__(self, model, q, v, nq, nv, places):
        self.q, self.v, self.columns = np.zeros(nq), np.zeros(nv), np.full(nv, -1)
        self.places, self.model = places, model
        for name, at, rates in zip(model.joint_names, model.q_slices, model.v_slices, strict=True):
            if at.stop == at.start:
                continue
            iq, joint_nq, iv, free = places(name)
            x, order = q[at], np.arange(rates.start, rates.stop)
            if free is not None:
                quaternion, order = free(x, order)
                self.q[iq : iq + 7] = quaternion
            elif joint_nq == 2:
                self.q[iq : iq + 2] = np.cos(x[0]), np.sin(x[0])
            else:
                self.q[iq : iq + joint_nq] = x
            self.columns[iv : iv + len(order)] = order
        assert sorted(self.columns) == list(range(model.nv))


def with_pinocchio(name):
    model, (file, base) = ours(name), ROBOTS[name]
    path = str(zoo.robots_folder() / file)
    theirs = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromUrdf(path)
    theirs.gravity.linear = np.array(model.gravity)

    def places(joint):
        free = joint == model.joint_names[0] and base == "free"
        k = 1 if free else theirs.getJointId(joint)
        assert k < theirs.njoints, f"Pinocchio has no joint {joint}"
        to_theirs = (lambda x, order: (np.r_[x[4:], x[1:4], x[0]], order[[3, 4, 5, 0, 1, 2]])) if free else None
        return theirs.joints[k].idx_q, theirs.joints[k].nq, theirs.joints[k].idx_v, to_theirs

    q, v, x = state(model)
    peer = Peer(model, q, v, theirs.nq, theirs.nv, places)
    return model, theirs, theirs.createData(), peer, q, v, x


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio(name):
    model, theirs, data, peer, q, v, x = with_pinocchio(name)
    order, theirs_v, theirs_x = peer.columns, v[peer.columns], x[peer.columns]
    # the free flyer's acceleration is the spatial one here and there: nothing to convert
    assert_close(kt.inverse_dynamics(model, q, v, x)[order], pin.rnea(theirs, data, peer.q, theirs_v, theirs_x), AGREEMENT)
    assert_close(kt.bias_force(model, q, v)[order], pin.nonLinearEffects(theirs, data, peer.q, theirs_v), AGREEMENT)
    assert_close(kt.forward_dynamics(model, q, v, x)[order], pin.aba(theirs, data, peer.q, theirs_v, theirs_x), AGREEMENT)
    coriolis = pin.computeCoriolisMatrix(theirs, data, peer.q, theirs_v)
    assert_close(kt.coriolis_matrix(model, q, v)[np.ix_(order, order)], coriolis, AGREEMENT)
    assert_close(kt.momentum(model, q, v)[order], pin.crba(theirs, data, peer.q) @ theirs_v, AGREEMENT)
    upper = np.triu(pin.crba(theirs, data, peer.q))
    assert_close(kt.mass_matrix(model, q)[np.ix_(order, order)], upper + np.triu(upper, 1).T, AGREEMENT)
    assert_close(kt.kinetic_energy(model, q, v), pin.computeKineticEnergy(theirs, data, peer.q, theirs_v), AGREEMENT)
    assert_close(kt.potential_energy(model, q), pin.computePotentialEnergy(theirs, data, peer.q), AGREEMENT)


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco(name):
    if name in NOT_IN_MUJOCO:
        pytest.skip(NOT_IN_MUJOCO[name])
    model, (file, base) = ours(name), ROBOTS[name]
    try:
        spec = mujoco_spec(zoo.robots_folder() / file)
        if base == "free":
            for body in spec.worldbody.bodies:
                body.add_freejoint(name=model.joint_names[0])
        theirs = spec.compile()
    except ValueError as failure:
        pytest.skip(f"MuJoCo does not compile this file: {str(failure).splitlines()[0]}")
    theirs.opt.gravity = model.gravity
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_EQUALITY  # mimic
    theirs.dof_damping[:] = 0
    theirs.dof_frictionloss[:] = 0
    theirs.dof_armature[:] = 0
    theirs.jnt_limited[:] = 0
    mass = sum(body.inertia.mass for body in model.bodies)
    if theirs.nv != model.nv or abs(theirs.body_subtreemass[0] - mass) > AGREEMENT * mass:
        pytest.skip(
            f"MuJoCo has nv = {theirs.nv}, mass {theirs.body_subtreemass[0]:.9g}; ours nv = {model.nv}, mass {mass:.9g}"
        )
    data = mujoco.MjData(theirs)

    def places(joint):
        k = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_JOINT, joint)
        assert k >= 0, f"MuJoCo has no joint {joint}"
        free = theirs.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE
        to_theirs = (lambda x, order: (np.r_[x[4:], x[:4]], order[[3, 4, 5, 0, 1, 2]])) if free else None
        return theirs.jnt_qposadr[k], 1, theirs.jnt_dofadr[k], to_theirs

    q, v, x = state(model)
    peer = Peer(model, q, v, theirs.nq, theirs.nv, places)
    # MuJoCo's free joint has its linear velocity in world axes: v = S v_theirs, v̇ = S a_theirs − [0; ω × v]
    S = np.zeros((model.nv, model.nv))
    S[peer.columns, np.arange(model.nv)] = 1.0
    s_dot = np.zeros(model.nv)
    if base == "free":
        R, _ = kt.forward_kinematics(model, q)
        S[3:6, :3] = R[0].T
        s_dot[3:6] = -np.cross(v[:3], v[3:6])
    data.qpos[:], data.qvel[:] = peer.q, np.linalg.solve(S, v)
    data.qfrc_applied[:] = S.T @ x
    mujoco.mj_forward(theirs, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, M)
    assert_close(S.T @ kt.mass_matrix(model, q) @ S, M, AGREEMENT)
    assert_close(S.T @ kt.inverse_dynamics(model, q, v, s_dot), data.qfrc_bias, AGREEMENT)
    assert_close(kt.forward_dynamics(model, q, v, x), S @ data.qacc + s_dot, AGREEMENT)


def test_at_least_twelve_robots():
    assert len(ROBOTS) >= 12
