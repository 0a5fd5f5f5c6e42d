"""What the identities of one SKO model say about an expression: the place where expressions and rules meet."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from kinetree.algebra import inverses, rewriting, structure
from kinetree.algebra.elements import Element
from kinetree.algebra.expression import Operator, Starred
from kinetree.algebra.rewriting import Replacement
from kinetree.errors import InputError
from kinetree.spatial.scalars import Array

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO


@final
class Rules:
    """The rules of one model, made when first needed."""

    def __init__(self, sko: SKO) -> None:
        self._sko = sko

    @cached_property
    def replacements(self) -> list[Replacement]:
        """What `simplify` looks for."""
        return rewriting.replacements(self._sko)

    @cached_property
    def factorizations(self) -> list[Replacement]:
        """What inverses and determinants look for."""
        return inverses.factorizations(self._sko)

    @cached_property
    def inverse_pairs(self) -> list[Replacement]:
        """Sums whose inverse is known."""
        return inverses.inverse_pairs(self._sko)

    def simplified(self, op: Operator) -> tuple[Operator, list[Replacement]]:
        """The simplest form known and the rules that led to it."""
        return rewriting.simplify(op, self.replacements)

    def simplify(self, op: Operator) -> Operator:
        """The simplest form known; remembers how it was reached."""
        return _derived(*self.simplified(op), op)

    def inverse(self, op: Operator) -> Operator:
        """The inverse; remembers how it was reached."""
        return _derived(*inverses.inverse(op, self._sko), op)

    def slogdet(self, op: Operator) -> tuple[Array, Array]:
        """Sign and log |det|."""
        return inverses.slogdet(op, self._sko)

    def logdet(self, op: Operator) -> Array:
        """log det, if it is positive."""
        sign, size = inverses.slogdet(op, self._sko)
        if op.batch is not None and not np.all(sign > 0):
            raise InputError(f"the determinant of {op} is not positive: use slogdet, which gives its sign as well.")
        return size

    def dense(self, op: Operator) -> Array:
        """The matrix."""
        return structure.dense(op)

    def block(self, op: Operator, i: int, j: int) -> Array:
        """One block of it."""
        return structure.block(op, i, j)

    def pattern(self, op: Operator) -> Array:
        """Its sparsity."""
        return structure.pattern(op)

    def explain(self, op: Operator) -> str:
        """How the expression came about, and how it simplifies."""
        simple, fired = self.simplified(op)
        lines = [f"{op}"]
        lines += [f"  came from  {step}" for step in op.derivation]
        lines += [f"  simplifies by  {step}" for step in fired]
        lines.append(f"  = {simple}" if fired else "  No identity makes it cost less.")
        return "\n".join(lines)


def _derived(op: Operator, fired: list[Replacement], source: Operator) -> Operator:
    """The expression with its history; elements are shared by all and have none."""
    if not fired or isinstance(op, (Element, Starred)):
        return op
    made = copy(op)
    made.derivation = (*source.derivation, *fired)
    return made
