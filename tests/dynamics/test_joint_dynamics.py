"""What joints do by themselves: what may be given, and what MuJoCo makes of the same numbers."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from snapshots import Snapshots
from tolerance import assert_close

import kinetree as kt

MESSAGES = Snapshots(Path(__file__).with_name("joint_dynamics.json"))


def body(joint, **dynamics):
    return kt.Body(
        "arm", None, joint, inertia=kt.Inertia(1.0, [0.1, 0, 0], 0.01 * np.eye(3)), dynamics=kt.JointDynamics(**dynamics)
    )


REFUSED = {
    "negative": lambda: kt.JointDynamics(damping=-0.1),
    "not finite": lambda: kt.JointDynamics(friction=np.nan),
    "infinite": lambda: kt.JointDynamics(stiffness=[1.0, np.inf]),
    "no number": lambda: kt.JointDynamics(armature="much"),
    "a matrix": lambda: kt.JointDynamics(damping=np.eye(2)),
    "no time to stop": lambda: kt.JointDynamics(stop_time=0.0),
    "too many": lambda: body(kt.Revolute([0, 0, 1]), damping=[1.0, 2.0]),
    "a spring of a ball": lambda: body(kt.Spherical(), stiffness=1.0),
    "a rotor of a free body": lambda: body(kt.Free(), armature=1.0),
    "a weld": lambda: body(kt.Weld(), friction=1.0),
    "no dynamics": lambda: replace(body(kt.Planar()), dynamics=0.1),
    "nothing moves": lambda: kt.Model([kt.Body("arm", None, kt.Revolute([0, 0, 1]))]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    MESSAGES.check(name, REFUSED[name])


def test_messages():
    MESSAGES.check_names(REFUSED)
    MESSAGES.check_lengths()
    MESSAGES.save()


def test_one_number_is_for_all_of_a_joint():
    found = body(kt.Planar(), damping=0.5, armature=[1, 2, 3]).dynamics
    assert found.damping.tolist() == [0.5, 0.5, 0.5]
    assert found.armature.tolist() == [1, 2, 3]
    assert found.stop_time.tolist() == [0.02] * 3
    assert body(kt.Revolute([0, 0, 1])).dynamics == kt.JointDynamics.none(1)
    assert kt.Body("a", None, kt.Free()).dynamics is kt.Body("b", None, kt.Free()).dynamics


def test_the_digest_knows_joints():
    base = body(kt.Revolute([0, 0, 1]))
    changed = [
        replace(base, dynamics=kt.JointDynamics(damping=0.1)),
        replace(base, dynamics=kt.JointDynamics(friction=0.1)),
        replace(base, dynamics=kt.JointDynamics(stop_time=0.1)),
        replace(base, limits=kt.Limits(-1, 1, 1, 1)),
        replace(base, limits=kt.Limits(-1, 1, 1, 2)),
    ]
    digests = [kt.Model([one]).digest for one in (base, *changed)]
    assert len(set(digests)) == len(digests)
    assert digests[0] == kt.Model([replace(base, dynamics=None)]).digest


def test_a_rotor_alone_moves():
    """A body without mass behind a motor: v̇ = τ / armature."""
    model = kt.Model([kt.Body("wheel", None, kt.Revolute([0, 0, 1]), dynamics=kt.JointDynamics(armature=0.25))])
    assert kt.forward_dynamics(model, [0.3], [2.0], [1.0]).tolist() == [4.0]
    assert kt.mass_matrix(model, [0.3]).tolist() == [[0.25]]
    assert kt.kinetic_energy(model, [0.3], [2.0]) == 0.5


MJCF = """<mujoco><option gravity="0.3 -1 -9"/><worldbody>
<body name="a"><joint name="a" type="hinge" axis="0 1 0" armature="0.3"/>
 <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
 <body name="b" pos="0 0 0.5"><joint name="b" type="slide" axis="1 0 0" armature="1.5"/>
  <inertial pos="0 0.1 0.1" mass="1" diaginertia="0.02 0.01 0.02"/>
  <body name="c" pos="0.2 0 0.1"><joint name="c" type="hinge" axis="0 0.6 0.8" armature="0.01"/>
   <inertial pos="0.05 0 0.1" mass="0.5" diaginertia="0.002 0.003 0.001"/>
</body></body></body></worldbody></mujoco>"""


def ours(theirs):
    """The same model, its numbers read from MuJoCo's."""
    bodies, kinds = [], {3: kt.Revolute, 2: kt.Prismatic}  # mjtJoint
    for k in range(1, theirs.nbody):
        inertia = kt.Inertia(theirs.body_mass[k], theirs.body_ipos[k], np.diag(theirs.body_inertia[k]))
        joint, parent = kinds[int(theirs.jnt_type[k - 1])](theirs.jnt_axis[k - 1]), int(theirs.body_parentid[k])
        dynamics = kt.JointDynamics(armature=theirs.dof_armature[k - 1])
        place = kt.Pose(translation=theirs.body_pos[k])
        bodies.append(kt.Body(f"{k}", f"{parent}" if parent else None, joint, place, inertia, dynamics=dynamics))
    return kt.Model(bodies, gravity=theirs.opt.gravity)


def test_mujoco_has_the_same_armature():
    theirs = mujoco.MjModel.from_xml_string(MJCF)
    model, data = ours(theirs), mujoco.MjData(theirs)
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, model.nv))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(theirs, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, M)
    assert_close(kt.mass_matrix(model, q), M, 1e-12)
    assert_close(kt.forward_dynamics(model, q, v, tau), data.qacc, 1e-12)
    assert_close(kt.inverse_dynamics(model, q, v, data.qacc), tau, 1e-12)
