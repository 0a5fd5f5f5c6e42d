"""kinetree: multibody dynamics by spatial operators.

You write the operator expression; kinetree turns it into an O(N) sweep over the tree, and the sweep into machine code.
"""

from kinetree.algebra.expression import Operator
from kinetree.algebra.sko import SKO
from kinetree.compilation import compile, reference
from kinetree.compiler.threads import set_threads, threads
from kinetree.errors import FileError, InputError, KinetreeError, MissingExtraError, ModelError, SimulationError
from kinetree.functions import (
    bias_force,
    center_of_mass,
    compliance,
    difference,
    forward_dynamics,
    forward_kinematics,
    gravity_force,
    integrate,
    inverse_dynamics,
    inverse_mass_matrix,
    jacobian,
    kinetic_energy,
    logdet_mass_matrix,
    mass_matrix,
    operational_space_inertia,
    operators,
    potential_energy,
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
from kinetree.simulation import Rollout, Run, conserved, load_run, rollout, simulate

__version__ = "0.1.0"

__all__ = [
    "EXAMPLES",
    "SKO",
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
    "Operator",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Rollout",
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
    "compliance",
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
    "logdet_mass_matrix",
    "mass_matrix",
    "operational_space_inertia",
    "operators",
    "potential_energy",
    "reference",
    "rollout",
    "set_threads",
    "simulate",
    "threads",
]
