"""The mass matrix by composite-body inertias. Source: Jain II (17)–(20), Algorithm 4.2.

R = M + E R E*        M_q = H R H* + H φ̃ R H* + H R φ̃* H*
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.kinematics import joint_maps, weights
from kinetree.model import Model
from kinetree.operators.sweeps import gather
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import Shift, congruence, symmetric

NOTHING = np.zeros((6, 6))


def composite_inertias(model: Model, phi: list[Shift]) -> list[Array]:
    """R(k) (6, 6): inertia of body k and all it carries, joints locked."""

    def node(received: Array, phi: Shift, M: Array) -> tuple[Array, Array]:
        R = received + M  # R = Σ φ R_j φ* + M
        return R, congruence(phi, R)

    return gather(model.tree, node, NOTHING, phi, model.inertias)


def mass_matrix(model: Model, q: Array) -> Array:
    """M_q (nv, nv); blocks of unrelated bodies are never touched."""
    phi, H = weights(model, q), joint_maps(model, q)
    R = composite_inertias(model, phi)
    mass = np.zeros((model.nv, model.nv), dtype=object)
    rows = model.v_slices
    for k in range(model.nbodies):
        X = R[k] @ H[k].T
        mass[rows[k], rows[k]] = symmetric(H[k] @ X)  # M_kk = H R H*
        below = k
        for j in list(model.tree.path_to_root(k))[1:]:
            X = phi[below] @ X
            block = H[j] @ X  # M_jk = H_j φ(j, k) R_k H_k*
            mass[rows[j], rows[k]], mass[rows[k], rows[j]] = block, block.T
            below = j
    return mass
