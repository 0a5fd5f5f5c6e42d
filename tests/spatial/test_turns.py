"""Rotations by turns, bodies as points, and regrouped inertias, against plain matrices."""

import numpy as np
import pytest
import zoo
from hypothesis import given
from hypothesis import strategies as st
from tolerance import EPS, assert_close, gamma

from kinetree.algebra.rigid import sko_model
from kinetree.compiler.emit import live_nodes
from kinetree.compiler.graph import Graph
from kinetree.compiler.stats import count
from kinetree.model.lean import inertia_matrix
from kinetree.spatial.points import field_gradient, wrench
from kinetree.spatial.rotations import rotation_about, skew
from kinetree.spatial.turns import Turn, about, placed

RNG = np.random.default_rng(0)
angles = st.floats(-10.0, 10.0) | st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi, 1e-9, 1e-17])
axes = st.sampled_from([*np.eye(3), *-np.eye(3), np.array([0.6, 0.0, 0.8]), np.array([1.0, 2.0, 2.0]) / 3.0])
ROUNDING = 60 * EPS
"""Three products of (3, 3) matrices in a row, and the angles taken from one of them."""


def right_angles(R):
    return np.where(abs(R) < 1e-15, 0.0, np.where(abs(abs(R) - 1.0) < 1e-15, np.sign(R), R))


@given(axes, angles, axes, angles, axes, angles, st.integers(0, 99))
def test_a_congruence_by_turns_is_the_one_by_the_matrix(axis, angle, first, alpha, second, beta, seed):
    placement = right_angles(rotation_about(first, alpha) @ rotation_about(second, beta))
    R = placed(placement, about(axis, angle))
    X = np.random.default_rng(seed).normal(size=(3, 3))
    assert_close(R.matrix, placement @ rotation_about(axis, angle), ROUNDING)
    assert_close(R.congruence(X), R.matrix @ X @ R.matrix.T, ROUNDING, scale=1.0)


def test_two_turns_in_a_row_are_a_congruence_by_their_product():
    R = about(np.eye(3)[0], 0.3) @ about(np.eye(3)[1], -1.2)
    X = RNG.normal(size=(3, 3))
    assert_close(R.congruence(X), R.matrix @ X @ R.matrix.T, ROUNDING)


@pytest.mark.parametrize(
    ("entries", "multiplications"),
    [("general", 14), ("symmetric", 11), ("antisymmetric", 4), ("multiple of 1", 0)],
)
def test_a_turn_multiplies_no_more_than_it_must(entries, multiplications):
    """Of these two are for cos θ sin θ and sin² θ; a factor of 2 counts as one."""
    graph = Graph()
    x, (c, s) = graph.input((3, 3)), graph.input(2)
    if entries == "symmetric":
        x = np.where(np.triu(np.ones((3, 3), bool)), x, x.T)
    if entries == "antisymmetric":
        x = skew(x[0])
    if entries == "multiple of 1":
        x = np.array([[x[0, 0], 0.0, 0.0], [0.0, x[0, 0], 0.0], [0.0, 0.0, x[0, 0]]], dtype=object)
    Y = Turn("z", c, s).congruence(x)
    if entries == "symmetric":
        Y = Y[np.triu_indices(3)]
    assert count(live_nodes(graph, list(Y.flat)), [Y])["mul"] <= multiplications


def test_a_placement_by_right_angles_costs_nothing():
    graph = Graph()
    x, (c, s) = graph.input((3, 3)), graph.input(2)
    turn = about(np.eye(3)[2], 0.0)
    R = placed(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), turn)
    R = type(R)((R.factors[0], Turn("z", c, s)))
    assert count(live_nodes(graph, list(R.congruence(x).flat)), [R.congruence(x)])["mul"] <= 14


@pytest.mark.parametrize("name", ["chain", "mixed chain", "g1"])
def test_the_wrench_of_a_motion_is_newton_and_euler(name):
    model = zoo.model(name)
    for body, M in zip(model.bodies, model.inertias, strict=True):
        omega, rate, a = RNG.normal(size=(3, 3))
        h = body.inertia.mass * body.inertia.com
        gyroscopic = np.concatenate([np.cross(omega, M[:3, :3] @ omega), np.cross(omega, np.cross(omega, h))])
        wanted = M @ np.concatenate([rate, a]) + gyroscopic
        found = wrench(body.inertia.pseudo_inertia, field_gradient(omega, rate), a)
        assert_close(found, wanted, 40 * EPS, scale=float(np.abs(M).max() * (omega @ omega)))
        assert_close(inertia_matrix(body.inertia.pseudo_inertia), M, 8 * EPS)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_regrouped_inertias_make_the_same_mass_matrix_and_hold_nothing_a_parent_can_carry(name):
    model, (q, *_) = zoo.model(name), zoo.state(name)
    found, wanted = sko_model(model.lean.grouped, q).mass.dense(), sko_model(model, q, ()).mass.dense()
    assert_close(found.astype(float), wanted, gamma(model))
    reach = 1.0 + sum(np.abs(body.placement.translation).max() + np.abs(body.inertia.com).max() for body in model.bodies)
    whole = sum(np.abs(body.inertia.pseudo_inertia).max() for body in model.bodies) * reach**2
    for body, J in zip(model.lean.bodies, model.lean.grouped.pseudo_inertias, strict=True):
        Q = body.joint.unmoved()
        assert_close(Q @ J @ Q, np.zeros((4, 4)), gamma(model), scale=whole)
        assert_close(Q @ Q, Q, 8 * EPS)
