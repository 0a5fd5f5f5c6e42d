"""Impacts against the Karush–Kuhn–Tucker equations of dense matrices, the law of energy, and Pinocchio's contact solver."""

import numpy as np
import pinocchio as pin
import pytest
import zoo
from tolerance import assert_close, gamma

import kinetree as kt
from kinetree.contact.conic import contact_jacobian
from kinetree.contact.contacts import arranged

EVERY = [name for name in zoo.NAMES if not name.startswith(("one ", "00"))]
"""Every kind of joint and tree; joints alone and the documents' trees would show nothing else."""
TREES = "mixed chain", "forest", "random 12", "random 60"


def jacobian(model, q, contacts):
    return contact_jacobian(model, q, contacts, arranged(model, contacts).frames)


def touching(model, rng):
    """Contacts of bodies near the tips and the base with the world and with each other."""
    n = model.nbodies
    world = [kt.Contact(k, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)) for k in (n - 1, n - 1, n // 2)]
    return [*world, kt.Contact(n - 1, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3), other=n // 3)]


def kkt(M, J, right):
    """(v, x) of M v − J* x = right[:n], J v = right[n:]; the least x where rows of J depend on each other."""
    n, m = len(M), len(J)
    return np.split(np.linalg.lstsq(np.block([[M, -J.T], [J, np.zeros((m, m))]]), right, rcond=1e-13)[0], [n])


@pytest.mark.parametrize("name", TREES)
def test_contacts_that_push_hold_the_equations_and_the_others_the_signs(name):
    """M (v⁺ − v) = J* x, J v⁺ = −ε min(J v, 0) where x > 0; J v⁺ ≥ that and x = 0 elsewhere: nothing else may be."""
    model, rng = zoo.model(name), np.random.default_rng(8)
    contacts, eps = touching(model, rng), 0.4
    pushing = 0
    for _ in range(4):
        q, v = model.random(rng), rng.normal(size=model.nv)
        M, J = kt.mass_matrix(model, q), jacobian(model, q, contacts)[::3]
        v = v - np.linalg.pinv(J) @ (J @ v + rng.uniform(-0.2, 1.0, len(J)))  # most of them approach
        hit = kt.impact(model, q, v, contacts, eps)
        u, normals = J @ v, arranged(model, contacts).frames[:, 0]
        x = np.einsum("ci,ci->c", hit.impulses, normals)
        wanted, on = -hit.restitution * np.minimum(u, 0.0), x > 1e-9 * np.abs(x).max(initial=0.0)
        pushing += on.sum()
        allowed = gamma(model) * np.linalg.cond(M) + 1e-9
        exact, force = kkt(M, J[on], np.concatenate([M @ v, wanted[on]]))
        assert_close(hit.v, exact, allowed, np.abs(v).max())
        assert_close(J[on].T @ x[on], J[on].T @ force, allowed)
        assert (x >= 0.0).all() and (J @ hit.v >= wanted - allowed * np.abs(u).max()).all()
    assert pushing >= 6


@pytest.mark.parametrize("name", TREES)
def test_a_bilateral_wrench_is_a_response(name):
    """A body brought to rest: Δv = −ℳ⁻¹ J* (J ℳ⁻¹ J*)⁻¹ J v, all six components at once, where they all can be."""
    model, rng = zoo.model(name), np.random.default_rng(9)
    k = model.nbodies - 1
    q, v, point = model.random(rng), rng.normal(size=model.nv), rng.uniform(-0.2, 0.2, 3)
    J, M = kt.jacobian(model, q, k, point=point), kt.mass_matrix(model, q)
    J = np.linalg.svd(J)[2][: np.linalg.matrix_rank(J)] if np.linalg.matrix_rank(J) < 6 else J
    after, _ = kkt(M, J, np.concatenate([M @ v, np.zeros(len(J))]))
    full = kt.jacobian(model, q, k, point=point)
    wrench = np.linalg.lstsq(full.T, M @ (after - v), rcond=None)[0]
    found = kt.impulse_response(model, q, k, point, wrench)
    close = gamma(model) * np.linalg.cond(M) * max(1.0, np.linalg.cond(J))
    assert_close(v + found.dv, after, close, np.abs(v).max())


@pytest.mark.parametrize("name", EVERY)
def test_energy_of_a_single_contact(name):
    """ΔT = −(1 − ε²)/2 · u² / n*Ωn, on every model, three coefficients in one batch."""
    model, rng, eps = zoo.model(name), np.random.default_rng(10), np.array([[0.0], [0.4], [1.0]])
    k, point, normal = model.nbodies - 1, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    q, v = model.random(rng), rng.normal(size=model.nv)
    M, J = kt.reference(kt.mass_matrix, model, q), kt.reference(kt.jacobian, model, q, body=k, frame="world")
    lever = kt.reference(kt.forward_kinematics, model, q)[0][k] @ point
    row = normal @ J[3:] + np.cross(lever, normal) @ J[:3]
    side = -np.sign(row @ v)
    hit = kt.impact(model, q, v, kt.Contact(k, point, side * normal), eps)
    loss = -0.5 * (1.0 - eps[:, 0] ** 2) * (row @ v) ** 2 / (row @ np.linalg.solve(M, row))
    close, T = 4.0 * gamma(model) * np.linalg.cond(M), 0.5 * v @ M @ v
    assert not hit.lost.any()
    assert_close(0.5 * np.einsum("bi,ij,bj->b", hit.v, M, hit.v) - T, loss, close, T)
    assert_close(hit.residuals.energy, loss, close, T)


def test_pinocchios_contact_solver_agrees():
    """On G1's feet, by its convex program: given how fast contacts slip, there is one answer."""
    model = zoo.model("g1")
    theirs = pin.buildModelFromUrdf(str(zoo.robots_folder() / zoo.ROBOTS["g1"][0]), pin.JointModelFreeFlyer())
    rng, feet = np.random.default_rng(11), [k for k, name in enumerate(model.body_names) if name.endswith("ankle_roll_link")]
    contacts = [kt.Contact(foot, [x, y, -0.03], [0.0, 0.0, 1.0]) for foot in feet for x, y in ((0.12, 0.03), (-0.05, -0.02))]
    for mu in (0.0, 0.7):
        q, v = model.random(rng), rng.normal(size=model.nv)
        hit, J = kt.impact(model, q, v, contacts, 0.0, mu), jacobian(model, q, contacts)
        A = J @ np.linalg.solve(kt.mass_matrix(model, q), J.T)
        order = np.arange(12).reshape(4, 3)[:, [1, 2, 0]].ravel()  # normals last
        models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for _ in contacts:
            one = pin.PointContactConstraintModel(theirs, 1)
            one.setFriction(mu)
            models.append(pin.ConstraintModel(one))
            data.append(models[-1].createData())
        slip = np.linalg.norm((J @ hit.v).reshape(4, 3)[:, 1:], axis=1)
        g = (J @ v + mu * np.kron(slip, [1.0, 0.0, 0.0]))[order]
        solver, settings, result = pin.ADMMConstraintSolver(12), pin.ADMMSolverSettings(), pin.ADMMSolverResult()
        settings.solve_ncp, settings.max_iterations = False, 5000
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-9
        assert solver.solve(pin.DelassusOperatorDense(A[np.ix_(order, order)]), g, models, data, settings, result)
        x = np.zeros(12)
        x[order] = result.retrieveConstraintImpulses()
        assert_close(J @ v + A @ x, J @ hit.v, 1e-5, np.abs(J @ v).max())  # velocities to the root of energies
