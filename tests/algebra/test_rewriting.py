"""Expressions print as algebra, and simplify without changing the matrix: every identity, and words drawn at random."""

import numpy as np
import pytest
from by_hand import assert_equal
from cases import ABSTRACT, ROBOTS, case, forests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from words import RULES, operator_and_matrix, words

from kinetree.algebra.identities import INVERSES

NAMES = (
    "weld within",
    "mixed chain",
    "forest",
    "massless within",
    "rotors",
    "rotors in a forest",
    *ROBOTS,
    *(name for name in ABSTRACT if name not in ("one node", "abstract chain", "chain from the tip", "abstract 60")),
)
IDS = [f"{n} {rule.number}" for n, rule in enumerate(RULES)]


@pytest.fixture(params=RULES, ids=IDS)
def rule(request):
    return request.param


@pytest.mark.parametrize("name", NAMES)
def test_identities_hold(rule, name):
    """Both sides are the same matrix, by hand and as the code has them; so are their transposes and their simplest forms."""
    one = case(name)
    sides = rule.sides(one.sko)
    left, right = (one.hand.of(side) for side in sides)
    if rule in INVERSES:
        assert_equal((left @ right).value, left @ right**0 @ left.inv)
        assert_equal(sides[0].inv.dense(), right, left.inv)
        assert_equal(sides[1].inv.dense(), left, right.inv)
        assert_equal(sides[0].T.inv.dense(), right.T, left.inv.T)
        for product in (sides[0] @ sides[1], sides[1] @ sides[0], sides[0].T @ sides[1].T):
            assert str(product.simplify()) == "1"
        return
    assert_equal(left.value, right, left)
    for side, own, other in ((sides[0], left, right), (sides[1], right, left)):
        assert_equal(side.dense(), own, other)
        if name in ROBOTS:  # large: the rest is of the rules, not of the model
            continue
        assert_equal(side.T.dense(), own.T, other.T)
        simple = side.simplify()
        assert_equal(one.hand.of(simple).value, own, other)
        assert_equal(one.hand.of(side.T.simplify()).value, own.T, other.T)
        assert_equal(simple.dense(), own, other)


@pytest.mark.parametrize("name", ["mixed chain", "rotors"])
def test_identities_are_used(rule, name):
    """In the direction that costs less, and transposed; unless others lead further."""
    dear, cheap = sorted(rule.sides(case(name).sko), key=lambda side: -side.cost)
    if rule in INVERSES:
        dear, cheap = dear @ cheap, dear**0
    assert dear.cost > cheap.cost
    for found in (dear.simplify(), dear.T.simplify()):
        assert found.cost <= cheap.simplify().cost <= cheap.cost
    is_used = any("simplifies by" in line and rule.number in line for line in dear.explain().splitlines())
    assert is_used or dear.simplify().cost < cheap.cost


PRINTED = {
    "H φ M φ* H*": lambda o: o.H @ o.phi @ o.M @ o.phi.T @ o.H.T,
    "(1 − H ψ K)* D⁻¹ (1 − H ψ K)": lambda o: o.mass.inv,
    "(1 + H φ K) D (1 + H φ K)*": lambda o: o.mass.inv.inv,
    "1 − H ψ K": lambda o: (1 + o.H @ o.phi @ o.K).inv,
    "φ* H* D⁻¹ H φ": lambda o: o.phi.T @ o.H.T @ o.D.inv @ o.H @ o.phi,
    "Ω": lambda o: o.Omega,
    "φ⁻¹": lambda o: o.phi.inv,
    "φ⁻¹*": lambda o: o.phi.T.inv,
    "P − E_φ (P − P H* D⁻¹ H P) E_φ*": lambda o: o.P - o.E @ (o.P - o.P @ o.H.T @ o.D.inv @ o.H @ o.P) @ o.E.T,
    "φ + 2 ψ − 0.5 P": lambda o: o.phi + 2 * o.psi - 0.5 * o.P,
    "−φ": lambda o: -o.phi,
    "−φ + ψ": lambda o: -o.phi + o.psi,
    "−3 φ M": lambda o: o.phi @ (-3 * o.M),
    "2 − τ": lambda o: 2 - o.tau,
    "φ − 1": lambda o: o.phi - 1,
    "3 φ": lambda o: o.phi + o.phi + o.phi,
    "0.25 φ": lambda o: o.phi / 4,
    "1": lambda o: o.phi**0,
    "0": lambda o: o.phi - o.phi,
    "E_φ E_φ": lambda o: o.E**2,
    "(φ + φ*) (M − ψ)": lambda o: (o.phi + o.phi.T) @ (o.M - o.psi),
    "(1 − H ψ K)*": lambda o: (1 - o.H @ o.psi @ o.K).T,
    "φ M + φ R": lambda o: o.phi @ o.M + o.phi @ o.R,
    "H (1 + φ)* H*": lambda o: o.H @ (1 + o.phi).T @ o.H.T,
}


@pytest.mark.parametrize("text", PRINTED)
def test_printing(text):
    op = PRINTED[text](case("bush").sko)
    assert str(op) == repr(op) == text
    assert str(op.T.T) == text


def test_elements_print_as_their_symbols():
    s = case("bush").sko
    elements = s.E, s.phi, s.H, s.M, s.R, s.P, s.D, s.G, s.K, s.psi, s.Omega, s.tau, s.taubar, s.P_plus, s.E_psi
    assert " ".join(map(str, elements)) == "E_φ φ H M R P D G K ψ Ω τ τ̄ P⁺ E_ψ"
    starred = (x.T for x in elements)
    assert " ".join(map(str, starred)) == "E_φ* φ* H* M R P D G* K* ψ* Ω τ* τ̄* P⁺ E_ψ*"


SIMPLIFIED = {
    "mass⁻¹ mass": (lambda o: o.mass.inv @ o.mass, "1"),
    "mass mass⁻¹": (lambda o: o.mass @ o.mass.inv, "1"),
    "mass⁻¹⁻¹": (lambda o: o.mass.inv.inv, "H φ M φ* H*"),
    "compliance": (lambda o: o.phi.T @ o.H.T @ o.mass.inv @ o.H @ o.phi, "Ω"),
    "compliance by ψ": (lambda o: o.psi.T @ o.H.T @ o.D.inv @ o.H @ o.psi, "Ω"),
    "φ⁻¹ φ": (lambda o: o.phi.inv @ o.phi, "1"),
    "φ* φ⁻¹*": (lambda o: o.phi.T @ o.phi.inv.T, "1"),
    "P P⁻¹": (lambda o: o.P @ o.P.inv, "1"),
    "(1 − E) φ": (lambda o: (1 - o.E) @ o.phi, "1"),
    "ψ* (1 − E_ψ)*": (lambda o: o.psi.T @ (1 - o.E_psi).T, "1"),
    "E φ": (lambda o: o.E @ o.phi, "φ − 1"),
    "E φ + 1": (lambda o: o.E @ o.phi + 1, "φ"),
    "P H* D⁻¹ H": (lambda o: o.P @ o.H.T @ o.D.inv @ o.H, "τ"),
    "E P H* D⁻¹": (lambda o: o.E @ o.P @ o.H.T @ o.D.inv, "K"),
    "H τ̄ within": (lambda o: o.phi.T @ o.H.T @ o.H @ o.taubar @ o.phi, "0"),
    "Riccati": (lambda o: o.P - o.E @ o.P_plus @ o.E.T, "M"),
    "Lyapunov within": (lambda o: o.H @ (2 * o.R - 2 * o.E @ o.R @ o.E.T) @ o.H.T, "2 H M H*"),
    "momentum to rate": (lambda o: (1 - o.H @ o.psi @ o.K) @ o.H @ o.phi, "H ψ"),
    "H ψ M ψ* H*": (lambda o: o.H @ o.psi @ o.M @ o.psi.T @ o.H.T, "D"),
    "mass by composites": (
        lambda o: o.H @ o.R @ o.H.T + o.H @ o.phi @ o.E @ o.R @ o.H.T + o.H @ o.R @ o.E.T @ o.phi.T @ o.H.T,
        "H φ M φ* H*",
    ),
    "nothing to do": (lambda o: o.phi @ o.M @ o.psi.T, "φ M ψ*"),
}


@pytest.mark.parametrize("name", SIMPLIFIED)
def test_simplify(name):
    expression, text = SIMPLIFIED[name]
    op = expression(case("full forest").sko)
    simple = op.simplify()
    assert str(simple) == text
    assert simple.cost <= op.cost
    assert str(op.T.simplify().T) == text
    hand = case("full forest").hand
    assert_equal(hand.of(simple).value, expression(hand))


def test_explain_names_the_equations():
    s = case("bush").sko
    assert s.mass.inv.explain() == "\n".join(
        [
            "(1 − H ψ K)* D⁻¹ (1 − H ψ K)",
            "  came from  H φ M φ* H* = (1 + H φ K) D (1 + H φ K)*    (49) innovations factorization of the mass matrix",
            "  came from  ((1 + H φ K)*)⁻¹ = (1 − H ψ K)*    (50)",
            "  came from  (1 + H φ K)⁻¹ = 1 − H ψ K    (50)",
            "  No identity makes it cost less.",
        ]
    )


def models():
    """Drawn ones, and a few of the zoo."""
    return st.one_of(forests(6), st.sampled_from(["bush", "forest", "weld within", "mixed chain"]).map(case))


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(models(), st.sampled_from(["bb", "bj", "jb", "jj"]).flatmap(words))
def test_random_words(one, word):
    """Applied, dense, in blocks and transposed a word is its matrix; simplified it still is, and costs no more."""
    A, W = operator_and_matrix(word, one.sko, one.hand)
    simple = A.simplify()
    besides = one.hand.of(simple)
    assert simple.cost <= A.cost
    assert simple.simplify().cost == simple.cost
    assert_equal(one.hand.of(A).value, W)
    assert_equal(A.dense(), W)
    assert_equal(A @ np.eye(A.shape[1]), W)
    assert_equal(A.T.dense(), W.T)
    assert_equal(besides.value, W, besides)
    assert_equal(simple.dense(), W, besides)
    assert_equal(one.hand.of(A.T.simplify()).value, W.T, besides.T)
    pattern = A.pattern()
    for i, rows in enumerate(A.rows.slices):
        for j, columns in enumerate(A.columns.slices):
            assert pattern[i, j] or np.abs(W.value[rows, columns]).max(initial=0.0) <= W.bound + besides.bound
