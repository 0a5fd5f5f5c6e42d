"""A satellite with two arrays bounces between two walls: every impact is found when it happens, and takes energy.

Usage: python examples/20_bouncing_satellite.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.contact import Box, Plane, Scene, Shape

satellite = kt.example("satellite")
panel = Box([0.4, 1.0, 0.02])
model = satellite.with_shapes(
    {
        "bus": Box([0.4, 0.5, 0.4]),
        "left array": Shape(panel, kt.Pose(translation=[0.02, 0.5, -0.01])),
        "right array": Shape(panel, kt.Pose(translation=[0.01, -0.55, 0.02])),
    }
)
floor, ceiling = Plane((0, 0, 1), 0.0), Plane((0, 0, -1), -2.5)
walls = Scene(ground=(floor, ceiling), pairs=[(name, None) for name in model.body_names], restitution=0.6, friction=0.3)

start = model.neutral()
start[6] = 1.2
drift = np.array([0.3, 0.1, 0.2, 0.0, 0.05, -0.5, 0.0, 0.0])
run = kt.simulate(model, start, drift, duration=12.0, dt=5e-3, contact=walls)
found = kt.audit(run)
print(found)
print(f"{len(run.impacts)} impacts, {sum(blow.energy for blow in run.impacts):.3f} J")
for blow in run.impacts[:8]:
    where = ", ".join(sorted({model.body_names[run.contact_bodies[k][0]] for k in blow.contacts}))
    print(f"  t = {blow.t:9.6f} s  {where:<24} {np.linalg.norm(blow.impulses, axis=1).sum():6.3f} N s  {blow.energy:8.4f} J")

R, x = kt.forward_kinematics(model, run.q)
height = {name: x[:, k, 2] + R[:, k, 2] @ model.bodies[k].inertia.com for k, name in enumerate(model.body_names)}
figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
place, energy = figure.subplots(2, 1, sharex=True)
for name, z in height.items():
    place.plot(run.t, z, label=name)
for blow in run.impacts:
    energy.axvline(blow.t, color="tab:gray", linewidth=0.5)
place.set_ylabel("height of the centre of mass [m]")
place.legend(frameon=False, ncols=3)
energy.plot(run.t, run.energy)
energy.set(xlabel="time [s]", ylabel="energy [J]")
figure.savefig("bouncing_satellite.png")
print("wrote bouncing_satellite.png")
