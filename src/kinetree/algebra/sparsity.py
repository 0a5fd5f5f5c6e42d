"""Sparsity of operators in coarser and finer pieces than `pattern()` shows it in: by segments, by entries.

Related nodes are those of which one is an ancestor of the other. φ has a block for every pair k below j, ℳ for every
related pair, so the pattern of either is that of the tree of segments with every block filled: Jain II (61)–(63), Figs. 4–6.
"""

from __future__ import annotations

import numpy as np

from kinetree.algebra.expression import Operator
from kinetree.spatial.scalars import Array


def segment_pattern(op: Operator) -> Array:
    """Between which segments of the tree a block can be nonzero: booleans (segments, segments)."""
    segments = op.sko.tree.segments
    order = np.concatenate([*segments]).astype(int)
    begin = np.cumsum([0, *map(len, segments[:-1])])
    found = op.pattern()[np.ix_(order, order)]
    return np.logical_or.reduceat(np.logical_or.reduceat(found, begin, axis=0), begin, axis=1)


def entry_pattern(op: Operator) -> Array:
    """The entries of the dense matrix that stand in blocks which can be nonzero: booleans (rows, columns)."""
    return op.pattern().repeat(op.rows.sizes, axis=0).repeat(op.columns.sizes, axis=1)
