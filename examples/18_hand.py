"""A hand closes one finger after another: on a palm that is held no finger feels the others, and the mass matrix shows it.

Usage: python examples/18_hand.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.controllers import computed_torque

model = kt.example("hand")
fingers = ("index", "middle", "ring", "thumb")
closed = np.tile([0.0, 1.2, 1.3, 0.8], 4)


def fist(t: float) -> tuple[np.ndarray, ...]:
    """Finger k closes from 0.25 k s on, within 0.6 s."""
    s = np.repeat(np.clip((t - 0.25 * np.arange(4)) / 0.6, 0.0, 1.0), 4)
    x, v, a = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    return closed * x, closed * v / 0.6, closed * a / 0.36


run = kt.simulate(model, duration=1.6, dt=1e-3, control=computed_torque(model, fist, stiffness=400.0, damping=40.0))
M = kt.mass_matrix(model, run.q)
between = np.kron(1 - np.eye(4), np.ones((4, 4))).astype(bool)
print("between fingers ℳ is", np.abs(M[:, between]).max(), "; within them up to", f"{np.abs(M).max():.1e}", "kg m²")
print(f"the fingers follow within {np.degrees(np.abs(run.q - [fist(t)[0] for t in run.t]).max()):.1e}°")
found = kt.audit(run)
print(found)

figure = Figure(figsize=(9.0, 4.5), layout="constrained", dpi=150)
space, time = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
R, x = kt.forward_kinematics(model, run.q)
for k, finger in enumerate(fingers):
    bodies = [model.body_index(f"{finger} {link}") for link in ("knuckle", "proximal", "middle", "tip")]
    end = x[:, bodies[-1]] + R[:, bodies[-1]] @ (2.0 * model.bodies[bodies[-1]].inertia.com)
    for moment in (0, -1):
        joints = np.vstack([x[moment, bodies], end[moment]])
        space.plot(*joints.T, color="tab:gray" if moment == 0 else f"C{k}", marker=".", linewidth=2.0)
    space.plot(*end.T, color=f"C{k}", linewidth=0.8)
    time.plot(run.t, 1e3 * run.tau[:, 4 * k + 1], color=f"C{k}", label=finger)
space.set_aspect("equal")
space.set(title="open, closed, paths of the tips")
space.locator_params(nbins=3)
time.set(xlabel="time [s]", ylabel="torque at the proximal joint [mN m]")
time.legend(frameon=False)
figure.savefig("hand.png")
print("wrote hand.png")
