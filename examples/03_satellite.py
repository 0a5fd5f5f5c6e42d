"""A satellite turns its arrays: nothing from outside, so its momentum stays, and the bus must turn the other way.

Usage: python examples/03_satellite.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

model = kt.example("satellite")
v0 = np.zeros(model.nv)


def turn_the_arrays(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Joint forces [N m] that swing the arrays to and fro; none on the free base."""
    return np.concatenate([np.zeros(6), [0.05 * np.cos(t), -0.03 * np.cos(t)]])


run = kt.simulate(model, model.neutral(), v0, duration=10.0, dt=5e-3, control=turn_the_arrays)
found = kt.audit(run)
print(found)
turned = kt.difference(model, run.q[0], run.q)[:, :3]
print("the bus has turned by", turned[-1], "rad")

figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
angles, momentum = figure.subplots(2, 1, sharex=True)
angles.plot(run.t, np.degrees(turned), label=["bus, about x", "about y", "about z"])
angles.plot(run.t, np.degrees(run.q[:, 7:]), "--", label=["left array", "right array"])
angles.set_ylabel("turned [°]")
angles.legend(frameon=False, ncols=2)
for row in (found["linear momentum"], found["angular momentum"]):
    momentum.semilogy(row.times[1:], row.error[1:], label=f"{row.quantity} [{row.unit}]")
momentum.set(xlabel="time [s]", ylabel="drift")
momentum.legend(frameon=False)
figure.savefig("satellite.png")
print("wrote satellite.png")
