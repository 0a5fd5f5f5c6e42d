"""A pendulum on a cart that rolls freely: nothing pushes sideways, so the centre of mass moves only up and down.

Usage: python examples/11_moving_base_pendulum.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

model = kt.example("moving-base-pendulum")  # the cart rolls along x, gravity is along −y
run = kt.simulate(model, [0.0, np.radians(80.0)], duration=6.0, dt=1e-3)

found = kt.audit(run)
print(found)
assert found["momentum p of cart"].verdict == "conserved"
center = kt.center_of_mass(model, run.q)
print(f"the cart rolls {np.ptp(run.q[:, 0]):.3f} m, the centre of mass {np.ptp(center[:, 0]):.1e} m")

cart, angle = run.q.T
bob = cart + 0.8 * np.sin(angle), -0.8 * np.cos(angle)
figure = Figure(figsize=(7.0, 5.0), layout="constrained", dpi=150)
time, plane = figure.subplots(2, 1, height_ratios=(2, 3))
time.plot(run.t, cart, label="cart")
time.plot(run.t, bob[0], label="pendulum")
time.plot(run.t, center[:, 0], "k", label="centre of mass")
time.set(xlabel="time [s]", ylabel="x [m]")
time.legend(frameon=False, ncols=3)
for k in range(0, 1200, 40):
    plane.plot([cart[k], bob[0][k]], [0.0, bob[1][k]], color="tab:gray", linewidth=0.7, alpha=0.6)
plane.plot(*bob, color="tab:orange", linewidth=1.0)
plane.plot(*center[:, :2].T, color="black", linewidth=2.0)
plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
figure.savefig("moving_base_pendulum.png")
print("wrote moving_base_pendulum.png")
