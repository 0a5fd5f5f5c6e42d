"""The zoo: models that between them have every shape of tree and every kind of joint. Laws are tested on all of it."""

import site
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import documents
import numpy as np

import kinetree as kt


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def inertia(rng) -> kt.Inertia:
    """Ten point masses in a box of half a metre: physical by construction."""
    masses, points = rng.uniform(0.05, 0.3, 10), rng.uniform(-0.25, 0.25, (10, 3)) + rng.uniform(-0.2, 0.2, 3)
    com = masses @ points / masses.sum()
    r = points - com
    tensor = np.einsum("k,kij->ij", masses, np.einsum("ka,ka,ij->kij", r, r, np.eye(3)) - np.einsum("ki,kj->kij", r, r))
    return kt.Inertia(masses.sum(), com, 0.5 * (tensor + tensor.T))


def planar(rng):
    Q = rotation(rng)
    return kt.Planar(Q[0], Q[1])


JOINTS: dict[str, Callable] = {
    "revolute": lambda rng: kt.Revolute(unit(rng)),
    "prismatic": lambda rng: kt.Prismatic(unit(rng)),
    "screw": lambda rng: kt.Screw(unit(rng), rng.uniform(-0.3, 0.3)),
    "cylindrical": lambda rng: kt.Cylindrical(unit(rng)),
    "universal": lambda rng: kt.Universal(unit(rng), unit(rng)),
    "spherical": lambda rng: kt.Spherical(),
    "planar": planar,
    "free": lambda rng: kt.Free(),
    "weld": lambda rng: kt.Weld(),
}


def tree(name: str, parents, kinds, seed: int = 0, massless=()) -> kt.Model:
    """A model on the given parents (−1 is the ground) and kinds of joints, everything else drawn from the seed."""
    rng = np.random.default_rng([seed, len(parents)])
    bodies = []
    for k, (parent, kind) in enumerate(zip(parents, kinds, strict=True)):
        bodies.append(
            kt.Body(
                f"body {k}",
                f"body {parent}" if parent >= 0 else None,
                JOINTS[kind](rng),
                kt.Pose(rotation(rng), rng.uniform(-0.4, 0.4, 3)),
                kt.Inertia.zero() if k in massless else inertia(rng),
            )
        )
    return kt.Model(bodies, gravity=(1.0, -2.0, -9.0), name=name)


def with_rotors(found: kt.Model, seed: int = 0) -> kt.Model:
    """The model with an armature on every second coordinate of every joint that may have one."""
    rng, bodies = np.random.default_rng([seed, found.nv]), []
    for body in found.bodies:
        armature = rng.uniform(0.1, 1.0, body.joint.nv) * (np.arange(body.joint.nv) % 2 == 0)
        rotor = kt.JointDynamics(armature=armature) if armature.any() and body.joint.quaternion is None else None
        bodies.append(replace(body, dynamics=rotor))
    return replace(found, bodies=tuple(bodies), name=f"{found.name} with rotors")


def rotor_without_mass() -> kt.Model:
    """A last body without mass, moved by a motor."""
    rotor, wheel = kt.JointDynamics(armature=0.2), kt.Inertia.zero()
    carrier = tree("rotor", [-1], ["revolute"])
    return replace(
        carrier, bodies=(*carrier.bodies, kt.Body("wheel", "body 0", kt.Revolute([0, 0, 1]), inertia=wheel, dynamics=rotor))
    )


def random_tree(size: int, seed: int) -> kt.Model:
    rng = np.random.default_rng([seed, size, 1])
    parents = [int(rng.integers(-1, k)) if k else -1 for k in range(size)]
    kinds = rng.choice([kind for kind in JOINTS if kind != "free"], size=size)
    kinds[0] = rng.choice(["free", "revolute"])
    return tree(f"random {size}", parents, kinds, seed)


ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", "fixed"),
    "solo12": ("solo_description/robots/solo12.urdf", "free"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
}


@cache
def robots_folder() -> Path:
    """Where the package example-robot-data keeps its robots. It is a requirement of the tests: without it they fail."""
    for packages in site.getsitepackages():
        folder = Path(packages) / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    raise FileNotFoundError("example-robot-data is not installed; install kinetree[test]")


def robot(name: str) -> kt.Model:
    file, base = ROBOTS[name]
    return kt.load(robots_folder() / file, base=base)


MIXED = ("free", "universal", "planar", "screw", "spherical", "cylindrical", "prismatic", "weld", "revolute")

MAKERS: dict[str, Callable[[], kt.Model]] = {
    **{f"one {kind}": partial(tree, f"one {kind}", [-1], [kind]) for kind in JOINTS if kind != "weld"},
    **{f"{kind} within": partial(tree, f"{kind} within", [-1, 0, 1], ["revolute", kind, "revolute"]) for kind in JOINTS},
    "chain": partial(tree, "chain", [-1, 0, 1, 2, 3, 4], ["revolute"] * 6),
    "mixed chain": partial(tree, "mixed chain", range(-1, 8), MIXED),
    "bush": partial(tree, "bush", [-1, 0, 0, 0, 0, 0], ["spherical", "revolute", "prismatic", "revolute", "screw", "revolute"]),
    "forest": partial(tree, "forest", [-1, -1, 0, 1, -1, 3], ["revolute", "free", "planar", "revolute", "weld", "prismatic"]),
    "floating": partial(tree, "floating", [-1, 0, 1, 0, 3], ["free"] + ["revolute"] * 4),
    "massless within": partial(tree, "massless within", [-1, 0, 1], ["revolute", "revolute", "revolute"], massless=(1,)),
    "rotors": lambda: with_rotors(tree("mixed chain", range(-1, 8), MIXED)),
    "rotors in a forest": lambda: with_rotors(random_tree(12, 4)),
    "rotor without mass": rotor_without_mass,
    "long chain": partial(tree, "long chain", range(-1, 39), ["revolute"] * 40),
    "random 12": partial(random_tree, 12, 1),
    "random 25": partial(random_tree, 25, 2),
    "random 60": partial(random_tree, 60, 3),
    **{name: lambda name=name: documents.case(name).model for name in documents.TREES},
    **{name: partial(robot, name) for name in ROBOTS},
}
NAMES = tuple(MAKERS)


@cache
def model(name: str) -> kt.Model:
    return MAKERS[name]()


@cache
def state(name: str):
    """q, v, a, external of a model: one state, none of it special."""
    found = model(name)
    rng = np.random.default_rng(len(name) + found.nv)
    v, a = rng.uniform(-1.0, 1.0, (2, found.nv))
    return found.random(rng), v, a, rng.uniform(-2.0, 2.0, (found.nbodies, 6))
