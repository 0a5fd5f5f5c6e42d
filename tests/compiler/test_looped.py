"""Sweeps as loops give what straight-line code and the NumPy reference give, on the whole zoo and on trees of any size."""

import os
import subprocess
import sys

import batches
import numpy as np
import pytest
import zoo
from tolerance import assert_close, gamma

import kinetree as kt
from kinetree.algorithms import articulated
from kinetree.compiler.looped.lower import looped_source
from kinetree.compiler.stats import operations_in
from kinetree.compiler.text import Lanes

CALLS = {
    kt.inverse_dynamics: ("q", "v", "a", "external"),
    kt.forward_dynamics: ("q", "v", "a", "external"),
    kt.gravity_force: ("q",),
    kt.kinetic_energy: ("q", "v"),
    kt.potential_energy: ("q",),
    kt.forward_kinematics: ("q",),
    kt.center_of_mass: ("q",),
    kt.integrate: ("q", "v"),
    kt.logdet_mass_matrix: ("q",),
    kt.momentum: ("q", "v"),
    kt.velocity: ("q", "v"),
    kt.momentum_rate: ("q", "v", "a", "external"),
    kt.hamiltonian: ("q", "v"),
}
EXPRESSIONS = {
    "mass": lambda ops, x: ops.mass @ x,
    "inverse mass": lambda ops, x: ops.mass.inv @ x,
    "velocities": lambda ops, x: ops.phi.T @ (ops.H.T @ x),
    "several": lambda ops, x: {"logdet": ops.mass.logdet(), "D": ops.D @ x},
    "compliance": lambda ops, w: ops.Omega @ w,
    "scaled": lambda ops, v: (ops.mass @ (2.0 * v - v / 4.0 + 1.0) - v) * 0.5 + v,
    "forces": lambda ops, w: ops.phi @ w - ops.phi.T @ (1.0 - w) * 3.0 + w,
    "steps": lambda ops, w: (2.0 - ops.psi.inv + ops.K @ ops.H + ops.E.T) @ ops.P_plus @ (ops.tau.T + ops.taubar) @ w,
}


def arguments(model, names, size=5):
    rng = np.random.default_rng(model.nv)
    v, a = rng.uniform(-1, 1, (2, size, model.nv))
    given = {"q": model.random(rng, size), "v": v, "a": a, "external": rng.uniform(-2, 2, (size, model.nbodies, 6))}
    return [given[name] for name in names]


def as_list(results):
    return list(results.values()) if isinstance(results, dict) else list(results) if isinstance(results, tuple) else [results]


@pytest.mark.parametrize("name", zoo.NAMES)
def test_functions_are_the_reference(name):
    model = zoo.model(name)
    everything = name in ("mixed chain", "forest", "bush", "one free", "solo12", "003_tree6_multidof_joints")
    calls = CALLS if everything else {kt.forward_dynamics: CALLS[kt.forward_dynamics]}
    for function, names in calls.items():
        given = arguments(model, names, size=21)
        options = {"external": True} if "external" in names else {}
        kernel = kt.compile(function, model, lowering="looped", **options)
        batches.assert_batches_do_not_matter(kernel, given)
        for ours, theirs in zip(as_list(kernel(*given)), as_list(kt.reference(function, model, *given)), strict=True):
            assert_close(ours, theirs, 1e-12, 1e-3)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("name", ["one free", "mixed chain", "forest", "panda"])
def test_expressions_are_straight_line_code(name, expression):
    model, f = zoo.model(name), EXPRESSIONS[expression]
    q, x = model.random(3, 5), np.random.default_rng(4).normal(size=(5, model.nv))
    if "w" in f.__code__.co_varnames:
        x = np.random.default_rng(4).normal(size=(5, 6 * model.nbodies))
    loops, straight = (kt.compile(f, model, lowering=lowering) for lowering in ("looped", "unrolled"))
    for ours, theirs in zip(as_list(loops(q, x)), as_list(straight(q, x)), strict=True):
        assert_close(ours, theirs, 1e-12)


def chain(size, fork=0):
    """A chain of three kinds of links; with `fork`, every so many links carry a short branch."""
    axes, pose = [kt.Revolute(axis) for axis in np.eye(3)], kt.Pose(translation=[0.1, 0.02, 0.03])
    inertia = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))
    bodies = [kt.Body(f"b{k}", f"b{k - 1}" if k else None, axes[k % 3], pose, inertia) for k in range(size)]
    for k in range(0, size if fork else 0, fork or 1):
        bodies.append(kt.Body(f"branch {k}", f"b{k}", kt.Prismatic([0, 0, 1]), pose, inertia))
    return kt.Model(bodies, name=f"chain {size}")


@pytest.mark.parametrize(("size", "fork"), [(200, 0), (300, 7)])
def test_large_trees_are_loops_by_themselves(size, fork):
    model = chain(size, fork)
    rng = np.random.default_rng(1)
    q, (v, a) = 0.1 * rng.normal(size=model.nv), rng.normal(size=(2, model.nv))
    kernel = kt.compile(kt.forward_dynamics, model)
    assert kernel.stats.lowering == "looped", "straight-line code takes minutes to compile"
    tau = kt.inverse_dynamics(model, q, v, a)
    assert_close(kernel(q, v, tau), kt.reference(kt.forward_dynamics, model, q, v, tau), 1e-6)
    assert_close(kt.forward_dynamics(model, q, v, tau), kernel(q, v, tau), 0.0)
    solve = kt.compile(lambda ops, x: ops.mass.inv @ x, model)
    ops = kt.operators(model, q)
    assert_close(ops.mass @ solve(q, v), v, gamma(model) * np.linalg.cond(ops.mass.dense()))


@pytest.mark.parametrize("function", [kt.mass_matrix, kt.inverse_mass_matrix])
def test_matrices_of_large_trees_come_by_columns(function):
    model = chain(90, 5)
    q = 0.1 * np.random.default_rng(2).normal(size=(3, model.nv))
    found, wanted = function(model, q), kt.reference(function, model, q)
    assert_close(found, wanted, 1e-11 if function is kt.mass_matrix else 1e-9)
    assert np.array_equal(found, np.swapaxes(found, -1, -2))
    assert (found[:, -1, -2] == 0.0).all() == (function is kt.mass_matrix)  # two branches are not related
    assert function(model, q[0]).shape == (model.nv, model.nv)
    with pytest.raises(kt.InputError, match="q must be finite"):
        function(model, q * np.nan)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_compliance_of_large_trees_comes_by_columns(frame):
    model = chain(90, 5)
    q, bodies = 0.1 * np.random.default_rng(2).normal(size=(2, model.nv)), [89, 3, 100]
    found = kt.compliance(model, q, bodies, frame=frame)
    assert_close(found, kt.reference(kt.compliance, model, q, bodies=bodies, frame=frame), 1e-9)
    assert np.array_equal(found, np.swapaxes(found, -1, -2))
    assert_close(kt.compliance(model, q[0], 89, frame=frame), found[0, :6, :6], 1e-12)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_jacobians_of_deep_bodies_come_by_rows(frame):
    model = chain(90, 5)
    q = 0.1 * np.random.default_rng(2).normal(size=(2, model.nv))
    for body in (89, 20):
        found = kt.jacobian(model, q, body, frame=frame)
        assert_close(found, kt.reference(kt.jacobian, model, q, body=body, frame=frame), 1e-11)
    with pytest.raises(kt.InputError, match="q must be finite"):
        kt.jacobian(model, q * np.nan, 89)


def test_the_code_does_not_grow_with_the_chain():
    shapes = {n: dict.fromkeys(("q", "v", "tau"), (n,)) for n in (480, 4800)}
    few, many = (looped_source(articulated.forward_dynamics, chain(n), shapes[n], {}, Lanes(8))[0] for n in (480, 4800))
    assert many.length == few.length  # what stands in the text
    assert 9.0 < operations_in(many.operations) / operations_in(few.operations) < 11.0  # what is done for a state


def test_bad_input_is_seen_through_loops():
    model = chain(120)
    q = np.zeros(120)
    with pytest.raises(kt.InputError, match="v must be finite, found nan at index"):
        kt.forward_dynamics(model, q, np.full(120, np.nan), q)
    free = zoo.model("random 60")
    wrong = free.random(0)
    wrong[free.q_slices[next(k for k, b in enumerate(free.bodies) if b.joint.quaternion)].start] = 2.0
    kernel = kt.compile(kt.forward_dynamics, free)
    assert kernel is kt.compile(kt.forward_dynamics, free)
    with pytest.raises(kt.InputError, match="must have length 1"):
        kt.forward_dynamics(free, wrong, np.zeros(free.nv), np.zeros(free.nv))


def test_batches_strides_and_out():
    model = zoo.model("mixed chain")
    kernel = kt.compile(kt.inverse_dynamics, model, lowering="looped")
    q, v, a = arguments(model, ("q", "v", "a"), size=23)
    found = kernel(q, v, a)
    for k in (0, 7, 22):
        assert np.array_equal(kernel(q[k], v[k], a[k]), found[k])
    assert np.array_equal(kernel(q[::-1], v[::-1], a[::-1])[::-1], found)
    out = np.empty((model.nv, 23)).T
    assert kernel(q, v, a, out=out) is out and np.array_equal(out, found)
    assert np.isnan(kernel(q, v * np.nan, a)).any()


@pytest.mark.parametrize(
    ("function", "message"),
    [(kt.mass_matrix, "more with its arrays"), (lambda ops, v: ops.mass @ v[::-1], "more with its arrays")],
)
def test_what_is_no_sweep_is_refused_or_straight(function, message):
    model = chain(30)
    with pytest.raises(kt.InputError, match=message):
        kt.compile(function, model, lowering="looped")
    kt.compile(function, model)
    with pytest.raises(kt.InputError, match="lowering must be one of"):
        kt.compile(function, model, lowering="rolled")


def test_no_memory_for_the_workspace_is_an_error():
    code = (
        "import resource, numpy as np, kinetree as kt\n"
        "link = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))\n"
        "joints, pose = [kt.Revolute(axis) for axis in np.eye(3)], kt.Pose(translation=[0.1, 0.02, 0.03])\n"
        "bodies = [kt.Body(f'b{k}', f'b{k - 1}' if k else None, joints[k % 3], pose, link) for k in range(16000)]\n"
        "kernel = kt.compile(kt.forward_dynamics, kt.Model(bodies))\n"
        "q, out = np.zeros((8, 16000)), np.zeros((8, 16000))\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    kernel(q, q, q, out=out)\n"
        "except MemoryError:\n"
        "    print('said so')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "said so", run.stderr


def test_blocks_of_large_trees():
    """What unit vectors of one body do at another, picked out of loops."""
    model = chain(200, 9)
    pairs = [(0, 199), (5, 2), (7, 7), (205, 190), (210, 211)]
    q = 0.1 * np.random.default_rng(3).normal(size=(2, model.nv))
    found = kt.compile(lambda ops: [ops.Omega.blocks(i, j) for i, j in pairs], model)(q)
    for n in range(2):
        Omega = kt.operators(model, q[n]).Omega
        for ours, (i, j) in zip(found, pairs, strict=True):
            assert_close(ours[n], Omega.blocks(i, j), 1e-9, np.abs(Omega.blocks(j, j)).max())


def test_blocks_of_small_trees_by_loops():
    model = zoo.model("forest")
    q = model.random(0, 3)
    made = [kt.compile(two_blocks, model, lowering=lowering)(q) for lowering in ("looped", "unrolled")]
    for ours, theirs in zip(*made, strict=True):
        assert_close(ours, theirs, 1e-12)


def two_blocks(ops):
    return ops.Omega.blocks(1, 3), ops.phi.blocks(0, 2)


def test_the_code_may_stand_at_any_address_in_any_process():
    """Object code can be kept on disk only if its text names no address and does not change from run to run."""
    code = (
        "import hashlib, zoo\n"
        "from kinetree.algorithms import articulated\n"
        "from kinetree.compiler.looped.lower import looped_source\nfrom kinetree.compiler.text import Lanes\n"
        "model = zoo.model('forest')\n"
        "shapes = {'q': (model.nq,), 'v': (model.nv,), 'tau': (model.nv,)}\n"
        "made = looped_source(articulated.forward_dynamics, model, shapes, {}, Lanes(8))\n"
        "parts = [part for body in made for part in (body.text.encode(), *(x.tobytes() for x in body.arrays))]\n"
        "print('inttoptr' in made[0].text, hashlib.sha256(b''.join(parts)).hexdigest())\n"
    )
    folder = os.path.dirname(zoo.__file__)
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
        found.add(run.stdout)
    assert len(found) == 1 and found.pop().startswith("False"), run.stderr
