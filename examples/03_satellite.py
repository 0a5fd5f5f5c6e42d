"""A satellite turns its arrays: nothing from outside, so its momentum stays, and the bus must turn the other way.

Usage: python examples/03_satellite.py
"""

import numpy as np

import kinetree as kt

model = kt.example("satellite")
v0 = np.zeros(model.nv)


def turn_the_arrays(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Joint forces [N m] that swing the arrays to and fro; none on the free base."""
    return np.concatenate([np.zeros(6), [0.05 * np.cos(t), -0.03 * np.cos(t)]])


run = kt.simulate(model, model.neutral(), v0, duration=10.0, dt=5e-3, control=turn_the_arrays)
print(kt.audit(run))
print("the bus has turned by", kt.difference(model, run.q[0], run.q[-1])[:3], "rad")
