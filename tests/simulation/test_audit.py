"""What a run keeps, told apart from what it does not; planted errors are found, with their time and joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from tolerance import gamma

import kinetree as kt
from kinetree import compilation, functions
from kinetree.errors import FileError, InputError
from kinetree.simulation.auditing import agreement as auditing
from kinetree.simulation.auditing.agreement import agreement
from kinetree.simulation.auditing.quadrature import integral, work_along
from kinetree.simulation.auditing.symmetry import cyclic_coordinates, root_laws, tree_momenta

HEAVY = kt.Inertia(2.0, [0.1, 0.05, -0.02], np.diag([0.3, 0.4, 0.5]))
LIGHT = kt.Inertia(1.0, [0.0, 0.3, 0.1], np.diag([0.03, 0.05, 0.06]))
AT = kt.Pose(np.eye(3), [0.2, 0.3, 0.1])
EPSILON = np.finfo(float).eps
FORMS = {"Newton–Euler = Lagrange", "Newton–Euler = Hamilton"}


def two(joint, gravity=(0.0, 0.0, -9.81), inner=None) -> kt.Model:
    """A body on a joint with the ground, which carries another."""
    bodies = kt.Body("base", None, joint, inertia=HEAVY), kt.Body("arm", "base", inner or kt.Revolute([0.6, 0, 0.8]), AT, LIGHT)
    return kt.Model(bodies, gravity, "two")


def run_of(model, duration=0.5, dt=1e-3, **options):
    v0 = np.random.default_rng(1).normal(size=model.nv)
    return kt.simulate(model, model.random(1), v0, duration, dt, **options)


# What is found to be conserved

G, NONE, ASKEW = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (0.0, 3.0, -9.81)


@pytest.mark.parametrize(
    ("joint", "gravity", "quantities"),
    [
        (kt.Free(), G, {"linear momentum − m g t", "angular momentum about the centre of mass", "length of quaternions"}),
        (kt.Free(), NONE, {"linear momentum", "angular momentum about the centre of mass", "length of quaternions"}),
        (kt.Spherical(), ASKEW, {"angular momentum about the fixed point along (0, -0.292, 0.956)", "length of quaternions"}),
        (kt.Spherical(), NONE, {"angular momentum about the fixed point", "length of quaternions"}),
        (kt.Revolute([0, 0, 1]), G, {"momentum p of base"}),
        (kt.Revolute([0, 0, 1]), ASKEW, set()),
        (kt.Revolute([1, 0, 0]), NONE, {"momentum p of base"}),
        (kt.Prismatic([1, 0, 0]), G, {"momentum p of base"}),
        (kt.Prismatic([0.6, 0, 0.8]), G, {"linear momentum along (0.6, 0, 0.8) − m g t"}),
        (kt.Screw([0, 0, 1], 0.1), G, set()),
        (kt.Screw([0, 0, 1], 0.1), NONE, {"momentum p of base"}),
        (kt.Cylindrical([0, 0, 1]), G, {"momentum p of base.0", "linear momentum along z − m g t"}),
        (kt.Universal([0, 0, 1], [1, 0, 0]), G, {"momentum p of base.0"}),
        (
            kt.Planar([1, 0, 0], [0, 1, 0]),
            G,
            {"momentum p of base.0", "momentum p of base.1", "angular momentum about the centre of mass along z"},
        ),
        (
            kt.Planar([1, 0, 0], [0, 0, 1]),
            G,
            {"momentum p of base.0", "linear momentum across y − m g t", "angular momentum about the centre of mass along y"},
        ),
    ],
)
def test_conserved_are_exactly_the_quantities_of_noether(joint, gravity, quantities):
    model = two(joint, gravity)
    found = kt.audit(run_of(model))
    assert {row.quantity for row in found} == {"total energy", *quantities, *FORMS}
    assert found.passed and {row.verdict for row in found} == {"conserved", "agree"}
    assert max(row.relative for row in found) < 1e-9, str(found)


def test_nothing_else_is_conserved():
    """Of random trees, a momentum that an audit does not name does change; one that it names does not."""
    for seed in range(8):
        model = zoo.random_tree(2, seed)
        if not model.nv:
            continue
        run = run_of(model, 0.05, 5e-3)
        moved = np.abs(run.p - run.p[0]).max(axis=0)
        assert np.array_equal(moved > 1e-6 * np.abs(run.p).max(), ~cyclic_coordinates(model)), seed


def test_wheel_within_a_tree_is_cyclic():
    wheel = kt.Inertia(0.5, [0, 0, 0.1], np.diag([0.02, 0.02, 0.03]))
    rim = kt.Body("wheel", "arm", kt.Revolute([0, 0, 1]), AT, wheel)
    model = kt.Model((*two(kt.Revolute([1, 0, 0])).bodies, rim))
    assert cyclic_coordinates(model).tolist() == [False, False, True]
    assert kt.audit(run_of(model))["momentum p of wheel"].relative < 1e-9


def test_trees_beside_each_other_and_welded_to_the_ground():
    pole = kt.Body("pole", None, kt.Weld(), kt.Pose(translation=[0, 0, 1.0]), HEAVY)
    hung = kt.Body("hung", "pole", kt.Spherical(), AT, LIGHT)
    others = (kt.Body(f"rock {k}", None, kt.Free(), inertia=HEAVY) for k in range(2))
    found = kt.audit(run_of(kt.Model((pole, hung, *others))))
    assert found.passed and len(found.rows) == 7
    assert found["linear momentum"].where in ("rock 0", "rock 1")
    assert found["angular momentum about the fixed point along z"].where == "hung"


def test_momenta_of_trees_by_jacobians():
    for name in ("forest", "floating"):
        model = zoo.model(name)
        q, v, _, _ = zoo.state(name)
        roots = [law.root for law in root_laws(model)] or [0]
        rotations, origins = functions.forward_kinematics(model, q)
        for k, tree in zip(roots, tree_momenta(model, q[None], v[None], roots), strict=True):
            linear, angular, mass, first = np.zeros(3), np.zeros(3), 0.0, np.zeros(3)
            for i, (body, R, p) in enumerate(zip(model.bodies, rotations, origins, strict=True)):
                if k not in model.tree.path_to_root(i):
                    continue
                V, s = functions.jacobian(model, q, i) @ v, R @ body.inertia.com
                own = body.inertia.mass * (V[3:] + np.cross(V[:3], s))
                angular += R @ body.inertia.tensor @ R.T @ V[:3] + np.cross(p + s - origins[k], own)
                linear, mass, first = linear + own, mass + body.inertia.mass, first + body.inertia.mass * (p + s - origins[k])
            bound = gamma(model) * max(tree.size_linear, tree.size_angular, 1.0)
            assert np.allclose(tree.linear[0], linear, rtol=0.0, atol=bound)
            assert np.allclose(tree.angular[0], angular, rtol=0.0, atol=bound)
            assert np.allclose(tree.center[0], first / mass, rtol=0.0, atol=bound) and tree.mass == pytest.approx(mass)


@pytest.mark.parametrize("gravity", [NONE, ASKEW])
def test_every_joint_at_once(gravity):
    """A free base that carries a spherical joint, which carries a universal and a planar one."""
    bodies = (
        kt.Body("base", None, kt.Free(), inertia=HEAVY),
        kt.Body("ball", "base", kt.Spherical(), AT, LIGHT),
        kt.Body("cross", "ball", kt.Universal([1, 0, 0], [0, 1, 0]), AT, LIGHT),
        kt.Body("slide", "base", kt.Planar([1, 0, 0], [0, 1, 0]), AT, LIGHT),
    )
    found = kt.audit(run_of(kt.Model(bodies, gravity), 1.0))
    assert len(found.rows) == 6 and found.passed and max(row.relative for row in found) < 1e-10
    assert found["length of quaternions"].drift < 1e-14


# Systems of the documents


def test_moving_base_pendulum_keeps_its_horizontal_momentum():
    model = kt.example("moving-base-pendulum")
    row = kt.audit(kt.simulate(model, [0.0, 1.2], None, 2.0, 1e-3))["momentum p of cart"]
    assert row.verdict == "conserved" and row.start == 0.0 and row.drift < 1e-9
    x = kt.center_of_mass(model, kt.simulate(model, [0.0, 1.2], None, 2.0, 1e-3).q)[:, 0]
    assert np.ptp(x) < 1e-10  # at rest at first, its centre of mass moves only up and down


def test_satellite_keeps_its_momentum_while_its_arrays_turn():
    model = kt.example("satellite")

    def control(t, q, v):
        return np.array([0, 0, 0, 0, 0, 0, 0.05 * np.cos(t), -0.03])

    run = kt.simulate(model, None, None, 3.0, 5e-3, control=control)
    found = kt.audit(run)
    assert found.passed and np.abs(run.v[-1, :6]).max() > 0.01
    for name in ("linear momentum", "angular momentum about the centre of mass"):
        assert found[name].expected and found[name].relative < 1e-9
    pushed = kt.audit(kt.simulate(model, None, None, 0.5, 5e-3, control=np.r_[0.1, np.zeros(7)]))
    assert pushed["angular momentum"].verdict == "not expected" and "base" in pushed["angular momentum"].note
    assert pushed.passed  # what is not expected is no failure


@pytest.mark.parametrize("name", ["double-pendulum", "three-link-arm", "ten-body-tree", "planar-2r"])
def test_systems_of_the_documents(name):
    model = kt.example(name)
    found = kt.audit(kt.simulate(model, model.random(2), None, 0.5, 5e-4))
    assert found.passed, str(found)


def test_hamiltons_four_bodies_keep_p_of_the_vertical_axis():
    import documents

    case = documents.case("003_hamilton_integration_4body")
    found = kt.audit(kt.simulate(case.model, case.array("q0"), case.array("qd0"), 0.5, 2.5e-4))
    assert found.passed and found.rows[1].relative < 1e-12 and found.rows[1].quantity.startswith("momentum p of")
    assert found.rows[1].start == pytest.approx(case.expected["p0"][0], rel=1e-13)


# Work


def test_energy_less_work_is_constant_and_its_own_error_is_told():
    model = two(kt.Revolute([1, 0, 0]))
    for dt, store, verdict in ((1e-3, 1, "conserved"), (1e-3, 50, "undecided")):
        run = run_of(model, 1.0, dt, control=lambda t, q, v: np.array([np.sin(5 * t), -0.3 * v[1]]), store_every=store)
        row = kt.audit(run)["energy − work"]
        assert np.abs(run.energy - run.energy[0]).max() > 0.1 * row.scale
        assert row.verdict == verdict and row.drift <= row.doubt.max(), str(row)


def test_work_of_wrenches_and_of_constant_forces():
    model = two(kt.Free())
    wrenches = np.random.default_rng(0).normal(size=(2, 6))
    run = run_of(model, 0.5, control=np.full(model.nv, 0.3), external=lambda t, q, v: np.cos(t) * wrenches)
    found = kt.audit(run)
    assert found["energy − work"].relative < 1e-8 and found["linear"].verdict == "not expected"


def test_forces_that_a_file_does_not_tell():
    run = run_of(two(kt.Free()), 0.02, control=np.ones(7))
    found = kt.audit(replace(run, tau=np.full_like(run.tau, np.nan)))
    assert [row.verdict for row in found][:3] == ["not expected"] * 3 and "not stored" in found.rows[0].note


def test_rotor_that_the_ground_turns():
    """With armature at its own joint a planar body's spatial momentum is not kept, its p is."""
    joint = kt.Planar([1, 0, 0], [0, 1, 0])
    model = two(joint, NONE)
    rotor = replace(model.bodies[0], dynamics=kt.model.dynamics.JointDynamics(armature=[0.5, 0.0, 0.1]))
    found = kt.audit(run_of(kt.Model((rotor, *model.bodies[1:]), NONE)))
    assert [row.quantity for row in found][1:3] == ["momentum p of base.0", "momentum p of base.1"] and found.passed
    assert not any("angular" in row.quantity for row in found)


def test_matrices_column_by_column(monkeypatch):
    model, (q, v, _, _) = zoo.model("mixed chain"), zoo.state("mixed chain")
    whole = auditing._matrices(model, q[None], v[None])
    monkeypatch.setattr(auditing, "MOST_WHOLE", 0)
    for one, other in zip(whole, auditing._matrices(model, q[None], v[None]), strict=True):
        assert np.allclose(one, other, rtol=0.0, atol=gamma(model) * np.abs(one).max())


@pytest.mark.parametrize("t", [np.linspace(0, 2, 41), np.linspace(0, 1.4, 41) ** 2])
def test_integral_is_of_fourth_order_and_knows_its_error(t):
    fine = np.sort(np.r_[t, 0.5 * (t[1:] + t[:-1])])
    errors = []
    for times in (t, fine):
        found, doubt = integral(times, np.exp(times) * np.sin(3 * times))
        wanted = np.imag(np.exp((1 + 3j) * times) / (1 + 3j) - 1 / (1 + 3j))
        errors.append(np.abs(found - wanted).max())
        assert errors[-1] <= doubt.max() <= 200 * errors[-1]
    assert errors[1] < errors[0] / 2**3.5


def test_work_where_bodies_touch_is_that_along_the_way():
    """A constant force drives a block against a wall again and again: τ* (q₁ − q₀) is exact, whatever v does within a step."""
    rail = kt.Prismatic([1, 0, 0])
    block = kt.Body("block", None, rail, inertia=kt.Inertia(2.0), shapes=kt.contact.Sphere(0.1))
    scene = kt.contact.Scene(ground=kt.contact.Plane((-1.0, 0.0, 0.0), -1.0), restitution=0.6)
    run = kt.simulate(kt.Model([block], NONE), duration=3.0, dt=0.02, control=[5.0], contact=scene)
    assert len(run.impacts) > 3
    work, doubt = work_along(kt.Model([block]), run.t, run.q, run.tau, np.array([blow.t for blow in run.impacts]))
    sums = len(run.t) * EPSILON * work.max()
    assert np.abs(work - 5.0 * run.q[:, 0]).max() <= sums and doubt.max() <= sums
    row = kt.audit(run)["energy − work"]
    assert row.verdict == "only falls" and row.drift < 1e-12
    assert f"contacts took {-sum(blow.energy for blow in run.impacts):.3g} J" in row.note


def test_energy_that_contacts_take(tmp_path):
    """Where it rises a little in between, by the error of steps along contacts, it falls and the rise is told."""
    tensor = np.diag([0.17, 0.17, 0.08]) / 12
    tall = kt.Body("tall", None, kt.Free(), inertia=kt.Inertia(1.0, tensor=tensor), shapes=kt.contact.Box((0.2, 0.2, 0.36)))
    q, contact = np.array([np.cos(0.1), 0, np.sin(0.1), 0, 0, 0, 0.26]), kt.contact.Scene(friction=1.0)
    run = kt.simulate(kt.Model([tall]), q, duration=0.6, dt=4e-3, contact=contact)
    audit = kt.audit(run)
    row = audit["total energy"]
    assert row.verdict == "falls" and audit.passed and row.relative > audit.tolerance
    took = float((run.energy[0] - run.energy).max())
    assert row.note == f"contacts took {took:.3g} J, and gave {row.drift:.2g} J back at most" and row.drift < 1e-3 * took
    audit.plot(tmp_path / "audit.png")
    v = run.v.copy()
    v[60:] *= 1.2
    assert kt.audit(replace(run, v=v))["total energy"].verdict == "drifts"


def test_integral_of_few_states():
    for count in (1, 2, 3, 4):
        t = np.linspace(0, 1, count)
        found, doubt = integral(t, 2 * t)
        assert found[-1] == pytest.approx(t[-1] ** 2) and np.isinf(doubt).all()


# Planted errors


@pytest.fixture(scope="module")
def good():
    return run_of(two(kt.Revolute([0, 0, 1])))


def test_one_wrong_state_is_found_with_its_time(good):
    assert kt.audit(good).passed
    v = good.v.copy()
    v[321, 1] += 1e-3
    row = kt.audit(replace(good, v=v))["total energy"]
    assert row.verdict == "drifts" and row.when == good.t[321]
    q = good.q.copy()
    q[200, 1] += 1e-3
    found = kt.audit(replace(good, q=q))
    assert {found["total energy"].when, found["momentum p of base"].when} == {good.t[200]}
    assert not found.passed and found["Newton–Euler = Hamilton"].verdict == "agree"


def test_wrong_joint_is_named():
    model = two(kt.Free(), NONE, kt.Spherical())
    run = run_of(model, 0.1)
    q = run.q.copy()
    q[50, 7:11] *= 1.01
    row = kt.audit(replace(run, q=q))["length of quaternions"]
    assert (row.verdict, row.where, row.when) == ("drifts", "arm", run.t[50]) and row.drift == pytest.approx(0.01)


def test_too_large_a_step_drifts(good):
    coarse = kt.audit(run_of(two(kt.Revolute([0, 0, 1])), 3.0, 5e-2))
    assert coarse["total energy"].verdict == "drifts" and not coarse.passed
    euler = kt.audit(run_of(two(kt.Revolute([0, 0, 1])), 0.5, 1e-3, integrator="semi-implicit-euler"))
    assert euler["total energy"].verdict == "drifts"
    assert kt.audit(good, tolerance=1e-20)["total energy"].verdict == "drifts"


def test_force_that_was_not_told_shows_in_the_balance():
    model = two(kt.Revolute([1, 0, 0]))
    run = run_of(model, 0.5, control=lambda t, q, v: np.array([np.sin(5 * t), 0.1]))
    tau = run.tau.copy()
    tau[:, 1] *= 1.01
    assert kt.audit(run)["energy"].verdict == "conserved" and kt.audit(replace(run, tau=tau))["energy"].verdict == "drifts"


def test_a_wrong_form_differs(good, monkeypatch):
    right = kt.compile(functions.momentum_rate, good.model)

    def wrong(q, p, tau):
        rate = right(q, p, tau).copy()
        rate[17, 1] *= 1.0 + 1e-10
        return rate

    kernel = compilation.compile
    chosen = lambda function, model: wrong if function is functions.momentum_rate else kernel(function, model)  # noqa: E731
    monkeypatch.setattr(compilation, "compile", chosen)
    lagrange, hamilton = agreement(good.model, good)
    assert lagrange.verdict == "agree" and hamilton.verdict == "differ" and hamilton.when == hamilton.times[17]


@pytest.mark.parametrize("name", ["mixed chain", "forest", "panda", "003_fig2_tree10_mixed_RP"])
def test_forms_agree_on_the_zoo(name):
    model, (q, v, _, _) = zoo.model(name), zoo.state(name)
    run = kt.simulate(model, q, v, 0.02, 1e-3, control=np.linspace(-1, 1, model.nv))
    found = agreement(model, run)
    assert {row.verdict for row in found} == {"agree"}, found


# What a user meets


def test_wrong_arguments(good, tmp_path):
    with pytest.raises(InputError, match=r"The run comes first: audit\(run, model\)"):
        kt.audit(good.model, good)
    with pytest.raises(InputError, match="takes a Run of simulate or load_run, found str"):
        kt.audit("run.npz")
    with pytest.raises(InputError, match="the model given is 'satellite'"):
        kt.audit(good, kt.example("satellite"))
    with pytest.raises(InputError, match="takes a kinetree Model after the run, found str"):
        kt.audit(good, "two")
    with pytest.raises(InputError, match=r"load_run\(path, model\)"):
        kt.audit(replace(good, model=None))
    for tolerance in (0.0, -1.0, np.nan, "small", True):
        with pytest.raises(InputError, match="tolerance must be a positive number"):
            kt.audit(good, tolerance=tolerance)
    for quantity in ("heat", 0, None):
        with pytest.raises(
            InputError, match=rf"has no row {quantity!r}; ask for a quantity .* begins: total energy, momentum p of base"
        ):
            kt.audit(good)[quantity]
    with pytest.raises(FileError, match="suffix"):
        kt.audit(good).plot(tmp_path / "audit.xyz")


def test_a_run_from_its_file_has_the_same_audit(good, tmp_path):
    good.save(tmp_path / "run.npz")
    assert str(kt.audit(kt.load_run(tmp_path / "run.npz"))) == str(kt.audit(good))


def test_table_and_picture(good, tmp_path):
    found = kt.audit(good)
    lines = str(found).splitlines()
    assert lines[0] == "two: rk4, dt = 0.001 s, to t = 0.5 s" and len(lines) == 3 + len(found.rows)
    assert lines[3].startswith("total energy") and lines[3].endswith("conserved")
    figure = found.plot(tmp_path / "audit.png")
    assert (tmp_path / "audit.png").read_bytes().startswith(b"\x89PNG")
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "✓ total energy" in labels and "tolerance 1e-06" in labels and figure.axes[0].get_yscale() == "log"


def test_a_run_that_stands_still_keeps_everything():
    model = two(kt.Free(), NONE)
    found = kt.audit(kt.simulate(model, duration=0.01, dt=1e-3))
    assert found.passed and not any(row.drift for row in found.rows)
    found.plot()
