"""Events: found to the integrator's order, once each, in order; and one clear behaviour where they are odd."""

import numpy as np
import pytest
from scipy.special import ellipk

import kinetree as kt
from kinetree.simulation import SimulationStopped
from kinetree.simulation.events import last_before

GRAVITY = 9.81


def ball() -> kt.Model:
    return kt.Model([kt.Body("ball", None, kt.Prismatic([0, 0, 1]), inertia=kt.Inertia(0.3))], (0, 0, -GRAVITY), "ball")


def pendulum() -> kt.Model:
    bob = kt.Inertia(1.0, [0.0, 0.0, -1.0])
    return kt.Model([kt.Body("bob", None, kt.Revolute([1, 0, 0]), inertia=bob)], (0, 0, -GRAVITY), "pendulum")


def event(function, terminal=False, direction=0):
    function.terminal, function.direction = terminal, direction
    return function


def hits_ground(terminal=True):
    return event(lambda t, q, v: q[0], terminal, -1)


def test_bouncing_ball_has_its_closed_form():
    """Flights of 2 eⁿ v₀/g, heights of e²ⁿ h₀, down to bounces shorter than a step; RK4 has no error here but rounding."""
    h0, e, dt = 1.0, 0.7, 0.01
    v0 = np.sqrt(2 * GRAVITY * h0)
    top = event(lambda t, q, v: v[0], False, -1)
    run = kt.simulate(ball(), [h0], duration=9.0, dt=dt, events=[hits_ground(), top])
    bounces = 16
    for _ in range(bounces):
        assert run.status == "event" and run.success and run.q[-1, 0] > -1e-18
        run = run + kt.simulate(ball(), v0=-e * run.v[-1], restart=run, duration=9.0, events=[hits_ground(), top])
    n = np.arange(bounces + 1)
    times = v0 / GRAVITY + np.concatenate([[0.0], np.cumsum(2 * v0 * e ** n[1:] / GRAVITY)])
    assert 2 * v0 * e**bounces / GRAVITY < dt
    assert np.allclose(run.t_events[0], times, rtol=0, atol=1e-13)
    assert np.allclose(run.q_events[1][:, 0], h0 * e ** (2 * n[1:]), rtol=1e-10, atol=1e-15)
    assert np.allclose(run.v_events[0][:, 0], -v0 * e**n, rtol=1e-11, atol=0)
    assert (np.diff(run.t) > 0).all() and run.message.startswith("event 'event 0' at t = ")


def test_crossings_of_a_pendulum_have_the_period_of_the_elliptic_integral():
    model, start = pendulum(), 1.5
    quarter = ellipk(np.sin(start / 2) ** 2) / np.sqrt(GRAVITY)
    errors = []
    for dt in (0.04, 0.02, 0.01):
        run = kt.simulate(model, [start], duration=6.5, dt=dt, events=lambda t, q, v: q[0])
        exact = quarter * np.arange(1, 2 * len(run.t_events[0]), 2)
        assert len(run.t_events[0]) >= 3 and np.abs(run.q_events[0]).max() <= 1e-14
        errors.append(np.abs(run.t_events[0] - exact)[2])
    slopes = np.diff(np.log(errors)) / np.log(0.5)
    assert np.allclose(slopes, 4.0, atol=0.2), errors


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit-euler"])
@pytest.mark.parametrize("form", ["newton-euler", "hamilton"])
def test_state_of_an_event_is_what_a_step_to_it_gives(form, integrator):
    model = kt.example("double-pendulum")
    how = {"dt": 0.01, "form": form, "integrator": integrator}
    run = kt.simulate(model, [1.0, -0.5], duration=2.0, events=event(lambda t, q, v: q[1] - 0.1, 2), **how)
    (t,) = run.t_events[0][1:]
    assert run.t[-1] == t and np.array_equal(run.q[-1], run.q_events[0][1]) and np.array_equal(run.v[-1], run.v_events[0][1])
    again = kt.simulate(model, [1.0, -0.5], duration=float(t), **how)
    assert np.allclose(again.q[-1], run.q[-1], rtol=0, atol=1e-14) and len(run.t_events[0]) == 2
    assert run.nfev > again.nfev and again.event_names == ()


def test_going_on_through_a_crossing_does_not_meet_it_again():
    model, dt = pendulum(), 0.01
    through = kt.simulate(model, [1.0], duration=8.0, dt=dt, events=event(lambda t, q, v: q[0]))
    run = kt.simulate(model, [1.0], duration=8.0, dt=dt, events=event(lambda t, q, v: q[0], True))
    while run.t[-1] < 8.0:
        run = run + kt.simulate(model, restart=run, duration=8.0 - run.t[-1], events=event(lambda t, q, v: q[0], True))
    assert run.status == "finished" and len(run.t_events[0]) == len(through.t_events[0]) == 7
    assert np.allclose(run.t_events[0], through.t_events[0], atol=1e-6)
    by_hand = kt.simulate(model, through.q_events[0][0], through.v_events[0][0], 8.0, dt, events=event(lambda t, q, v: q[0]))
    assert len(by_hand.t_events[0]) == 7 and by_hand.t_events[0][0] > 1.0


def test_events_of_one_step_come_in_their_order_and_the_first_terminal_one_ends_it():
    places = 0.5, 0.503, 0.501, 0.502
    watched = [event(lambda t, q, v, at=at: q[0] - at, k == 3) for k, at in enumerate(places)]
    run = kt.simulate(ball(), [0.0], [20.0], 2.0, 0.9, events=watched)
    assert [len(x) for x in run.t_events] == [1, 0, 1, 1] and run.t_events[0] < run.t_events[2] < run.t_events[3]
    assert run.status == "event" and run.q[-1, 0] == pytest.approx(0.502) and run.event_names[3] == "event 3"


def test_directions_and_counts():
    names = {"rising": 1, "falling": -1, "either": 0}

    def watched(direction):
        return event(lambda t, q, v: q[0], False, direction)

    run = kt.simulate(pendulum(), [0.5], duration=5.0, dt=0.01, events=[watched(d) for d in names.values()])
    rising, falling, either = run.t_events
    assert np.array_equal(np.sort(np.concatenate([rising, falling])), either) and len(either) == 5
    assert (run.v_events[0] > 0).all() and (run.v_events[1] < 0).all() and falling[0] < rising[0]
    third = kt.simulate(pendulum(), [0.5], duration=5.0, dt=0.01, events=event(lambda t, q, v: q[0], 3))
    assert third.t[-1] == either[2] and third.status == "event"


def test_zero_at_the_start_counts_when_it_comes_back():
    run = kt.simulate(ball(), [0.0], [2.0], 1.0, 0.01, events=hits_ground())
    assert run.t_events[0] == pytest.approx([4.0 / GRAVITY], abs=1e-14) and run.status == "event"
    within_a_step = kt.simulate(ball(), [0.0], [2.0], 1.0, 0.9, events=hits_ground())
    assert within_a_step.t[-1] == pytest.approx(4.0 / GRAVITY, abs=1e-14)
    always = kt.simulate(ball(), [0.0], duration=0.1, dt=0.01, events=lambda t, q, v: 0.0 * q[0])
    assert always.t_events[0].size == 0 and always.q_events[0].shape == (0, 1) and always.status == "finished"


def test_a_value_of_exactly_zero_at_the_end_of_a_step_counts_once():
    run = kt.simulate(ball(), duration=1.0, dt=0.125, events=[lambda t, q, v: t - 0.5, lambda t, q, v: abs(t - 0.5)])
    assert run.t_events[0].tolist() == pytest.approx([0.5], abs=1e-15) and run.t_events[1].size == 1


ODD = [
    (lambda t, q, v: np.nan if t > 0.05 else 1.0, r"event 'event 0' at t = 0.06 s must be a finite number, found nan"),
    (lambda t, q, v: q if t > 0.05 else 1.0, r"must be a finite number, found array\(\[0., 0.\]\)"),
    (lambda t, q, v: 1 / 0 if t > 0.05 else 1.0, "event 'event 0' failed at t = 0.06 s: ZeroDivisionError: division by zero"),
]


@pytest.mark.parametrize(("function", "message"), ODD)
def test_an_event_that_fails_keeps_the_run_so_far(function, message):
    model = kt.Model([kt.Body(x, None, kt.Prismatic([1, 0, 0]), inertia=kt.Inertia(1.0)) for x in "ab"], (0, 0, -GRAVITY))
    with pytest.raises(SimulationStopped, match=message) as stopped:
        kt.simulate(model, duration=1.0, dt=0.02, events=function)
    assert stopped.value.run.t[-1] == pytest.approx(0.04) and stopped.value.run.status == "stopped"


WRONG = [
    (3, "events must be a function of"),
    ("hit", "events must be a function of"),
    ([lambda t, q, v: 1.0, 2], "events must be a function of"),
    (event(lambda t, q, v: 1.0, direction="up"), "direction of event 'event 0' must be positive, negative or 0, found 'up'"),
    (event(lambda t, q, v: 1.0, -1), "terminal of event 'event 0' must be True, False, or which"),
    (lambda t, q, v: None, "event 'event 0' at t = 1e-09 s must be a finite number, found None"),
]


@pytest.mark.parametrize(("events", "message"), WRONG)
def test_wrong_events_are_refused(events, message):
    with pytest.raises(kt.InputError, match=message):
        kt.simulate(ball(), events=events)


def test_interrupt_inside_an_event_returns_what_was_computed():
    def watched(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return 1.0

    run = kt.simulate(ball(), duration=1.0, dt=0.01, events=watched, store_every=1000)
    assert run.status == "interrupted" and run.t[-1] == pytest.approx(0.5) and run.event_names == ("watched",)


@pytest.mark.parametrize("power", [1, 3, 9])
def test_roots_take_few_values_and_never_more_than_bisection(power):
    """Even where a function is so flat that a secant would creep."""
    taken = []

    def value(s):
        taken.append(s)
        return (s - 0.3) ** power

    found = last_before(value, 0.0, 1.0, value(0.0), value(1.0), 1e-15)
    assert value(found) < 0.0 and 0.3 - found <= 2e-15 and len(taken) <= (11 if power == 1 else 57)
