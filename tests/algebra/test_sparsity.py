"""Segments of trees and sparsity of operators: Jain II, sections 4.2 and 7."""

from __future__ import annotations

from itertools import pairwise

import documents
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.algebra.sko import SKO
from kinetree.algebra.sparsity import entry_pattern, segment_pattern
from kinetree.model import GROUND, Tree

some = settings(max_examples=40, deadline=None)


@st.composite
def trees(draw, most=12):
    """Forests of any shape and numbering; every other node hangs on the one before, so that chains are long."""
    size = draw(st.integers(1, most))
    parents = [draw(st.one_of(st.just(k - 1), st.integers(GROUND, k - 1))) for k in range(size)]
    number = draw(st.one_of(st.just(list(range(size))), st.permutations(range(size))))
    renamed = [GROUND] * size
    for k, parent in enumerate(parents):
        renamed[number[k]] = GROUND if parent == GROUND else number[parent]
    return Tree(tuple(renamed))


@st.composite
def models(draw, least=0):
    """SKO models with weights of any size and joints of any number of coordinates, `least` or more; no number special."""
    tree = draw(trees(most=9))
    sizes = draw(st.lists(st.integers(1, 3), min_size=len(tree), max_size=len(tree)))
    joints = [draw(st.integers(least, m)) for m in sizes]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    E = [None if p == GROUND else rng.normal(size=(sizes[p], m)) for p, m in zip(tree.parents, sizes, strict=True)]
    H = [np.linalg.qr(rng.normal(size=(m, m)))[0][:n] for m, n in zip(sizes, joints, strict=True)]
    M = [X @ X.T + np.eye(len(X)) for X in (rng.normal(size=(m, m)) for m in sizes)]
    return SKO(tree.parents, E, H, M)


def nonzero_blocks(op, X):
    """Which blocks of a dense matrix are nonzero; an empty block is zero."""
    return np.array([[bool(X[r, c].any()) for c in op.columns.slices] for r in op.rows.slices])


def dense_phi(sko):
    """φ by its series in E, whose entries are exactly zero where no path leads."""
    E = sko.E.dense()
    phi = power = np.eye(len(E))
    for _ in sko.tree.parents:
        power = E @ power
        phi = phi + power
    return E, phi


def dense_mass(sko):
    E, phi = dense_phi(sko)
    H, M = sko.H.dense(), sko.M.dense()
    return E, phi, H @ phi @ M @ phi.T @ H.T


# The tree.


@some
@given(trees())
def test_segments_part_the_tree_into_maximal_chains(tree):
    segments = tree.segments
    assert sorted(k for segment in segments for k in segment) == list(range(len(tree)))
    for segment in segments:
        first, last = segment[0], segment[-1]
        assert all(tree.parents[k] == above for above, k in pairwise(segment))
        assert tree.parents[first] == GROUND or len(tree.children[tree.parents[first]]) > 1
        assert len(tree.children[last]) != 1


@some
@given(trees())
def test_segments_make_a_tree_of_their_own(tree):
    over = Tree(tree.segment_parents)
    assert all(parent < n for n, parent in enumerate(over.parents))
    for n, parent in enumerate(over.parents):
        hangs_on = tree.parents[tree.segments[n][0]]
        assert hangs_on == (GROUND if parent == GROUND else tree.segments[parent][-1])
    assert all(len(children) != 1 for children in over.children)


@some
@given(trees())
def test_depth_first_keeps_every_subtree_together(tree):
    order = tree.depth_first
    assert sorted(order) == list(range(len(tree)))
    for k in range(len(tree)):
        subtree = {j for j in range(len(tree)) if k in tree.path_to_root(j)}
        at = order.index(k)
        assert set(order[at : at + len(subtree)]) == subtree


def test_an_empty_tree_has_no_segments():
    assert Tree(()).segments == Tree(()).segment_parents == Tree(()).depth_first == ()


def test_figure_3():
    case = documents.cases()["002_fig3_5segment_tree12"]
    expected, count = case["expected"], 5
    size = len(expected["jain_parents"])
    tree = Tree(tuple(GROUND if p == 0 else size - p for p in reversed(expected["jain_parents"])))  # his node k is N − k here
    assert tree == documents.case(case["name"]).model.tree
    assert [len(segment) for segment in reversed(tree.segments)] == expected["segment_lengths"]  # and his segment n is 5 − n
    assert [0 if p == GROUND else count - p for p in reversed(tree.segment_parents)] == expected["segment_parents"]
    sko = SKO(tree.parents, *([np.eye(1) if p != GROUND else None for p in tree.parents],), *2 * ([np.eye(1)] * size,))
    zeros = np.argwhere(~np.triu(segment_pattern(sko.mass)) & np.triu(np.ones((count, count), dtype=bool)))
    assert sorted(sorted(count - n for n in pair) for pair in zeros.tolist()) == expected["segment_zero_blocks"]


def test_display_of_section_4():
    case = documents.cases()["002_sparsity_7node"]
    parents = [p - 1 for p in case["params"]["parents"]]
    one = [np.eye(1)] * len(parents)
    mass = SKO(parents, [None if p == GROUND else np.eye(1) for p in parents], one, one).mass
    assert ["".join(".X"[x] for x in row) for row in mass.pattern().astype(int)] == case["expected"]["pattern"]


# Patterns.


@some
@given(models())
def test_pattern_says_which_blocks_are_nonzero(sko):
    for op, X in zip((sko.E, sko.phi, sko.mass), dense_mass(sko), strict=True):
        assert np.array_equal(op.pattern(), nonzero_blocks(op, X)), op
        assert np.array_equal(op.T.pattern(), op.pattern().T)


@some
@given(models())
def test_no_block_outside_the_pattern_is_nonzero(sko):
    for op in (sko.psi, sko.K, sko.mass.inv, sko.Omega, sko.phi.inv, 1 - sko.E, sko.H @ sko.psi @ sko.K, 2 * sko.phi @ sko.E.T):
        assert not (nonzero_blocks(op, np.abs(op.dense()) > 1e-12) & ~op.pattern()).any(), op


@some
@given(models())
def test_entries_fill_the_blocks_of_the_pattern(sko):
    E, _, mass = dense_mass(sko)
    assert np.array_equal(entry_pattern(sko.E), E != 0)
    assert np.array_equal(entry_pattern(sko.mass), mass != 0)


@some
@given(models(least=1))
def test_mass_matrix_is_dense_within_related_segments_and_zero_between_others(sko):
    over = Tree(sko.tree.segment_parents)
    related = [[i in over.path_to_root(j) or j in over.path_to_root(i) for j in range(len(over))] for i in range(len(over))]
    assert np.array_equal(segment_pattern(sko.mass), related)
    of = {k: n for n, segment in enumerate(sko.tree.segments) for k in segment}
    blocks = sko.mass.pattern()
    assert all(blocks[i, j] == related[of[i]][of[j]] for i in of for j in of)


@some
@given(models())
def test_E_is_one_step_within_segments_and_one_connector_block_between(sko):
    """(61), (62): E_jk is zero but for the block of the last node of j and the first of k, in this numbering."""
    tree, blocks = sko.tree, nonzero_blocks(sko.E, sko.E.dense())
    for j, upper in enumerate(tree.segments):
        for k, lower in enumerate(tree.segments):
            expected = np.zeros((len(upper), len(lower)), dtype=bool)
            if j == k:
                expected = np.eye(len(upper), k=1, dtype=bool)
            elif tree.segment_parents[k] == j:
                expected[-1, 0] = True
            assert np.array_equal(blocks[np.ix_(upper, lower)], expected)


@some
@given(models())
def test_phi_between_segments_by_connectors(sko):
    """(63): φ_jk = φ_j E_ji φ_ik, with i the child of j on the way to k; φ_j = (1 − E_j)⁻¹."""
    E, phi = dense_phi(sko)
    over = Tree(sko.tree.segment_parents)
    at = [np.concatenate([np.arange(s.start, s.stop) for s in (sko.bodies.slices[k] for k in c)]) for c in sko.tree.segments]
    scale = max(1.0, np.abs(phi).max()) ** 2
    for k, columns in enumerate(at):
        for j in over.path_to_root(k):
            own = np.linalg.inv(np.eye(len(at[j])) - E[np.ix_(at[j], at[j])])
            if j != k:
                child = over.path_down(j, k)[0]
                own = own @ E[np.ix_(at[j], at[child])] @ phi[np.ix_(at[child], columns)]
            assert np.abs(phi[np.ix_(at[j], columns)] - own).max() < 1e-13 * scale


@pytest.mark.parametrize("reach", [1, 40])
def test_patterns_of_three_thousand_bodies(reach):
    size, rng = 3000, np.random.default_rng(reach)
    tree = Tree(tuple(k - 1 if k < reach else int(rng.integers(k - reach, k)) for k in range(size)))
    one = [np.eye(1)] * size
    sko = SKO.trusted(tree, one, one, one, one, [1] * size, 1, [str(k) for k in range(size)], ())
    assert sko.mass.pattern().sum() == 2 * sum(tree.depths) - size
