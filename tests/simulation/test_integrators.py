"""What each integrator promises: its order, what it keeps for ever, and that it runs backwards as it ran forwards."""

import sys

import numpy as np
import pytest
import zoo
from tolerance import gamma

import kinetree as kt
from kinetree.simulation.adaptive import Adaptive
from kinetree.simulation.forms import FORMS, TRACED
from kinetree.simulation.implicit import Implicit
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.simulation.kernels import step_kernel

EPS = np.finfo(float).eps
FIXED = [name for name, rule in INTEGRATORS.items() if not isinstance(rule, Adaptive)]
ADAPTIVE = [name for name in INTEGRATORS if name not in FIXED]
IMPLICIT = [name for name, rule in INTEGRATORS.items() if isinstance(rule, Implicit)]


def motion(model, q, v, dt, steps, integrator, form, **options):
    """(q, v) after some steps."""
    if form in TRACED:
        run = kt.rollout(model, q, v, options.get("control"), dt, integrator, form=form, steps=steps, store_every=steps)
    else:
        run = kt.simulate(model, q, v, steps * dt, dt, form=form, integrator=integrator, store_every=steps, **options)
    return run.q[-1], run.v[-1]


def apart(model, a, b):
    return max(np.abs(kt.difference(model, a[0], b[0])).max(), np.abs(a[1] - b[1]).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("integrator", FIXED)
def test_order_is_the_slope_of_the_error(integrator, form):
    """Every kind of joint in one chain."""
    model = zoo.model("mixed chain")
    q, v, tau, _ = zoo.state("mixed chain")
    exact = motion(model, q, v, 2.5e-4, 320, "rk4", "newton-euler", control=tau)
    counts = np.array([10, 20, 40]) * (40 if form == "hamilton" and INTEGRATORS[integrator].order == 1 else 1)
    counts = counts[:2] if form == "lagrange" else counts
    errors = [apart(model, motion(model, q, v, 0.08 / n, int(n), integrator, form, control=tau), exact) for n in counts]
    slopes = -np.diff(np.log(errors)) / np.diff(np.log(counts))
    assert np.allclose(slopes, INTEGRATORS[integrator].order, atol=0.25), (errors, slopes)


@pytest.mark.parametrize("integrator", ["rk4", *IMPLICIT])
@pytest.mark.parametrize("name", ["mixed chain", "003_tree6_multidof_joints"])
def test_time_reversible(name, integrator):
    """With all velocities reversed the motion goes back to where it began; that of RK4 does not."""
    model = zoo.model(name)
    q, v, *_ = zoo.state(name)
    there = motion(model, q, v, 1e-2, 20, integrator, "hamilton")
    back = motion(model, there[0], -there[1], 1e-2, 20, integrator, "hamilton")
    off, condition = apart(model, (back[0], -back[1]), (q, v)), np.linalg.cond(kt.mass_matrix(model, q))
    assert off > 1e-9 if integrator == "rk4" else off < 20 * gamma(model) * condition**0.5


def differential(model, integrator, q, p, h):
    """The step's map on small changes (η, δp), q exp η, by central differences; and where it goes."""
    kernel, eps = step_kernel(model, "hamilton", integrator, False), 1e-5
    tau = np.zeros(model.nv)
    end = kernel(q, p, tau, h)[:2]
    columns = []
    for e in np.eye(2 * model.nv):
        moved = []
        for s in (eps, -eps):
            to = kernel(kt.integrate(model, q, s * e[: model.nv]), p + s * e[model.nv :], tau, h)
            moved.append(np.concatenate([kt.difference(model, end[0], to[0]), to[1]]))
        columns.append((moved[0] - moved[1]) / (2 * eps))
    return np.array(columns).T, end


def two_form(model, p):
    """dθ of the one-form p · q⁻¹ dq: canonical, and less p · [η, ξ] where coordinates are a group."""
    n = model.nv
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    for body, s in zip(model.bodies, model.v_slices, strict=True):
        if body.joint.quaternion is not None:
            P = np.zeros(6)
            P[: body.joint.nv] = p[s]
            for i, a in enumerate(np.eye(6)[: body.joint.nv]):
                for j, b in enumerate(np.eye(6)[: body.joint.nv]):
                    bracket = np.concatenate([np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])])
                    J[s.start + i, s.start + j] = P @ bracket
    return J


@pytest.mark.parametrize("integrator", FIXED)
@pytest.mark.parametrize("name", ["003_fig2_tree10_mixed_RP", "spherical within", "one free"])
def test_symplectic(name, integrator):
    """S* Ω(p⁺) S = Ω(p), S the differential of a step: implicit rules where v is q̇, the variational one everywhere."""
    model = zoo.model(name)
    q, v, *_ = zoo.state(name)
    p = kt.momentum(model, q, v)
    S, end = differential(model, integrator, q, p, 0.05)
    defect = np.abs(S.T @ two_form(model, end[1]) @ S - two_form(model, p)).max()
    flat = all(body.joint.quaternion is None for body in model.bodies)
    if integrator == "variational" or (flat and integrator in IMPLICIT):
        assert defect < 1e-7
    else:
        assert defect > 1e-6


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_momenta_of_a_satellite_stay_to_rounding(integrator):
    satellite = kt.example("satellite")
    q, v = satellite.random(0), np.random.default_rng(0).normal(size=satellite.nv)
    found = kt.rollout(satellite, q, v, None, 0.02, integrator, form="hamilton", steps=500, store_every=10)
    p = kt.momentum(satellite, found.q, found.v)
    R, r = (x[:, 0] for x in kt.forward_kinematics(satellite, found.q))
    angular, linear = (np.einsum("kij,kj->ki", R, x) for x in (p[:, :3], p[:, 3:6]))
    momentum = np.concatenate([angular + np.cross(r, linear), linear], axis=1)
    assert np.abs(momentum - momentum[0]).max() < 500 * 10 * EPS * np.abs(momentum[0]).max()


@pytest.mark.parametrize("integrator", ["rk4", *IMPLICIT])
def test_energy_of_a_chaotic_double_pendulum_is_bounded(integrator):
    """Symplectic rules: as large an error in the last tenth of 20,000 steps as in the first; RK4 drifts away."""
    model = kt.example("double-pendulum")
    q, v = np.array([2.0, 1.0]), np.zeros(2)
    found = kt.rollout(model, q, v, None, 5e-3, integrator, form="hamilton", steps=20_000, store_every=10)
    energy = kt.kinetic_energy(model, found.q, found.v) + kt.potential_energy(model, found.q)
    error = np.abs(energy - energy[0]).reshape(-1)[1:].reshape(10, -1)
    grown = np.median(error[-1]) / np.median(error[0])
    assert (grown > 4) if integrator == "rk4" else (grown < 2), grown


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_step_too_large_is_told(integrator):
    model = zoo.model("panda").without_resistance
    q, v = model.neutral(), 30.0 * np.ones(model.nv)
    said = r"the step from t = 0 s could not be solved: after \d+ repetitions .*joint"
    with pytest.raises(kt.SimulationError, match=said) as told:
        kt.simulate(model, q, v, 1.0, 0.1, integrator=integrator)
    assert "Take a smaller dt (now 0.1 s)" in str(told.value) and len(told.value.run.t) == 1
    with pytest.warns(RuntimeWarning, match=r"1 of 2 rollouts of 'panda' diverged.* could not be solved"):
        found = kt.rollout(model, q, np.stack([0 * v, v]), None, 0.1, integrator, steps=3)
    assert found.diverged.tolist() == [False, True]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_adaptive_rules_are_as_exact_as_they_are_told(integrator, form):
    model = zoo.model("mixed chain")
    q, v, tau, _ = zoo.state("mixed chain")
    exact = motion(model, q, v, 2.5e-4, 1280, "rk4", "newton-euler", control=tau)
    tolerances = [1e-4, 1e-6] if integrator == "radau" else [1e-6, 1e-8]
    options = {"control": tau, "form": form, "integrator": integrator}
    runs = [kt.simulate(model, q, v, 0.32, 0.16, rtol=x, atol=x, **options) for x in tolerances]
    errors = [apart(model, (run.q[-1], run.v[-1]), exact) for run in runs]
    condition = np.linalg.cond(kt.mass_matrix(model, q)) if form == "hamilton" else 1.0
    assert all(error < 10 * x * max(condition, 10.0) for error, x in zip(errors, tolerances, strict=True)), errors
    assert errors[1] < 0.1 * errors[0] and runs[0].nfev < runs[1].nfev and len(runs[0].t) == 3
    assert np.abs(np.linalg.norm(runs[0].q[:, :4], axis=1) - 1).max() < 4 * EPS


def test_radau_takes_long_steps_where_a_model_is_stiff():
    """A door with a stiff closer: the explicit rule counts its time constant, the implicit one what happens."""
    model = kt.Model([kt.Body("door", None, kt.Revolute([0, 0, 1]), inertia=kt.Inertia(1.0, [0.5, 0, 0], 0.1 * np.eye(3)))])
    options = {"control": lambda t, q, v: -2e3 * (v - np.cos(t)), "duration": 2.0, "dt": 1.0, "rtol": 1e-6}
    explicit, implicit = (kt.simulate(model, integrator=name, **options) for name in ("dop853", "radau"))
    assert implicit.nfev < explicit.nfev / 10
    assert np.allclose(implicit.q, explicit.q, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": 1e-6}, "rtol is for 'dop853' and 'radau', found integrator 'rk4', whose steps are dt long"),
        ({"rtol": 1e-20, "integrator": "dop853"}, "rtol must be a number of at least 1e-13 and below 1, found 1e-20"),
        ({"atol": "small", "integrator": "radau"}, "atol must be a number of at least 0 and below 1, found 'small'"),
    ],
)
def test_tolerances_are_checked(options, message):
    with pytest.raises(kt.InputError, match=message):
        kt.simulate(kt.example("double-pendulum"), **options)


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(kt.KinetreeError, match=r'pip install "kinetree\[scipy\]"'):
        kt.simulate(kt.example("double-pendulum"), integrator="dop853")


@pytest.mark.parametrize("integrator", [*IMPLICIT, "dop853"])
def test_energy_changes_by_the_work_done(integrator):
    """What control and external wrenches do, summed over the run, to the order of the sum."""
    model = zoo.model("forest")
    q, v, tau, external = zoo.state("forest")
    options = {"control": lambda t, q, v: tau * np.cos(3 * t) - 0.2 * v, "external": external, "form": "hamilton"}
    gaps = []
    for dt in (4e-3, 2e-3):
        run = kt.simulate(model, q, v, 0.08, dt, integrator=integrator, **options)
        power = np.einsum("ki,ki->k", run.tau, run.v)
        work = dt * (power.sum() - (power[0] + power[-1]) / 2)
        gaps.append(abs(run.energy[-1] - run.energy[0] - work))
    assert gaps[1] < 1e-3 * np.abs(power).max() * 0.08 and gaps[1] < 0.3 * gaps[0]
