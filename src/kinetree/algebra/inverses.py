"""Inverses and determinants: an expression is written as factors that have both.

mass matrix   H φ M φ* H* + Γ = (1 + H φ K) D (1 + H φ K)*      (49)
inverse       (1 − H ψ K)* D⁻¹ (1 − H ψ K)                      (50), (51)
determinant   Π det D(k)                                        (52), (53): det (1 + H φ K) = 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algebra.application import joined
from kinetree.algebra.elements import Diagonal, DiagonalInverse, Resolvent, ResolventInverse, Step
from kinetree.algebra.expression import Operator, Product, Starred, Sum, add, identity, product
from kinetree.algebra.identities import FACTORIZATIONS, INVERSES
from kinetree.algebra.rewriting import Replacement, inverse_of_element
from kinetree.algebra.sweeps import each, total
from kinetree.errors import InputError
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import log_determinant

if TYPE_CHECKING:
    from kinetree.algebra.sko import SKO


SignAndLog = tuple[Any, Any]


def factorizations(sko: SKO) -> list[Replacement]:
    """Words that are products of invertible factors."""
    return [Replacement(str(rule), *rule.sides(sko)) for rule in FACTORIZATIONS]


def inverse_pairs(sko: SKO) -> list[Replacement]:
    """found⁻¹ = put, both ways and transposed."""
    pairs = [(str(rule), *rule.sides(sko)) for rule in INVERSES]
    both = [pair for name, A, B in pairs for pair in ((name, A, B), (name, B, A))]
    return [x for name, A, B in both for x in (Replacement(name, A, B, True), Replacement(name, A.T, B.T, True))]


def inverse(op: Operator, sko: SKO) -> tuple[Operator, list[Replacement]]:
    """op⁻¹ and the rules that gave it."""
    _check_square(op, "inverse")
    for candidate, before in _candidates(op, sko):
        c, factors, used = _split(candidate, sko)
        made = []
        for factor in reversed(factors):
            inner = factor.element if isinstance(factor, Starred) else factor
            if isinstance(inner, Diagonal) and inner.regular is False:
                raise InputError(f"{factor} is singular, a projection or made with one (32), so {op} has no inverse.")
            found = _inverse_of_factor(factor, sko)
            if found is None:
                break
            made.append(found[0])
            used += found[1]
        else:
            result = product(*made) if made else identity(op)
            return result / c, before + used
    raise InputError(
        f"no identity gives the inverse of {op}. Those known: a block diagonal, φ, ψ, 1 − E_φ, 1 − E_ψ, 1 + H φ K, "
        f"{sko.mass}, and products and transposes of them. np.linalg.inv(expression.dense()) inverts any other."
    )


def slogdet(op: Operator, sko: SKO) -> SignAndLog:
    """Sign and log |det|."""
    _check_square(op, "determinant")
    for candidate, _ in _candidates(op, sko):
        c, factors, _ = _split(candidate, sko)
        parts = [_slogdet_of_factor(factor) for factor in factors]
        if all(part is not None for part in parts):
            n = op.rows.dimension
            sign = math.prod(part[0] for part in parts if part is not None) * np.sign(c) ** n
            size = sum((part[1] for part in parts if part is not None), start=n * np.log(abs(c)))
            return _filled(sign, op), _filled(size, op)
    raise InputError(
        f"no identity gives the determinant of {op}. Those known: a block diagonal, 1 + anything strictly triangular, "
        f"{sko.mass}, and products of them. np.linalg.slogdet(expression.dense()) takes any other."
    )


def _candidates(op: Operator, sko: SKO):
    yield op, []
    simple, fired = sko.rules.simplified(op)
    if fired:
        yield simple, fired


def _split(op: Operator, sko: SKO) -> tuple[float, list[Operator], list[Replacement]]:
    """Coefficient, factors with every factorization put in, and the rules used."""
    parts = [_normalized(factor) for factor in op.factors]
    c, factors, used = math.prod(c for c, _ in parts), [x for _, part in parts for x in part.factors], []
    for rule in sko.rules.factorizations if isinstance(op, (Product, Sum)) else ():
        wanted = [x.key for x in rule.found.factors]
        n = 0
        while n + len(wanted) <= len(factors):
            if [x.key for x in factors[n : n + len(wanted)]] == wanted:
                factors[n : n + len(wanted)] = rule.put.factors
                used.append(rule)
            n += 1
    return c, factors, used


def _normalized(op: Operator) -> tuple[float, Operator]:
    """The coefficient of the first term, and the rest without it: c A as (c, A), 2 A + 2 B as (2, A + B)."""
    c = op.terms[0][0] if op.terms else 1.0
    return (c, op) if c == 1 else (c, add([(b / c, x) for b, x in op.terms]))


def _inverse_of_factor(factor: Operator, sko: SKO) -> tuple[Operator, list[Replacement]] | None:
    found = inverse_of_element(factor)
    if found is not None:
        return found, []
    for rule in sko.rules.inverse_pairs:
        if rule.found.key == factor.key:
            return rule.put, [rule]
    step = _step_taken_from_one(factor)
    if step is None:
        return None
    resolvent = step.resolvent if isinstance(step, Step) else step.T.resolvent.T  # pyright: ignore[reportAttributeAccessIssue]
    return resolvent, [Replacement("(section 2.1)", factor, resolvent, True)]


def _step_taken_from_one(factor: Operator) -> Step | Starred | None:
    """A, if the factor is 1 − A of a step A or of its transpose."""
    if factor.rows != factor.columns or len(factor.terms) != 2:
        return None
    one = identity(factor).key
    rest = [(c, x) for c, x in factor.terms if x.key != one]
    if len(rest) != 1 or (1.0, one) not in [(c, x.key) for c, x in factor.terms]:
        return None
    ((c, A),) = rest
    if c == -1 and (isinstance(A, Step) or (isinstance(A, Starred) and isinstance(A.element, Step))):
        return A
    return None


def _slogdet_of_factor(op: Operator) -> SignAndLog | None:
    """Sign and log |det| of one factor; None if nothing is known of it."""
    one, none = np.float64(1.0), np.float64(0.0)
    if isinstance(op, Starred):
        return _slogdet_of_factor(op.element)
    if isinstance(op, Diagonal) and op.regular is False:
        return np.float64(0.0), np.float64(-np.inf)
    if isinstance(op, Diagonal):
        return _slogdet_of_blocks(op) if op.rows == op.columns else None
    if isinstance(op, DiagonalInverse):
        sign, size = _slogdet_of_blocks(op.of)
        return sign, -size
    if isinstance(op, (Resolvent, ResolventInverse)):
        return one, none
    if isinstance(op, Sum) and op.rows == op.columns and _is_unit_triangular(op):
        return one, none
    return None


def _is_unit_triangular(op: Sum) -> bool:
    """Whether op is 1 plus strictly triangular terms, all of them on the same side."""
    one = identity(op).key
    rest = [x for _, x in op.terms if x.key != one]
    has_one = any(x.key == one and c == 1 for c, x in op.terms)
    return has_one and (all(x.levels[0] >= 1 for x in rest) or all(x.levels[1] <= -1 for x in rest))


def _slogdet_of_blocks(op: Diagonal) -> SignAndLog:
    if op.symmetric and op.batch is None:
        return np.float64(1.0), total(each(log_determinant, op.matrices))
    stacks = [joined(X, op.batch) for X in op.matrices]
    if op.symmetric and any(map(np.iscomplexobj, stacks)):  # complex steps take derivatives of log det
        return np.float64(1.0), joined(np.asarray(total(each(log_determinant, op.matrices))), op.batch)
    if op.batch is None:
        raise InputError(f"the determinant of {op} is known in a kernel only if its blocks are symmetric positive definite.")
    alike: dict[tuple[int, ...], list[Array]] = {}
    for X in stacks:
        alike.setdefault(X.shape, []).append(X)
    found = [np.linalg.slogdet(np.stack(group)) for group in alike.values()]
    size = sum((size.sum(axis=0) for _, size in found), start=np.float64(0.0))
    return math.prod(sign.prod(axis=0) for sign, _ in found), size


def _filled(x: Any, op: Operator) -> Array:
    if op.batch is None:
        return np.asarray(x)
    return np.broadcast_to(x, op.batch)[()] if not op.batch else np.broadcast_to(x, op.batch).copy()


def _check_square(op: Operator, what: str) -> None:
    if op.rows != op.columns:
        raise InputError(f"{op} takes {op.columns} and gives {op.rows}: it is not square, so it has no {what}.")
