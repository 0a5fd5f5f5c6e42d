"""The identities of the spatial operator algebra: one rule per equation of Jain II, with its number.

Each is a pair of expressions of any SKO model; the tests compare their dense matrices on all of the zoo. `rewriting`
applies them in the direction that costs less; `inverses` takes inverses and determinants from the last three tables.

Γ, the joints' own inertias, is not Jain's: with Γ = 0 every equation is his. With it D = H P H* + Γ, hence H G = 1 − Γ D⁻¹, and
all else follows as in his proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from kinetree.algebra.expression import Operator

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO

Sides = tuple[Operator, Operator]


@final
@dataclass(frozen=True)
class Rule:
    """left = right on every SKO model."""

    number: str
    title: str
    sides: Callable[[SKO], Sides]

    def __str__(self) -> str:
        return f"{self.number} {self.title}".strip()


IDENTITIES: list[Rule] = []
FACTORIZATIONS: list[Rule] = []
"""left = a product of operators that have inverses and determinants."""
INVERSES: list[Rule] = []
"""left⁻¹ = right."""


def rule(number: str, title: str = "", table: list[Rule] = IDENTITIES) -> Callable[[Callable[[SKO], Sides]], None]:
    """Enter the sides that follow into a table."""
    return lambda sides: table.append(Rule(number, title, sides))


# Resolvents, sections 2 and 3.

rule("(35)", "ψ is the resolvent of E_ψ", INVERSES)(lambda s: (1 - s.E_psi, s.psi))
rule("(section 2.1)", "φ is the resolvent of E_φ", INVERSES)(lambda s: (1 - s.E, s.phi))
rule("Cor. 3.1")(lambda s: (s.phi @ s.E, s.phi - 1))
rule("Cor. 3.1")(lambda s: (s.E @ s.phi, s.phi - 1))

# Composite inertias, section 4.

rule("(17)", "the mass matrix by composite inertias")(
    lambda s: (
        s.H @ s.R @ s.H.T + s.H @ s.phi @ s.E @ s.R @ s.H.T + s.H @ s.R @ s.E.T @ s.phi.T @ s.H.T,
        s.H @ s.phi @ s.M @ s.phi.T @ s.H.T,
    )
)
rule("(18)", "forward Lyapunov equation of R")(lambda s: (s.R - s.E @ s.R @ s.E.T, s.M))
rule("(19)", "φ M φ* by composite inertias")(lambda s: (s.R + s.phi @ s.E @ s.R + s.R @ s.E.T @ s.phi.T, s.phi @ s.M @ s.phi.T))

# The Riccati equation, section 5.

rule("(31)", "Riccati equation")(
    lambda s: (s.P - s.E @ (s.P - s.P @ s.H.T @ s.D.inv @ s.H @ s.P) @ s.E.T, s.M),
)
rule("(32)")(lambda s: (s.H @ s.P @ s.H.T + s.Gamma, s.D))
rule("(32)")(lambda s: (s.P @ s.H.T @ s.D.inv, s.G))
rule("(32)")(lambda s: (s.G @ s.H, s.tau))
rule("(32)")(lambda s: (1 - s.tau, s.taubar))
rule("(32)")(lambda s: (s.taubar @ s.P, s.P_plus))
rule("(32)")(lambda s: (s.P @ s.taubar.T, s.P_plus))
rule("(32)")(lambda s: (s.taubar @ s.P @ s.taubar.T + s.G @ s.Gamma @ s.G.T, s.P_plus))
rule("(32)")(lambda s: (s.P - s.P @ s.H.T @ s.D.inv @ s.H @ s.P, s.P_plus))
rule("(33)", "Riccati equation with P⁺")(lambda s: (s.P - s.E @ s.P_plus @ s.E.T, s.M))
rule("(34)")(lambda s: (s.E @ s.taubar, s.E_psi))
rule("(36)", "Riccati equation with E_ψ on both sides")(
    lambda s: (s.P - s.E_psi @ s.P @ s.E_psi.T - s.K @ s.Gamma @ s.K.T, s.M),
)
rule("(36)", "Riccati equation with E_ψ on one side")(lambda s: (s.P - s.E @ s.P @ s.E_psi.T, s.M))
rule("(37)")(lambda s: (s.E @ s.G, s.K))

# Lemma 9.

rule("(38)")(lambda s: (s.H @ s.G, 1 - s.Gamma @ s.D.inv))
rule("(38)")(lambda s: (s.H @ s.tau, s.H - s.Gamma @ s.D.inv @ s.H))
rule("(38)")(lambda s: (s.H @ s.taubar, s.Gamma @ s.D.inv @ s.H))
rule("(38)", table=FACTORIZATIONS)(lambda s: (s.H @ s.phi @ s.G, 1 + s.H @ s.phi @ s.K - s.Gamma @ s.D.inv))
rule("(39)")(lambda s: (s.H @ s.phi @ s.taubar, s.H @ s.phi @ s.E_psi + s.Gamma @ s.D.inv @ s.H))
rule("(40)")(lambda s: (s.H @ s.phi @ s.tau, s.H @ s.phi @ s.psi.inv - s.Gamma @ s.D.inv @ s.H))
rule("(41)")(
    lambda s: (s.P + s.phi @ s.E @ s.P + s.P @ s.E_psi.T @ s.psi.T, s.phi @ s.M @ s.psi.T),
)

# Lemma 10.

rule("(42)")(
    lambda s: (
        s.P + s.psi @ s.E_psi @ s.P + s.P @ s.E_psi.T @ s.psi.T - s.psi @ s.K @ s.Gamma @ s.K.T @ s.psi.T,
        s.psi @ s.M @ s.psi.T,
    ),
)
rule("(43)")(lambda s: (s.psi.inv - s.phi.inv, s.K @ s.H))
rule("(44)")(lambda s: (s.psi.inv @ s.phi, 1 + s.K @ s.H @ s.phi))
rule("(44)")(lambda s: (s.phi @ s.psi.inv, 1 + s.phi @ s.K @ s.H))
rule("(44)")(lambda s: (s.phi.inv @ s.psi, 1 - s.K @ s.H @ s.psi))
rule("(44)")(lambda s: (s.psi @ s.phi.inv, 1 - s.psi @ s.K @ s.H))
rule("(45)")(lambda s: ((1 - s.H @ s.psi @ s.K) @ s.H @ s.phi, s.H @ s.psi))
rule("(45)")(lambda s: (s.phi @ s.K @ (1 - s.H @ s.psi @ s.K), s.psi @ s.K))
rule("(45)")(lambda s: ((1 + s.H @ s.phi @ s.K) @ s.H @ s.psi, s.H @ s.phi))
rule("(45)")(lambda s: (s.psi @ s.K @ (1 + s.H @ s.phi @ s.K), s.phi @ s.K))
rule("(46)")(
    lambda s: (
        s.H @ s.psi @ s.M @ s.psi.T @ s.H.T + (1 - s.H @ s.psi @ s.K) @ s.Gamma @ (1 - s.H @ s.psi @ s.K).T,
        s.D,
    ),
)
rule("(45), (46)")(
    lambda s: (
        s.H @ s.phi @ s.M @ s.psi.T @ s.H.T + s.Gamma @ (1 - s.H @ s.psi @ s.K).T,
        (1 + s.H @ s.phi @ s.K) @ s.D,
    ),
)
rule("(47)", "φ M φ* by articulated inertias")(
    lambda s: (
        s.P + s.phi @ s.E @ s.P + s.P @ s.E.T @ s.phi.T + s.phi @ s.K @ s.D @ s.K.T @ s.phi.T,
        s.phi @ s.M @ s.phi.T,
    )
)
rule("(48)")(
    lambda s: (
        (1 + s.phi @ s.K @ s.H) @ s.P @ s.phi.T @ s.H.T + s.phi @ s.K @ s.Gamma,
        s.phi @ s.M @ s.phi.T @ s.H.T,
    ),
)

# Lemma 11: factorization and inversion of the mass matrix.

rule("(49)", "innovations factorization of the mass matrix", FACTORIZATIONS)(
    lambda s: (s.mass, (1 + s.H @ s.phi @ s.K) @ s.D @ (1 + s.H @ s.phi @ s.K).T),
)
rule("(50)", table=INVERSES)(lambda s: (1 + s.H @ s.phi @ s.K, 1 - s.H @ s.psi @ s.K))
rule("(44), (50)", table=INVERSES)(lambda s: (1 + s.phi @ s.K @ s.H, 1 - s.psi @ s.K @ s.H))
rule("(44), (50)", table=INVERSES)(lambda s: (1 + s.K @ s.H @ s.phi, 1 - s.K @ s.H @ s.psi))

# Lemma 12: forward dynamics.

rule("(56)")(
    lambda s: (
        (1 - s.H @ s.psi @ s.K) @ s.H @ s.phi @ s.M @ s.phi.T,
        s.H @ s.psi @ s.P + s.D @ s.K.T @ s.phi.T,
    )
)
rule("(57)")(
    lambda s: (
        (1 - s.H @ s.psi @ s.K).T @ s.D.inv @ (1 - s.H @ s.psi @ s.K) @ s.H @ s.phi @ s.M @ s.phi.T,
        (1 - s.H @ s.psi @ s.K).T @ s.D.inv @ s.H @ s.psi @ s.P + s.K.T @ s.psi.T,
    )
)

# Operational space.

rule("(59), (60)")(
    lambda s: (
        s.phi.T @ s.H.T @ (1 - s.H @ s.psi @ s.K).T @ s.D.inv @ (1 - s.H @ s.psi @ s.K) @ s.H @ s.phi,
        s.Omega,
    )
)
rule("(60)")(lambda s: (s.psi.T @ s.H.T @ s.D.inv @ s.H @ s.psi, s.Omega))
