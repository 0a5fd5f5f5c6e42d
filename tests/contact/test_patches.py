"""Corners of patches: what they leave out follows from them."""

import numpy as np
import pytest
import scipy.optimize

from kinetree.contact.patches import corners

UP = np.array([0.0, 0.0, 1.0])


def grid(n):
    return np.array([[x, y, 0.0] for x in np.linspace(0, 1, n) for y in np.linspace(0, 2, n)])


def test_corners_of_a_grid():
    points = grid(4)
    keep = corners([(1, 0)] * 16, points, np.tile(UP, (16, 1)), 1e-3 * points[:, 0])
    assert sorted(map(tuple, points[keep].tolist())) == [(0, 0, 0), (0, 2, 0), (1, 0, 0), (1, 2, 0)]


def test_twice_the_same_and_seen_from_the_other():
    points = np.repeat(grid(3), 2, axis=0) + 1e-9 * np.random.default_rng(0).normal(size=(18, 3))
    keep = corners([(1, 0), (0, 1)] * 9, points, np.tile([UP, -UP], (9, 1)), np.zeros(18))
    assert keep.sum() == 4
    line = np.array([[x, 0.0, 0.0] for x in (0.0, 0.5, 1.0, 1.0)])
    assert corners([(1, -1)] * 4, line, np.tile(UP, (4, 1)), np.zeros(4)).sum() == 2


def test_what_differs_is_kept():
    """Nearer than the corners say, on another pair of bodies, along another normal, or where gaps are not linear."""
    points, normals, gap = grid(3), np.tile(UP, (9, 1)), np.zeros(9)
    gap[4] = -1e-6
    assert corners([(1, 0)] * 9, points, normals, gap)[4]
    bodies = [(1, 0)] * 9
    bodies[4] = (2, 0)
    assert corners(bodies, points, normals, np.zeros(9))[4]
    normals[4] = [0.6, 0.0, 0.8]
    assert corners([(1, 0)] * 9, points, normals, np.zeros(9))[4]
    assert corners([(1, 0)] * 9, points, np.tile(UP, (9, 1)), points[:, 0] * points[:, 1]).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_rest_follows(seed):
    """Every contact is a mean of those kept, its gap no less than the mean of theirs."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.uniform(-1, 1, (20, 2)), np.zeros((20, 1))], axis=1)
    gap = 1e-6 * (points @ [1.0, 2.0, 0.0]) + np.where(rng.uniform(size=20) < 0.5, 0.0, 1e-7 * rng.uniform(size=20))
    keep = corners([(0, -1)] * 20, points, np.tile(UP, (20, 1)), gap)
    for k in range(20):
        A = np.vstack([points[keep, :2].T, np.ones(keep.sum())])
        found = scipy.optimize.linprog(gap[keep], A_eq=A, b_eq=[*points[k, :2], 1.0])
        assert found.fun < gap[k] + 1e-9
