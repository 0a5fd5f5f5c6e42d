"""Identities at work: find one side of a rule inside an expression and put the other side in its place.

A rule is used in the direction that lowers `Operator.cost`, and so is its transpose; therefore simplifying ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from kinetree.algebra.elements import Element
from kinetree.algebra.expression import Operator, Product, Starred, Sum, add, identity, product
from kinetree.algebra.identities import FACTORIZATIONS, IDENTITIES, INVERSES, Rule

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO


@final
@dataclass(frozen=True, eq=False)
class Replacement:
    """One rule on one model, in one direction."""

    rule: str
    found: Operator
    put: Operator
    inverted: bool = False
    """Whether `put` is not equal to `found` but its inverse."""

    def __str__(self) -> str:
        left = f"({self.found})⁻¹" if self.inverted else str(self.found)
        return f"{left} = {self.put}    {self.rule}"


def replacements(sko: SKO) -> list[Replacement]:
    """Every rule on a model in the direction that costs less, and its transpose; then what inverses cancel."""
    made: list[Replacement] = []
    for rule in (*IDENTITIES, *FACTORIZATIONS):
        left, right = rule.sides(sko)
        made += _with_transpose(rule, *((left, right) if left.cost > right.cost else (right, left)))
    for rule in INVERSES:
        A, B = rule.sides(sko)
        made += [*_with_transpose(rule, product(A, B), identity(A)), *_with_transpose(rule, product(B, A), identity(A))]
    return sorted(made, key=lambda x: x.put.cost - x.found.cost)


def _with_transpose(rule: Rule, dear: Operator, cheap: Operator) -> Iterable[Replacement]:
    if dear.cost > cheap.cost:
        yield Replacement(str(rule), dear, cheap)
        if not dear.is_self_adjoint:
            yield Replacement(str(rule), dear.T, cheap.T)


def simplify(op: Operator, rules: Sequence[Replacement]) -> tuple[Operator, list[Replacement]]:
    """The expression when no rule finds anything in it any more, and the rules that fired, in order."""
    fired: list[Replacement] = []
    while (step := _rewrite(op, rules)) is not None:
        op, replacement = step
        fired.append(replacement)
    return op, fired


def inverse_of_element(op: Operator) -> Operator | None:
    """The inverse of an element or of its transpose, if it has one."""
    if isinstance(op, Starred):
        inverse = inverse_of_element(op.element)
        return None if inverse is None else inverse.T
    return op.inverse_element if isinstance(op, Element) else None


def _rewrite(op: Operator, rules: Sequence[Replacement]) -> tuple[Operator, Replacement] | None:
    """The first replacement possible anywhere in an expression, the widest place first."""
    for n, (x, y) in enumerate(zip(op.factors, op.factors[1:], strict=False)):
        inverse = inverse_of_element(x)
        if inverse is not None and inverse.key == y.key:
            one = identity(x)
            rule = Replacement("by definition", product(x, y), one)
            return product(*op.factors[:n], one, *op.factors[n + 2 :]), rule
    for rule in rules:
        made = _in_product(op, rule) if not isinstance(op, Sum) else _in_sum(op, rule)
        if made is not None:
            return made, rule
    if isinstance(op, Product):
        for n, factor in enumerate(op.factors):
            if isinstance(factor, Sum) and (step := _rewrite(factor, rules)) is not None:
                return product(*op.factors[:n], step[0], *op.factors[n + 1 :]), step[1]
    if isinstance(op, Sum):
        for n, (c, term) in enumerate(op.terms):
            if (step := _rewrite(term, rules)) is not None:
                return add((*op.terms[:n], (c, step[0]), *op.terms[n + 1 :])), step[1]
    return None


def _in_product(op: Operator, rule: Replacement) -> Operator | None:
    wanted = [x.key for x in rule.found.factors]
    have = [x.key for x in op.factors]
    for n in range(len(have) - len(wanted) + 1):
        if have[n : n + len(wanted)] == wanted:
            return product(*op.factors[:n], rule.put, *op.factors[n + len(wanted) :])
    return None


def _in_sum(op: Sum, rule: Replacement) -> Operator | None:
    if len(rule.found.terms) < 2 or (rule.found.rows, rule.found.columns) != (op.rows, op.columns):
        return None
    have = {x.key: c for c, x in op.terms}
    if not all(x.key in have for _, x in rule.found.terms):
        return None
    ratios = {have[x.key] / c for c, x in rule.found.terms}
    if len(ratios) != 1:
        return None
    (ratio,) = ratios
    return add(((1.0, op), (-ratio, rule.found), (ratio, rule.put)))
