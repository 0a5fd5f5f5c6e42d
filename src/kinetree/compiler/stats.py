"""What a kernel does and took, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.compiler.graph import Expr

__all__ = ["KernelStats", "count", "operations_in"]


@dataclass(frozen=True)
class KernelStats:
    """What a kernel does for one state, and what making it took.

    Attributes
    ----------
    operations : int
        Those that follow but `others`, less `fused`: a multiply-add is one.
    additions, multiplications, divisions, square_roots : int
        Additions include subtractions.
    sines_cosines : int
        Arguments of which sine, cosine or both are taken.
    logarithms : int
    others : int
        Negations, roundings, selections, checks; most negations vanish into the operation that follows.
    fused : int
        Multiplications that a multiply-add can take in: used once, by an addition.
    fma_share : float
        Share of the operations that are multiply-adds, at most.
    lowering : str
        "unrolled", straight-line code, or "looped".
    dtype : str
        Of the numbers computed with.
    lanes : int
        States per vector.
    code_bytes, workspace_bytes : int
        Machine code, without its constants; memory for one vector of states.
    shared_beyond : int
        Batches of more states are shared among threads.
    cached : bool
        Whether the code was on disk.
    trace_seconds, compile_seconds : float
        From the making of the graph to its text, 0 if that was not needed; from there to code in memory.
    """

    operations: int
    additions: int
    multiplications: int
    divisions: int
    square_roots: int
    sines_cosines: int
    logarithms: int
    others: int
    fused: int
    fma_share: float
    lowering: str
    dtype: str
    lanes: int
    code_bytes: int
    workspace_bytes: int
    shared_beyond: int
    cached: bool
    trace_seconds: float
    compile_seconds: float


def count(nodes: Sequence[Expr], outputs: Sequence[Any]) -> Counter[str]:
    """How often each operation is done, "fused" and "angles" (sine and cosine of one argument) among them."""
    of: Counter[str] = Counter(str(node.op) for node in nodes)
    uses = Counter(x.index for node in nodes for x in node.args)
    uses.update(x.index for array in outputs for x in np.asarray(array, dtype=object).flat if isinstance(x, Expr))
    sums = (node for node in nodes if node.op in ("add", "sub"))
    of["fused"] = sum(any(x.op == "mul" and uses[x.index] == 1 for x in node.args) for node in sums)
    of["angles"] = len({node.args[0].index for node in nodes if node.op in ("sin", "cos")})
    return of


def operations_in(of: Counter[str]) -> int:
    """Operations in a `count`, a multiply-add as one."""
    return of["add"] + of["sub"] + of["mul"] + of["div"] + of["sqrt"] + of["angles"] + of["log"] - of["fused"]


def counted(of: Counter[str]) -> dict[str, Any]:
    """The part of `KernelStats` that a `count` says."""
    operations = operations_in(of)
    return {
        "operations": operations,
        "additions": of["add"] + of["sub"],
        "multiplications": of["mul"],
        "divisions": of["div"],
        "square_roots": of["sqrt"],
        "sines_cosines": of["angles"],
        "logarithms": of["log"],
        "others": of["neg"] + of["abs"] + of["rint"] + of["where"] + of["check"],
        "fused": of["fused"],
        "fma_share": of["fused"] / operations if operations else 0.0,
    }
