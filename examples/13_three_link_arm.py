"""A three-link arm draws a circle by operational-space control: what its motors give, less what it has, is nothing.

Usage: python examples/13_three_link_arm.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.controllers import operational_space

model = kt.example("three-link-arm")
tip = [0.0, 0.5, 0.0]  # in axes of the forearm
q0 = np.array([0.0, 0.9, -1.6])
R, x = kt.forward_kinematics(model, q0)
center = x[2] + R[2] @ tip - np.array([0.15, 0.0, 0.0])


def circle(t: float) -> tuple[np.ndarray, ...]:
    """Position, velocity and acceleration of the tip: a turn every two seconds, begun gently."""
    s, rate, more = np.pi * (t - np.tanh(t)), np.pi * np.tanh(t) ** 2, 2 * np.pi * np.tanh(t) / np.cosh(t) ** 2
    along, inward = np.array([-np.sin(s), 0.0, np.cos(s)]), -np.array([np.cos(s), 0.0, np.sin(s)])
    return center - 0.15 * inward, 0.15 * rate * along, 0.15 * (more * along + rate**2 * inward)


control = operational_space(model, "forearm", circle, stiffness=400.0, damping=40.0, point=tip)
run = kt.simulate(model, q0, duration=5.0, dt=1e-3, control=control)
R, x = kt.forward_kinematics(model, run.q)
path = x[:, 2] + R[:, 2] @ tip
miss = np.linalg.norm(path - [circle(t)[0] for t in run.t], axis=1).max()
found = kt.audit(run)
print(found)
print(f"the tip stays within {1e3 * miss:.2g} mm of its circle")

power = run.tau * run.v
figure = Figure(figsize=(9.0, 4.0), layout="constrained", dpi=150)
plane, time = figure.subplots(1, 2, width_ratios=(2, 3))
plane.plot(path[:, 0], path[:, 2], color="tab:red")
plane.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="path of the tip")
for name, x in zip(model.joint_names, power.T, strict=True):
    time.plot(run.t, x, label=name)
time.plot(run.t, np.gradient(run.energy, run.t), "k--", linewidth=1.0, label="dE/dt")
time.set(xlabel="time [s]", ylabel="power [W]", title="motors, and the rate of energy")
time.legend(frameon=False)
figure.savefig("three_link_arm.png")
print("wrote three_link_arm.png")
