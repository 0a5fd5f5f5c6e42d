"""One state of a long chain on all lanes of a vector gives what the serial sweep gives."""

import numpy as np
import pytest
import zoo
from tolerance import EPS, assert_close

import kinetree as kt
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.looped.cutting import cut_of
from kinetree.spatial.sixvectors import solve_any

AXES = np.eye(3)


def chain(size, joints, base=None, like=False, scale=None):
    """Links whose numbers all differ, unless they are `like`, on joints that repeat; masses times `scale`."""
    rng, bodies = np.random.default_rng(size), [] if base is None else [base]
    for k in range(size - len(bodies)):
        a, b, c = (0.0, 0.0, 0.0) if like else rng.uniform(-0.05, 0.05, 3)
        mass = 1.0 if scale is None else float(scale[k])
        inertia = kt.Inertia(mass * (1.0 + a), [0.05, b, 0.01], mass * np.diag([0.01, 0.02 + a / 10, 0.015]))
        pose = kt.Pose(translation=[0.1 + c, 0.02, 0.03 + a])
        bodies.append(kt.Body(f"b{k}", bodies[-1].name if bodies else None, joints[k % len(joints)], pose, inertia))
    return kt.Model(bodies, name=f"chain {size}")


def state(model, *lead):
    rng = np.random.default_rng(7)
    return [
        model.random(rng, lead),
        *rng.uniform(-0.5, 0.5, (2, *lead, model.nv)),
        rng.uniform(-1, 1, (*lead, model.nbodies, 6)),
    ]


def free():
    return kt.Body("base", None, kt.Free(), inertia=kt.Inertia(3.0, [0.0, 0.1, 0.0], np.diag([0.1, 0.2, 0.15])))


CHAINS = {
    "planar": lambda: chain(64, [kt.Revolute(AXES[2])], like=True),
    "all numbers differ": lambda: chain(80, [kt.Revolute(axis) for axis in AXES]),
    "some left over": lambda: chain(150, [kt.Revolute(AXES[0]), kt.Revolute(AXES[1])]),
    "free base": lambda: chain(90, [kt.Revolute([0.6, 0.0, 0.8]), kt.Prismatic(AXES[0])], free()),
    "several kinds": lambda: chain(
        160, [kt.Revolute(AXES[1]), kt.Universal(AXES[0], AXES[1]), kt.Spherical(), kt.Weld(), kt.Screw(AXES[2], 0.1)]
    ),
    "free bodies": lambda: chain(64, [kt.Free()]),
    "rotors": lambda: zoo.with_rotors(chain(80, [kt.Revolute(AXES[0]), kt.Universal(AXES[0], AXES[1])])),
}


@pytest.mark.parametrize("name", CHAINS)
def test_segments_are_the_chain(name):
    model = CHAINS[name]()
    kernel = kt.compile(kt.forward_dynamics, model, lowering="segmented", external=True)
    given = state(model, 3)
    found = kernel(*given)
    wanted = kt.reference(kt.forward_dynamics, model, *given)
    assert_close(found, wanted, 1e-9)
    for k in range(3):  # alone, in a batch, by strides, on threads: the same code
        assert np.array_equal(kernel(*(x[k] for x in given)), found[k])
    assert np.array_equal(kernel(*(x[::-1] for x in given))[::-1], found)
    out = np.empty((model.nv, 3)).T
    assert kernel(*given, out=out) is out and np.array_equal(out, found)
    without = kt.compile(kt.forward_dynamics, model, lowering="segmented")
    assert_close(without(*given[:3]), kt.reference(kt.forward_dynamics, model, *given[:3]), 1e-9)


def test_threads_do_not_matter():
    model, before = CHAINS["all numbers differ"](), kt.compiler.threads.threads()
    kernel, given = kt.compile(kt.forward_dynamics, model, lowering="segmented"), state(model, 200)[:3]
    try:
        kt.set_threads(1)
        alone = kernel(*given)
        kt.set_threads(3)
        assert np.array_equal(kernel(*given), alone)
    finally:
        kt.set_threads(before)


@pytest.mark.parametrize("stiff", ["heavy tip", "light tip", "by turns", "any"])
def test_stiff_chains_lose_no_more_digits(stiff):
    """Masses over six decades, against the serial sweep in extended precision."""
    size = 320  # frames of so many bodies are not chosen anew, which would change the problem by a rounding
    decades = {
        "heavy tip": np.linspace(0, 6, size),
        "light tip": np.linspace(0, -6, size),
        "by turns": 6.0 * (np.arange(size) % 2),
        "any": np.random.default_rng(0).uniform(-3, 3, size),
    }
    model = chain(size, [kt.Revolute(axis) for axis in AXES], like=True, scale=10.0 ** decades[stiff])
    q, v, tau, _ = state(model)
    q = 0.3 * q
    exact = kt.reference(kt.forward_dynamics, model, *(x.astype(np.longdouble) for x in (q, v, tau)))
    serial, found = (
        np.abs(kt.compile(kt.forward_dynamics, model, lowering=lowering)(q, v, tau) - exact).max() / np.abs(exact).max()
        for lowering in ("looped", "segmented")
    )
    assert found <= max(10 * serial, model.nbodies * EPS)


def test_how_a_chain_is_cut():
    model, lanes = chain(1000, [kt.Revolute(axis) for axis in AXES], like=True), host_lanes().count
    cut = cut_of(model, lanes)
    assert cut.length % 3 == 0 and cut.left_over == 1000 - lanes * cut.length < 3 * lanes
    bodies = [body for part in cut.parts for body, active in zip(part.lean.bodies, part.active, strict=True) if active]
    assert sum(body.placement.translation[0] for body in bodies) == sum(body.placement.translation[0] for body in model.bodies)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zoo.model("forest"), "is for serial chains"),
        (lambda: chain(40, [kt.Revolute(AXES[0])]), "cannot be cut into"),
        (lambda: chain(200, [kt.Revolute(AXES[0])] * 130 + [kt.Prismatic(AXES[0])] * 70), "cannot be cut into"),
    ],
)
def test_what_cannot_be_cut_is_refused(make, message):
    with pytest.raises(kt.InputError, match=message):
        kt.compile(kt.forward_dynamics, make(), lowering="segmented")


def test_what_has_no_segments_is_refused():
    model = CHAINS["planar"]()
    with pytest.raises(kt.InputError, match="is for forward_dynamics, found inverse_dynamics"):
        kt.compile(kt.inverse_dynamics, model, lowering="segmented")
    with pytest.raises(kt.InputError, match="is for forward_dynamics, found a function of yours"):
        kt.compile(lambda ops, x: ops.mass @ x, model, lowering="segmented")


def test_systems_without_pivots():
    rng = np.random.default_rng(5)
    X, B = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-3, 3, (1, 6)), rng.normal(size=(6, 2))
    X[0, 0] = 0.0
    assert_close(X @ solve_any(X, B).astype(float), B, 100 * EPS * np.linalg.cond(X / np.linalg.norm(X, axis=0)))
