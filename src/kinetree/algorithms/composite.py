"""The mass matrix by composite-body inertias. Source: Jain II (17)–(20), Algorithm 4.2.

R = M + E R E*        M_q = H R H* + H φ̃ R H* + H R φ̃* H* + Γ
"""

from __future__ import annotations

from kinetree.algebra.rigid import sko_model
from kinetree.model import Model
from kinetree.spatial.scalars import Array


def mass_matrix(model: Model, q: Array) -> Array:
    """M_q (nv, nv); blocks of unrelated bodies are never touched."""
    return sko_model(model.lean.grouped, q).mass.dense()
