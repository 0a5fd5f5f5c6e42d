"""The seam between algorithms and what runs them: two directions over a tree, and a pure node function.

An algorithm says which node function goes over the tree in which direction, and hands in what each body owns; nothing
here knows what the numbers are. Run on floats or batches a sweep is the NumPy reference; run on traced expressions
it unrolls into straight-line code.

    scatter   base to tips   y(k) = node(y(parent), data(k))                       φ* x, Jain II lemma 2
    gather    tips to base   y(k), message(k) = node(Σ messages, data(k))          φ x,  Jain II lemma 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.model.tree import GROUND, Tree


def each(node: Callable[..., Any], *data: Sequence[Any]) -> list[Any]:
    """y(k) = node(data(k)): a block-diagonal operator."""
    return [node(*own) for own in zip(*data, strict=True)]


def scatter(tree: Tree, node: Callable[..., Any], ground: Any, *data: Sequence[Any]) -> list[Any]:
    """y(k) = node(y(parent of k), data(k)) from the base to the tips; the ground is a parent with the value given."""
    values: list[Any] = [None] * len(tree)
    for k in tree.order:
        parent = tree.parents[k]
        values[k] = node(ground if parent == GROUND else values[parent], *(own[k] for own in data))
    return values


def gather(tree: Tree, node: Callable[..., tuple[Any, Any]], tips: Any, *data: Sequence[Any]) -> list[Any]:
    """y(k), message(k) = node(sum of the children's messages, data(k)) from the tips to the base.

    A body without children receives `tips`. Returns the y of every body; what reaches the ground is dropped.
    """
    received: list[Any] = [tips] * len(tree)
    values: list[Any] = [None] * len(tree)
    for k in reversed(tree.order):
        values[k], message = node(received[k], *(own[k] for own in data))
        parent = tree.parents[k]
        if parent != GROUND:
            received[parent] = received[parent] + message
    return values
