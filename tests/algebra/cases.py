"""SKO models of every sort, each with its matrices by hand: rigid ones of the zoo, the documents' abstract one, drawn ones.

A drawn model is a forest in any numbering whose weights are not square, not regular or zero as the seed has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import documents
import numpy as np
import zoo
from by_hand import ByHand
from hypothesis import strategies as st

import kinetree as kt


@dataclass(frozen=True, eq=False)
class Case:
    """One SKO model twice: as the code has it and by hand."""

    name: str
    sko: kt.SKO
    hand: ByHand
    model: kt.Model | None = None
    q: np.ndarray | None = None

    @property
    def rng(self) -> np.random.Generator:
        """The same numbers for everyone who asks."""
        return np.random.default_rng([len(self.name), len(self.hand.sizes)])

    def vector(self, space: str, seed: int = 0) -> np.ndarray:
        """A stacked vector on bodies or joints."""
        sizes = self.hand.sizes if space == "bodies" else self.hand.dofs
        return np.random.default_rng([seed, sum(sizes)]).uniform(-1.0, 1.0, sum(sizes))

    @cached_property
    def is_serial(self) -> bool:
        return all(len(self.hand.children(k)) <= 1 for k in self.hand.nodes) and self.hand.parents.count(-1) == 1


# Rigid bodies.


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def spatial_inertia(body: kt.Inertia) -> np.ndarray:
    """M = [[I − m s~ s~, m s~], [−m s~, m 1]] about the joint's origin."""
    m, s = body.mass, skew(np.asarray(body.com))
    return np.block([[body.tensor - m * s @ s, m * s], [-m * s, m * np.eye(3)]])


def rigid_by_hand(model: kt.Model, q: np.ndarray) -> ByHand:
    """φ(p, k) = [[R, d~ R], [0, R]] from where the bodies stand in the world, H from the joints, M from the inertias."""
    rotations, origins = kt.reference(kt.forward_kinematics, model, q)
    weights, H = [], []
    for k, (parent, body) in enumerate(zip(model.parents, model.bodies, strict=True)):
        H.append(np.asarray(body.joint.H(q[model.q_slices[k]]), float).reshape(body.joint.nv, 6))
        if parent < 0:
            weights.append(None)
            continue
        R = rotations[parent].T @ rotations[k]
        d = skew(rotations[parent].T @ (origins[k] - origins[parent]))
        weights.append(np.block([[R, d @ R], [np.zeros((3, 3)), R]]))
    Gamma = [np.diag(body.dynamics.armature) for body in model.bodies]
    return ByHand(model.parents, weights, H, [spatial_inertia(body.inertia) for body in model.bodies], Gamma)


def rigid(name: str, model: kt.Model, q: np.ndarray) -> Case:
    return Case(name, kt.operators(model, q), rigid_by_hand(model, q), model, q)


# Any weights.


def abstract(name: str, parents, weights, H, M, Gamma=None) -> Case:
    return Case(name, kt.SKO(parents, weights, H, M, Gamma=Gamma), ByHand(parents, weights, H, M, Gamma))


def joint_map(rng, n: int, m: int) -> np.ndarray:
    """n rows of a rotation, each scaled: of full rank for certain."""
    Q, _ = np.linalg.qr(rng.normal(size=(m, m)))
    return rng.uniform(0.5, 2.0, (n, 1)) * Q[:n]


def weight(rng, rows: int, columns: int, kind: str) -> np.ndarray:
    """A weight of about unit length."""
    if kind == "zero":
        return np.zeros((rows, columns))
    if kind == "singular":
        return np.outer(rng.normal(size=rows), rng.normal(size=columns)) / np.sqrt(rows * columns)
    return rng.normal(size=(rows, columns)) / np.sqrt(columns)


def inertia(rng, size: int) -> np.ndarray:
    X = rng.normal(size=(size, size)) / np.sqrt(max(size, 1))
    return X @ X.T + 0.3 * np.eye(size)


WEIGHTS = ("full", "full", "full", "singular", "zero")


def drawn(name: str, parents, sizes, dofs, seed: int, kinds=WEIGHTS, rotors: bool = False) -> Case:
    """The model with these sizes, its numbers drawn from the seed."""
    rng = np.random.default_rng(seed)
    weights = [
        None if p < 0 else weight(rng, sizes[p], sizes[k], kinds[rng.integers(len(kinds))]) for k, p in enumerate(parents)
    ]
    H = [joint_map(rng, n, m) for n, m in zip(dofs, sizes, strict=True)]
    M = [inertia(rng, m) for m in sizes]
    Gamma = [inertia(rng, n) * rng.integers(2) for n in dofs] if rotors else None
    return abstract(name, parents, weights, H, M, Gamma)


def permuted(parents, order):
    """The same forest, node k renamed order[k]."""
    found = [-1] * len(parents)
    for k, p in enumerate(parents):
        found[order[k]] = -1 if p < 0 else order[p]
    return found


def any_forest(name: str, size: int, seed: int, kinds=WEIGHTS, dofs_from: int = 0, rotors: bool = False) -> Case:
    """A forest in any numbering with sizes 1 to 5 and n_k from 0 to m_k."""
    rng = np.random.default_rng([seed, size])
    parents = permuted([int(rng.integers(-1, k)) if k else -1 for k in range(size)], rng.permutation(size).tolist())
    sizes = rng.integers(1, 6, size).tolist()
    return drawn(name, parents, sizes, [int(rng.integers(min(dofs_from, m), m + 1)) for m in sizes], seed, kinds, rotors)


@st.composite
def forests(draw, largest: int = 12, rotors: bool = True):
    """Abstract models that shrink: fewer nodes, canonical numbering, small sizes, no inertias of joints."""
    size = draw(st.integers(1, largest))
    parents = [draw(st.integers(-1, k - 1)) for k in range(size)]
    parents = permuted(parents, draw(st.permutations(range(size))))
    sizes = draw(st.lists(st.integers(1, 5), min_size=size, max_size=size))
    dofs = [draw(st.integers(0, m)) for m in sizes]
    return drawn("drawn", parents, sizes, dofs, draw(st.integers(0, 2**20)), rotors=rotors and draw(st.booleans()))


def seed_case() -> Case:
    """002_abstract_sko_nonsquare, Jain's numbers from 1, child before parent."""
    p = documents.cases()["002_abstract_sko_nonsquare"]["params"]
    blocks = [[np.array(X) if X is not None else None for X in p[key]] for key in ("A", "H", "M")]
    return abstract("002_abstract_sko_nonsquare", [parent - 1 for parent in p["parents"]], *blocks)


ABSTRACT: dict[str, Callable[[], Case]] = {
    "002_abstract_sko_nonsquare": seed_case,
    "one node": partial(drawn, "one node", [-1], [3], [2], 1),
    "abstract chain": partial(drawn, "abstract chain", [-1, 0, 1, 2, 3], [2, 5, 3, 1, 4], [1, 3, 0, 1, 2], 2, ("full",)),
    "chain from the tip": partial(drawn, "chain from the tip", [1, 2, 3, -1], [3, 2, 4, 1], [2, 2, 1, 1], 3, ("full",)),
    "abstract forest": partial(any_forest, "abstract forest", 12, 4),
    "full forest": partial(any_forest, "full forest", 10, 5, ("full",), 1),
    "rotors anywhere": partial(any_forest, "rotors anywhere", 11, 9, ("full",), 1, True),
    "abstract 60": partial(any_forest, "abstract 60", 60, 6),
    "no joint moves": partial(drawn, "no joint moves", [-1, 0, 0], [2, 3, 1], [0, 0, 0], 7),
    "every joint free": partial(drawn, "every joint free", [2, -1, 1, 1], [2, 3, 2, 1], [2, 3, 2, 1], 8, ("full",)),
}


@cache
def case(name: str) -> Case:
    if name in ABSTRACT:
        return ABSTRACT[name]()
    return rigid(name, zoo.model(name), zoo.state(name)[0])


ROBOTS = tuple(zoo.ROBOTS)
RIGID = (
    "one free",
    "weld within",
    "chain",
    "mixed chain",
    "bush",
    "forest",
    "massless within",
    "rotors",
    "rotors in a forest",
    "random 12",
    "000_ex1_pendulum_on_moving_base",
    "000_ex2_double_pendulum",
    "000_ex3_satellite",
    "000_ex4_three_link_arm",
    "002_fig3_5segment_tree12",
    "003_tree6_multidof_joints",
    *ROBOTS,
)
ALL = (*RIGID, *ABSTRACT)
