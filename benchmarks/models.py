"""What is timed: three robots, the humanoids of MuJoCo XLA, and chains; each by name, as any peer can read it."""

import importlib.util
import site
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import kinetree as kt
from benchmarks.urdf import urdf_text, without_geometry

ROBOTS = {"Panda": ("panda", "fixed"), "G1": ("g1_29dof_rev_1_0", "free"), "Talos": ("talos_full_v2", "free")}
HUMANOIDS = (1, 2, 4, 7, 10)
CHAINS = (7, 30, 100, 300, 1000, 10_000, 100_000)
LONGEST_URDF = 1000
"""Bodies; longer chains are written to no file: no peer takes them."""


class Missing(Exception):  # noqa: N818
    """A package that holds a model is not installed; the message says which."""


@dataclass(frozen=True)
class Case:
    """A model under its name. Peers read it from the text `urdf` or the file `mjcf`, where there is one.

    Attributes
    ----------
    name : as it is printed and asked for
    family : "robots", "humanoids" or "chains"
    size : place in its family, the number it is drawn at
    """

    name: str
    family: str
    size: int

    @property
    def base(self) -> str:
        return ROBOTS[self.name][1] if self.family == "robots" else "fixed"

    @cached_property
    def model(self) -> kt.Model:
        if self.family == "robots":
            return kt.load(robot_file(ROBOTS[self.name][0]), base=self.base, name=self.name)
        if self.family == "humanoids":
            from benchmarks.mjcf import kinetree_model, plain

            return kinetree_model(plain(self.mjcf), self.name)
        return chain(self.size)

    @cached_property
    def urdf(self) -> str | None:
        if self.family == "robots":
            return without_geometry(robot_file(ROBOTS[self.name][0]))
        return urdf_text(self.model) if self.family == "chains" and self.size <= LONGEST_URDF else None

    @property
    def mjcf(self) -> Path | None:
        return humanoids_file(self.size) if self.family == "humanoids" else None


def all_cases() -> list[Case]:
    cases = [Case(name, "robots", place) for place, name in enumerate(ROBOTS)]
    cases += [Case(f"humanoids-{count}", "humanoids", count) for count in HUMANOIDS]
    return cases + [Case(f"chain-{size}", "chains", size) for size in CHAINS]


def chosen(names: list[str]) -> list[Case]:
    """Cases by name or family; any chain-N and humanoids-N. `Missing` where there is no such."""
    cases = {case.name.lower(): case for case in all_cases()}
    families = {case.family for case in cases.values()}
    found: dict[str, Case] = {}
    for name in names:
        kind, _, number = name.lower().partition("-")
        if name.lower() in families:
            some = [case for case in cases.values() if case.family == name.lower()]
        elif name.lower() in cases:
            some = [cases[name.lower()]]
        elif kind in ("chain", "humanoids") and number.isdigit() and int(number) > 0:
            some = [Case(name.lower(), "chains" if kind == "chain" else "humanoids", int(number))]
        else:
            raise Missing(f"no model {name!r}. Models: {', '.join((*sorted(families), *cases))}, any chain-N.")
        found |= {case.name: case for case in some}
    return list(found.values())


def robot_file(name: str) -> Path:
    for packages in (*site.getsitepackages(), site.getusersitepackages()):
        folder = Path(packages, "cmeel.prefix/share/example-robot-data/robots")
        for path in sorted(folder.rglob(f"{name}.urdf")):
            return path
    raise Missing(f"{name}.urdf: example-robot-data is not installed; pip install example-robot-data")


def humanoids_file(count: int) -> Path:
    found = importlib.util.find_spec("mujoco")
    for root in found.submodule_search_locations or () if found else ():
        path = Path(root, "mjx/test_data/humanoid", f"{count:02}_humanoids.xml")
        if path.exists():
            return path
    raise Missing(f"{count:02}_humanoids.xml is in the package mujoco-mjx: pip install mujoco-mjx")


def chain(size: int) -> kt.Model:
    """Equal links of 0.2 m on revolute joints, axes x and y in turn."""
    tensor, axes = np.diag([0.004, 0.003, 0.002]), np.eye(3)
    inertia = kt.Inertia(1.0, [0, 0, 0.1], tensor)
    joints, first, after = [kt.Revolute(axis) for axis in axes[:2]], kt.Pose(), kt.Pose(translation=[0, 0, 0.2])
    bodies = [
        kt.Body(f"body {k}", f"body {k - 1}" if k else None, joints[k % 2], after if k else first, inertia, f"joint {k}")
        for k in range(size)
    ]
    return kt.Model(bodies, name=f"chain of {size}")
