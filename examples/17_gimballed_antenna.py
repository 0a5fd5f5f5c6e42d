"""An antenna keeps looking at one star while its satellite tumbles, pushed about by the antenna's own gimbals.

Usage: python examples/17_gimballed_antenna.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.controllers import partial_computed_torque

model = kt.example("gimballed-antenna")
star = np.array([0.6, 0.48, 0.64])
dish = model.body_index("elevation")


def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of azimuth and elevation, so that the dish turns towards the star."""
    sight = kt.forward_kinematics(model, q)[0][dish][:, 2]
    across = np.eye(3) - np.outer(sight, sight)  # turning about the line of sight is not its matter
    J = across @ kt.jacobian(model, q, dish)[:3]  # v → angular velocity of the dish, world axes
    wanted = 9.0 * np.cross(sight, star) - 6.0 * J @ v
    return np.linalg.lstsq(J[:, 6:], wanted, rcond=None)[0]


v0 = np.zeros(model.nv)
v0[:3] = [0.03, -0.05, 0.1]  # the bus tumbles [rad/s]
control = partial_computed_torque(model, ["azimuth", "elevation"], acceleration)
q0 = np.concatenate([model.neutral()[:7], [0.2, 0.6]])
run = kt.simulate(model, q0, v0, duration=20.0, dt=5e-3, control=control)

R = kt.forward_kinematics(model, run.q)[0]
off = np.degrees(np.arccos(np.clip(R[:, dish, :, 2] @ star, -1.0, 1.0)))
turned = np.degrees(np.linalg.norm(kt.difference(model, run.q[0], run.q)[:, :3], axis=1))
found = kt.audit(run)
print(found)
print(f"the bus turns by {turned[-1]:.0f}°; after 10 s the dish looks past the star by at most {off[run.t > 10].max():.2g}°")

figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
angles, error = figure.subplots(2, 1, sharex=True)
angles.plot(run.t, np.degrees(run.q[:, 7:]), label=["azimuth", "elevation"])
angles.plot(run.t, turned, "k--", label="bus, from its start")
angles.set_ylabel("angle [°]")
angles.legend(frameon=False)
error.semilogy(run.t, off)
error.set(xlabel="time [s]", ylabel="dish off the star [°]")
figure.savefig("gimballed_antenna.png")
print("wrote gimballed_antenna.png")
