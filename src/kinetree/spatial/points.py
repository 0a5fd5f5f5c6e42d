"""A rigid body as its points: the field of their accelerations, and the moments of mass that answer to it.

The point at r (3,) in body axes accelerates by a + S r, where a belongs to the origin. The pseudo-inertia

    J = ∫ [r; 1] [r; 1]* dm = [[Σ, h], [h*, m]]        (4, 4)

holds the body's second moments Σ = ½ tr(I) 1 − I, first moments h = m s and mass m.
"""

from __future__ import annotations

import numpy as np

from kinetree.spatial.rotations import skew
from kinetree.spatial.scalars import Array, array


def field_gradient(omega: Array, omega_rate: Array) -> Array:
    """S (3, 3) = ω̇~ + ω~ ω~: how the acceleration changes from point to point."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    squared = array([[-(yy + zz), x * y, x * z], [x * y, -(xx + zz), y * z], [x * z, y * z, -(xx + yy)]])
    return squared + skew(omega_rate)


def wrench(J: Array, S: Array, a: Array) -> Array:
    """[moment about the origin; force] (6,) that gives the points of a body with pseudo-inertia J the acceleration a + S r.

    ∫ (a + S r) [r; 1]* dm = [S a] J holds the force in its last column, and the moment as what is antisymmetric in the rest.
    """
    T = np.concatenate([S, a[:, None]], axis=1) @ J
    moment = array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]])
    return np.concatenate([moment, T[:, 3]])
