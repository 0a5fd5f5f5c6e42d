"""Models of every sort: drawn forests, weights of any size, the documents' numbers, any numbering, sixty bodies."""

import documents
import numpy as np
import pytest
import zoo
from by_hand import Matrix, assert_equal
from cases import Case, abstract, case, forests, permuted, rigid
from hypothesis import given, settings
from hypothesis import strategies as st
from test_equations import ANY, EQUATIONS
from tolerance import assert_close
from words import OPERATORS, RULES

import kinetree as kt

ON_ANY = [found for found in EQUATIONS if found.names == ANY]


def assert_operator(one: Case, name: str):
    """An expression and its transpose are their matrices, whole, on a vector, and block by block."""
    A, W = OPERATORS[name](one.sko), OPERATORS[name](one.hand)
    assert_equal(A.dense(), W)
    assert_equal(A.T @ np.eye(A.shape[0]), W.T)
    pattern = A.pattern()
    for i, rows in enumerate(A.rows.slices):
        for j, columns in enumerate(A.columns.slices):
            wanted = W.value[rows, columns]
            assert np.abs(A.blocks(i, j) - wanted).max(initial=0.0) <= 2 * W.bound
            assert pattern[i, j] or np.abs(wanted).max(initial=0.0) <= W.bound


@settings(max_examples=200, deadline=None, derandomize=True)
@given(forests(rotors=False), st.sampled_from(ON_ANY))
def test_equations_on_drawn_forests(one, equation):
    equation.check(one)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(forests(), st.sampled_from(RULES))
def test_identities_on_drawn_forests(one, rule):
    sides = rule.sides(one.sko)
    left, right = (one.hand.of(side) for side in sides)
    for side, own, other in ((sides[0], left, right), (sides[1], right, left)):
        assert_equal(side.dense(), own)
        assert_equal(one.hand.of(side.simplify()).value, own, other)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(forests(), st.sampled_from(sorted(OPERATORS)))
def test_operators_on_drawn_forests(one, name):
    assert_operator(one, name)


@st.composite
def mechanisms(draw):
    """Trees and forests of rigid bodies with any joints, none of them in order of depth."""
    size = draw(st.integers(1, 10))
    parents = [draw(st.integers(-1, k - 1)) for k in range(size)]
    kinds = [draw(st.sampled_from(sorted(zoo.JOINTS))) for _ in range(size)]
    model = zoo.tree("drawn", parents, kinds, draw(st.integers(0, 2**20)))
    return rigid("drawn", model, model.random(draw(st.integers(0, 2**20))))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(mechanisms(), st.sampled_from(sorted(OPERATORS)), st.sampled_from(ON_ANY))
def test_drawn_mechanisms(one, name, equation):
    assert_operator(one, name)
    equation.check(one)


@pytest.mark.parametrize("name", ["abstract 60", "random 60", "long chain"])
def test_sixty_bodies(name):
    one = case(name)
    for text in ("mass", "mass.inv", "Omega", "psi", "P", "φ M ψ*", "φ* M ψ P", "ψ G G* φ*"):
        A, W = OPERATORS[text](one.sko), OPERATORS[text](one.hand)
        assert_equal(A.dense(), W)
        x = np.random.default_rng(1).normal(size=A.shape[1])
        assert_equal((A @ x)[:, None], W @ Matrix(x[:, None], np.abs(x)[:, None], 0.0))
        for i, j in np.random.default_rng(2).integers(0, len(A.rows), (20, 2)):
            assert np.abs(A.blocks(i, j) - W.value[A.rows.slices[i], A.columns.slices[j]]).max(initial=0) <= 2 * W.bound
    n, condition = len(one.hand.mass.value), one.hand.condition
    assert abs(one.sko.mass.logdet() - np.linalg.slogdet(one.hand.mass.value)[1]) <= n * one.hand.mass.error * condition


@pytest.mark.parametrize("name", ["full forest", "002_abstract_sko_nonsquare"])
@pytest.mark.parametrize("expression", OPERATORS)
def test_the_numbering_does_not_matter(name, expression):
    """Nodes renamed, the same blocks stand in other places, up to the order of sums over children."""
    one = case(name)
    d, order = one.hand, np.random.default_rng(5).permutation(len(one.hand.parents))
    back = np.argsort(order)
    other = abstract(
        "renamed",
        permuted(d.parents, order.tolist()),
        *([blocks[k] for k in back] for blocks in (d.weights, d.H_blocks, d.M_blocks)),
    )
    A, B = OPERATORS[expression](one.sko), OPERATORS[expression](other.sko)
    W = OPERATORS[expression](d)
    found, renamed = A.dense(), B.dense()
    assert np.array_equal(B.pattern()[np.ix_(order, order)], A.pattern())
    for i in d.nodes:
        for j in d.nodes:
            block = renamed[B.rows.slices[order[i]], B.columns.slices[order[j]]]
            assert np.abs(found[A.rows.slices[i], A.columns.slices[j]] - block).max(initial=0.0) <= 2 * W.bound


# The documents' numbers.


def test_abstract_model_of_the_documents():
    one, found = case("002_abstract_sko_nonsquare"), documents.cases()["002_abstract_sko_nonsquare"]
    s, p, wanted = one.sko, found["params"], found["expected"]

    def close(value, number):
        assert_close(value, np.array(number), 1e-12)

    close(s.mass.dense(), wanted["mass_matrix"])
    close(s.mass.inv.dense(), wanted["mass_matrix_inverse"])
    close((s.H @ s.phi @ s.K).dense(), wanted["HAK"])
    close((s.H @ s.psi @ s.K).dense(), wanted["HpsiK"])
    close(s.Omega.dense(), wanted["Omega"])
    close(np.exp(s.mass.logdet()), wanted["det_mass_matrix"])
    for k, parent in enumerate(one.hand.parents):
        for op, name in ((s.R, "composite_R"), (s.P, "P"), (s.D, "D"), (s.G, "G")):
            close(op.blocks(k, k), wanted[name][k])
        if parent >= 0:
            close(s.E_psi.blocks(parent, k), wanted["psi_weights"][k])
    a, b, T = (np.array(p[name]) for name in "abT")
    C = s.H @ (s.phi @ (s.M @ (s.phi.T @ a) + b))
    close(s.mass.inv @ (T - C), wanted["thdd"])
    close(
        (1 - s.H @ s.psi @ s.K).T @ (s.D.inv @ (T - s.H @ (s.psi @ (s.K @ T + s.P @ a + b)))) - s.K.T @ (s.psi.T @ a),
        wanted["thdd"],
    )


def test_sparsity_of_seven_nodes():
    found = documents.cases()["002_sparsity_7node"]
    parents = [p - 1 for p in found["params"]["parents"]]
    rng = np.random.default_rng(3)
    s = kt.SKO(
        parents,
        [None if p < 0 else rng.normal(size=(2, 2)) for p in parents],
        rng.normal(size=(7, 1, 2)),
        [np.eye(2)] * 7,
    )
    wanted = np.array([[mark == "X" for mark in row] for row in found["expected"]["pattern"]])
    assert np.array_equal(s.mass.pattern(), wanted)
    assert np.array_equal(s.mass.dense() != 0.0, wanted)


@pytest.mark.parametrize("name", documents.TREES)
def test_operators_of_the_documents_systems(name):
    """In inertial components, and in the documents' rates q̇ with v = S q̇."""
    d, one, wanted = documents.case(name), case(name), documents.case(name).expected
    rotations, _ = kt.reference(kt.forward_kinematics, d.model, d.q)
    s = kt.operators(d.model, d.q)
    turn = [np.kron(np.eye(2), R) for R in rotations]
    rates, condition = np.array(d.params["qd"]), np.linalg.cond(np.array(wanted["mass_matrix"]))
    v = d.S @ rates

    def close(value, name, index=None, condition=1.0):
        number = np.array(wanted[name] if index is None else wanted[name][index])
        assert_close(np.reshape(value, number.shape), number, 4 * one.hand.gamma * condition, np.abs(turn[0]).max())

    close(d.S.T @ s.mass.dense() @ d.S, "mass_matrix")
    close(d.S.T @ (s.mass @ v), "momentum_p")
    assert (
        abs(s.mass.logdet() + 2 * np.linalg.slogdet(d.S)[1] - wanted["logdet_mass_matrix"]) <= one.hand.gamma * condition * 10
    )
    assert s.E.nilpotency == wanted["nilpotency"]
    velocities, momenta = s.phi.T @ (s.H.T @ v), s.phi @ (s.M @ (s.phi.T @ (s.H.T @ v)))
    for k in one.hand.nodes:
        at, joint = s.bodies.slices[k], s.joints.slices[k]
        close(turn[k] @ velocities[at], "joint_velocity_v", k)
        close(turn[k] @ momenta[at], "momentum_stack_K", k)
        close(turn[k] @ s.P.blocks(k, k) @ turn[k].T, "branch_inertia_J", k, condition)
        close(d.S[joint, joint].T @ s.D.blocks(k, k) @ d.S[joint, joint], "R", k, condition)
        if name.startswith("000"):
            parent = d.model.parents[k]
            close(turn[k] @ s.M.blocks(k, k) @ turn[k].T, "M_i", k)
            close(turn[k] @ s.H.blocks(k, k).T @ d.S[joint, joint], "G", k)
            close(turn[k] @ s.E.blocks(parent, k).T @ turn[parent].T if parent >= 0 else np.zeros((6, 6)), "D", k)


def test_operational_space_of_fig_3():
    name = "002_fig3_5segment_tree12"
    d = documents.case(name)
    wanted, one = d.expected, case(name)
    s = kt.operators(d.model, d.q)
    rotations, _ = kt.reference(kt.forward_kinematics, d.model, d.q)
    turn = [np.kron(np.eye(2), R) for R in rotations]
    bound = 20 * one.hand.gamma * one.hand.condition

    def omega(i, j):
        return turn[i] @ s.Omega.blocks(i, j) @ turn[j].T

    tips = [k - 1 for k in wanted["tips_cdi"]]
    for (m, i), (n, j) in (((1, 0), (1, 0)), ((1, 0), (2, 1)), ((1, 0), (3, 2)), ((2, 1), (2, 1)), ((3, 2), (3, 2))):
        assert_close(
            omega(tips[i], tips[j]), np.array(wanted[f"Omega_tip{m}_tip{n}"]), bound, np.trace(omega(tips[i], tips[i]))
        )
    for n in (1, 2):
        tip = omega(tips[n - 1], tips[n - 1])
        assert_close(np.linalg.inv(tip), np.array(wanted[f"Lambda_tip{n}"]), bound * np.linalg.cond(tip))
    traces = [np.trace(s.Omega.blocks(k - 1, k - 1)) for k in wanted["jain_to_cdi"]]
    assert_close(traces, np.array(wanted["Omega_diag_trace"]), bound)
    assert np.linalg.matrix_rank(np.block([[omega(i, j) for j in tips[:2]] for i in tips[:2]]), tol=1e-9) == 10


# What is singular.


def test_a_batch_may_be_of_very_different_scales():
    scales = np.array([1e-10, 1.0, 1e10]).reshape(3, 1, 1)
    s = kt.SKO([-1, 0], [None, np.eye(2)], [np.eye(2)] * 2, [scales * np.eye(2)] * 2)
    assert np.allclose(s.mass.inv.dense() * scales, np.kron([[1, -1], [-1, 2]], np.eye(2)), rtol=1e-14)


def test_rows_of_a_joint_map_may_have_units_of_their_own():
    s = kt.SKO([-1], [None], [np.diag([1.0, 1e-9])], [np.eye(2)])
    assert np.allclose(s.mass.inv.dense(), np.diag([1.0, 1e18]), rtol=1e-14)


def test_each_state_of_a_batch_is_looked_at():
    """By its own scale: small joint maps are no dependent ones, and a small inertia is not hidden by a large one."""
    scales = np.array([1e-15, 1.0, 1e15]).reshape(3, 1, 1)
    s = kt.SKO([-1], [None], [scales * np.eye(2)], [np.eye(2)])
    assert np.allclose(s.mass.inv.dense() * scales**2, np.eye(2), rtol=1e-14)
    rows = np.array([[1.0, 0.0], [1e-15, 1e-15]])
    assert np.allclose(kt.SKO([-1], [None], [rows], [np.eye(2)]).mass.dense(), rows @ rows.T, rtol=1e-14)
    for wrong, message in (([[1.0, 0.5], [0.0, 1.0]], "symmetric"), ([[1.0, 0.0], [0.0, -1.0]], "positive definite")):
        with pytest.raises(kt.ModelError, match=message):
            kt.SKO([-1], [None], [np.eye(2)], [[1e-15 * np.array(wrong), np.eye(2)]])
    with pytest.raises(kt.ModelError, match="rank 1"):
        kt.SKO([-1], [None], [[np.eye(2), [[1.0, 2.0], [2.0, 4.0]]]], [np.eye(2)])


def test_rounding_of_symmetry_does_not_stay():
    M = np.array([[2.0, 1.0], [1.0 + 1e-11, 3.0]])
    s = kt.SKO([-1], [None], [np.eye(2)], [M])
    X = s.diagonal("X", [M], symmetric=True)
    for A in (s.mass, s.M, X):
        assert np.array_equal(A.dense(), A.dense().T)
        assert np.array_equal(A @ np.eye(2), A.T @ np.eye(2))


@pytest.mark.parametrize("seed", range(20))
def test_no_inertia_but_rounding_is_none(seed):
    """M has no inertia along H except for rounding, of either sign."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    M = Q[:, :1] @ Q[:, :1].T
    s = kt.SKO([-1, 0], [None, np.eye(3)], [np.eye(3), Q[:, 1:2].T], [np.eye(3), 0.5 * (M + M.T)])
    with pytest.raises(kt.ModelError, match="node '1' is not positive definite"):
        s.mass.inv.dense()
