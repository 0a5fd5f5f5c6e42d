"""Models: a tree of bodies, their joints and inertias, every physical check made at construction."""

from kinetree.model.bodies import Body, Inertia, Limits, Pose
from kinetree.model.dynamics import JointDynamics
from kinetree.model.joints import (
    Cylindrical,
    Free,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
)
from kinetree.model.lean import LeanBody, LeanModel
from kinetree.model.model import Diagnostic, Model
from kinetree.model.resistance import Resistance
from kinetree.model.tree import GROUND, Tree

__all__ = [
    "GROUND",
    "Body",
    "Cylindrical",
    "Diagnostic",
    "Free",
    "Inertia",
    "Joint",
    "JointDynamics",
    "LeanBody",
    "LeanModel",
    "Limits",
    "Model",
    "Planar",
    "Pose",
    "Prismatic",
    "Resistance",
    "Revolute",
    "Screw",
    "Spherical",
    "Tree",
    "Universal",
    "Weld",
]
