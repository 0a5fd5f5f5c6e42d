"""A humanoid falls and somersaults: tucked it spins faster, for nobody can change his angular momentum in the air.

Usage: python examples/19_falling_humanoid.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.controllers import partial_computed_torque

model = kt.example("humanoid")
v = {name: model.v_slices[model.body_index(name)] for name in model.body_names}
straight, tucked = model.neutral(), np.zeros(model.nv)
for side in ("left", "right"):
    tucked[v[f"{side} thigh"]] = [0.0, -2.1, 0.0]
    tucked[v[f"{side} shin"]] = 2.2
    tucked[v[f"{side} upper arm"]] = [0.0, -0.9, 0.0]
    tucked[v[f"{side} forearm"]] = 0.8
tucked[v["chest"]] = [0.0, 0.5, 0.0]
tucked = tucked[6:]


def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of every joint but the pelvis: tucked from 0.4 s on, straight again from 0.95 s on."""
    tuck = 0.5 * (np.tanh((t - 0.4) / 0.06) - np.tanh((t - 0.95) / 0.06))
    target = kt.integrate(model, straight, np.concatenate([np.zeros(6), tuck * tucked]))
    return 300.0 * kt.difference(model, q, target)[6:] - 30.0 * v[6:]


muscles = partial_computed_torque(model, model.joint_names[1:], acceleration)  # no force on the pelvis: all are from within
start = np.zeros(model.nv)
start[1], start[5] = 4.0, 4.0  # a somersault of 4 rad/s forward, 4 m/s upward
run = kt.simulate(model, straight, start, duration=1.4, dt=2e-3, control=muscles)

found = kt.audit(run)
print(found)
center, spin = kt.center_of_mass(model, run.q), run.v[:, 1]
parabola = center[0] + np.outer(run.t, (center[1] - center[0]) / run.t[1] + [0, 0, 9.81 * run.t[1] / 2])
parabola[:, 2] -= 9.81 * run.t**2 / 2
print(f"the centre of mass is within {np.abs(center - parabola).max():.1e} m of its parabola")
print(f"the pelvis spins at {spin[0]:.1f} rad/s straight, {spin[run.t.searchsorted(0.8)]:.1f} rad/s tucked")

figure = Figure(figsize=(9.0, 4.5), layout="constrained", dpi=150)
side, time = figure.subplots(1, 2)
for k in range(0, len(run.t), 100):
    R, x = kt.forward_kinematics(model, run.q[k])
    ends = x + np.einsum("nij,nj->ni", R, [2.0 * body.inertia.com for body in model.bodies])
    for start, end in zip(x, ends, strict=True):
        side.plot([start[0] + k / 100, end[0] + k / 100], [start[2], end[2]], "C0")
side.set(xlabel="x, shifted with time [m]", ylabel="z [m]", aspect="equal")
time.plot(run.t, spin)
time.set(xlabel="time [s]", ylabel="spin of the pelvis [rad/s]")
figure.savefig("falling_humanoid.png")
print("wrote falling_humanoid.png")
