"""One file per library: the class in it reads a case, puts states into its coordinates, and gives what is timed."""

import importlib
import importlib.metadata
from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """What is known of a library before it is imported.

    Attributes
    ----------
    kind : class in the module of this folder
    name : as it is printed
    pip : what to install
    packages : whose versions are reported
    threaded : whether the number of threads is ours to set
    """

    kind: str
    name: str
    pip: str
    packages: tuple[str, ...]
    threaded: bool = False

    def versions(self) -> dict[str, str] | None:
        """Of its packages; None where one is missing."""
        try:
            return {package: importlib.metadata.version(package) for package in self.packages}
        except importlib.metadata.PackageNotFoundError:
            return None


OURS = "kinetree"
LIBRARIES = {
    OURS: Library("Kinetree", "kinetree", ".", ("kinetree", "numpy", "llvmlite"), True),
    "pinocchio": Library("Pinocchio", "Pinocchio", "pin", ("pin",), True),
    "mujoco": Library("MuJoCo", "MuJoCo", "mujoco", ("mujoco",), True),
    "frax": Library("Frax", "frax", "frax", ("frax", "jax")),
    "adam": Library("Adam", "adam", "adam-robotics[jax]", ("adam-robotics", "jax")),
    "jaxsim": Library("JaxSim", "JaxSim", "jaxsim", ("jaxsim", "jax")),
    "mjx": Library("MJX", "MJX", "mujoco-mjx", ("mujoco-mjx", "mujoco", "jax")),
}
"""By the module of this folder; ours first."""


def peer_class(key: str):
    return getattr(importlib.import_module(f"benchmarks.peers.{key}"), LIBRARIES[key].kind)
