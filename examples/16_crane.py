"""A crane sets a load down without swing: the joints of the cable have no motor, so the trolley must calm what it stirred up.

Usage: python examples/16_crane.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.controllers import partial_computed_torque

model = kt.example("crane")  # q: gantry y, trolley x, two angles of the cable, hoist
goal, seconds = np.array([6.0, 9.0, 3.0]), 10.0  # gantry, trolley, hoist [m]
motors = [0, 1, 4]


def path(t: float) -> tuple[np.ndarray, ...]:
    """The goal approached along a polynomial of fifth degree, with its rates."""
    s = min(t / seconds, 1.0)
    x, v, a = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    return goal * x, goal * v / seconds, goal * a / seconds**2


def lift(calm: float) -> kt.Run:
    """The motion by motors of gantry, trolley and hoist alone; `calm` [1/s] feeds back the swing."""

    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, rate, a = path(t)
        length = 4.0 + q[4]
        swing = length * np.array([v[2], -v[3], 0.0])
        return a + 0.1 * (x - q[motors]) + 0.5 * (rate - v[motors]) + calm * swing

    control = partial_computed_torque(model, ["gantry", "trolley", "load"], acceleration)
    return kt.simulate(model, duration=30.0, dt=1e-2, control=control)


runs = {"swing fed back": lift(1.0), "not fed back": lift(0.0)}
figure = Figure(figsize=(9.0, 4.5), layout="constrained", dpi=150)
place, time = figure.subplots(1, 2)
for name, run in runs.items():
    load = kt.forward_kinematics(model, run.q)[1][:, 3]
    swing = np.degrees(np.hypot(run.q[:, 2], run.q[:, 3]))
    last = run.t > 25.0
    print(f"{name}: in the last 5 s the load swings up to {swing[last].max():.2g}°, motors use {np.abs(run.tau).max():,.0f} N")
    place.plot(run.t, load[:, 0], label=name)
    time.plot(run.t, swing)
found = kt.audit(runs["swing fed back"])
print(found)
print("the cable's joints feel", np.abs(runs["swing fed back"].tau[:, 2:4]).max(), "N m")
place.set(xlabel="time [s]", ylabel="x of the load [m]")
place.legend(frameon=False)
time.set(xlabel="time [s]", ylabel="swing [°]")
figure.savefig("crane.png")
print("wrote crane.png")
