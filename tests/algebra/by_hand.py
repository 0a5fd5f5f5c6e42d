"""The operators of an SKO model as dense matrices, by linear algebra on whole matrices: what the tests compare with.

Nothing here sweeps over the tree and nothing is taken from the code under test: E is written down block by block, φ is
np.linalg.inv(1 − E), R(k) the diagonal block of φ M φ*, and P(k) the Schur complement of the subtree of k, joints beyond
k eliminated. A matrix carries how far rounding may take it, so that a tolerance is a property of the expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from tolerance import EPS

from kinetree.algebra.elements import DiagonalInverse, Named, ResolventInverse
from kinetree.algebra.expression import Operator, Product, Starred, Sum


@dataclass(frozen=True)
class Matrix:
    """A dense matrix, and how far from it another way to the same matrix may end.

    `size` bounds, entry by entry, the terms that are added up to make the matrix: |A| |B| for A B, |A| + |B| for A + B.
    `error` is the relative rounding of those terms: errors add in a product. So two ways to the matrix differ by no more
    than error · size (Higham, Accuracy and Stability of Numerical Algorithms, section 3.5), up to the largest entry.
    """

    value: np.ndarray
    size: np.ndarray
    error: float
    condition: float = 1.0
    """What inverting it multiplies the error by."""

    def _other(self, x: Matrix | float) -> Matrix:
        one = np.eye(len(self.value))
        return x if isinstance(x, Matrix) else Matrix(x * one, abs(x) * one, 0.0)

    def __matmul__(self, other: Matrix) -> Matrix:
        condition = self.condition * other.condition
        return Matrix(self.value @ other.value, self.size @ other.size, self.error + other.error, condition)

    def __add__(self, other: Matrix | float) -> Matrix:
        other = self._other(other)
        error, condition = max(self.error, other.error), max(self.condition, other.condition)
        return Matrix(self.value + other.value, self.size + other.size, error, condition)

    __radd__ = __add__

    def __mul__(self, c: float) -> Matrix:
        return Matrix(c * self.value, abs(c) * self.size, self.error, self.condition)

    __rmul__ = __mul__

    def __truediv__(self, c: float) -> Matrix:
        return self * (1 / c)

    def __neg__(self) -> Matrix:
        return -1.0 * self

    def __sub__(self, other: Matrix | float) -> Matrix:
        return self + -1.0 * self._other(other)

    def __rsub__(self, other: float) -> Matrix:
        return self._other(other) - self

    def __pow__(self, n: int) -> Matrix:
        made = self._other(1.0)
        for _ in range(n):
            made = made @ self
        return made

    def __getitem__(self, where) -> Matrix:
        return Matrix(self.value[where], np.full_like(self.value[where], self.size.max(initial=0.0)), self.error)

    @property
    def T(self) -> Matrix:
        return Matrix(self.value.T, self.size.T, self.error, self.condition)

    @cached_property
    def inv(self) -> Matrix:
        inverse = np.linalg.inv(self.value)
        return Matrix(inverse, np.abs(inverse), self.error * self.condition)

    @property
    def bound(self) -> float:
        """How far the largest entry of another way to this matrix may be off."""
        return self.error * float(self.size.max(initial=0.0))


def assert_equal(found, wanted: Matrix, besides: Matrix | None = None):
    """`found` is `wanted` up to the rounding of both; `besides` is the other way, if its terms are larger."""
    found = np.asarray(found)
    assert found.shape == wanted.value.shape
    assert np.isfinite(found).all()
    bound = wanted.bound + (wanted.bound if besides is None else besides.bound)
    error = float(np.abs(found - wanted.value).max(initial=0.0))
    assert error <= bound, f"error {error:.3g} > {bound:.3g}, largest entry {np.abs(wanted.value).max(initial=0.0):.3g}"


def slices(sizes: Sequence[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(accumulate(sizes, initial=0))]


class ByHand:
    """Every operator of the model (parents, weights, H, M) as a `Matrix`, under the names that `SKO` has for them.

    Parameters
    ----------
    parents : parent of each node, −1 for the ground, in any order
    weights : A(p, k) (m_p, m_k) of each node, anything for roots
    H, M : (n_k, m_k), (m_k, m_k) of each node
    Gamma : (n_k, n_k) of each node, zero where not given
    """

    def __init__(self, parents, weights, H, M, Gamma=None):
        self.parents = list(parents)
        self.weights = [None if p < 0 else np.asarray(X) for p, X in zip(self.parents, weights, strict=True)]
        self.H_blocks, self.M_blocks = [np.asarray(X) for X in H], [np.asarray(X) for X in M]
        self.Gamma_blocks = [np.zeros((len(X), len(X))) for X in self.H_blocks] if Gamma is None else [*map(np.asarray, Gamma)]
        self.sizes = tuple(len(X) for X in self.M_blocks)
        self.dofs = tuple(len(X) for X in self.H_blocks)
        self.bodies, self.joints = slices(self.sizes), slices(self.dofs)
        self.nodes = range(len(self.parents))
        self.gamma = 36.0 * EPS * (len(self.parents) + 1)
        """Relative rounding of one sweep, as in `tolerance.gamma`."""

    def matrix(self, value, conditioned=False, condition=1.0) -> Matrix:
        """A leaf of an expression; `conditioned` if solves with the mass matrix went into it."""
        return Matrix(value, np.abs(value), self.gamma * (self.condition if conditioned else 1.0), condition)

    def stack(self, blocks, rows, columns) -> np.ndarray:
        """The dense matrix of {(i, j): block}."""
        made = np.zeros((rows[-1].stop, columns[-1].stop))
        for (i, j), X in blocks.items():
            made[rows[i], columns[j]] = X
        return made

    def diagonal(self, blocks, rows=None, columns=None, conditioned=False) -> Matrix:
        """The block diagonal matrix of one block per node."""
        value = self.stack({(k, k): X for k, X in enumerate(blocks)}, rows or self.bodies, columns or self.bodies)
        square = [X for X in blocks if X.shape[0] == X.shape[1] > 0]
        return self.matrix(value, conditioned, max(map(np.linalg.cond, square), default=1.0))

    def step(self, weights) -> Matrix:
        """The matrix with A(p, k) in block (p, k)."""
        made = {(p, k): X for k, (p, X) in enumerate(zip(self.parents, weights, strict=True)) if p >= 0}
        return self.matrix(self.stack(made, self.bodies, self.bodies))

    # The tree.

    def path(self, k: int) -> list[int]:
        """k, its parent, … up to its root."""
        found = []
        while k >= 0:
            found.append(k)
            k = self.parents[k]
        return found

    def children(self, k: int) -> list[int]:
        return [j for j in self.nodes if self.parents[j] == k]

    def subtree(self, k: int) -> list[int]:
        return [j for j in self.nodes if k in self.path(j)]

    @cached_property
    def base_to_tips(self) -> list[int]:
        """Every node after its parent."""
        return sorted(self.nodes, key=lambda k: len(self.path(k)))

    def is_above(self, i: int, j: int) -> bool:
        """Whether i is j or an ancestor of j."""
        return i in self.path(j)

    def product(self, weights, i: int, j: int) -> np.ndarray:
        """A(i, j): the product of the weights on the path from j up to its ancestor i."""
        made = np.eye(self.sizes[j])
        for k in self.path(j):
            if k == i:
                return made
            made = weights[k] @ made
        raise ValueError(f"{i} is no ancestor of {j}")

    # Given.

    @cached_property
    def E(self) -> Matrix:
        return self.step(self.weights)

    @cached_property
    def phi(self) -> Matrix:
        return self.matrix(np.linalg.inv(np.eye(len(self.E.value)) - self.E.value))

    @cached_property
    def H(self) -> Matrix:
        return self.diagonal(self.H_blocks, self.joints, self.bodies)

    @cached_property
    def M(self) -> Matrix:
        return self.diagonal(self.M_blocks)

    @cached_property
    def Gamma(self) -> Matrix:
        return self.diagonal(self.Gamma_blocks, self.joints, self.joints)

    @cached_property
    def mass(self) -> Matrix:
        made = self.H @ self.phi @ self.M @ self.phi.T @ self.H.T + self.Gamma
        return replace(made, condition=float(np.linalg.cond(made.value)) if len(made.value) else 1.0)

    @property
    def condition(self) -> float:
        """Of the mass matrix: what a solve with it multiplies rounding by."""
        return self.mass.condition

    # What follows.

    @cached_property
    def composite(self) -> np.ndarray:
        """φ M φ*."""
        return (self.phi @ self.M @ self.phi.T).value

    @cached_property
    def R(self) -> Matrix:
        return self.diagonal([self.composite[s, s] for s in self.bodies])

    def _articulated(self, k: int) -> np.ndarray:
        """Subtree of k floating, its joints beyond k free: Schur complement onto the motion of k."""
        below = self.subtree(k)
        rows = np.concatenate([np.arange(s.start, s.stop) for s in (self.bodies[j] for j in below)])
        beyond = [j for j in below if j != k]
        phi = self.phi.value[np.ix_(rows, rows)]
        X = phi @ self.M.value[np.ix_(rows, rows)] @ phi.T
        joints = [np.arange(s.start, s.stop) for s in (self.joints[j] for j in beyond)]
        H = self.H.value[np.ix_(np.concatenate(joints).astype(int), rows)] if joints else np.zeros((0, len(rows)))
        own = np.zeros((self.sizes[k], len(rows)))
        own[:, np.searchsorted(rows, np.arange(self.bodies[k].start, self.bodies[k].stop))] = np.eye(self.sizes[k])
        across = H @ X @ own.T
        at = np.concatenate(joints).astype(int) if joints else np.zeros(0, int)
        return own @ X @ own.T - across.T @ np.linalg.solve(H @ X @ H.T + self.Gamma.value[np.ix_(at, at)], across)

    @cached_property
    def P(self) -> Matrix:
        P = self.diagonal([self._articulated(k) for k in self.nodes], conditioned=True)
        return replace(P, size=np.maximum(P.size, self.R.size))

    @cached_property
    def D(self) -> Matrix:
        parts = zip(self.bodies, self.H_blocks, self.Gamma_blocks, strict=True)
        blocks = [H @ self.P.value[s, s] @ H.T + Gamma for s, H, Gamma in parts]
        return self.diagonal(blocks, self.joints, self.joints, conditioned=True)

    @cached_property
    def G(self) -> Matrix:
        return self._conditioned((self.P @ self.H.T).value @ np.linalg.inv(self.D.value))

    @cached_property
    def tau(self) -> Matrix:
        return self._conditioned((self.G @ self.H).value)

    @cached_property
    def taubar(self) -> Matrix:
        value = np.eye(len(self.E.value)) - self.tau.value
        return replace(self.tau, value=value, size=np.abs(value) + self.tau.size)

    @cached_property
    def P_plus(self) -> Matrix:
        value = self.P.value - self.P.value @ self.H.value.T @ np.linalg.solve(self.D.value, self.H.value @ self.P.value)
        return replace(self.P, value=value)

    @cached_property
    def K(self) -> Matrix:
        return self.E @ self.G

    @cached_property
    def E_psi(self) -> Matrix:
        return self.E @ self.taubar

    @cached_property
    def psi(self) -> Matrix:
        value = np.linalg.inv(np.eye(len(self.E.value)) - self.E_psi.value)
        return self._conditioned(value)

    @cached_property
    def Omega(self) -> Matrix:
        """φ* H* ℳ⁻¹ H φ: motion of every body by a force on every body, joint by joint (59)."""
        return self.phi.T @ self.H.T @ self.mass.inv @ self.H @ self.phi

    def _conditioned(self, value) -> Matrix:
        return self.matrix(value, conditioned=True)

    # Expressions.

    def of(self, op: Operator, leaves: dict | None = None) -> Matrix:
        """The matrix of an expression, read off its factors and terms; `leaves` are {element: Matrix} of a user's own."""
        sko, leaves = op.sko, leaves or {}
        if op in leaves:
            return leaves[op]
        if isinstance(op, Starred):
            return self.of(op.element, leaves).T
        if isinstance(op, Product):
            made = self._zero(op.rows, op.rows) + 1.0
            for factor in op.factors:
                made = made @ self.of(factor, leaves)
            return made
        if isinstance(op, Sum):
            made = self._zero(op.rows, op.columns)
            for c, term in op.terms:
                made = made + c * self.of(term, leaves)
            return made
        if isinstance(op, (DiagonalInverse, ResolventInverse)):
            return self.of(op.of, leaves).inv
        if isinstance(op, Named):
            assert op is sko.Omega
            return self.Omega
        for name in ("E", "phi", "H", "M", "Gamma", "R", "P", "D", "G", "K", "tau", "taubar", "P_plus", "E_psi", "psi"):
            if op is getattr(sko, name):
                return getattr(self, name)
        raise ValueError(f"{op} is none of the model's own")

    def _zero(self, rows, columns) -> Matrix:
        zero = np.zeros((rows.dimension, columns.dimension))
        return Matrix(zero, zero, 0.0)
