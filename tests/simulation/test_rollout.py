"""Rollouts: the numbers of `simulate`, on every kind of joint, for any batch, chunk and way to be driven; and what goes wrong.

KINETREE_UPDATE_SNAPSHOTS=1 writes the messages anew.
"""

import sys
from itertools import product
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pytest
import zoo
from lxml import etree
from snapshots import Snapshots
from tolerance import assert_close

import kinetree as kt
from kinetree.compiler.kernel import build_source
from kinetree.compiler.timeloop import TimeLoop
from kinetree.simulation.checks import check_memory
from kinetree.simulation.forms import TRACED
from kinetree.simulation.implicit import Implicit
from kinetree.simulation.integrators import INTEGRATORS, Explicit
from kinetree.simulation.kernels import step_kernel, step_sources
from kinetree.simulation.simulate import SimulationStopped

MODULE = sys.modules["kinetree.simulation.rollout"]  # the package has the function by that name
MESSAGES = Snapshots(Path(__file__).with_name("rollout_messages.json"))
IMPLICIT = [name for name, rule in INTEGRATORS.items() if isinstance(rule, Implicit)]
EXPLICIT = [name for name, rule in INTEGRATORS.items() if isinstance(rule, Explicit)]
KINDS = ("one free", "mixed chain", "forest", "bush", "floating", "003_tree6_multidof_joints", "panda")


def start(model, size=()):
    rng = np.random.default_rng(model.nv)
    return model.random(rng, size), 0.3 * rng.uniform(-1, 1, (*np.atleast_1d(np.array(size, int)), model.nv))


def forces(model, *shape):
    return 0.1 * np.random.default_rng(1).normal(size=(*shape, model.nv))


CASES = [*product(KINDS, EXPLICIT, TRACED), *product(["forest"], IMPLICIT, TRACED), ("panda", "gauss-legendre-4", "hamilton")]


@pytest.mark.parametrize(("name", "integrator", "form"), CASES)
def test_rollout_is_simulate_bit_for_bit(name, integrator, form):
    model = zoo.model(name)
    q0, v0 = start(model, 3)
    tau = forces(model)
    found = kt.rollout(model, q0, v0, tau, 1e-3, integrator, form=form, steps=11, store_every=4)
    assert found.q.shape == (3, 4, model.nq) and found.v.shape == (3, 4, model.nv)
    for k in range(3):
        options = {"control": tau, "form": form, "integrator": integrator, "store_every": 4}
        run = kt.simulate(model, q0[k], v0[k], 0.011, 1e-3, **options)
        assert np.array_equal(found.t, run.t) and np.array_equal(found.q[k], run.q) and np.array_equal(found.v[k], run.v)


@pytest.mark.parametrize("name", ["mixed chain", "forest"])
def test_a_row_of_forces_per_step_is_a_table(name):
    model = zoo.model(name)
    (q0, v0), tau = start(model), forces(model, 9)
    found = kt.rollout(model, q0, v0, tau, 1e-3)
    run = kt.simulate(model, q0, v0, 0.009, 1e-3, control=(1e-3 * np.arange(9), tau), integrator="semi-implicit-euler")
    assert np.array_equal(found.q, run.q) and np.array_equal(found.v, run.v)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("integrator", [*EXPLICIT, "implicit-midpoint"])
def test_the_loop_repeats_the_step(integrator, lowering):
    model = zoo.model("forest")
    rng = np.random.default_rng(2)
    loop = build_source(
        "", "", *step_sources(model, "newton-euler", integrator, True, lowering), warn=False, frame=TimeLoop((2, 4))
    )
    step = step_kernel(model, "newton-euler", integrator, True, lowering)
    for size in (1, 2, 8, 13):
        q0, v0 = start(model, size)
        tau, external = forces(model, size, 6), rng.normal(size=(size, 6, model.nbodies, 6))
        found = np.empty((size, 3, model.nq)), np.empty((size, 3, model.nv))
        loop(q0, v0, tau, 1e-3, external, [3, 2], out=found)
        state = q0, v0
        for k in range(6):
            state = step(*state, tau[:, k], 1e-3, external[:, k])[:2]
            if k % 2:
                assert all(np.array_equal(x[:, k // 2], y) for x, y in zip(found, state, strict=True))


@pytest.mark.parametrize("name", ["mixed chain", "forest"])
def test_rollout_is_the_reference_in_a_python_loop(name):
    model, h = zoo.model(name), 1e-3
    (q, v), tau = start(model, 2), forces(model, 2, 5)
    found = kt.rollout(model, q, v, tau, h)
    for k in range(5):
        v = v + h * kt.reference(kt.forward_dynamics, model, q, v, tau[:, k])
        q = kt.reference(kt.integrate, model, q, h * v)
    assert_close(found.q[:, -1], q, 1e-13)
    assert_close(found.v[:, -1], v, 1e-13)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
def test_pieces_of_any_length_change_no_bit(most, monkeypatch):
    model = zoo.model("floating")
    (q0, v0), tau = start(model, 3), forces(model, 3, 13)
    wanted = kt.rollout(model, q0, v0, tau, 1e-2)
    monkeypatch.setattr(MODULE, "A_BODY", 1e9)
    monkeypatch.setattr(MODULE, "_pace", lambda *_: most)
    for every in (1, 2, 4, 13, 20):
        found = kt.rollout(model, q0, v0, tau, 1e-2, store_every=every)
        kept = [*range(0, 13, every), 13]
        assert np.array_equal(found.t, wanted.t[kept])
        assert np.array_equal(found.q, wanted.q[:, kept]) and np.array_equal(found.v, wanted.v[:, kept])


def test_leading_axes_broadcast():
    model = zoo.model("floating")
    q0, _ = start(model, (2, 1))
    _, v0 = start(model, 3)
    tau, external = forces(model, 4, 1, 1, 6), np.random.default_rng(0).normal(size=(3, 1, model.nbodies, 6))
    found = kt.rollout(model, q0, v0, tau, 1e-2, external=external)
    assert found.q.shape == (4, 2, 3, 7, model.nq) and found.diverged.shape == (4, 2, 3)
    for a, b, c in ((0, 0, 0), (3, 1, 2)):
        one = kt.rollout(model, q0[b, 0], v0[c], tau[a, 0, 0], 1e-2, external=external[c, 0])
        assert np.array_equal(found.q[a, b, c], one.q) and np.array_equal(found.v[a, b, c], one.v)


def test_ways_to_say_that_forces_are_constant():
    model = zoo.model("panda")
    (q0, v0), tau = start(model, 2), forces(model, 2)
    wanted = kt.rollout(model, q0, v0, np.repeat(tau[:, None], 5, axis=1), 1e-3)
    assert np.array_equal(kt.rollout(model, q0, v0, tau[:, None], 1e-3, steps=5).q, wanted.q)
    assert np.array_equal(kt.rollout(model, q0[0], v0[0], tau[0], 1e-3, steps=5).q, wanted.q[0])
    still = kt.rollout(model, q0, v0, np.zeros((5, model.nv)), 1e-3)
    assert np.array_equal(kt.rollout(model, q0, v0, None, 1e-3, steps=5).q, still.q)
    assert np.array_equal(kt.rollout(model, q0.tolist(), v0, np.zeros(model.nv, int), 1e-3, steps=5).q, still.q)
    assert kt.rollout(model, q0, v0, tau[:, None], 1e-3).q.shape[1] == 2


def test_the_same_bits_on_any_number_of_threads():
    model = zoo.model("panda")
    q0, v0 = start(model, 100)
    before = kt.compiler.threads.threads()
    try:
        found = []
        for count in (1, 2):
            kt.set_threads(count)
            found.append(kt.rollout(model, q0, v0, forces(model, 50), 1e-3))
    finally:
        kt.set_threads(before)
    assert np.array_equal(found[0].q, found[1].q) and np.array_equal(found[0].v, found[1].v)


def test_a_thousand_bodies():
    link = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))
    axes, pose = [kt.Revolute(axis) for axis in np.eye(3)], kt.Pose(translation=[0.1, 0.02, 0.03])
    bodies = [kt.Body(f"b{k}", f"b{k - 1}" if k else None, axes[k % 3], pose, link) for k in range(1000)]
    model = kt.Model(bodies, name="chain")
    q0, v0 = 0.01 * np.random.default_rng(0).normal(size=(2, 3, 1000))
    for integrator in (*EXPLICIT, "implicit-midpoint"):
        found = kt.rollout(model, q0, v0, None, 1e-4, integrator, steps=3)
        state, still, step = (q0[1], v0[1]), np.zeros(1000), step_kernel(model, "newton-euler", integrator, False)
        for k in range(3):
            state = step(*state, still, 1e-4)[:2]
            assert np.array_equal(found.q[1, k + 1], state[0]) and np.array_equal(found.v[1, k + 1], state[1])


def test_mujoco_rollout():
    """Semi-implicit Euler without contacts, on an arm that is bolted down."""
    model, root = zoo.model("ur5"), etree.parse(zoo.robots_folder() / zoo.ROBOTS["ur5"][0])
    for tag in ("visual", "collision", "transmission", "gazebo"):
        for node in list(root.iter(tag)):
            node.getparent().remove(node)
    spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
    spec.compiler.fusestatic, spec.compiler.balanceinertia = True, False
    theirs = spec.compile()
    off = mujoco.mjtDisableBit
    theirs.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_EQUALITY | off.mjDSBL_LIMIT | off.mjDSBL_EULERDAMP
    theirs.dof_damping[:], theirs.dof_frictionloss[:], theirs.dof_armature[:] = 0, 0, 0
    theirs.opt.timestep, theirs.opt.integrator, theirs.opt.gravity = 1e-3, mujoco.mjtIntegrator.mjINT_EULER, model.gravity
    places = [theirs.jnt_qposadr[mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_JOINT, n)] for n in model.joint_names if n]
    assert sorted(places) == list(range(model.nv))
    order = np.argsort(places)
    (q0, v0), tau = start(model, 4), forces(model, 4, 50)
    state = np.concatenate([np.zeros((4, 1)), q0[:, order], v0[:, order]], axis=1)
    kind = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    wanted, _ = mujoco.rollout.rollout(theirs, mujoco.MjData(theirs), state, tau[..., order], control_spec=kind)
    found = kt.rollout(model, q0, v0, tau, 1e-3)
    assert_close(found.q[:, 1:, order], wanted[..., 1 : 1 + model.nq], 1e-12)
    assert_close(found.v[:, 1:, order], wanted[..., 1 + model.nq :], 1e-12)


def test_some_diverge_and_the_others_go_on():
    model = zoo.model("panda").without_resistance  # whose efforts are limited
    (q0, v0), tau = start(model, 6), forces(model, 6, 60)
    wanted = kt.rollout(model, q0, v0, tau, 1e-3, store_every=5)
    tau[2, 20], tau[4, 30] = 1e250, 1e250
    with pytest.warns(
        RuntimeWarning, match=r"2 of 6 rollouts of 'panda' diverged, first that at index \(2,\): its state after t ="
    ):
        found = kt.rollout(model, q0, v0, tau, 1e-3, store_every=5)
    assert found.diverged.tolist() == [False, False, True, False, True, False]
    assert np.array_equal(found.q[~found.diverged], wanted.q[~found.diverged])
    finite = np.isfinite(found.q[2]).all(-1)
    assert finite[:5].all() and np.array_equal(found.q[2, :5], wanted.q[2, :5])
    assert not finite[finite.argmin() :].any() and np.isnan(found.v[2][~finite]).all()


def test_when_all_have_diverged_it_stops():
    model = zoo.model("panda").without_resistance  # whose efforts are limited
    q0, v0 = start(model)
    tau = forces(model, 10_000)
    tau[20] = 1e250
    with pytest.raises(SimulationStopped, match=r"the rollout of 'panda' diverged, the state after t = 0\.0") as caught:
        kt.rollout(model, q0, v0, tau, 1e-3)
    run = caught.value.run
    assert run.status == "stopped" and run.diverged and np.isfinite(run.q[:21]).all() and np.isnan(run.q[-1]).all()


def test_interruption_keeps_what_was_computed(monkeypatch):
    def at(self, done):
        if done >= 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(MODULE, "A_BODY", 1e9)
    monkeypatch.setattr(MODULE, "_pace", lambda *_: 4)
    model = zoo.model("panda").without_resistance  # whose efforts are limited
    q0, v0 = start(model, 2)
    wanted = kt.rollout(model, q0, v0, None, 1e-3, steps=20)
    monkeypatch.setattr("kinetree.simulation.progress.ProgressBar.at", at)
    for every, kept in ((1, list(range(10))), (3, [0, 3, 6, 9]), (50, [0, 9])):
        found = kt.rollout(model, q0, v0, None, 1e-3, steps=20, store_every=every)
        assert found.status == "interrupted" and "interrupted at t = 0.0" in found.message
        kept = [k for k in kept if k < len(wanted.t) and wanted.t[k] <= found.t[-1]]
        assert np.array_equal(found.q[:, : len(kept)], wanted.q[:, kept])
        assert found.q.shape[1] == len(found.t)
    tau = np.zeros((2, 20, model.nv))
    tau[1, 2] = 1e250
    with pytest.warns(RuntimeWarning, match=r"interrupted at t = 0\.0\d+ s of 0\.02 s; 1 of 2 rollouts of 'panda' diverged"):
        found = kt.rollout(model, q0, v0, tau, 1e-3)
    assert found.status == "interrupted" and found.diverged.tolist() == [False, True]


def test_arrays_are_read_only_and_arguments_untouched():
    model = zoo.model("panda")
    (q0, v0), tau = start(model, 2), forces(model, 2, 3)
    copies = [x.copy() for x in (q0, v0, tau)]
    found = kt.rollout(model, q0, v0, tau, 1e-3)
    assert all(np.array_equal(x, y) for x, y in zip((q0, v0, tau), copies, strict=True))
    with pytest.raises(ValueError):
        found.q[0] = 1.0
    again = kt.rollout(model, found.q[:, -1], found.v[:, -1], tau, 1e-3)
    assert np.array_equal(again.q[:, -1], kt.rollout(model, q0, v0, np.concatenate([tau, tau], 1), 1e-3).q[:, -1])
    assert kt.rollout(model, q0[:0], v0[:0], tau[:0], 1e-3).q.shape == (0, 4, model.nq)
    assert "(2,) × 4 states to t = 0.003 s" in repr(found)


def test_what_is_advised_when_memory_is_short():
    for row, advice in ((2**20, "store_every=3"), (2**32, "Roll out fewer states at a time")):
        with pytest.raises(kt.InputError, match=advice):
            check_memory(10_000, 10_001, row, " of 9 states")


def call(q0=None, v0=None, tau=None, dt=1e-3, integrator="rk4", name="floating", **options):
    model = zoo.model(name)
    q, v = model.neutral(), np.zeros(model.nv)
    return kt.rollout(model, q if q0 is None else q0, v if v0 is None else v0, tau, dt, integrator, **options)


ROW = np.zeros((4, 10))
REFUSED = {
    "no number of steps": lambda: call(),
    "constant forces without steps": lambda: call(tau=np.zeros(10)),
    "no steps at all": lambda: call(tau=np.zeros((0, 10))),
    "steps of zero": lambda: call(steps=0),
    "steps a float": lambda: call(steps=4.0),
    "steps and rows differ": lambda: call(tau=ROW, steps=5),
    "a constant for each of a batch": lambda: call(tau=np.zeros((3, 10)), steps=100),
    "tau too short": lambda: call(tau=np.zeros((4, 9))),
    "tau a number": lambda: call(tau=1.0),
    "tau of text": lambda: call(tau="none"),
    "tau ragged": lambda: call(tau=[[0.0], [0.0, 1.0]]),
    "tau NaN": lambda: call(tau=np.where(np.arange(40).reshape(4, 10) == 25, np.nan, 0.0)),
    "external flat": lambda: call(tau=ROW, external=np.zeros(30)),
    "external for other steps": lambda: call(tau=ROW, external=np.zeros((3, 5, 6))),
    "external infinite": lambda: call(tau=ROW, external=np.full((5, 6), np.inf)),
    "q0 too short": lambda: call(q0=np.zeros(10), tau=ROW),
    "q0 None": lambda: kt.rollout(zoo.model("floating"), None, np.zeros(10), ROW, 1e-3),
    "v0 NaN": lambda: call(v0=np.full(10, np.nan), tau=ROW),
    "quaternion not normalised": lambda: call(q0=np.ones(11), tau=ROW),
    "batch axes that do not broadcast": lambda: call(v0=np.zeros((3, 10)), tau=np.zeros((2, 4, 10))),
    "dt negative": lambda: call(tau=ROW, dt=-1e-3),
    "dt an array": lambda: call(tau=ROW, dt=np.array([1e-3, 1e-2])),
    "unknown integrator": lambda: call(tau=ROW, integrator="euler"),
    "unknown form": lambda: call(tau=ROW, form="kane"),
    "form that is not compiled": lambda: call(tau=ROW, form="lagrange"),
    "steps by the error": lambda: call(tau=ROW, integrator="dop853"),
    "store_every of zero": lambda: call(tau=ROW, store_every=0),
    "too much to store": lambda: call(q0=np.broadcast_to(np.eye(1, 11)[0], (10_000, 11)), steps=10_000),
    "not a model": lambda: kt.rollout("panda", [0.0], [0.0], None, 1e-3, steps=1),
    "nothing can move": lambda: kt.rollout(
        kt.Model([kt.Body("a", None, kt.Weld(), inertia=zoo.inertia(np.random.default_rng(0)))]), [], [], None, 1e-3, steps=1
    ),
}


@pytest.fixture(scope="module", autouse=True)
def messages():
    yield
    MESSAGES.save()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    MESSAGES.check(name, REFUSED[name])


def test_no_snapshot_is_left_over():
    MESSAGES.check_names(REFUSED)


def test_messages_are_one_line_of_bounded_length():
    MESSAGES.check_lengths()
