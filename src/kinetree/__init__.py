"""kinetree: multibody dynamics by spatial operators.

You write the operator expression; kinetree turns it into an O(N) sweep over the tree, and the sweep into machine code.
"""

from kinetree.errors import FileError, InputError, KinetreeError, MissingExtraError, ModelError, SimulationError
from kinetree.functions import (
    bias_force,
    center_of_mass,
    compile,
    difference,
    forward_dynamics,
    forward_kinematics,
    gravity_force,
    integrate,
    inverse_dynamics,
    inverse_mass_matrix,
    jacobian,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    reference,
)
from kinetree.io import load
from kinetree.model import (
    Body,
    Cylindrical,
    Diagnostic,
    Free,
    Inertia,
    Limits,
    Model,
    Planar,
    Pose,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Tree,
    Universal,
    Weld,
)
from kinetree.model.examples import EXAMPLES, example
from kinetree.simulation import Run, conserved, load_run, simulate

__version__ = "0.1.0"

__all__ = [
    "EXAMPLES",
    "Body",
    "Cylindrical",
    "Diagnostic",
    "FileError",
    "Free",
    "Inertia",
    "InputError",
    "KinetreeError",
    "Limits",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Run",
    "Screw",
    "SimulationError",
    "Spherical",
    "Tree",
    "Universal",
    "Weld",
    "bias_force",
    "center_of_mass",
    "compile",
    "conserved",
    "difference",
    "example",
    "forward_dynamics",
    "forward_kinematics",
    "gravity_force",
    "integrate",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "jacobian",
    "kinetic_energy",
    "load",
    "load_run",
    "mass_matrix",
    "potential_energy",
    "reference",
    "simulate",
]
