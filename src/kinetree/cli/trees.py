"""A tree drawn line by line."""

from __future__ import annotations

from kinetree.model import GROUND, Tree


def branches(tree: Tree) -> list[str]:
    """What stands before each node's name and ties it to its parent, for lines in depth-first order."""
    last = {siblings[-1] for siblings in (*tree.children, tree.roots) if siblings}
    drawings = [""] * len(tree)
    for i in tree.order:
        parent = tree.parents[i]
        if parent != GROUND:
            stem = drawings[parent][:-2] + ("  " if parent in last else "│ ") if drawings[parent] else ""
            drawings[i] = stem + ("└ " if i in last else "├ ")
    return drawings
