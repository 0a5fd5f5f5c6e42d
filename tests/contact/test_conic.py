"""Impulses against a conic solver's, which knows nothing of sweeps or of Ω: as far as laws of contact have one answer."""

import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import EPS, assert_close

import kinetree as kt
from kinetree.contact import conic
from kinetree.contact.contacts import arranged

GAP = 1e-10
"""Of the kinetic energy: what the solver's accuracy leaves between two optima, velocities being right to its root."""


@cache
def trees():
    """Every kind of joint on trees of 6, masses over four decades; the robots."""
    rng, found = np.random.default_rng(0), []
    for kinds in (
        ("free", "universal", "screw", "spherical", "revolute", "prismatic"),
        ("planar", "weld", "cylindrical", "free"),
    ):
        model = zoo.tree("heavy and light", [-1, 0, 0, 1, 1, 4][: len(kinds)], kinds)
        bodies = []
        for body in model.bodies:
            times = 10.0 ** rng.uniform(-2, 2)
            heavier = kt.Inertia(times * body.inertia.mass, body.inertia.com, times * np.array(body.inertia.tensor))
            bodies.append(replace(body, inertia=heavier))
        found.append(replace(model, bodies=tuple(bodies)))
    return *found, zoo.model("panda"), zoo.model("g1")


def drawn(which, seed):
    """A model, a state of it and three contacts: two of the last body with the world, one with another body."""
    model, rng = trees()[which], np.random.default_rng(seed)
    last = model.nbodies - 1
    contacts = [kt.Contact(last, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)) for _ in range(2)]
    contacts.append(kt.Contact(0, rng.uniform(-0.2, 0.2, 3), rng.normal(size=3), other=last))
    return model, model.random(rng), rng.normal(size=model.nv), contacts


def dense(model, q, contacts):
    J = conic.contact_jacobian(model, q, contacts, arranged(model, contacts).frames)
    return J, J @ np.linalg.solve(kt.mass_matrix(model, q), J.T)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 3), st.integers(0, 10**6))
def test_without_friction_velocities_are_the_conic_ones(which, seed):
    pytest.importorskip("clarabel")
    model, q, v, contacts = drawn(which, seed)
    hit, exact = kt.impact(model, q, v, contacts), conic.conic_impact(model, q, v, contacts)
    d = hit.v - exact.v
    energy = kt.kinetic_energy(model, q, v)
    assert 0.5 * d @ kt.mass_matrix(model, q) @ d <= GAP * energy


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3), st.integers(0, 10**6), st.floats(0.0, 2.0))
def test_with_friction_impulses_are_an_optimum(which, seed, mu):
    """Given how fast each contact slips after our impact, velocities are those of a convex program, of which there is one."""
    pytest.importorskip("clarabel")
    model, q, v, contacts = drawn(which, seed)
    hit, (J, A) = kt.impact(model, q, v, contacts, 0.0, mu), dense(model, q, contacts)
    w = (J @ hit.v).reshape(-1, 3)
    slipping = mu * np.linalg.norm(w[:, 1:], axis=1)
    x = conic.program(A, J @ v + np.kron(slipping, [1.0, 0.0, 0.0]), np.zeros(3), np.full(3, mu))
    ours = np.einsum("cij,cj->ci", arranged(model, contacts).frames, hit.impulses).ravel()
    stated = 3.0 * (hit.residuals.complementarity + hit.residuals.dissipation)  # how far from the optimum ours says it is
    assert 0.5 * (x - ours) @ A @ (x - ours) <= GAP * kt.kinetic_energy(model, q, v) + stated


def test_where_there_is_one_answer_it_is_found():
    """A ball on the floor: it slips on, or sticks."""
    pytest.importorskip("clarabel")
    ball = kt.Inertia(2.0, tensor=0.4 * 2.0 * 0.1**2 * np.eye(3))
    model = kt.Model([kt.Body("ball", None, kt.Free(), inertia=ball)], gravity=(0, 0, 0))
    floor = kt.Contact("ball", [0, 0, -0.1], [0, 0, 1])
    for slip, mu in ((0.1, 0.5), (20.0, 0.1), (3.0, 0.0)):
        v = np.array([0, 0, 0, slip, 0, -2.0])
        hit = kt.impact(model, model.neutral(), v, floor, 0.5, mu)
        exact = conic.conic_impact(model, model.neutral(), v, floor, 0.5, mu)
        assert exact.change <= 1e-8
        assert_close(exact.v, hit.v, np.sqrt(EPS))
        assert_close(exact.impulses, hit.impulses, np.sqrt(EPS))


def test_what_it_needs_and_takes_is_told(monkeypatch):
    model, contact = zoo.model("panda"), kt.Contact(3, [0, 0, 0], [0, 0, 1])
    q, v = model.neutral(), np.ones(9)
    with pytest.raises(kt.InputError, match=r"conic_impact takes one state, q \(9,\) and v \(9,\), found \(2, 9\) and \(9,\)"):
        conic.conic_impact(model, np.stack([q, q]), v, contact)
    with pytest.raises(kt.InputError, match="friction must be a finite number that is not negative, found -1"):
        conic.conic_impact(model, q, v, contact, friction=-1.0)
    with pytest.raises(kt.InputError, match="v must be finite, found nan"):
        conic.conic_impact(model, q, np.nan * v, contact)
    with pytest.raises(kt.InputError, match=r"contact 0 must be a kt\.Contact"):
        conic.conic_impact(model, q, v, None)
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(kt.KinetreeError, match=r'needs Clarabel: pip install "kinetree\[conic\]"'):
        conic.conic_impact(model, q, v, contact)
