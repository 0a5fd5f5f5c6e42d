"""Going on from a run: the bits of one that was not interrupted, from memory or from a file; and what does not fit."""

import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.simulation import INTEGRATORS, Table

DT = 1e-3


def interrupt_at(t_stop):
    def watched(t, q, v):
        if t > t_stop:
            raise KeyboardInterrupt
        return 1.0

    return watched


@pytest.mark.parametrize("form", ["newton-euler", "hamilton"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("driven", [False, True])
def test_interrupted_and_restarted_is_uninterrupted_bit_for_bit(form, integrator, driven, tmp_path):
    model = zoo.model("floating")
    rng = np.random.default_rng(0)
    q0, v0 = model.random(rng), rng.normal(size=model.nv)
    table = Table(np.linspace(0, 0.1, 8), rng.normal(size=(8, model.nv))) if driven else None
    how = {"dt": DT, "form": form, "integrator": integrator, "store_every": 5}
    whole = kt.simulate(model, q0, v0, 0.1, control=table, **how)
    part = kt.simulate(model, q0, v0, 0.1, control=table, events=interrupt_at(0.0375), **how)
    assert part.status == "interrupted" and part.t[-1] == 0.037 and part.t[-2] == 0.035
    part.save(tmp_path / "part.npz")
    for earlier in (part, kt.load_run(tmp_path / "part.npz")):
        later = kt.simulate(model, restart=earlier, duration=0.1 - 0.037, control=table)
        assert later.t[0] == part.t[-1] and later.store_every == 5 and later.origin == 0.0
        both = part + later
        kept = both.t != 0.037
        assert both.steps == whole.steps == 100 and np.allclose(both.t[kept], whole.t, rtol=1e-15, atol=0)
        for name in ("q", "v", "tau"):
            assert np.array_equal(getattr(both, name)[kept], getattr(whole, name)), name


def test_a_finished_run_goes_on_along_the_same_steps():
    model, drive = kt.example("planar-2r"), (np.arange(8) * 0.1, np.ones((8, 2)) * np.arange(8)[:, None])
    whole = kt.simulate(model, duration=0.6, dt=0.1, control=drive)
    first = kt.simulate(model, duration=0.3, dt=0.1, control=drive)
    both = first + kt.simulate(model, restart=first, duration=0.3, control=drive)
    assert np.array_equal(both.q, whole.q) and np.array_equal(both.v, whole.v) and len(both.t) == 7
    assert both.t[-1] == pytest.approx(0.6, abs=1e-15)


def test_time_goes_on_and_control_sees_it():
    model, seen = kt.example("planar-2r"), []
    first = kt.simulate(model, duration=0.25, dt=0.1)
    second = kt.simulate(model, restart=first, duration=0.05, control=lambda t, q, v: seen.append(t) or np.zeros(2))
    assert second.dt == 0.1 and second.t.tolist() == [0.25, 0.3] and min(seen) == 0.25 and second.origin == 0.25
    assert second.message == "" and (first + second).t.tolist() == [0.0, 0.1, 0.2, 0.25, 0.3]


def test_another_state_way_or_step():
    model = kt.example("planar-2r")
    first = kt.simulate(model, [0.1, 0.2], duration=0.1, dt=0.01, form="hamilton")
    pushed = kt.simulate(model, v0=first.v[-1] + 1.0, restart=first, duration=0.1)
    assert np.array_equal(pushed.q[0], first.q[-1]) and np.allclose(pushed.v[0], first.v[-1] + 1.0, rtol=1e-14)
    finer = kt.simulate(model, restart=first, duration=0.1, dt=0.001, form="newton-euler", integrator="semi-implicit-euler")
    assert (finer.dt, finer.form, finer.steps, finer.origin) == (0.001, "newton-euler", 100, 0.1)
    with pytest.raises(kt.InputError, match="the same form, found 'hamilton' and 'newton-euler'"):
        first + finer


def test_what_does_not_fit_is_refused():
    model = kt.example("planar-2r")
    run = kt.simulate(model, duration=0.1, dt=0.01)
    for options, message in [
        ({"restart": "run.npz"}, "restart must be a Run, found str; kt.load_run reads one"),
        ({"restart": run, "duration": 0.0}, "duration must be positive"),
        ({"restart": run, "q0": [0.0]}, r"simulate of 'planar-2r': q0 must have shape \(..., 2\)"),
    ]:
        with pytest.raises(kt.InputError, match=message):
            kt.simulate(model, **options)
    with pytest.raises(kt.InputError, match=r"restart is a run of 'planar-2r' with digest .* given is 'double-pendulum'"):
        kt.simulate(kt.example("double-pendulum"), restart=run)
