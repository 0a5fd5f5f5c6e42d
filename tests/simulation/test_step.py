"""One step as one kernel, on every kind of joint, as straight-line code and as loops, is the integrator run on kernels."""

from itertools import product

import numpy as np
import pytest
import zoo
from tolerance import assert_close

import kinetree as kt
from kinetree.algorithms.articulated import forward_dynamics
from kinetree.compiler.compile import kernel_of, sources_of
from kinetree.simulation.control import Constant
from kinetree.simulation.forms import TRACED
from kinetree.simulation.implicit import Implicit
from kinetree.simulation.integrators import INTEGRATORS, Explicit
from kinetree.simulation.kernels import step_kernel, step_sources
from kinetree.simulation.solving import solve
from kinetree.simulation.system import phase_of, system_of

IMPLICIT = [name for name, rule in INTEGRATORS.items() if isinstance(rule, Implicit)]
EXPLICIT = [name for name, rule in INTEGRATORS.items() if isinstance(rule, Explicit)]


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("form", TRACED)
@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("name", ["one free", "mixed chain", "forest", "bush", "003_tree6_multidof_joints"])
def test_step_is_the_integrator_on_kernels(name, integrator, form, lowering):
    model = zoo.model(name)
    q, v, tau, external = zoo.state(name)
    wanted = INTEGRATORS[integrator].step(system_of(model, form, Constant(tau), Constant(external)), 0.0, q, v, 0.01)
    found = step_kernel(model, form, integrator, driven=True, lowering=lowering)(q, v, tau, 0.01, external)
    for ours, theirs in zip(found, wanted, strict=True):
        assert_close(ours, theirs, 1e-13)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("form", TRACED)
def test_a_step_solves_its_equations_as_the_loop_on_kernels_does(form, integrator, lowering):
    model = zoo.model("forest")
    q, v, tau, external = zoo.state("forest")
    y, rule = v if form == "newton-euler" else kt.momentum(model, q, v), INTEGRATORS[integrator]
    phase, at_rest = phase_of(model, form, Constant(tau), Constant(external)), np.zeros(model.nv)
    p, w = (y, at_rest) if form == "hamilton" else (kt.momentum(model, q, v), v)
    *wanted, count = solve(rule, phase, 0.0, q, p, 0.01, w)
    *found, asked = step_kernel(model, form, integrator, driven=True, lowering=lowering)(q, y, tau, 0.01, external)
    if form == "newton-euler":
        wanted[1] = kt.velocity(model, *wanted)
    assert asked == pytest.approx(count, abs=2)
    for ours, theirs in zip(found, wanted, strict=True):
        assert_close(ours, theirs, 1e-12)


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
    for form, integrator in [*product(TRACED, EXPLICIT), ("hamilton", "implicit-midpoint")]:
        kernel, y = step_kernel(model, form, integrator, False), v if form == "newton-euler" else kt.momentum(model, q, 0.1 * v)
        together = kernel(q, y, tau, 1e-3)
        for size in (1, 2, 3):
            for found, wanted in zip(kernel(q[:size], y[:size], tau[:size], 1e-3), together, strict=True):
                assert np.array_equal(found, wanted[:size])
