"""The Riccati equation on a tree: articulated-body inertias and what follows from them.

M = P − E [P − P H* (H P H* + Γ)⁻¹ H P] E*

Source: Jain II (31)–(33), lemma 7; Γ, the joints' own inertias, of which Jain has none, stands in D and nowhere else.
P(k) is the inertia of body k and all it carries, the joints beyond it free to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algebra.sweeps import gather, unzip
from kinetree.model.tree import Tree
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import congruence, plain_matrices, solve, symmetric


def node(received: Array, phi: Any, H: Array, M: Array, Gamma: Array) -> tuple[tuple[Array, Array, Array], Array]:
    """One node, from the tips to the base."""
    P = received + M  # P  = Σ φ P⁺ φ* + M      (33)
    HP = H @ P
    D = symmetric(HP @ H.T + Gamma)  # D  = H P H* + Γ
    G = solve(D, HP).T  # G  = P H* D⁻¹
    return (P, D, G), congruence(phi, symmetric(P - G @ HP))  # P⁺ = (1 − G H) P


def articulated(
    tree: Tree, phi: Sequence[Any], H: Sequence[Array], M: Sequence[Array], Gamma: Sequence[Array]
) -> tuple[list[Array], ...]:
    """P (m_k, m_k), D (n_k, n_k) and G (m_k, n_k) of each node."""
    return unzip(gather(tree, node, 0.0, plain_matrices(phi), H, M, Gamma), 3)
