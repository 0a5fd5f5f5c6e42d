"""One step as one kernel, on every kind of joint, as straight-line code and as loops, is the integrator run on kernels."""

from itertools import product

import numpy as np
import pytest
import zoo
from tolerance import assert_close

from kinetree.algorithms.articulated import forward_dynamics
from kinetree.compiler.compile import kernel_of, sources_of
from kinetree.simulation.control import Constant
from kinetree.simulation.forms import TRACED
from kinetree.simulation.integrators import INTEGRATORS
from kinetree.simulation.system import step_kernel, step_sources, system_of


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("form", TRACED)
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["one free", "mixed chain", "forest", "bush", "003_tree6_multidof_joints"])
def test_step_is_the_integrator_on_kernels(name, integrator, form, lowering):
    model = zoo.model(name)
    q, v, tau, external = zoo.state(name)
    wanted = INTEGRATORS[integrator].step(system_of(model, form, Constant(tau), Constant(external)), 0.0, q, v, 0.01)
    found = step_kernel(model, form, integrator, driven=True, lowering=lowering)(q, v, tau, 0.01, external)
    for ours, theirs in zip(found, wanted, strict=True):
        assert_close(ours, theirs, 1e-13)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
def test_a_rule_of_many_stages_has_the_dynamics_in_its_code_once(lowering):
    model = zoo.model("chain")
    dynamics = kernel_of(forward_dynamics, model, ("external",), lowering=lowering).stats.operations
    assert 4 * dynamics <= step_kernel(model, "newton-euler", "rk4", False, lowering).stats.operations < 4.1 * dynamics
    whole, _ = step_sources(model, "newton-euler", "rk4", False, lowering)
    assert whole.length < 1.2 * sources_of(forward_dynamics, model, ("external",), lowering=lowering)[0].length


def test_the_same_bits_in_a_batch_of_any_size():
    model = zoo.model("long chain")
    rng = np.random.default_rng(0)
    q, (v, tau) = model.random(rng, 11), rng.normal(size=(2, 11, model.nv))
    for form, integrator in product(TRACED, INTEGRATORS):
        kernel = step_kernel(model, form, integrator, False)
        together = kernel(q, v, tau, 0.01)
        for size in (1, 2, 3):
            for found, wanted in zip(kernel(q[:size], v[:size], tau[:size], 0.01), together, strict=True):
                assert np.array_equal(found, wanted[:size])
