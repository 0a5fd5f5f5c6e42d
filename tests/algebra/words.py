"""Expressions to test: a list of them by name, and words drawn at random.

An expression is written once, as a function of anything that has the operators under `SKO`'s names: applied to an `SKO` it
is an operator, applied to a `ByHand` a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from cases import case
from hypothesis import strategies as st

from kinetree.algebra.identities import FACTORIZATIONS, IDENTITIES, INVERSES

ELEMENTS = {
    **dict.fromkeys(("E", "phi", "M", "R", "P", "tau", "taubar", "P_plus", "E_psi", "psi", "Omega"), "bb"),
    **dict.fromkeys(("phi.inv", "psi.inv", "M.inv", "R.inv", "P.inv"), "bb"),
    **dict.fromkeys(("D", "D.inv", "mass", "mass.inv"), "jj"),
    **dict.fromkeys(("G", "K"), "bj"),
    "H": "jb",
}
"""The elements, their inverses and the mass matrix: from which space (second letter) to which (first)."""


def element(name: str) -> Callable:
    """o.a.b of "a.b"."""
    return lambda o: reduce(getattr, name.split("."), o)


OPERATORS: dict[str, Callable] = {
    **{name: element(name) for name in ELEMENTS},
    # inverses by identities
    "(1 − E_φ)⁻¹": lambda o: (1 - o.E).inv,
    "(1 − E_ψ)⁻¹": lambda o: (1 - o.E_psi).inv,
    "(1 + H φ K)⁻¹": lambda o: (1 + o.H @ o.phi @ o.K).inv,
    "(1 − H ψ K)*⁻¹": lambda o: (1 - o.H @ o.psi @ o.K).T.inv,
    "(H φ G)⁻¹": lambda o: (o.H @ o.phi @ o.G).inv,
    "(φ M)⁻¹": lambda o: (o.phi @ o.M).inv,
    "(−2 ℳ)⁻¹": lambda o: (-2 * o.mass).inv,
    "ℳ⁻¹⁻¹": lambda o: o.mass.inv.inv,
    # products: up a path, forward and backward Lyapunov, one sweep for two factors, siblings that meet
    "H φ": lambda o: o.H @ o.phi,
    "φ E": lambda o: o.phi @ o.E,
    "ψ K": lambda o: o.psi @ o.K,
    "φ K": lambda o: o.phi @ o.K,
    "φ M φ*": lambda o: o.phi @ o.M @ o.phi.T,
    "φ φ*": lambda o: o.phi @ o.phi.T,
    "φ* φ": lambda o: o.phi.T @ o.phi,
    "φ P φ*": lambda o: o.phi @ o.P @ o.phi.T,
    "H φ (M + 2 P⁺) φ* H*": lambda o: o.H @ o.phi @ (o.M + 2 * o.P_plus) @ o.phi.T @ o.H.T,
    "ψ M ψ*": lambda o: o.psi @ o.M @ o.psi.T,
    "φ* P φ": lambda o: o.phi.T @ o.P @ o.phi,
    "φ M ψ*": lambda o: o.phi @ o.M @ o.psi.T,
    "ψ G G* φ*": lambda o: o.psi @ o.G @ o.G.T @ o.phi.T,
    "G φ* H* D⁻¹ H φ": lambda o: o.G.T @ o.phi.T @ o.H.T @ o.D.inv @ o.H @ o.phi,
    "φ* M ψ P": lambda o: o.phi.T @ o.M @ o.psi @ o.P,
    "H Ω H*": lambda o: o.H @ o.Omega @ o.H.T,
    "E M E*": lambda o: o.E @ o.M @ o.E.T,
    "E* M E": lambda o: o.E.T @ o.M @ o.E,
    "φ (M + E* M E) φ*": lambda o: o.phi @ (o.M + o.E.T @ o.M @ o.E) @ o.phi.T,
    "E E E* E*": lambda o: o.E @ o.E @ o.E.T @ o.E.T,
    "E E* E": lambda o: o.E @ o.E.T @ o.E,
    "K D K*": lambda o: o.K @ o.D @ o.K.T,
    "E²": lambda o: o.E**2,
    "φ⁰": lambda o: o.phi**0,
    # sums
    "2 φ − 3 ψ*": lambda o: 2 * o.phi - 3 * o.psi.T,
    "1 − ½ τ": lambda o: 1 - 0.5 * o.tau,
    "φ − φ": lambda o: o.phi - o.phi,
    "H − H φ": lambda o: o.H - o.H @ o.phi,
    "(φ + φ*) (M − 2 E)": lambda o: (o.phi + o.phi.T) @ (o.M - o.E / 0.5),
    "ℳ − D": lambda o: o.mass - o.D,
    "−(1 − H ψ K)* D": lambda o: -(1 - o.H @ o.psi @ o.K).T @ o.D,
}

RULES = (*IDENTITIES, *FACTORIZATIONS, *INVERSES)


def _letters(n: int) -> str:
    side = RULES[n].sides(case("one node").sko)[0]
    return side.rows.name[0] + side.columns.name[0]


RULE_SIDES = [(n, side, _letters(n)) for n in range(len(RULES)) for side in (0, 1)]
COEFFICIENTS = (1.0, -1.0, 2.0, -0.5)


@st.composite
def words(draw, kind: str, depth: int = 3):
    """An expression from space kind[1] to kind[0], as nested tuples."""
    rows, columns = kind
    forms = ["element"] * 2 + ["side of a rule"] * 2
    if depth:
        forms += ["product"] * 4 + ["sum", "sum", "transpose", "multiple"] + ["shift"] * (rows == columns)
    match draw(st.sampled_from(forms)):
        case "element":
            plain = [name for name, letters in ELEMENTS.items() if letters == kind]
            starred = [name + ".T" for name, letters in ELEMENTS.items() if letters == columns + rows]
            return draw(st.sampled_from(plain + starred))
        case "side of a rule":
            fit = [(n, side) for n, side, letters in RULE_SIDES if letters == kind]
            fit += [("T", (n, side)) for n, side, letters in RULE_SIDES if letters == columns + rows]
            return draw(st.sampled_from(fit)) if fit else draw(words(kind, 0))
        case "product":
            middle = draw(st.sampled_from("bj"))
            return "@", draw(words(rows + middle, depth - 1)), draw(words(middle + columns, depth - 1))
        case "sum":
            c, d = draw(st.sampled_from(COEFFICIENTS)), draw(st.sampled_from(COEFFICIENTS))
            return "+", c, draw(words(kind, depth - 1)), d, draw(words(kind, depth - 1))
        case "transpose":
            return "T", draw(words(columns + rows, depth - 1))
        case "multiple":
            return "*", draw(st.sampled_from(COEFFICIENTS)), draw(words(kind, depth - 1))
        case "shift":
            return "1+", draw(st.sampled_from(COEFFICIENTS)), draw(words(kind, depth - 1))


def value(word, o, side: Callable):
    """The word on o; `side(n, k)` gives side k of rule n."""
    match word:
        case str():
            return element(word)(o)
        case "@", a, b:
            return value(a, o, side) @ value(b, o, side)
        case "+", c, a, d, b:
            return c * value(a, o, side) + d * value(b, o, side)
        case "T", a:
            return value(a, o, side).T
        case "*", c, a:
            return c * value(a, o, side)
        case "1+", c, a:
            return 1 + c * value(a, o, side)
        case int() as n, int() as k:
            return side(n, k)
    raise ValueError(word)


def operator_and_matrix(word, found, hand):
    """The word as the code has it and by hand."""

    def side(n, k):
        return RULES[n].sides(found)[k]

    return value(word, found, side), value(word, hand, lambda n, k: hand.of(side(n, k)))
