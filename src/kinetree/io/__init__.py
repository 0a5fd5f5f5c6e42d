"""Model files: URDF read, kinetree's own JSON read and written."""

from kinetree.io.json import save
from kinetree.io.load import load

__all__ = ["load", "save"]
