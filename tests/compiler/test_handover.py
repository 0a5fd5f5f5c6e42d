"""Bodies share rows for what they hand over, and find there what was meant for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.compiler.looped.handover import GROUND_ROW, inward_rows, outward_rows
from kinetree.model.tree import GROUND, Tree

trees = st.lists(st.floats(0.0, 1.0, exclude_max=True), min_size=1, max_size=60).map(
    lambda at: Tree(tuple(GROUND + int(x * (k + 1)) for k, x in enumerate(at)))
)


@given(trees)
def test_parents_are_found(tree):
    rows = np.full(len(tree) + 1, -2)
    rows[GROUND_ROW] = GROUND
    for k, (own, above) in enumerate(outward_rows(tree)):
        assert rows[above] == tree.parents[k] and own not in (above, GROUND_ROW)
        rows[own] = k


@given(trees)
def test_all_children_are_found_and_nothing_else(tree):
    rows: dict[int, list[int]] = {}
    for k, (own, above) in reversed(list(enumerate(inward_rows(tree)))):
        first = tree.parents[k] != GROUND and tree.children[tree.parents[k]][-1] == k
        assert own != above or GROUND_ROW == above == own
        assert not tree.children[k] or sorted(rows[own]) == list(tree.children[k])
        rows[above] = [k] if first else [*rows.get(above, ()), k]


@pytest.mark.parametrize("size", [2, 500])
def test_a_chain_needs_two(size):
    tree = Tree(tuple(range(GROUND, size - 1)))
    assert outward_rows(tree).max() <= GROUND_ROW + 2 and inward_rows(tree).max() <= GROUND_ROW + 2
