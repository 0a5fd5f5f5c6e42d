"""The names of the documents Mass Matrix and Hamilton for the operators of an SKO model.

Those documents send motions outward, Jain sends forces inward: their operators are Jain's transposes, and their names mean
other things (their G, J, R, K are Jain's H*, P, D, G). `docs/notation.md` has the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinetree.algebra.expression import Operator

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO


@final
@dataclass(frozen=True, eq=False)
class CDI:
    """An SKO model, its operators named as in Mass Matrix and Hamilton."""

    sko: SKO

    @property
    def Phi_D(self) -> Operator:
        """Φ_D: (Φ_D x)_i = D_i x_p. Mass Matrix (1), (2)."""
        return self.sko.E.T

    @property
    def Psi_D(self) -> Operator:
        """Ψ_D = (1 − Φ_D)⁻¹ = 1 + Φ_D + … + Φ_Dᵐ⁻¹. Mass Matrix, definition 2."""
        return self.sko.phi.T

    @property
    def G(self) -> Operator:
        """G, joint maps: v = Ψ_D G q̇. Mass Matrix (6)."""
        return self.sko.H.T

    @property
    def M(self) -> Operator:
        """M, inertias of the bodies."""
        return self.sko.M

    @property
    def mass(self) -> Operator:
        """G* Ψ_D* M Ψ_D G, and Γ where joints have inertias of their own. Mass Matrix (14), Hamilton (P.4a)."""
        return self.G.T @ self.Psi_D.T @ self.M @ self.Psi_D @ self.G + self.sko.Gamma

    @property
    def J(self) -> Operator:
        """J, branch inertias. Hamilton (P.5)."""
        return self.sko.P

    @property
    def R(self) -> Operator:
        """R = G* J G + Γ. Hamilton (P.5)."""
        return self.sko.D

    @property
    def K(self) -> Operator:
        """K = J G R⁻¹. Hamilton (P.5)."""
        return self.sko.G

    @property
    def Phi_beta(self) -> Operator:
        """Φ_β, with β_i = (1 − G K*) D_i. Hamilton (P.5)."""
        return self.sko.E_psi.T

    @property
    def Psi_beta(self) -> Operator:
        """Ψ_β = (1 − Φ_β)⁻¹. Hamilton (P.5)."""
        return self.sko.psi.T

    @property
    def velocity(self) -> Operator:
        """q̇ = (1 − K* Φ_D Ψ_β G) R⁻¹ (1 − G* Ψ_β* Φ_D* K) p, the momentum form. Hamilton (P.5b)."""
        factor = 1 - self.G.T @ self.Psi_beta.T @ self.Phi_D.T @ self.K
        return factor.T @ self.R.inv @ factor

    def Phi(self, symbol: str, weights: Sequence[Any]) -> Operator:
        """An influence matrix Φ_A: (Φ_A x)_i = A_i x_p for weights A_i (..., m_i, m_p), None for roots.

        Its resolvent Ψ_A is `(1 - Phi_A).inv`. Source: Mass Matrix, definitions 1 and 2. Raises InputError.
        """
        turned = [None if A is None else np.swapaxes(np.asarray(A), -1, -2) for A in weights]
        return self.sko.step(symbol, turned).T
