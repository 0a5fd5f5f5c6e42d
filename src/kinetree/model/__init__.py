"""Models: a tree of bodies, their joints and inertias, every physical check made at construction."""

from kinetree.model.bodies import Body, Inertia, Limits
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
from kinetree.model.poses import Pose
from kinetree.model.resistance import Resistance
from kinetree.model.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Points, Shape, Sphere
from kinetree.model.tree import GROUND, Tree

__all__ = [
    "GROUND",
    "Body",
    "Box",
    "Capsule",
    "Cylinder",
    "Cylindrical",
    "Diagnostic",
    "Free",
    "Geometry",
    "Inertia",
    "Joint",
    "JointDynamics",
    "LeanBody",
    "LeanModel",
    "Limits",
    "Mesh",
    "Model",
    "Planar",
    "Plane",
    "Points",
    "Pose",
    "Prismatic",
    "Resistance",
    "Revolute",
    "Screw",
    "Shape",
    "Sphere",
    "Spherical",
    "Tree",
    "Universal",
    "Weld",
]
