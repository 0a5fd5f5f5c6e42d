"""A person falls on the floor: hands, knees and head hit it one after another, then everything lies still.

Usage: python examples/22_fall_on_the_floor.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.contact import Box, Capsule, Scene, Shape, Sphere
from kinetree.controllers import partial_computed_torque

person = kt.example("humanoid")


def shape(body: kt.Body) -> Shape:
    """A box for trunk and feet, a ball for the head, capsules for arms and legs."""
    middle = body.inertia.com
    if body.name in ("pelvis", "chest"):
        return Shape(Box([0.16, 0.3, 0.2]), kt.Pose(translation=middle))
    if body.name == "head":
        return Shape(Sphere(0.11), kt.Pose(translation=middle))
    if "foot" in body.name:
        return Shape(Box([0.25, 0.09, 0.06]), kt.Pose(translation=middle))
    return Shape(Capsule(0.04, 2.0 * float(np.linalg.norm(middle))), kt.Pose(translation=middle))


model = person.with_shapes({body.name: shape(body) for body in person.bodies})
scene = Scene(pairs=[(name, None) for name in model.body_names], friction=0.7, restitution=0.1)
start = model.neutral()
start[6] = 1.15
leaning = np.zeros(model.nv)
leaning[1] = 1.0


def limp(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations of every joint but the pelvis: weakly back to straight, damped."""
    return 40.0 * kt.difference(model, q, start)[6:] - 12.0 * v[6:]


muscles = partial_computed_torque(model, model.joint_names[1:], limp)
run = kt.simulate(model, start, leaning, duration=2.0, dt=2e-3, control=muscles, contact=scene)
found = kt.audit(run)
print(found)
lost = np.array([blow.energy for blow in run.impacts])
print(f"{len(run.impacts)} impacts took {-lost.sum():.0f} J, the hardest {-lost.min():.0f} J")
for blow in sorted(run.impacts, key=lambda blow: blow.energy)[:6]:
    where = ", ".join(sorted({model.body_names[run.contact_bodies[k][0]] for k in blow.contacts}))
    print(f"  t = {blow.t:8.5f} s  {-blow.energy:7.2f} J  {where}")
