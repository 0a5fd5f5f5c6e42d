"""Three forms of one motion: Newton–Euler's, Lagrange's and Hamilton's differ by no more than the order of the integrator."""

import documents
import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.simulation.adaptive import Adaptive
from kinetree.simulation.forms import FORMS
from kinetree.simulation.integrators import INTEGRATORS

FIXED = [name for name, rule in INTEGRATORS.items() if not isinstance(rule, Adaptive)]
KINDS = ("mixed chain", "forest", "003_tree6_multidof_joints")


def apart(model, a, b):
    return max(np.abs(kt.difference(model, a.q[-1], b.q[-1])).max(), np.abs(a.v[-1] - b.v[-1]).max())


@pytest.mark.parametrize("integrator", FIXED)
@pytest.mark.parametrize("name", KINDS)
def test_forms_agree_to_the_order_of_the_integrator(name, integrator):
    """And exactly where both carry v: the equations are the same."""
    model = zoo.model(name)
    q, v, tau, external = zoo.state(name)
    drives = {"control": lambda t, q, v: tau * np.cos(t) - 0.1 * v, "external": external, "integrator": integrator}
    steps = np.array([4e-3, 2e-3])
    found = [[kt.simulate(model, q, v, 0.02, h, form=form, **drives) for form in FORMS] for h in steps]
    for newton, lagrange, hamilton in found:
        assert apart(model, newton, lagrange) < 1e-10
        assert np.allclose(newton.v[0], hamilton.v[0], rtol=1e-12, atol=0)
    gaps = [apart(model, newton, hamilton) for newton, _, hamilton in found]
    slope = np.log(gaps[0] / gaps[1]) / np.log(2)
    assert max(gaps) < 1e-11 or slope > INTEGRATORS[integrator].order - 0.3, (gaps, slope)


@pytest.mark.parametrize("form", FORMS)
def test_hamiltons_case(form):
    """Case 003: four bodies, half a second, error of the document's numbers 2.4e-14."""
    case = documents.case("003_hamilton_integration_4body")
    model, wanted = case.model, {name: np.array(x) for name, x in case.expected.items()}
    run = kt.simulate(model, case.q, case.v, 0.5, 2.5e-4, form=form, store_every=400)
    p = kt.momentum(model, run.q, run.v)
    assert np.abs(p[0] - wanted["p0"]).max() < 1e-14
    assert np.abs(run.q[-1] - wanted["q_end"]).max() < 1e-12 and np.abs(p[-1] - wanted["p_end"]).max() < 1e-12
    assert np.abs(kt.hamiltonian(model, run.q, p) - wanted["H0"]).max() < 1e-12
    assert np.ptp(p[:, 0]) < 1e-13  # its axis is along gravity
