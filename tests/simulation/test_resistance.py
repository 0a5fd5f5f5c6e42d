"""What joints do by themselves, in motion: closed forms, work, stops, and the same numbers from every form and loop."""

import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.cli import main

MASS = 2.0


def slider(**dynamics):
    body = kt.Body("slider", None, kt.Prismatic([1, 0, 0]), inertia=kt.Inertia(MASS), dynamics=kt.JointDynamics(**dynamics))
    return kt.Model([body])


def wheel(**limits):
    bounds = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf} | limits
    inertia = kt.Inertia(1.0, tensor=0.1 * np.eye(3))
    return kt.Model([kt.Body("wheel", None, kt.Revolute([0, 0, 1]), inertia=inertia, limits=kt.Limits(**bounds))])


@pytest.mark.parametrize(("integrator", "error"), [("rk4", 1e-5), ("semi-implicit-euler", 2e-3)])
def test_friction_stops_a_slider_where_it_should(integrator, error):
    """m v' = −f v/√(v² + s²): from v to rest it goes m/f ∫ √(v² + s²) dv, which is m v²/2f for small s."""
    f, v, s = 3.0, 2.0, 0.001 * 3.0 / MASS
    run = kt.simulate(slider(friction=f), [0.0], [v], duration=2.0, dt=1e-3, integrator=integrator)
    way = MASS / f * 0.5 * (v * np.hypot(v, s) + s**2 * np.arcsinh(v / s))
    assert abs(run.q[-1, 0] - way) <= error * way
    assert abs(run.q[-1, 0] - MASS * v**2 / (2 * f)) <= (error + 2e-3) * way
    assert abs(run.v[-1, 0]) < 1e-12


def test_friction_holds_and_slips():
    """Below f it creeps, above it the rest accelerates."""
    model = slider(friction=3.0)
    held = kt.simulate(model, [0.0], [0.0], duration=1.0, control=[2.0])
    creep = 0.001 * 3.0 / MASS * 2.0 / np.sqrt(3.0**2 - 2.0**2)
    assert held.v[-1, 0] == pytest.approx(creep, rel=1e-9)
    slips = kt.simulate(model, [0.0], [0.0], duration=1.0, control=[5.0])
    assert slips.v[-1, 0] == pytest.approx((5.0 - 3.0) / MASS, rel=1e-2)


def test_a_damped_spring_swings_as_it_should():
    m, b, k = MASS, 0.8, 50.0
    run = kt.simulate(slider(damping=b, stiffness=k, rest=0.3), [0.0], [1.0], duration=2.0, dt=1e-3)
    decay, pace = b / (2 * m), np.sqrt(k / m - (b / (2 * m)) ** 2)
    t, x0 = run.t, -0.3
    wanted = 0.3 + np.exp(-decay * t) * (x0 * np.cos(pace * t) + (1.0 + decay * x0) / pace * np.sin(pace * t))
    assert np.abs(run.q[:, 0] - wanted).max() < 1e-9


def test_no_damping_is_too_strong_for_semi_implicit_euler():
    run = kt.simulate(slider(damping=1e9, stiffness=1e9, rest=0.3), [0.0], [5.0], 1.0, 0.01, integrator="semi-implicit-euler")
    assert np.abs(run.q).max() <= 0.35
    swings = kt.simulate(slider(stiffness=1e9, rest=0.3), [0.0], [0.0], 1.0, 0.01, integrator="semi-implicit-euler")
    assert np.abs(swings.q[5:, 0] - 0.3).max() < 1e-3  # a spring that the step cannot resolve is at rest
    with pytest.raises(kt.SimulationError, match="diverged"):
        kt.simulate(slider(damping=1e9), [0.0], [5.0], 1.0, 0.01, integrator="rk4")


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit-euler"])
@pytest.mark.parametrize("form", ["newton-euler", "hamilton", "lagrange"])
def test_stops_hold(form, integrator):
    """Beyond the stop by v T / e and the length of a step, and away from it with e⁻² v."""
    v, T, dt = 3.0, 0.005, 2.5e-4
    model = wheel(lower=-1.0, upper=0.5)
    run = kt.simulate(model, [0.0], [v], duration=0.4, dt=dt, form=form, integrator=integrator)
    assert abs(run.q.max() - 0.5 - v * T / np.e) < 0.5 * v * dt
    assert run.v[-1, 0] == pytest.approx(-v * np.exp(-2), rel=0.1)
    pressed = kt.simulate(model, [0.0], [-v], duration=2.0, dt=dt, form=form, integrator=integrator, control=[-4.0])
    assert pressed.q[-1, 0] == pytest.approx(-1.0 - 4.0 * T**2 / 0.1, rel=1e-6)
    free = kt.simulate(model, [0.0], [v], duration=0.4, dt=dt, form=form, integrator=integrator, passive=False)
    assert free.q[-1, 0] == pytest.approx(0.4 * v, rel=1e-9)
    assert not free.driven


def test_a_stop_only_pushes():
    """Pulled away while it is pressed in, the joint leaves as if nothing were there."""
    model = wheel(upper=0.0)
    run = kt.simulate(model, [0.01], [-5.0], duration=0.02, dt=1e-4)
    assert not run.tau.any()
    assert run.v[-1, 0] == -5.0


def test_efforts_are_limited():
    model = wheel(effort=2.0)
    for asked, given in ((1.5, 1.5), (7.0, 2.0), (-7.0, -2.0)):
        run = kt.simulate(model, [0.0], [0.0], duration=0.5, control=[asked])
        assert run.v[-1, 0] == pytest.approx(given * 0.5 / 0.1, rel=1e-12)
        assert (run.tau == given).all()
        whole = kt.simulate(model, [0.0], [0.0], duration=0.5, control=[asked], passive=False)
        assert whole.v[-1, 0] == pytest.approx(asked * 0.5 / 0.1, rel=1e-12)


def resisting(name):
    """All that joints may do, on every joint."""
    model, bodies = zoo.model(name), []
    for body in model.bodies:
        nv, flat = body.joint.nv, body.joint.quaternion is None
        own = kt.JointDynamics(0.3, 0.2, 4.0 * flat, 0.1, 0.05 * flat) if nv else None
        bodies.append(kt.Body(body.name, body.parent, body.joint, body.placement, body.inertia, body.joint_name, None, own))
    return kt.Model(bodies, model.gravity, name=f"resisting {name}")


@pytest.mark.parametrize("form", ["newton-euler", "hamilton", "lagrange"])
@pytest.mark.parametrize("name", ["bush", "forest"])
def test_energy_is_lost_as_work(name, form):
    """d(T + U)/dt = τ* v with the forces of dampers, friction and springs in τ; and the audit says so."""
    model = resisting(name)
    q, v, *_ = zoo.state(name)
    run = kt.simulate(model, q, 0.5 * v, duration=0.2, dt=5e-4, form=form, control=np.full(model.nv, 0.1))
    table = kt.audit(run)
    assert run.driven
    assert table["energy"].verdict == "conserved"
    assert table.passed
    other = kt.simulate(model, q, 0.5 * v, duration=0.2, dt=5e-4, control=np.full(model.nv, 0.1))
    assert np.abs(run.q[-1] - other.q[-1]).max() < 1e-7


def test_damping_takes_energy_and_nothing_else_does():
    q, v, *_ = zoo.state("mixed chain")
    bodies = [
        kt.Body(
            b.name, b.parent, b.joint, b.placement, b.inertia, dynamics=kt.JointDynamics(damping=0.5) if b.joint.nv else None
        )
        for b in zoo.model("mixed chain").bodies
    ]
    damped = kt.simulate(kt.Model(bodies, (0, 0, 0)), q, v, duration=0.5, dt=1e-3)
    assert (np.diff(damped.energy) < 0.0).all()
    free = kt.simulate(kt.Model(bodies, (0, 0, 0)), q, v, duration=0.5, dt=1e-3, passive=False)
    assert np.abs(np.diff(free.energy)).max() < 1e-8
    assert not free.driven


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit-euler"])
@pytest.mark.parametrize("form", ["newton-euler", "hamilton"])
@pytest.mark.parametrize("name", ["panda", "allegro"])
def test_rollouts_are_simulations(name, form, integrator):
    model = zoo.model(name)
    assert model.resists
    q, v = model.random(3, 4), np.random.default_rng(4).uniform(-3, 3, (4, model.nv))
    tau, dt = np.full(model.nv, 0.5), 1e-6 if name == "allegro" and integrator == "rk4" else 1e-3
    for passive in (True, False):
        many = kt.rollout(model, q, v, tau, dt, integrator, form=form, steps=30, passive=passive)
        one = kt.simulate(model, q[2], v[2], 30 * dt, dt, control=tau, form=form, integrator=integrator, passive=passive)
        assert np.array_equal(many.q[2], one.q)
    assert not np.array_equal(many.q, kt.rollout(model, q, v, tau, dt, integrator, form=form, steps=30).q)


def test_joints_stay_in_their_ranges():
    """A panda that is thrown about for two seconds, in a batch."""
    model = zoo.model("panda")
    rng = np.random.default_rng(0)
    q, v = model.random(rng, 16), rng.uniform(-2, 2, (16, model.nv)) * ([1.0] * 7 + [0.02] * 2)
    lower, upper = (np.concatenate([getattr(b.limits, end) for b in model.bodies]) for end in ("lower", "upper"))
    run = kt.rollout(model, q, v, None, 1e-3, steps=2000)
    speed = np.abs(run.v).max(axis=1, keepdims=True)
    beyond = np.maximum(run.q - upper, lower - run.q)
    assert (beyond <= 0.005 / np.e * speed + 1e-3 * speed + 0.05).all()
    free = kt.rollout(model, q, v, None, 1e-3, steps=2000, passive=False)
    assert np.maximum(free.q - upper, lower - free.q).max() > 1.0


def test_the_command_line_switches_it_off(tmp_path, capsys):
    model = slider(damping=3.0)
    model.save(tmp_path / "slider.json")
    for flags, last in (((), 2.0 / 1.5 * (1 - np.exp(-1.5))), (("--no-passive",), 2.0)):
        file, out = str(tmp_path / "slider.json"), str(tmp_path / "run.npz")
        assert main(["simulate", file, "--v0", "2", "--duration", "1", "--out", out, *flags]) == 0
        assert kt.load_run(out).q[-1, 0] == pytest.approx(last, rel=1e-9)
    capsys.readouterr()
    assert main(["show", str(tmp_path / "slider.json")]) == 0
    assert "damping [N m s]" in capsys.readouterr().out


def test_what_is_too_fast_for_a_step_is_named():
    """Allegro's file damps fingers of 1e-5 kg m² with 3 N m s."""
    model = zoo.model("allegro")
    with pytest.raises(kt.SimulationError, match=r"What joint 'joint_\d+.0' does by itself settles in .*semi-implicit-euler"):
        kt.simulate(model, duration=0.1, integrator="rk4")
    run = kt.simulate(model, duration=0.1)
    assert run.success and np.abs(run.v).max() < 10.0 and run.integrator == "semi-implicit-euler"
    assert kt.simulate(model, duration=0.1, restart=run).integrator == "semi-implicit-euler"
    assert kt.simulate(model, duration=0.01, passive=False).integrator == "rk4"
    assert kt.simulate(zoo.model("panda"), duration=0.01).integrator == "rk4"
    with pytest.raises(kt.SimulationError) as caught:
        kt.simulate(slider(), duration=1.0, control=[1e300])
    assert "by itself" not in str(caught.value)


def test_a_restart_goes_on_as_the_run_did(tmp_path):
    model, q, v = resisting("forest"), *zoo.state("forest")[:2]
    for passive in (True, False):
        first = kt.simulate(model, q, v, 0.02, passive=passive)
        first.save(tmp_path / "run.npz")
        later = kt.simulate(model, restart=kt.load_run(tmp_path / "run.npz"), duration=0.02)
        assert later.passive is passive
        assert np.array_equal((first + later).q, kt.simulate(model, q, v, 0.04, passive=passive).q)
    with pytest.raises(kt.InputError, match="passive must be True or False"):
        kt.simulate(model, q, v, 0.01, passive="no")
    with pytest.raises(kt.InputError, match="the same passive"):
        first + kt.simulate(model, restart=first, duration=0.02, passive=True)


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "gauss-legendre-4", "variational"])
def test_symplectic_integrators_feel_it_too(integrator):
    q, v, *_ = zoo.state("forest")
    found = kt.simulate(resisting("forest"), q, 0.5 * v, 0.02, 1e-4, integrator=integrator)
    wanted = kt.simulate(resisting("forest"), q, 0.5 * v, 0.02, 5e-5)
    assert np.abs(found.q[-1] - wanted.q[-1]).max() < 1e-6
    assert kt.audit(found)["Newton–Euler = Lagrange"].verdict == "agree"


def test_the_command_line_tells_of_speeds_beyond_their_limits(tmp_path, capsys):
    wheel(velocity=3.0).save(tmp_path / "wheel.json")
    for speed, told in (("2.5", False), ("3.5", True)):
        out = str(tmp_path / "run.npz")
        assert main(["simulate", str(tmp_path / "wheel.json"), "--v0", speed, "--duration", "0.1", "--out", out]) == 0
        assert ("reached 3.5 rad/s at t = 0 s; its limit is 3 rad/s" in capsys.readouterr().out) is told
