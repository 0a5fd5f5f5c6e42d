"""Model files read: URDF, and kinetree's own JSON."""

from kinetree.io.load import load

__all__ = ["load"]
