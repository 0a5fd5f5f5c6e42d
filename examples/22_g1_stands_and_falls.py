"""The humanoid G1 is dropped on its feet and stands; then its motors only brake, and it sinks to the floor.

Usage: pip install "kinetree[robots,collision,plot]"; python examples/22_g1_stands_and_falls.py
"""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.contact import Scene, candidates
from kinetree.controllers import pd

robot = kt.load("g1_29dof_rev_1_0", base="free")
rotor = kt.JointDynamics(armature=0.02)  # of the motors, which the file does not have
pelvis, *others = robot.bodies
model = replace(robot, bodies=(pelvis, *(replace(body, dynamics=rotor) for body in others)))
scene = Scene(pairs="ground", friction=0.8)  # a floor under all of its shapes, meshes too

bent = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3, "elbow": 0.6}
pose = model.neutral()
for name, where in zip(model.joint_names, model.q_slices, strict=True):
    pose[where] += sum(angle for joint, angle in bent.items() if joint in name)
touch = candidates(model, scene)
pose[6] = 0.01 - touch.at(pose).gap.min()  # 1 cm above the floor

effort = np.concatenate([body.limits.effort for body in model.bodies])
stiffness = np.where(np.isinf(effort), 0.0, np.clip(8.0 * effort, 20.0, 400.0))
stand = pd(model, pose, stiffness, stiffness / 40)
brake = pd(model, pose, 0.0, stiffness / 400)
until = 0.3


def motors(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return stand(t, q, v) if t < until else brake(t, q, v)


run = kt.simulate(model, pose, duration=0.8, dt=2e-3, control=motors, contact=scene)
found = kt.audit(run)
print(found)
weight, pressed = 9.81 * sum(body.inertia.mass for body in model.bodies), run.contact_forces("")[:, 2]
standing = pressed[(run.t > until - 0.05) & (run.t < until)].mean()
deepest = -touch.at(run.q).gap.min()
print(f"G1 weighs {weight:.2f} N; standing, the floor carries it with {standing:.2f} N")
lost = -sum(blow.energy for blow in run.impacts)
print(f"{len(run.impacts)} impacts took {lost:.1f} J; nothing was deeper than {deepest:.0e} m")

figure = Figure(figsize=(8.0, 6.0), layout="constrained", dpi=150)
height, force = figure.subplots(2, 1, sharex=True)
x = kt.forward_kinematics(model, run.q)[1]
for name in ("torso_link", "pelvis", "left_knee_link", "left_wrist_yaw_link"):
    height.plot(run.t, x[:, model.body_index(name), 2], label=name)
height.set_ylabel("height of the joint [m]")
height.legend(frameon=False)
force.plot(run.t, pressed)
force.set(xlabel="time [s]", ylabel="force of the floor [N]", ylim=(0, 4 * weight))
figure.savefig("g1_stands_and_falls.png")
print("wrote g1_stands_and_falls.png")
