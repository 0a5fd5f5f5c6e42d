"""Environments: Gymnasium's own check, the vectorised one bit for bit, what they mean, and what is refused."""

import doctest
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

gymnasium = pytest.importorskip("gymnasium")

from kinetree.gym import TASKS, Environment, VectorEnvironment  # noqa: E402

CONFIGURATIONS = {
    "double-pendulum": {"effort": (8.0, 4.0)},
    "three-link-arm": {"effort": 20.0, "integrator": "rk4"},
    "satellite": {"effort": (0, 0, 0, 0, 0, 0, 1.0, 1.0), "reward": lambda q, v, tau: -(v**2).sum(-1)},
    "serial-arm": {"effort": 5.0, "substeps": 2},
}


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_finds_nothing_to_warn_of(name):
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)  # warnings are errors here


@pytest.mark.parametrize("name", ["panda", "go1", "allegro_right_hand"])
def test_robots_are_environments_as_they_are(name):
    from gymnasium.utils.env_checker import check_env

    model = kt.load(name, base="free")
    env = Environment(model)
    check_env(env)
    assert env.action_space.shape == (model.nv - 6,)
    assert gymnasium.make("kinetree.gym:kinetree/Model-v0", model=name).action_space == env.action_space


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_many_at_once_are_the_same_one_by_one(name):
    """Bit for bit, through ends of episodes: 11 environments, a number that fills no vector."""
    options = CONFIGURATIONS[name] | {"speed": 3.0}
    many = VectorEnvironment(name, 11, max_episode_steps=40, **options)
    each = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.wrappers.TimeLimit(Environment(name, **options), 40) for _ in range(11)]
    )
    assert many.action_space == each.action_space and many.observation_space == each.observation_space
    (ours, _), (theirs, _) = many.reset(seed=3), each.reset(seed=3)
    assert np.array_equal(ours, theirs)
    rng, over = np.random.default_rng(0), 0
    for _ in range(90):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        ours, theirs = many.step(actions), each.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(ours[:4], theirs[:4], strict=True))
        over += int(ours[2].sum() + ours[3].sum())
    assert over >= 11


def test_a_step_is_a_simulation_under_held_forces():
    model, effort = kt.example("double-pendulum"), np.array([8.0, 4.0])
    env = Environment(model, effort=effort, dt=0.02, substeps=4)
    q0, v0 = np.array([0.3, -0.2]), np.array([0.1, 0.0])
    seen, _ = env.reset(options={"q0": q0, "v0": v0})
    assert np.array_equal(seen, [*np.cos(q0), *np.sin(q0), *v0])
    action = np.array([0.5, -2.0])
    _, reward, terminated, truncated, info = env.step(action)
    tau = effort * [0.5, -1.0]
    run = kt.simulate(model, q0, v0, 0.02, 0.005, control=tau, integrator="semi-implicit-euler")
    assert np.array_equal(env.q, run.q[-1]) and np.array_equal(env.v, run.v[-1])
    height = kt.center_of_mass(model, run.q[-1])[2] - kt.center_of_mass(model, model.neutral())[2]
    assert reward == pytest.approx(height - 1e-3 * 1.25, rel=1e-12) and not (terminated or truncated or info)


def test_what_is_seen_of_limited_angles_lengths_and_quaternions():
    limits = kt.Limits([-1.0], [2.0], [np.inf], [7.0])
    inertia = kt.Inertia(1.0, [0.1, 0.2, -0.3], 0.1 * np.eye(3))
    bodies = [
        kt.Body("base", None, kt.Free(), inertia=inertia),
        kt.Body("arm", "base", kt.Revolute([1, 0, 0]), inertia=inertia, limits=limits),
        kt.Body("wheel", "arm", kt.Revolute([1, 0, 0]), inertia=inertia, limits=kt.Limits([-np.inf], [np.inf], [9.0], [1.0])),
    ]
    env = Environment(kt.Model(bodies), reach=4.0, speed=30.0)
    assert np.array_equal(env.task.effort, [0, 0, 0, 0, 0, 0, 7.0, 1.0]) and env.action_space.shape == (2,)
    expected = [*[1.0] * 4, 4.0, 4.0, 4.0, 5.0, 1.0, 1.0, *[30.0] * 8]
    assert np.allclose(env.observation_space.high, expected, atol=2e-9)
    assert env.observation_space.low[7] == -4.0
    env.reset(seed=0, options={"v0": [0, 0, 0, 0, 0, 99.0, 0, 0]})
    for k in range(6):
        seen, _, terminated, _, info = env.step(np.zeros(2))
        assert seen in env.observation_space and terminated == (k > -1) and not info  # faster than 30 from the start


def test_divergence_ends_an_episode_with_a_finite_observation():
    env = VectorEnvironment("double-pendulum", 3, effort=1e-3, dt=1.0, substeps=1, speed=1e300)
    env.reset(seed=0)
    env.v[1] = 1e200
    seen, reward, over, _, infos = env.step(np.zeros((3, 2)))
    assert over.tolist() == infos["diverged"].tolist() == [False, True, False]
    assert np.isfinite(seen).all() and np.isfinite(reward).all()
    _, reward, over, _, infos = env.step(np.zeros((3, 2)))
    assert reward[1] == 0.0 and not over[1] and "diverged" not in infos


def test_made_by_name_in_batches():
    env = gymnasium.make_vec("kinetree/Acrobot-v0", num_envs=1024, max_episode_steps=5)
    assert isinstance(env.unwrapped, VectorEnvironment)
    seen, _ = env.reset(seed=list(range(1024)))
    assert seen.shape == (1024, 6) and seen.dtype == np.float64 and env.action_space.shape == (1024, 1)
    over = [env.step(env.action_space.sample())[3].all() for _ in range(7)]
    assert over == [False] * 4 + [True, False, False]


def test_own_start_reward_and_end():
    env = Environment(
        "planar-2r",
        effort=1.0,
        start=lambda rng: ([rng.uniform(), 0.0], [0.0, 0.0]),
        reward=lambda q, v, tau: q[..., 0],
        terminated=lambda q, v: q[..., 0] < 0.0,
    )
    env.reset(seed=1)
    for _ in range(200):
        _, reward, terminated, _, _ = env.step([0.0, 0.0])
        assert reward == env.q[0] and terminated == (env.q[0] < 0.0)
        if terminated:
            return
    raise AssertionError("gravity pulls the arm below the horizontal")


def test_picture():
    for name in ("kinetree/CartPole-v0", "kinetree/DoublePendulum-v0"):
        env = gymnasium.make(name, render_mode="rgb_array")
        env.reset(seed=0)
        frame = env.render()
        assert frame.shape == (400, 400, 3) and frame.dtype == np.uint8 and 0.005 < (frame < 255).any(-1).mean() < 0.3
    assert Environment(kt.example("ten-body-tree"), effort=1.0).render() is None


MISTAKES = [
    ({"model": "double-pendulum"}, "effort of 2 joints of 'double-pendulum' has no limit: upper, lower. Give effort="),
    ({"model": "double-pendulum", "effort": 0.0}, "no joint of 'double-pendulum' is driven"),
    ({"model": "double-pendulum", "effort": [1.0, -1.0]}, r"effort of 'double-pendulum' must be a number or \(2,\)"),
    ({"model": "double-pendulum", "effort": 1.0, "speed": 0.0}, "speed of 'double-pendulum' must be .* positive"),
    ({"model": "double-pendulum", "effort": 1.0, "reward": 3.0}, "reward must be a function, found 3.0"),
    ({"model": "double-pendulum", "effort": 1.0, "dt": -1}, "dt must be positive"),
    ({"model": "double-pendulum", "effort": 1.0, "render_mode": "human"}, 'render_mode must be None or "rgb_array"'),
    ({"model": "satellite", "effort": 1.0}, "knows no gravity, so there is no height to reward"),
    ({"model": 3}, "must be a kinetree Model, found int"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(kt.InputError, match=message):
        Environment(**options)


def test_wrong_calls_are_refused():
    env = Environment("double-pendulum", effort=1.0)
    for options, message in [
        ({"q": 0}, "options of reset are 'q0' and 'v0', found 'q'"),
        ({"q0": [0.0]}, "q0 of an episode must be numbers of shape"),
        ({"v0": ["a", "b"]}, "v0 of an episode must be"),
    ]:
        with pytest.raises(kt.InputError, match=message):
            env.reset(options=options)
    for action in ([0.0], [0.0, np.nan], "left", None):
        with pytest.raises(kt.InputError, match=r"must be finite numbers in \[-1, 1\] of shape \(1, 2\)"):
            env.step(action)
    unsummed = Environment("double-pendulum", effort=1.0, reward=lambda q, v, tau: q)
    with pytest.raises(kt.InputError, match=r"reward must give a finite number .*sum\(-1\)"):
        unsummed.step([0.0, 0.0])
    with pytest.raises(kt.InputError, match="seed must be one number or 3"):
        VectorEnvironment("double-pendulum", 3, effort=1.0).reset(seed=[1, 2])


def test_missing_gymnasium_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "kinetree.gym")
    with pytest.raises(kt.MissingExtraError, match=r'pip install "kinetree\[gym\]"'):
        importlib.import_module("kinetree.gym")


def test_the_page_about_environments_is_true():
    page = Path(__file__).parents[2] / "docs" / "environments.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert not found.failed and found.attempted > 10
