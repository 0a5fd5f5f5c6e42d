"""A person lets himself fall: feet, bottom, back and head hit the floor one after another.

Usage: python examples/22_fall_on_the_floor.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.contact import Points, Scene, Shape, Sphere
from kinetree.controllers import partial_computed_torque

person = kt.example("humanoid")


def shape(body: kt.Body) -> Shape | None:
    """A sole under each foot, and balls: shoulders, bottom, head, and the ends of arms and legs."""
    middle, name = body.inertia.com, body.name
    if "foot" in name:
        return Shape(Points([[x, y, -0.06] for x in (-0.05, 0.19) for y in (-0.045, 0.045)]))
    place = {"pelvis": 0.0 * middle, "chest": 1.6 * middle, "head": middle}.get(name, 2.0 * middle)
    size = {"pelvis": 0.12, "chest": 0.12, "head": 0.11}.get(name, 0.05)
    return None if "upper" in name else Shape(Sphere(size), kt.Pose(translation=place))


model = person.with_shapes({body.name: found for body in person.bodies if (found := shape(body))})
scene = Scene(pairs=[(model.body_names[k], None) for k, _ in model.shapes], friction=0.7, restitution=0.1)
start = model.neutral()
start[6] = 1.15
leaning = np.zeros(model.nv)
leaning[1] = 1.0


def limp(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations of every joint but the pelvis: weakly back to straight, damped."""
    return 40.0 * kt.difference(model, q, start)[6:] - 12.0 * v[6:]


muscles = partial_computed_torque(model, model.joint_names[1:], limp)
run = kt.simulate(model, start, leaning, duration=1.0, dt=2e-3, control=muscles, contact=scene)
found = kt.audit(run)
print(found)
lost = np.array([blow.energy for blow in run.impacts])
print(f"{len(run.impacts)} impacts took {-lost.sum():.0f} J, the hardest {-lost.min():.0f} J")
for blow in sorted(run.impacts, key=lambda blow: blow.energy)[:6]:
    where = ", ".join(sorted({model.body_names[run.contact_bodies[k][0]] for k in blow.contacts}))
    print(f"  t = {blow.t:8.5f} s  {-blow.energy:7.2f} J  {where}")

R, x = kt.forward_kinematics(model, run.q)
figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
place, energy = figure.subplots(2, 1, sharex=True)
for name in ("head", "chest", "pelvis", "left foot"):
    place.plot(run.t, x[:, model.body_index(name), 2], label=name)
place.set_ylabel("height of the joint [m]")
place.legend(frameon=False, ncols=4)
energy.plot(run.t, run.energy)
energy.set(xlabel="time [s]", ylabel="energy [J]")
figure.savefig("fall_on_the_floor.png")
print("wrote fall_on_the_floor.png")
