"""Accuracy where errors have many bodies to add up over."""

import numpy as np
from tolerance import EPS

import kinetree as kt


def chain(count: int) -> kt.Model:
    """Links turning about x, y and z by turns."""
    link = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))
    joints, pose = [kt.Revolute(axis) for axis in np.eye(3)], kt.Pose(translation=[0.1, 0.02, 0.03])
    return kt.Model([kt.Body(f"b{k}", f"b{k - 1}" if k else None, joints[k % 3], pose, link) for k in range(count)])


def test_accelerations_lose_no_more_than_a_rounding_per_body():
    """Against the same sweeps in extended precision; a reference motion that grew along the whole chain would fail this."""
    if np.finfo(np.longdouble).eps >= EPS:
        return
    model, rng = chain(300), np.random.default_rng(1)
    q, (v, tau) = model.random(rng, 2), rng.normal(size=(2, 2, model.nv))
    exact = kt.reference(kt.forward_dynamics, model, *(x.astype(np.longdouble) for x in (q, v, tau)))
    found = kt.compile(kt.forward_dynamics, model, lowering="looped")(q, v, tau)
    assert np.abs(found - exact).max() <= model.nbodies * EPS * np.abs(exact).max()
