"""Inertias regrouped among the bodies so that the joints do not notice: base inertial parameters.

What of a body does not move with its joint, such as mass on its axis, may ride on the parent. The mass matrix, joint forces
and all that follows from them stay as they are; inertias of single bodies, and wrenches between them, do not.
"""

from collections.abc import Sequence

import numpy as np

from kinetree.model.bodies import Body, Pose
from kinetree.model.tree import GROUND
from kinetree.spatial.scalars import Array


def grouped(bodies: Sequence[Body], parents: Sequence[int]) -> tuple[Array, ...]:
    """Pseudo-inertia (4, 4) of each body, as much as possible of it carried by its parent. Parents come first."""
    J = [body.inertia.pseudo_inertia for body in bodies]
    for k in reversed(range(len(bodies))):
        Q = bodies[k].joint.unmoved()
        part = Q @ J[k] @ Q
        J[k] = J[k] - part
        if parents[k] != GROUND:
            X = _homogeneous(bodies[k].placement)
            J[parents[k]] = J[parents[k]] + X @ part @ X.T
    return tuple(J)


def inertia_matrix(J: Array) -> Array:
    """M (6, 6) of a pseudo-inertia: [[tr(Σ) 1 − Σ, h~], [−h~, m 1]]."""
    second, (x, y, z), m = J[:3, :3], J[:3, 3], J[3, 3]
    h = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[np.trace(second) * np.eye(3) - second, h], [-h, m * np.eye(3)]])


def _homogeneous(pose: Pose) -> Array:
    return np.block([[pose.rotation, pose.translation[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
