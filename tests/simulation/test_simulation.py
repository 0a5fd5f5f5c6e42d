"""Motion over time: orders from the slope of the error, conservation laws, drives, and nothing lost when it goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import functions
from kinetree.errors import InputError, KinetreeError
from kinetree.model import Body, Free, Inertia, Model, Planar, Pose, Revolute, Spherical, Universal, Weld
from kinetree.model.examples import example
from kinetree.simulation import SimulationStopped, Table, simulate

HEAVY = Inertia(2.0, [0.1, 0.05, -0.02], np.diag([0.3, 0.4, 0.5]))
LIGHT = Inertia(1.0, [0.0, 0.3, 0.1], np.diag([0.03, 0.05, 0.06]))


def floating(gravity=(0.0, 0.0, -9.81)) -> Model:
    """A free base that carries a spherical joint, which carries a universal and a planar one."""
    at = Pose(np.eye(3), [0.2, 0.3, 0.1])
    bodies = (
        Body("base", None, Free(), inertia=HEAVY),
        Body("ball", "base", Spherical(), at, LIGHT),
        Body("cross", "ball", Universal([1, 0, 0], [0, 1, 0]), at, LIGHT),
        Body("slide", "base", Planar([1, 0, 0], [0, 1, 0]), at, LIGHT),
    )
    return Model(bodies, gravity, "floating")


@pytest.fixture(scope="module")
def model() -> Model:
    return floating()


@pytest.fixture(scope="module")
def start(model):
    return model.random(1), np.random.default_rng(1).normal(size=model.nv)


def distance(model, a, b) -> float:
    return max(np.abs(functions.difference(model, a.q[-1], b.q[-1])).max(), np.abs(a.v[-1] - b.v[-1]).max())


def test_energy_drift_of_rk4_falls_at_least_as_its_order(model, start):
    drifts = [np.ptp(simulate(model, *start, 1.0, h).energy) for h in (1e-2, 5e-3)]
    assert drifts[1] <= drifts[0] / 2**3.5


def test_power_of_control_is_the_rate_of_energy():
    arm = example("planar-2r")
    run = simulate(arm, duration=1.0, dt=1e-3, control=lambda t, q, v: np.array([np.sin(t), -0.3]))
    power = np.sum(run.tau * run.v, axis=1)
    work = np.sum((power[1:] + power[:-1]) / 2) * 1e-3
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, abs=1e-5)


@pytest.mark.parametrize(("integrator", "calls"), [("rk4", 4), ("semi-implicit-euler", 1)])
def test_forces_are_kept_without_asking_twice(integrator, calls):
    arm, asked = example("planar-2r"), []

    def control(t, q, v):
        asked.append(t)
        return np.array([np.cos(t), -v[1]])

    run = simulate(arm, [0.3, 0.2], duration=0.05, dt=1e-2, control=control, integrator=integrator, store_every=2)
    assert len(asked) == 5 * calls + 1
    assert np.array_equal(run.tau, np.stack([np.cos(run.t), -run.v[:, 1]], axis=1))


def test_forces_of_wrenches_are_those_that_do_their_work():
    floater, wrenches = floating(), np.random.default_rng(3).normal(size=(4, 6))
    run = simulate(floater, duration=0.02, dt=1e-2, control=np.ones(floater.nv), external=wrenches)
    wanted = 1.0 + functions.generalized_force(floater, run.q, wrenches)
    assert np.allclose(run.tau, wanted, rtol=0.0, atol=1e-13)


def test_last_step_lands_on_duration():
    arm = example("planar-2r")
    run = simulate(arm, duration=0.0105, dt=1e-3)
    assert len(run.t) == 12 and run.t[-1] == 0.0105 and run.t[-2] == 0.01
    assert len(simulate(arm, duration=0.3, dt=0.1).t) == 4
    assert simulate(arm, duration=0.01, dt=1e-3, store_every=4).t.tolist() == [0.0, 0.004, 0.008, 0.01]


def test_arrays_are_read_only():
    run = simulate(example("planar-2r"), duration=0.01, dt=1e-3)
    with pytest.raises(ValueError):
        run.q[0] = 1.0


def test_table_constant_and_callable_agree():
    arm = example("planar-2r")
    times, taus = np.array([0.0, 1.0]), np.array([[0.0, 1.0], [2.0, -1.0]])
    by_table = simulate(arm, duration=1.0, dt=1e-2, control=(times, taus))
    by_function = simulate(arm, duration=1.0, dt=1e-2, control=lambda t, q, v: np.array([2 * t, 1 - 2 * t]))
    assert np.allclose(by_table.q, by_function.q, atol=1e-12)
    assert np.array_equal(simulate(arm, duration=1.0, dt=1e-2, control=Table(times, taus)).q, by_table.q)
    flat = simulate(arm, duration=1.0, dt=1e-2, control=([0.0], [[1.0, 2.0]]))
    assert np.array_equal(flat.q, simulate(arm, duration=1.0, dt=1e-2, control=[1.0, 2.0]).q)
    assert Table(times, taus)(-1.0).tolist() == [0.0, 1.0] and Table(times, taus)(2.0).tolist() == [2.0, -1.0]


def test_external_wrench_that_carries_the_weight():
    satellite = floating()
    total = sum(body.inertia.mass for body in satellite.bodies)
    resting = simulate(satellite, duration=0.1, dt=1e-2, external=np.zeros((4, 6)))
    assert resting.q[-1][6] == pytest.approx(-9.81 * 0.005, abs=1e-12) and total == 5.0
    thrust = np.zeros((4, 6))
    thrust[0, 5] = 1.0
    constant = simulate(satellite, duration=0.1, dt=1e-2, external=thrust)
    asked = simulate(satellite, duration=0.1, dt=1e-2, external=lambda t, q, v: thrust)
    assert np.allclose(constant.q, asked.q, rtol=0.0, atol=1e-14)  # one kernel a step, or several: equal to rounding
    assert constant.driven and constant.q[-1][6] > resting.q[-1][6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0.0}, "duration must be positive and finite, found 0 s"),
        ({"duration": float("nan")}, "duration must be positive"),
        ({"dt": -1.0}, "dt must be positive"),
        ({"dt": "fast"}, "dt must be a number of seconds, found 'fast'"),
        ({"duration": 1e-4}, "dt must not exceed duration"),
        ({"duration": 1e9, "dt": 1e-3}, "store_every="),
        ({"duration": 1e300, "dt": 1e-300}, "larger dt"),
        ({"store_every": 0}, "store_every must be a whole number"),
        ({"integrator": "euler"}, "integrator must be one of 'rk4', 'semi-implicit-euler', .*'radau', found 'euler'"),
        ({"form": "kane"}, "form must be one of 'newton-euler', 'lagrange', 'hamilton', found 'kane'"),
        ({"q0": [0.0]}, r"shape \(..., 2\)"),
        ({"q0": [[0.0, 0.0]]}, "must be one state"),
        ({"v0": [0.0, np.inf]}, "must be finite"),
        ({"control": [1.0]}, r"control of 'planar-2r' must have shape \(2,\), found \(1,\). The model has nv = 2"),
        ({"control": [1.0, np.nan]}, "must be finite, found nan at index"),
        ({"control": "full throttle"}, "must hold real numbers"),
        ({"control": ([0.0, 0.0], np.zeros((2, 2)))}, "times of a table must increase"),
        ({"control": ([0.0, 1.0], np.zeros((3, 2)))}, r"one row per time, shape \(2, nv\)"),
        ({"control": ([0.0, 1.0], np.zeros((2, 3)))}, r"shape \(K, 2\)"),
        ({"control": ([], np.zeros((0, 2)))}, "K ≥ 1"),
        ({"control": lambda t, q, v: np.zeros(3)}, r"at t = 0 s must have shape \(2,\), found \(3,\)"),
        ({"external": np.zeros(6)}, r"shape \(2, 6\)"),
    ],
)
def test_bad_input_has_one_clear_message(options, message):
    with pytest.raises(InputError, match=message):
        simulate(example("planar-2r"), **options)


def test_model_that_cannot_move_is_refused():
    with pytest.raises(InputError, match="every joint is a weld"):
        simulate(Model((Body("rock", None, Weld(), inertia=HEAVY),)))
    with pytest.raises(InputError, match="must be a kinetree Model"):
        simulate("rock")


def test_divergence_keeps_the_run_so_far_and_names_time_and_joint():
    arm = example("planar-2r")
    with pytest.raises(SimulationStopped, match=r"diverged: the state after t = .* joint .* smaller dt") as stopped:
        simulate(arm, v0=[1e3, -1e3], duration=1e4, dt=10.0)
    run = stopped.value.run
    assert run.status == "stopped" and run.message == str(stopped.value)
    assert np.isfinite(run.q).all() and np.isfinite(run.v).all() and len(run.t) >= 1
    assert isinstance(stopped.value, KinetreeError)


def test_bad_control_later_on_keeps_the_run_so_far():
    arm = example("planar-2r")
    with pytest.raises(SimulationStopped, match=r"at t = 0.5.* must be finite, found nan") as stopped:
        simulate(arm, duration=1.0, dt=0.01, control=lambda t, q, v: [0.0, np.nan if t > 0.5 else 0.0], store_every=7)
    assert stopped.value.run.t[-1] == pytest.approx(0.5)


def test_exception_inside_control_says_when_and_keeps_the_run_so_far():
    def control(t, q, v):
        return np.zeros(2) if t < 0.03 else 1 / 0

    said = "control of 'planar-2r' failed at t = 0.03 s: ZeroDivisionError: division by zero"
    with pytest.raises(SimulationStopped, match=said) as stopped:
        simulate(example("planar-2r"), duration=1.0, dt=0.01, control=control)
    assert isinstance(stopped.value.__cause__, ZeroDivisionError)
    assert stopped.value.run.status == "stopped" and stopped.value.run.t[-1] == pytest.approx(0.02)
    with pytest.raises(SimulationStopped, match="external of 'planar-2r' failed at t = 0 s: NameError") as stopped:
        simulate(example("planar-2r"), external=lambda t, q, v: nothing)  # noqa: F821, the mistake
    assert stopped.value.run.t.tolist() == [0.0]


def test_interrupt_returns_what_was_computed():
    def control(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return np.zeros(2)

    run = simulate(example("planar-2r"), duration=1.0, dt=0.01, control=control, store_every=1000)
    assert run.status == "interrupted" and run.t[-1] == pytest.approx(0.5) and len(run.t) == 2


def test_progress_bar_goes_to_stderr(capsys, monkeypatch):
    monkeypatch.setattr("kinetree.simulation.progress.SETTLE", 0.0)
    simulate(example("planar-2r"), duration=0.5, dt=1e-3, progress=True)
    said = capsys.readouterr()
    assert said.out == ""


def test_progress_bar_tells_rate_and_remaining_time(monkeypatch):
    from io import StringIO

    from rich.console import Console

    screen = StringIO()
    wide = {"file": screen, "force_terminal": True, "width": 150}
    monkeypatch.setattr("rich.console.Console", lambda **options: Console(**wide))
    monkeypatch.setattr("kinetree.simulation.progress.SETTLE", 0.0)
    monkeypatch.setattr("kinetree.simulation.progress.PAUSE", 0.0)
    simulate(example("planar-2r"), duration=0.1, dt=1e-3, progress=True)
    said = screen.getvalue()
    assert "simulating planar-2r" in said and "steps/s" in said and "0:00:0" in said


def test_revolute_pendulum_has_its_small_period():
    inertia = Inertia(1.0, [0, 0, -1.0], np.zeros((3, 3)))
    run = simulate(Model((Body("bob", None, Revolute([1, 0, 0]), inertia=inertia),)), [1e-4], duration=2.5, dt=1e-3)
    crossings = run.t[1:][np.diff(np.sign(run.q[:, 0])) != 0]
    assert 2 * (crossings[1] - crossings[0]) == pytest.approx(2 * np.pi / np.sqrt(9.81), abs=2e-3)
