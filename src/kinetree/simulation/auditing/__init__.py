"""Whether a run did what the laws of mechanics say: rows of a table, and their picture.

laws (energy, cyclic coordinates, momenta of free trees, quaternions) and agreement (three forms) → Audit
"""

from kinetree.simulation.auditing.audit import Audit, audit
from kinetree.simulation.auditing.laws import laws
from kinetree.simulation.auditing.row import Row

__all__ = ["Audit", "Row", "audit", "laws"]
