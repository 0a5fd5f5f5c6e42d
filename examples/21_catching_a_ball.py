"""The Allegro hand catches a falling ball: the ball is a second tree of the same model, and the fingers close when it comes.

Usage: pip install "kinetree[robots,plot]"; python examples/21_catching_a_ball.py
"""

import itertools
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import kinetree as kt
from kinetree.contact import Box, Scene, Sphere, candidates
from kinetree.controllers import pd

hand, mass, radius = kt.load("allegro_right_hand"), 0.06, 0.04
palm = kt.load("allegro_right_hand", base="free").bodies[0].shapes  # fixed, it is part of the ground
solid = kt.Inertia(mass, tensor=0.4 * mass * radius**2 * np.eye(3))
ball = kt.Body("ball", None, kt.Free(), inertia=solid, shapes=Sphere(radius))
model = replace(hand, bodies=(*hand.bodies, ball), gravity=(-9.81, 0, 0), name="hand and ball")
scene = Scene(ground=palm, pairs=[("ball", name) for name in (None, *hand.body_names)], friction=0.8)

start = model.neutral()
start[:16] = [0.0, 0.2, 0.0, 0.0] * 3 + [1.396, 0.0, 0.0, 0.0]  # three fingers and the thumb
start[-3:] = 0.2, 0.005, 0.01
closed = np.array([0.0, 1.0, 1.0, 0.8] * 3 + [1.396, 0.5, 0.8, 0.8])


def grasp(t: float) -> np.ndarray:
    """Fingers that close from 0.13 s on, within 0.1 s; the ball is not driven."""
    part = np.clip((t - 0.13) / 0.1, 0.0, 1.0)
    return np.concatenate([(1.0 - part) * start[:16] + part * closed, start[16:]])


driven = np.repeat([1.0, 0.0], [16, 6])
motors = pd(model, grasp, 0.5 * driven, 0.006 * driven)
# The file's 3 N m s and 10 N m in each joint would hold these fingers still: passive=False leaves them out.
run = kt.simulate(model, start, duration=0.7, dt=1e-3, control=motors, contact=scene, passive=False)
print(found := kt.audit(run))
force, speed = run.contact_forces("'ball'")[-1], np.linalg.norm(run.v[-1, -3:])
deepest = -candidates(model, scene).at(run.q).gap.min()
print(f"{len(run.impacts)} impacts, the first at t = {run.impacts[0].t:.6f} s; nothing was deeper than {deepest:.0e} m")
print(f"the ball weighs {mass * 9.81:.3f} N and is held with {force.round(3)} N, at {1e3 * speed:.1f} mm/s")

figure = Figure(figsize=(9.0, 3.6), layout="constrained", dpi=150)
for side, k in zip(figure.subplots(1, 3, sharex=True, sharey=True), (100, 210, 700), strict=True):
    R, p = kt.forward_kinematics(model, run.q[k])
    solids = [(np.eye(3), np.zeros(3), shape) for shape in palm] + [(R[n], p[n], shape) for n, shape in model.shapes]
    for turn, place, shape in solids:
        if isinstance(shape.geometry, Box):
            corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * shape.geometry.size
            x = place + (shape.placement.translation + corners @ shape.placement.rotation.T) @ turn.T
            edges = [x[[a, b]] for a, b in itertools.combinations(range(8), 2) if (a ^ b) in (1, 2, 4)]
            side.plot(*np.array(edges)[:, :, [2, 0]].T, "tab:gray", linewidth=0.6)
    side.add_patch(Circle(p[-1, [2, 0]], radius, color="C3", alpha=0.5))
    side.set(title=f"t = {run.t[k]:.2f} s", aspect="equal", xlabel="along the fingers [m]")
figure.savefig("catching_a_ball.png")
print("wrote catching_a_ball.png")
