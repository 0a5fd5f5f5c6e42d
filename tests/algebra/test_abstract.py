"""SKO models that are no rigid bodies: any forest, any numbering, weights of any size."""

import numpy as np
import pytest

import kinetree as kt


def test_a_batch_may_be_of_very_different_scales():
    scales = np.array([1e-10, 1.0, 1e10]).reshape(3, 1, 1)
    s = kt.SKO([-1, 0], [None, np.eye(2)], [np.eye(2)] * 2, [scales * np.eye(2)] * 2)
    assert np.allclose(s.mass.inv.dense() * scales, np.kron([[1, -1], [-1, 2]], np.eye(2)), rtol=1e-14)


def test_rows_of_a_joint_map_may_have_units_of_their_own():
    s = kt.SKO([-1], [None], [np.diag([1.0, 1e-9])], [np.eye(2)])
    assert np.allclose(s.mass.inv.dense(), np.diag([1.0, 1e18]), rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_no_inertia_but_rounding_is_none(seed):
    """M has no inertia along H except for rounding, of either sign."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    M = Q[:, :1] @ Q[:, :1].T
    s = kt.SKO([-1, 0], [None, np.eye(3)], [np.eye(3), Q[:, 1:2].T], [np.eye(3), 0.5 * (M + M.T)])
    with pytest.raises(kt.ModelError, match="node '1' is not positive definite"):
        s.mass.inv.dense()
