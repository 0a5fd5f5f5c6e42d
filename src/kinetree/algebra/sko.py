"""The SKO model: a tree, the weights of its edges, joint maps and inertias, and every operator made of them.

Source: Jain, Graph Theoretic Foundations of Multibody Dynamics, Part II, sections 2 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from kinetree.algebra import abstract
from kinetree.algebra.cdi import CDI
from kinetree.algebra.elements import Diagonal, Named, Resolvent, Step
from kinetree.algebra.expression import Operator, zero
from kinetree.algebra.lyapunov import symmetric_forward
from kinetree.algebra.riccati import articulated
from kinetree.algebra.rules import Rules
from kinetree.algebra.spaces import Space
from kinetree.algebra.sweeps import each
from kinetree.algebra.weights import Complement
from kinetree.errors import InputError
from kinetree.model.tree import Tree
from kinetree.spatial.scalars import Array
from kinetree.spatial.sixvectors import symmetric


@final
class SKO:
    """A spatial kernel operator model (H, φ, M) on a tree, whose joints may have inertias Γ of their own.

    `kinetree.operators(model, q)` gives that of a rigid-body model; this constructor takes any. The nodes need not be
    bodies: whatever moves with its parent by y(k) = A*(p, k) y(p) + H*(k) v(k) and stores ½ y* M y is an SKO model.

    Parameters
    ----------
    parents : sequence of int
        Parent of each node, −1 for the ground. Any numbering, several roots.
    E : sequence of (..., m_p, m_k), or mapping {k: weight}
        Weight A(p, k) of the edge to each node from its parent: carries what acts on k to p. None for roots. Of any size,
        square or not, singular or not.
    H : sequence of (..., n_k, m_k)
        Joint maps, of full row rank; n_k may be 0.
    M : sequence of (..., m_k, m_k)
        Inertias, symmetric and positive definite (or positive semidefinite, if every D(k) comes out positive definite).
    Gamma : sequence of (..., n_k, n_k), optional
        Inertias that only the joints' own motion feels, as of a rotor behind a gear; symmetric and positive semidefinite.
        None of them where not given.
    names : sequence of str, optional
        Of the nodes.

    Leading axes, if there are any, are a batch of models on one tree. Traced numbers (object arrays) are taken unchecked.

    Raises
    ------
    ModelError : a cycle, several parents, sizes that do not fit, H without full rank, M not positive
    """

    def __init__(
        self,
        parents: Sequence[int],
        E: Sequence[Any] | Mapping[int, Any],
        H: Sequence[Any],
        M: Sequence[Any],
        names: Sequence[str] = (),
        Gamma: Sequence[Any] | None = None,
    ) -> None:
        tree = Tree(abstract.parents(parents))
        labels = tuple(names) or tuple(map(str, range(len(tree))))
        weights, joint_maps, inertias, joint_inertias, batch = abstract.checked(tree, E, H, M, Gamma, labels)
        sizes = [X.shape[-2] for X in joint_maps]
        self._set(tree, weights, joint_maps, inertias, joint_inertias, sizes, 0, labels, batch)
        self._check_pivots = True

    @classmethod
    def trusted(
        cls,
        tree: Tree,
        weights: Any,
        H: Any,
        M: Sequence[Array],
        Gamma: Sequence[Array],
        sizes: Sequence[int],
        ground: int,
        labels: Sequence[str],
        batch: tuple[int, ...] | None,
    ) -> SKO:
        """A model of parts that are right by construction.

        `sizes` are the n_k of the joints, `ground` is the size of what acts on the ground. Weights and joint maps may be
        recorded.
        """
        made = cls.__new__(cls)
        made._set(tree, weights, H, M, Gamma, sizes, ground, tuple(labels), batch)
        made._check_pivots = False
        return made

    def _set(self, tree, weights, H, M, Gamma, sizes, ground, labels, batch) -> None:
        self.tree, self.ground, self.batch = tree, ground, batch
        self._weights, self._H, self._M, self._Gamma = weights, H, M, Gamma
        self.bodies = Space("bodies", tree, tuple(X.shape[-1] for X in M), labels)
        self.joints = Space("joints", tree, tuple(sizes), labels)
        self.rules = Rules(self)
        self.solutions: dict[Any, Any] = {}

    @property
    def is_recorded(self) -> bool:
        """Whether its numbers are not there yet, because sweeps over them are being written down."""
        return hasattr(self._H, "program")

    def __repr__(self) -> str:
        batch = "traced" if self.batch is None else f"batch {self.batch}" if self.batch else "one state"
        roots = "1 root" if len(self.tree.roots) == 1 else f"{len(self.tree.roots)} roots"
        return f"SKO({len(self.tree)} nodes, {roots}, {self.joints}, {self.bodies}, {batch})"

    # Given.

    @cached_property
    def E(self) -> Step:
        """E_φ, one step from child to parent."""
        return Step("E_φ", self.bodies, self.bodies, self, self._weights, resolvent_symbol="φ")

    @cached_property
    def phi(self) -> Resolvent:
        """φ = (1 − E_φ)⁻¹: `phi @ f` gathers forces towards the base, `phi.T @ V` scatters motions outward."""
        return self.E.resolvent

    @cached_property
    def H(self) -> Diagonal:
        """H, the joint maps: 𝒱 = φ* H* v."""
        return Diagonal("H", self.joints, self.bodies, self, lambda: self._H)

    @cached_property
    def M(self) -> Diagonal:
        """M, the inertias of the nodes."""
        return self._symmetric("M", self.bodies, lambda: self._M)

    @cached_property
    def Gamma(self) -> Operator:
        """Γ, inertias that only the joints' own motion feels; 0 where no joint has any."""
        if hasattr(self._Gamma, "program") or any(X.dtype == object or X.any() for X in _different(self._Gamma)):
            return self._symmetric("Γ", self.joints, lambda: self._Gamma)
        return zero(self.joints, self.joints, self)

    # Composite inertias: the forward Lyapunov equation.

    @cached_property
    def R(self) -> Diagonal:
        """R, inertia of each node and all it carries, joints locked: R = M + diagonal of E R E* (18)."""
        return self._symmetric("R", self.bodies, lambda: symmetric_forward(self.tree, self._weights, self._M))

    # Articulated inertias: the Riccati equation.

    @cached_property
    def _riccati(self) -> tuple[list[Array], ...]:
        P, D, G = articulated(self.tree, self._weights, self._H, self._M, self._Gamma)
        if self._check_pivots and self.batch is not None:
            abstract.check_pivots(D, self._H, self.R.matrices, self._Gamma, self.batch, self.bodies.labels)
        return P, D, G

    @cached_property
    def P(self) -> Diagonal:
        """P, articulated inertias: inertia of each node and all it carries, joints beyond it free (33)."""
        return self._symmetric("P", self.bodies, lambda: self._riccati[0])

    @cached_property
    def D(self) -> Diagonal:
        """D = H P H* + Γ, inertia that each joint feels (32)."""
        return self._symmetric("D", self.joints, lambda: self._riccati[1], regular=True)

    @cached_property
    def G(self) -> Diagonal:
        """G = P H* D⁻¹ (32)."""
        return Diagonal("G", self.bodies, self.joints, self, lambda: self._riccati[2])

    @cached_property
    def tau(self) -> Diagonal:
        """τ = G H, a projection where Γ = 0 (32)."""

        def made() -> list[Array]:
            return each(lambda G, H: G @ H, self.G.matrices, self._H)

        return Diagonal("τ", self.bodies, self.bodies, self, made, regular=self.joints.sizes == self.bodies.sizes)

    @cached_property
    def taubar(self) -> Diagonal:
        """τ̄ = 1 − τ: what a joint lets through to the parent (32)."""

        def made() -> list[Array]:
            return each(lambda X: np.eye(X.shape[0]) - X, self.tau.matrices)

        return Diagonal("τ̄", self.bodies, self.bodies, self, made, regular=self._lets_all_through)

    @property
    def _lets_all_through(self) -> bool | None:
        """Whether τ̄ has an inverse: where nothing moves, and perhaps where joints have inertias of their own."""
        return True if not any(self.joints.sizes) else None if self.Gamma.terms else False

    @cached_property
    def P_plus(self) -> Diagonal:
        """P⁺ = τ̄ P, what the parent feels of it (32)."""

        def made() -> list[Array]:
            return each(lambda P, G, H: symmetric(P - G @ (H @ P)), self.P.matrices, self.G.matrices, self._H)

        return self._symmetric("P⁺", self.bodies, made, regular=self._lets_all_through and None)

    @cached_property
    def K(self) -> Step:
        """K = E_φ G (37)."""
        return Step("K", self.bodies, self.joints, self, self._weights, lambda: self.G.matrices)

    @cached_property
    def E_psi(self) -> Step:
        """E_ψ = E_φ τ̄, with weights ψ(p, k) = φ(p, k) τ̄(k) (34), (35)."""

        def passed_on() -> list[Complement]:
            return each(Complement, self.G.matrices, self._H)

        return Step("E_ψ", self.bodies, self.bodies, self, self._weights, passed_on, resolvent_symbol="ψ")

    @cached_property
    def psi(self) -> Resolvent:
        """ψ = (1 − E_ψ)⁻¹, articulated propagation (35)."""
        return self.E_psi.resolvent

    # What they make.

    @cached_property
    def Omega(self) -> Named:
        """Ω = ψ* H* D⁻¹ H ψ, the extended operational-space compliance (60)."""
        return Named("Ω", self.psi.T @ self.H.T @ self.D.inv @ self.H @ self.psi)

    @property
    def mass(self) -> Operator:
        """ℳ = H φ M φ* H* + Γ, the mass matrix (3)."""
        return self.H @ self.phi @ self.M @ self.phi.T @ self.H.T + self.Gamma

    @cached_property
    def cdi(self) -> CDI:
        """The same operators under the names of Mass Matrix and Hamilton: Phi_D, Psi_D, G, J, R, K, Psi_beta."""
        return CDI(self)

    # What a user may add.

    def diagonal(
        self,
        symbol: str,
        matrices: Sequence[Any],
        rows: Space | None = None,
        columns: Space | None = None,
        symmetric: bool = False,
    ) -> Diagonal:
        """A block diagonal of your own: one matrix (..., r_k, c_k) per node, from `columns` to `rows` (default: bodies).

        The matrices may be functions of the q that was given, traced ones included. `symmetric` promises that they are
        symmetric and, where inverted, positive definite. Raises InputError if a size does not fit.
        """
        _check_symbol(symbol)
        rows, columns = rows or self.bodies, columns or self.bodies
        made = abstract.blocks(symbol, matrices, rows, columns, self.batch, symmetric)
        return Diagonal(symbol, rows, columns, self, lambda: made, symmetric)

    def step(self, symbol: str, weights: Sequence[Any] | Mapping[int, Any]) -> Step:
        """An influence matrix Φ_A of your own on the same tree: weights A(p, k) (..., m_p, m_k), None for roots.

        Its `resolvent` is (1 − A)⁻¹. Raises InputError if a size does not fit.
        """
        _check_symbol(symbol)
        made = abstract.edge_weights(symbol, self.tree, weights, self.bodies, self.ground, self.batch)
        return Step(symbol, self.bodies, self.bodies, self, made)

    def space(self, name: str, sizes: Sequence[int]) -> Space:
        """Stacked vectors of your own, with a block of the given size at each node. Raises InputError if they are no sizes."""
        return Space(name, self.tree, abstract.sizes(name, sizes, len(self.tree)), self.bodies.labels)

    def _symmetric(
        self, symbol: str, space: Space, make: Callable[[], Sequence[Array]], regular: bool | None = None
    ) -> Diagonal:
        return Diagonal(symbol, space, space, self, make, symmetric=True, regular=regular)


def _different(blocks: Sequence[Array]) -> Iterable[Array]:
    """Every array once, of blocks that may share some."""
    return {id(X): X for X in blocks}.values()


SYMBOLS = ("E_φ", "φ", "H", "M", "Γ", "R", "P", "D", "G", "K", "τ", "τ̄", "P⁺", "E_ψ", "ψ", "Ω")


def _check_symbol(symbol: str) -> None:
    if not isinstance(symbol, str) or not symbol or symbol in SYMBOLS:
        raise InputError(f"an operator of your own needs a symbol other than {' '.join(SYMBOLS)}, found {symbol!r}.")
