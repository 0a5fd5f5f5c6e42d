"""Impulses and contact: what a blow does anywhere on a tree, and impacts with restitution and friction.

contacts → contact space (Delassus' matrix) → impulses (Gauss–Seidel, Newton) → impulse response → velocities after
"""

from kinetree.contact.contacts import Contact
from kinetree.contact.impact import Impact, Residuals, impact
from kinetree.contact.response import ImpulseResponse, impulse_response

__all__ = ["Contact", "Impact", "ImpulseResponse", "Residuals", "impact", "impulse_response"]
