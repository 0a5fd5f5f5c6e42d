"""Pinocchio's impulses: `aba` of an impulse, `impulseDynamics`, and its contact solvers on its Delassus matrix.

What is timed is C++: calls in a Python loop, less what calling costs, the least of three at each state. It is given the
contacts' frames and velocities; velocities after its contact solvers' impulses are not asked of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from benchmarks.models import Case
from benchmarks.peers.peer import Array
from benchmarks.peers.pinocchio import Pinocchio

TOLERANCE = 1e-6
"""Its own."""
MOST_ITERATIONS = 10_000
COMPLIANCE = 1e-10
"""Added to its Delassus matrix, which would be singular where contacts are redundant."""
SOLVERS = {
    "PGS": (pin.PGSConstraintSolver, pin.PGSSolverSettings, pin.PGSSolverResult),
    "ADMM": (pin.ADMMConstraintSolver, pin.ADMMSolverSettings, pin.ADMMSolverResult),
}


@dataclass(frozen=True)
class Sites:
    """Contacts with the ground: bodies, points (m, 3) in their axes, frames (m, 3, 3) with normal, tangent, tangent as rows."""

    bodies: tuple[int, ...]
    points: Array
    frames: Array


class PinocchioContacts:
    """A model with contacts at states q (n, nq), v (n, nv) of ours; R, p are our poses of the bodies there."""

    def __init__(self, case: Case, sites: Sites, q: Array, v: Array, R: Array, p: Array) -> None:
        self.peer = Pinocchio(case, 1)
        self.model, self.data = self.peer.model, self.peer.data
        self.sites, self.R, self.p = sites, R, p
        self.there = self.peer.coordinates(q, v)
        self.names = [case.model.joint_names[k] for k in sites.bodies]
        free = case.model.joint_names[0] if case.base == "free" else None
        self.joints = [self.model.getJointId("root_joint" if name == free else name) for name in self.names]

    def constraints(self, n: int, mu: float):
        """Models and data of the contacts at state n, calculated."""
        models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for k, joint, r, N in zip(self.sites.bodies, self.joints, self.sites.points, self.sites.frames, strict=True):
            W = np.stack([N[1], N[2], N[0]], axis=1)
            world, own = pin.SE3(W, self.p[n, k] + self.R[n, k] @ r), pin.SE3(self.R[n, k].T @ W, r)
            contact = pin.PointContactConstraintModel(self.model, 0, world, joint, own)
            contact.setFriction(mu)
            models.append(pin.ConstraintModel(contact))
            data.append(models[-1].createData())
        pin.crba(self.model, self.data, self.there.q[n], pin.Convention.WORLD)
        for contact, own in zip(models, data, strict=True):
            contact.calc(self.model, self.data, own)
        return models, data

    def impulse_responses(self, states: int, k: int, wrench: Array) -> tuple[float, Array]:
        """Seconds per state of `aba` under a wrench (n, 6) on body k alone, without velocity and gravity; and v̇, ours."""
        m, d, joint = self.model, self.data, self.model.getJointId(self._joint(k))
        gravity, still = m.gravity.copy(), np.zeros(m.nv)
        m.gravity = pin.Motion.Zero()
        spent, found = 0.0, np.empty((states, m.nv))
        for n in range(states):
            forces = pin.StdVec_Force()
            for _ in range(m.njoints):
                forces.append(pin.Force.Zero())
            forces[joint] = pin.Force(wrench[n, 3:], wrench[n, :3])
            q = self.there.q[n].copy()
            seconds, found[n] = least(lambda q=q, f=forces: pin.aba(m, d, q, still, still, f), 1)
            spent += seconds
        m.gravity = gravity
        return spent / states, self.there.our_force(found)

    def impulse_dynamics(self, states: int, restitution: float) -> tuple[float, Array]:
        """Seconds per state of J and `impulseDynamics`, contacts without friction that also pull; velocities after, ours."""
        spent, after = 0.0, np.empty((states, self.model.nv))
        for n in range(states):
            models, data = self.constraints(n, 0.0)
            state = self.there.q[n].copy(), self.there.v[n].copy()

            def jacobian(q=state[0], models=models, data=data):
                pin.computeJointJacobians(self.model, self.data, q)
                return pin.getConstraintsJacobian(self.model, self.data, models, data)

            before, J = least(jacobian, 2)
            J = np.asfortranarray(J[2::3])
            seconds, after[n] = least(
                lambda J=J, state=state: pin.impulseDynamics(self.model, self.data, *state, J, restitution, 0.0), 1
            )
            spent += before + seconds
        return spent / states, self.there.our_force(after)

    def contact_solver(self, name: str, states: int, mu: float) -> tuple[float, Array, Array, Array]:
        """Seconds per state of `crba`, J, Delassus' Cholesky factor and a solver; impulses x, and A and u (n, …), as ours.

        A (n, 3m, 3m) and u (n, 3m) are its Delassus matrix and contact velocities; normal, tangent, tangent of each contact.
        """
        kind, of_settings, of_result = SOLVERS[name]
        size = 3 * len(self.joints)
        solver, settings, result, spent = kind(size), of_settings(), of_result(), 0.0
        for tolerance in ("absolute_feasibility_tol", "absolute_complementarity_tol"):
            setattr(settings, tolerance, TOLERANCE)
        settings.max_iterations = MOST_ITERATIONS
        x, A, u = np.empty((states, size)), np.empty((states, size, size)), np.empty((states, size))
        order = np.arange(size).reshape(-1, 3)[:, [2, 0, 1]].ravel()
        for n in range(states):
            models, data = self.constraints(n, mu)
            factor = pin.ConstraintCholeskyDecomposition(self.model, self.data, models, data)
            J, q = pin.getConstraintsJacobian(self.model, self.data, models, data), self.there.q[n].copy()
            g = J @ self.there.v[n]

            def solve(q=q, g=g, models=models, data=data, factor=factor):
                pin.crba(self.model, self.data, q, pin.Convention.WORLD)
                pin.getConstraintsJacobian(self.model, self.data, models, data)
                factor.compute(self.model, self.data, models, data, COMPLIANCE)
                result.reset()
                solver.solve(factor.getDelassusOperatorCholeskyExpression(), g, models, data, settings, result)

            seconds, _ = least(solve, 6)
            spent += seconds
            factor.compute(self.model, self.data, models, data, COMPLIANCE)
            full = factor.getDelassusOperatorCholeskyExpression().matrix(True) - COMPLIANCE * np.eye(size)
            x[n], u[n], A[n] = result.retrieveConstraintImpulses()[order], g[order], full[np.ix_(order, order)]
        return spent / states, x, A, u

    def _joint(self, k: int) -> str:
        return self.names[self.sites.bodies.index(k)]


def least(call: Callable[[], object], calls: int) -> tuple[float, object]:
    """Seconds of the quickest of three, less what so many calls of C++ cost by themselves; and the last result."""
    found, best = None, np.inf
    for _ in range(3):
        started = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - started)
    return max(best - calls * call_seconds(), 0.0), found


_CALL: list[float] = []


def call_seconds() -> float:
    """Of a call that does nothing."""
    if not _CALL:
        nothing, count = pin.PGSConstraintSolver(3).isValid, 20_000
        started = time.perf_counter()
        for _ in range(count):
            nothing()
        _CALL.append((time.perf_counter() - started) / count)
    return _CALL[0]
