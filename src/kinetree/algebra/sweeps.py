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

import numpy as np

from kinetree.model.tree import GROUND, Tree


def each(node: Callable[..., Any], *data: Any) -> Any:
    """y(k) = node(data(k)): a block-diagonal operator."""
    program = _program(data)
    if program is not None:
        return program.each(node, data)
    return [node(*own) for own in zip(*data, strict=True)]


def scatter(tree: Tree, node: Callable[..., Any], ground: Any, *data: Any) -> Any:
    """y(k) = node(y(parent of k), data(k)) from the base to the tips; the ground is a parent with the value given."""
    program = _program(data)
    if program is not None:
        return program.scatter(node, ground, data)
    values: list[Any] = [None] * len(tree)
    for k in tree.order:
        parent = tree.parents[k]
        values[k] = node(ground if parent == GROUND else values[parent], *(own[k] for own in data))
    return values


def gather(tree: Tree, node: Callable[..., tuple[Any, Any]], tips: Any, *data: Any) -> Any:
    """y(k), message(k) = node(sum of the children's messages, data(k)) from the tips to the base.

    A body without children receives `tips`. Returns the y of every body; what reaches the ground is dropped.
    """
    program = _program(data)
    if program is not None:
        return program.gather(node, tips, data)
    received: list[Any] = [tips] * len(tree)
    values: list[Any] = [None] * len(tree)
    for k in reversed(tree.order):
        values[k], message = node(received[k], *(own[k] for own in data))
        parent = tree.parents[k]
        if parent != GROUND:
            received[parent] = received[parent] + message
    return values


def unzip(values: Any, count: int) -> tuple[Any, ...]:
    """Several values per body, one list for each."""
    if hasattr(values, "program"):
        return values.program.unzip(values, count)
    return tuple([value[n] for value in values] for n in range(count))


def split(slices: Sequence[slice], x: Any) -> Any:
    """A stacked vector (n,) as one array per body."""
    return x.split(slices) if hasattr(x, "program") else [x[s] for s in slices]


def rows(x: Any) -> Any:
    """An array (nbodies, ...) as one array per body."""
    return x.rows() if hasattr(x, "program") else list(x)


def everywhere(tree: Tree, x: Any) -> Any:
    """An array (n,) that every body is given whole."""
    return x.everywhere() if hasattr(x, "program") else [x] * len(tree)


def stacked(values: Any, slices: Sequence[slice] | None = None) -> Any:
    """What each body owns, end to end: the inverse of `split`. `slices` say where, if it may be split again."""
    return values.program.stacked(values, slices) if hasattr(values, "program") else np.concatenate(values)


def piled(values: Any) -> Any:
    """What each body owns along a new first axis: the inverse of `rows`."""
    return values.program.piled(values) if hasattr(values, "program") else np.stack(values)


def total(values: Any) -> Any:
    """The sum over all bodies."""
    return values.program.total(values) if hasattr(values, "program") else sum(values[1:], start=values[0])


def listed(values: Any) -> Any:
    """One value per body as a list, or as it was recorded."""
    return values if hasattr(values, "program") else list(values)


def columns_of(values: Any) -> tuple[int, ...]:
    """() where bodies own vectors, (c,) where they own matrices of c columns."""
    return () if hasattr(values, "program") else values[0].shape[1:]


def _program(data: Sequence[Any]) -> Any:
    return next((x.program for x in data if hasattr(x, "program")), None)
