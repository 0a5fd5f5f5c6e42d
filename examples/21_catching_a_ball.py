"""A hand catches a falling ball: the ball is a second tree of the same model, and the fingers close when it comes.

Usage: python examples/21_catching_a_ball.py
"""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.contact import Box, Capsule, Scene, Shape, Sphere
from kinetree.controllers import pd

hand, mass, radius = kt.example("hand"), 0.06, 0.04
links = [body.name for body in hand.bodies if "knuckle" not in body.name and body.name != "palm"]


def capsule(name: str) -> Shape:
    """Along a link, from its joint as far again as its centre of mass; capsules lie along z."""
    middle = hand.bodies[hand.body_index(name)].inertia.com
    turn = np.eye(3) if middle[2] > 0.0 else np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return Shape(Capsule(0.008, 2.0 * float(np.linalg.norm(middle))), kt.Pose(turn, middle))


palm = Shape(Box([0.02, 0.11, 0.1]), kt.Pose(translation=[0, 0, 0.05]))
lying = replace(hand.with_shapes({"palm": palm, **{name: capsule(name) for name in links}}), gravity=(-9.81, 0, 0))
ball = kt.Body(
    "ball", None, kt.Free(), inertia=kt.Inertia(mass, tensor=0.4 * mass * radius**2 * np.eye(3)), shapes=Sphere(radius)
)
model = replace(lying, bodies=(*lying.bodies, ball), name="hand and ball")
scene = Scene(ground=(), pairs=[("ball", name) for name in (*links, "palm")], friction=0.8, limits=False)
closed, start = np.tile([0.0, 1.2, 1.0, 0.7], 4), model.neutral()
start[-3:] = 0.2, 0.0, 0.09


def grasp(t: float) -> np.ndarray:
    """Fingers that close from 0.14 s on, within 0.08 s; the ball is not driven."""
    return np.concatenate([np.clip((t - 0.14) / 0.08, 0.0, 1.0) * closed, start[-7:]])


driven = np.repeat([1.0, 0.0], [16, 6])
muscles = pd(model, grasp, stiffness=0.3 * driven, damping=0.004 * driven)
run = kt.simulate(model, start, duration=0.6, dt=1e-3, control=muscles, contact=scene)
found = kt.audit(run)
print(found)
speed = np.linalg.norm(run.v[:, -3:], axis=1)
print(f"{len(run.impacts)} impacts, the first at t = {run.impacts[0].t:.6f} s; the ball is held at {speed[-1]:.3f} m/s")

figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
place, strength = figure.subplots(2, 1, sharex=True)
place.plot(run.t, run.q[:, -3:], label=["height", "across", "along the fingers"])
place.set_ylabel("the ball is at [m]")
place.legend(frameon=False)
strength.plot(run.t, run.tau[:, 1:16:4], label=["index", "middle", "ring", "thumb"])
strength.set(xlabel="time [s]", ylabel="torque at the proximal joint [N m]")
strength.legend(frameon=False, ncols=4)
figure.savefig("catching_a_ball.png")
print("wrote catching_a_ball.png")
