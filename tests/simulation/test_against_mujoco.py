"""Contact against MuJoCo, whose contacts are stiff springs where ours are laws: stiffer ones come nearer."""

from dataclasses import replace

import mujoco
import numpy as np
import zoo
from mujoco_urdf import mujoco_spec

import kinetree as kt
from kinetree.contact import Box, Scene, Shape, Sphere

MASS, G = 2.0, 9.81
STEP = 4e-5
STIFF = {"solref": [10 * STEP, 1.0], "solimp": [0.99, 0.999, 1e-5, 0.5, 2.0]}
PLANE, SPHERE, BOX = (getattr(mujoco.mjtGeom, f"mjGEOM_{kind}") for kind in ("PLANE", "SPHERE", "BOX"))


def floored(spec, mu):
    """A floor under a model, hard contacts and no others, Coulomb's cones."""
    spec.worldbody.add_geom(type=PLANE, size=[5, 5, 0.1])
    for geom in spec.geoms:
        geom.friction, geom.condim, geom.solref, geom.solimp = [mu, 0, 0], 3, STIFF["solref"], STIFF["solimp"]
    spec.option.timestep, spec.option.cone, spec.option.impratio = STEP, mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    spec.option.tolerance = 1e-12
    model = spec.compile()
    return model, mujoco.MjData(model)


def run_to(model, data, end):
    while data.time < end - STEP / 2:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)


def pushed(model, data):
    """The force of the floor on each geom that it touches (3,), world axes."""
    forces, wrench = {}, np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, wrench)
        touching = data.contact[k]
        name = int(touching.geom2)
        forces[name] = forces.get(name, 0.0) + touching.frame.reshape(3, 3).T @ wrench[:3]
    return forces


def test_a_box_slides_to_rest():
    """v²/(2 μ g) far, on its face: ours to the step in which it stops, theirs to what their springs give way."""
    half, mu, speed, dt = 0.1, 0.4, 1.0, 1e-3
    inertia = 2 / 3 * MASS * half**2
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(pos=[0, 0, half], mass=MASS, inertia=3 * [inertia], explicitinertial=True)
    body.add_freejoint()
    body.add_geom(type=BOX, size=3 * [half])
    theirs, data = floored(spec, mu)
    data.qvel[0] = speed
    run_to(theirs, data, 0.4)
    solid = kt.Inertia(MASS, tensor=inertia * np.eye(3))
    model = kt.Model([kt.Body("box", None, kt.Free(), inertia=solid, shapes=Box(3 * [2 * half]))])
    q = model.neutral()
    q[6] = half
    run = kt.simulate(model, q, [0, 0, 0, speed, 0, 0], duration=0.4, dt=dt, contact=Scene(friction=mu))
    assert abs(run.q[-1, 4] - speed**2 / (2 * mu * G)) < mu * G * dt**2
    assert np.abs(run.q[-1, 4:] - data.qpos[:3]).max() < 1e-4
    (force,) = pushed(theirs, data).values()
    assert np.abs(run.contact_forces("'box'")[-1] - force).max() < 1e-6 * MASS * G


def test_a_quadruped_lands_on_its_feet():
    """solo12 with springs in its joints, dropped from 2 cm: where it stands, and what each foot carries."""
    file, _ = zoo.ROBOTS["solo12"]
    robot, mu, K, D = zoo.robot("solo12"), 0.6, 60.0, 1.0
    feet = {body: Shape(Sphere(0.015), pose) for name, (body, pose) in robot.frames.items() if name.endswith("FOOT")}
    pose = robot.neutral()
    pose[7:] = np.tile([0.0, 0.6, -1.2], 4)
    servo = [kt.JointDynamics(damping=D, stiffness=K, rest=x) for x in pose[7:]]
    bodies = (robot.bodies[0], *(replace(body, dynamics=own) for body, own in zip(robot.bodies[1:], servo, strict=True)))
    model = replace(robot, bodies=bodies).with_shapes(feet)
    pose[6] = 0.02 - kt.contact.candidates(model, Scene()).at(pose).gap.min()
    scene = Scene(pairs="ground", friction=mu, limits=False)
    run = kt.simulate(model, pose, duration=1.0, dt=1e-3, contact=scene, integrator="semi-implicit-euler")

    spec = mujoco_spec(zoo.robots_folder() / file)
    (root,) = spec.worldbody.bodies
    root.add_freejoint(name="root")
    for name, foot in feet.items():
        spec.body(name).add_geom(name=name, type=SPHERE, size=[0.015, 0, 0], pos=foot.placement.translation, mass=0.0)
    theirs, data = floored(spec, mu)
    theirs.jnt_limited[:], theirs.dof_frictionloss[:], theirs.dof_armature[:] = 0, 0.0, 0.0
    theirs.jnt_stiffness[1:], theirs.dof_damping[6:] = K, D
    order = [theirs.joint(name).qposadr[0] for name in model.joint_names[1:]]
    theirs.qpos_spring[order] = pose[7:]
    data.qpos[:3], data.qpos[3:7], data.qpos[order] = pose[4:7], pose[:4], pose[7:]
    run_to(theirs, data, 1.0)
    found, forces = run.q[-1], pushed(theirs, data)
    assert np.abs(found[7:] - data.qpos[order]).max() < 5e-4
    assert abs(found[6] - data.qpos[2]) < 5e-5 and np.abs(found[4:6] - data.qpos[:2]).max() < 5e-4
    for name in feet:
        ours = run.contact_forces(f"'{name}'")[-1]
        assert np.abs(ours - forces[theirs.geom(name).id]).max() < 0.01 * 9.81 * theirs.body_subtreemass[0]
