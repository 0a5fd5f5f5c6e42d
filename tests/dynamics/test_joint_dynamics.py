"""What joints do by themselves: what may be given, and what MuJoCo makes of the same numbers."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import zoo
from snapshots import Snapshots
from tolerance import assert_close

import kinetree as kt
from kinetree.controllers import passive_force
from kinetree.simulation.kernels import step_kernel

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
    assert found.stop_time.tolist() == [0.005] * 3
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


PASSIVE = """<mujoco><option gravity="0 0 0"><flag contact="disable" constraint="disable"/></option><worldbody>
<body><joint type="hinge" axis="0 1 0" armature="0.3" damping="0.7" stiffness="3" springref="20"/>
 <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
 <body pos="0 0 0.5"><joint type="slide" axis="1 0 0" damping="2" stiffness="5" springref="-0.2"/>
  <inertial pos="0 0.1 0.1" mass="1" diaginertia="0.02 0.01 0.02"/>
</body></body></worldbody></mujoco>"""


def test_mujoco_has_the_same_dampers_and_springs():
    theirs = mujoco.MjModel.from_xml_string(PASSIVE)
    data, plain = mujoco.MjData(theirs), ours(theirs)
    bodies = [
        replace(
            body,
            dynamics=kt.JointDynamics(
                armature=theirs.dof_armature[k],
                damping=theirs.dof_damping[k],
                stiffness=theirs.jnt_stiffness[k],
                rest=theirs.qpos_spring[k],
            ),
        )
        for k, body in enumerate(plain.bodies)
    ]
    model = replace(plain, bodies=tuple(bodies))
    q, v, tau = np.random.default_rng(1).uniform(-1, 1, (3, model.nv))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(theirs, data)
    assert_close(passive_force(model, q, v), data.qfrc_passive, 1e-12)
    assert_close(kt.forward_dynamics(model, q, v, tau + passive_force(model, q, v)), data.qacc, 1e-12)
    mujoco.mj_Euler(theirs, data)  # semi-implicit, with damping taken implicitly
    step = kt.rollout(replace_springs(model), q, v, tau + springs(model, q), theirs.opt.timestep, steps=1)
    assert_close(step.v[-1], data.qvel, 1e-12)
    assert_close(step.q[-1], data.qpos, 1e-12)


def replace_springs(model):
    """The model without its springs, which MuJoCo takes explicitly."""
    bodies = [replace(b, dynamics=replace(b.dynamics, stiffness=0 * b.dynamics.stiffness)) for b in model.bodies]
    return replace(model, bodies=tuple(bodies))


def springs(model, q):
    dynamics = [body.dynamics for body in model.bodies]
    return np.concatenate([-own.stiffness * (x - own.rest) for own, x in zip(dynamics, q, strict=True)])


def resisting(model, seed=0):
    """The model with dampers, friction, springs and limits on all joints that may have them, and efforts limited."""
    rng, bodies = np.random.default_rng(seed), []
    for body in model.bodies:
        nv, flat = body.joint.nv, body.joint.quaternion is None
        draw = lambda: rng.uniform(0.5, 2.0, nv) * (rng.uniform(size=nv) < 0.7)  # noqa: B023, E731
        own = kt.JointDynamics(draw(), draw(), draw() * flat, rng.uniform(-1, 1, nv), draw() * flat, rng.uniform(0.01, 0.1, nv))
        ends = [np.where(rng.uniform(size=nv) < 0.7, x, sign * np.inf) for sign, x in ((-1, -0.3), (1, 0.4))]
        effort = np.where(rng.uniform(size=nv) < 0.5, 0.5, np.inf)
        bodies.append(replace(body, dynamics=own if nv else None, limits=kt.Limits(*ends, np.full(nv, np.inf), effort)))
    return replace(model, bodies=tuple(bodies))


def by_hand(model, q, v):
    """The law of each joint, coordinate by coordinate."""
    M = felt(model)
    found = np.zeros(model.nv)
    for body, at, own in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        d, flat = body.dynamics, body.joint.quaternion is None
        for k in range(body.joint.nv):
            x, u, inertia = (q[at][k] if flat else 0.0), v[own][k], M[own][k]
            tau = -d.damping[k] * u - d.stiffness[k] * (x - d.rest[k])
            if d.friction[k]:
                tau -= d.friction[k] * u / np.hypot(u, 0.001 * d.friction[k] / inertia)
            T = d.stop_time[k]
            for end, side in ((body.limits.lower[k], -1), (body.limits.upper[k], 1)):
                depth = side * (x - end)
                if flat and depth > 0:
                    tau -= side * max(0.0, inertia / T**2 * (depth + 2 * T * side * u))
            found[own.start + k] = tau
    return found


def felt(model):
    """The harmonic mean of D of each joint at four configurations, drawn as the code draws them."""
    rng, found = np.random.default_rng(0), []
    for _ in range(4):
        parts = [body.joint.random(rng, (), body.limits.lower, body.limits.upper) for body in reversed(model.bodies)]
        q = np.concatenate(parts[::-1])
        found.append(np.concatenate([np.diagonal(D) for D in kt.operators(model, q).D.matrices]))
    return 1.0 / np.mean(1.0 / np.array(found), axis=0)


@pytest.mark.parametrize("name", ["mixed chain", "forest", "bush", "random 25", "long chain"])
def test_passive_force_is_the_law_of_each_joint(name):
    model = resisting(zoo.model(name))
    q, v = model.random(1, 5), np.random.default_rng(2).uniform(-1, 1, (5, model.nv))
    q = np.where(np.random.default_rng(3).uniform(size=q.shape) < 0.5, q, 2 * q) if model.nq == model.nv else q
    found = passive_force(model, q, v)
    assert_close(found, kt.reference(passive_force, model, q, v), 1e-12)
    assert_close(found, np.stack([by_hand(model, *state) for state in zip(q, v, strict=True)]), 1e-12)
    for lowering in ("unrolled", "looped"):
        assert_close(kt.compile(passive_force, model, lowering=lowering)(q, v), found, 1e-12)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("name", ["mixed chain", "forest", "random 25"])
def test_one_step_by_dense_algebra(name, lowering):
    """(ℳ + h B' + h² K') (v⁺ − v) = h (τ − h K' v − bias), B' and K' by differences of the law by hand."""
    model, h = resisting(zoo.model(name)), 0.01
    q, v, tau = model.random(1), *np.random.default_rng(2).uniform(-1, 1, (2, model.nv))
    force = passive_force(model, q, v)
    efforts = np.concatenate([body.limits.effort for body in model.bodies])
    kernel = step_kernel(model, "newton-euler", "semi-implicit-euler", False, lowering)
    _, v_after = kernel(q, v, tau, h)
    B, K = np.zeros((2, model.nv))
    M = felt(model)
    for body, at, own in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        d, flat = body.dynamics, body.joint.quaternion is None
        for k, i in enumerate(range(own.start, own.stop)):
            slow = 0.001 * d.friction[k] / M[i]
            B[i], K[i] = d.damping[k] + (d.friction[k] / np.hypot(v[i], slow) if d.friction[k] else 0.0), d.stiffness[k]
            for end, side in ((body.limits.lower[k], -1), (body.limits.upper[k], 1)):
                depth = side * (q[at][k] - end) if flat else -1.0
                if depth > 0 and depth + 2 * d.stop_time[k] * side * v[i] > 0:
                    B[i], K[i] = B[i] + 2 * M[i] / d.stop_time[k], K[i] + M[i] / d.stop_time[k] ** 2
    mass = kt.mass_matrix(model, q) + np.diag(h * B + h * h * K)
    acting = np.clip(tau, -efforts, efforts) + force - h * K * v - kt.bias_force(model, q, v)
    wanted = v + h * np.linalg.solve(mass, acting)
    assert_close(v_after, wanted, 1e-12 * np.linalg.cond(mass))


def test_models_that_oppose_nothing_have_the_code_they_had():
    model = zoo.model("panda")
    bare = model.without_resistance
    assert model.resists
    assert not bare.resists
    assert bare.without_resistance is bare
    assert kt.compile(kt.forward_dynamics, bare).stats.operations == kt.compile(kt.forward_dynamics, model).stats.operations
    assert [body.limits.velocity for body in bare.bodies] == [body.limits.velocity for body in model.bodies]
    rotors = resisting(zoo.model("mixed chain"))
    assert [b.dynamics.armature.tolist() for b in rotors.without_resistance.bodies] == [
        b.dynamics.armature.tolist() for b in rotors.bodies
    ]
