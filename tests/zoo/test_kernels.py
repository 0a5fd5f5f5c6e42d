"""The compiled kernels are equal to the NumPy reference, to 1e-12 of the largest entry, batched and one by one."""

import batches
import numpy as np
import pytest
import zoo
from tolerance import assert_close

import kinetree as kt

CALLS = {
    kt.inverse_dynamics: ("q", "v", "a", "external"),
    kt.forward_dynamics: ("q", "v", "a", "external"),
    kt.mass_matrix: ("q",),
    kt.inverse_mass_matrix: ("q",),
    kt.logdet_mass_matrix: ("q",),
    kt.bias_force: ("q", "v"),
    kt.gravity_force: ("q",),
    kt.coriolis_matrix: ("q", "v"),
    kt.momentum: ("q", "v"),
    kt.velocity: ("q", "a"),
    kt.momentum_rate: ("q", "v", "a", "external"),
    kt.hamiltonian: ("q", "v"),
    kt.kinetic_energy: ("q", "v"),
    kt.potential_energy: ("q",),
    kt.forward_kinematics: ("q",),
    kt.center_of_mass: ("q",),
    kt.integrate: ("q", "v"),
    kt.difference: ("q", "q"),
}


def batch(model, size):
    rng = np.random.default_rng(model.nv + size)
    v, a = rng.uniform(-1, 1, (2, size, model.nv))
    return {"q": model.random(rng, size), "v": v, "a": a, "external": rng.uniform(-2, 2, (size, model.nbodies, 6))}


def compare(function, model, **options):
    arguments = [batch(model, 11)[name] for name in CALLS.get(function, ("q",))]
    for given in (arguments, [x[0] for x in arguments]):
        found, wanted = function(model, *given, **options), kt.reference(function, model, *given, **options)
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for ours, theirs in pairs:
            assert_close(ours, theirs, 1e-12)


@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", zoo.NAMES)
def test_kernel_is_the_reference(name, function):
    compare(function, zoo.model(name))


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("name", ["mixed chain", "forest", "panda"])
def test_jacobian(name, frame):
    model = zoo.model(name)
    for body in {0, model.nbodies - 1}:
        compare(kt.jacobian, model, body=body, frame=frame)


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("name", ["mixed chain", "forest", "panda"])
def test_compliance(name, frame):
    model = zoo.model(name)
    for bodies in ([0], [model.nbodies - 1, 0], list(range(model.nbodies))[-4:]):
        compare(kt.compliance, model, bodies=bodies, frame=frame)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_batches_do_not_matter(name):
    model = zoo.model(name)
    given = batch(model, 21)
    batches.assert_batches_do_not_matter(kt.compile(kt.inverse_dynamics, model), [given[x] for x in ("q", "v", "a")])
