"""Motion over time: integrators on the configuration manifold, what drives them, and the record they leave.

control, form → System or Phase (maps on the manifold) → integrator step → Run → audit, file, picture
"""

from kinetree.simulation.auditing import Audit, audit
from kinetree.simulation.control import Table
from kinetree.simulation.files import load_run
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.simulation.rollout import Rollout, rollout
from kinetree.simulation.run import Run
from kinetree.simulation.simulate import SimulationStopped, simulate

__all__ = [
    "INTEGRATORS",
    "Audit",
    "Rollout",
    "Run",
    "SimulationStopped",
    "Table",
    "audit",
    "load_run",
    "rollout",
    "simulate",
]
