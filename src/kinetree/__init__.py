"""kinetree: multibody dynamics by spatial operators.

You write the operator expression; kinetree turns it into an O(N) sweep over the tree, and the sweep into machine code.
"""

from kinetree import controllers as controllers
from kinetree.algebra.sko import SKO
from kinetree.compilation import compile, reference
from kinetree.compiler.threads import set_threads
from kinetree.contact import Contact, impact, impulse_response
from kinetree.coordinates import Coordinates
from kinetree.errors import FileError, InputError, KinetreeError, MissingExtraError, ModelError, SimulationError
from kinetree.functions import (
    bias_force,
    center_of_mass,
    christoffel,
    compliance,
    coriolis_matrix,
    difference,
    forward_dynamics,
    forward_kinematics,
    generalized_force,
    gravity_force,
    hamiltonian,
    integrate,
    inverse_dynamics,
    inverse_mass_matrix,
    jacobian,
    kinetic_energy,
    logdet_mass_matrix,
    mass_matrix,
    momentum,
    momentum_rate,
    operational_space_inertia,
    operators,
    potential_energy,
    velocity,
)
from kinetree.io import load
from kinetree.model import (
    Body,
    Cylindrical,
    Free,
    Inertia,
    JointDynamics,
    Limits,
    Model,
    Planar,
    Pose,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
)
from kinetree.model.examples import example
from kinetree.simulation import Run, audit, load_run, rollout, simulate

__version__ = "0.1.0"

__all__ = [
    "SKO",
    "Body",
    "Contact",
    "Coordinates",
    "Cylindrical",
    "FileError",
    "Free",
    "Inertia",
    "InputError",
    "JointDynamics",
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
    "Universal",
    "Weld",
    "audit",
    "bias_force",
    "center_of_mass",
    "christoffel",
    "compile",
    "compliance",
    "coriolis_matrix",
    "difference",
    "example",
    "forward_dynamics",
    "forward_kinematics",
    "generalized_force",
    "gravity_force",
    "hamiltonian",
    "impact",
    "impulse_response",
    "integrate",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "jacobian",
    "kinetic_energy",
    "load",
    "load_run",
    "logdet_mass_matrix",
    "mass_matrix",
    "momentum",
    "momentum_rate",
    "operational_space_inertia",
    "operators",
    "potential_energy",
    "reference",
    "rollout",
    "set_threads",
    "simulate",
    "velocity",
]
