"""Expressions applied to traced numbers become kernels that give what the interpreted expressions give."""

import numpy as np
import pytest
import zoo
from by_hand import Matrix, assert_equal
from cases import case
from words import OPERATORS

import kinetree as kt
from kinetree.algebra.rigid import sko_model
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build

EXPRESSIONS = ("mass", "mass.inv", "Omega", "φ M ψ*", "E* M E", "ψ K", "P_plus", "(φ + φ*) (M − 2 E)", "(1 + H φ K)⁻¹")


@pytest.mark.parametrize("name", ["forest", "weld within"])
def test_a_kernel_gives_what_is_interpreted(name):
    """A x, A* y, dense matrices, blocks and the log-determinant, all results of one kernel."""
    one = case(name)
    graph = Graph()
    q, v, x = graph.input(one.model.nq), graph.input(one.model.nv), graph.input(6 * one.model.nbodies)

    def results(s, v, x):
        made = []
        for expression in (OPERATORS[text] for text in EXPRESSIONS):
            A = expression(s)
            made.append(A @ (v if A.columns == s.joints else x))
            made.append(A.T @ (v if A.rows == s.joints else x))
        made += [s.mass.dense(), s.mass.inv.dense(), s.Omega.blocks(0, 2), s.mass.logdet(), s.D.inv.slogdet()[1]]
        return made

    traced = results(sko_model(one.model, q), v, x)
    kernel = build("expressions", "", graph, [q, v, x], traced)
    numbers = one.q, one.vector("joints", 1), one.vector("bodies", 2)
    states = zoo.model(name).random(4, 9)
    for found, wanted in zip(kernel(*numbers), results(one.sko, *numbers[1:]), strict=True):
        assert np.shape(found) == np.shape(wanted)
        assert np.abs(found - wanted).max() <= 1e-12 * max(np.abs(wanted).max(), 1.0)
    for n, found in enumerate(kernel(states, *numbers[1:])):
        wanted = [results(kt.operators(one.model, state), *numbers[1:])[n] for state in states[:2]]
        assert np.abs(found[:2] - wanted).max() <= 1e-12 * max(np.abs(wanted).max(), 1.0)


def test_traced_vectors_on_numbers():
    """The model is of plain numbers, only x is traced."""
    one = case("full forest")
    graph = Graph()
    x = graph.input(len(one.hand.mass.value))
    kernel = build("accelerations", "", graph, [x], [one.sko.mass.inv @ x])
    x = one.vector("joints")
    assert_equal(kernel(x)[:, None], one.hand.mass.inv @ Matrix(x[:, None], np.abs(x)[:, None], 0.0))
