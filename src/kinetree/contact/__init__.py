"""Impulses and contact: what a blow does anywhere on a tree, impacts with restitution and friction, and where shapes touch.

contacts → contact space (Delassus' matrix) → impulses (interior points, Newton, sweeps) → impulse response → velocities after
shapes → scene → features → gaps
"""

from kinetree.contact.apart import apart
from kinetree.contact.contacts import Contact
from kinetree.contact.gaps import Candidates, Touching, candidates
from kinetree.contact.impact import Impact, Residuals, impact
from kinetree.contact.response import ImpulseResponse, impulse_response
from kinetree.contact.scene import Scene
from kinetree.model import Box, Capsule, Cylinder, Mesh, Plane, Points, Shape, Sphere

__all__ = [
    "Box",
    "Candidates",
    "Capsule",
    "Contact",
    "Cylinder",
    "Impact",
    "ImpulseResponse",
    "Mesh",
    "Plane",
    "Points",
    "Residuals",
    "Scene",
    "Shape",
    "Sphere",
    "Touching",
    "apart",
    "candidates",
    "impact",
    "impulse_response",
]
