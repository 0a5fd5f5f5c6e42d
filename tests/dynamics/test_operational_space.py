"""Operational-space compliance and inertia against J M⁻¹ J*, and what is said where the inertia does not exist."""

import numpy as np
import pytest
import zoo
from tolerance import assert_close, gamma

import kinetree as kt


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("name", ["mixed chain", "forest", "bush", "random 12", "panda", "g1", "allegro"])
def test_compliance_is_J_inverse_mass_J(name, frame):
    model = zoo.model(name)
    q = model.random(3)
    bodies = np.random.default_rng(1).permutation(model.nbodies)[:4].tolist()
    J = np.concatenate([kt.jacobian(model, q, k, frame=frame) for k in bodies])
    M = kt.mass_matrix(model, q)
    wanted = J @ np.linalg.solve(M, J.T)
    assert_close(kt.compliance(model, q, bodies, frame=frame), wanted, gamma(model) * np.linalg.cond(M))


@pytest.mark.parametrize("name", ["panda", "g1"])
def test_inertia_of_a_hand(name):
    model = zoo.model(name)
    q, hand = model.random(3, (2, 3)), model.nbodies - 1
    if name == "panda":  # the last bodies are the fingers
        hand = model.body_names.index("panda_link7")
    inertia, compliance = kt.operational_space_inertia(model, q, hand), kt.compliance(model, q, [hand])
    assert inertia.shape == (2, 3, 6, 6) and np.array_equal(inertia, np.swapaxes(inertia, -1, -2))
    condition = np.linalg.cond(compliance).max()
    assert_close(inertia @ compliance, np.broadcast_to(np.eye(6), inertia.shape), gamma(model) * condition)


def test_names_are_taken_and_order_is_kept():
    model = zoo.model("g1")
    q, names = model.random(0), ["right_ankle_roll_link", "left_ankle_roll_link"]
    both = kt.compliance(model, q, names)
    assert_close(both[6:, 6:], kt.compliance(model, q, names[1]), 1e-13)
    assert_close(both[:6, :6], kt.compliance(model, q, [model.body_names.index(names[0])]), 1e-13)
    assert np.array_equal(both, both.T)


def test_lost_directions_are_named():
    """A link on one revolute joint about x at its origin: only a moment about x moves it."""
    body = kt.Body("arm", None, kt.Revolute([1, 0, 0]), kt.Pose(), kt.Inertia(1.0, [0, 0.3, 0], np.eye(3)))
    model = kt.Model([body], name="one arm")
    with pytest.raises(kt.InputError) as caught:
        kt.operational_space_inertia(model, [0.3], "arm")
    message = str(caught.value)
    assert "rank 1 of 6" in message and "and 1 more" in message
    named = message.split("under ")[1].split("; and")[0].split("; ")
    assert set(named) < {f"{what} on arm" for what in ("moment y", "moment z", "force x", "force y", "force z")}


def test_a_batch_says_which_state_is_singular():
    model = zoo.model("ur5")
    q = model.random(1, 3)
    q[1] = 0.0  # the arm is stretched out
    with pytest.raises(kt.InputError, match=r"rank 5 of 6 at index \(1,\)|rank 4 of 6 at index \(1,\)"):
        kt.operational_space_inertia(model, q, model.nbodies - 1)


@pytest.mark.parametrize(
    ("bodies", "message"),
    [([0, 0], "given twice"), ([], "no body"), ("hand", "no body named"), ([99], "index 0 to"), ([1.5], "by name or by index")],
)
def test_refused(bodies, message):
    model = kt.example("three-link-arm")
    with pytest.raises(kt.InputError, match=message):
        kt.compliance(model, [0.0, 0.0, 0.0], bodies)
    with pytest.raises(kt.InputError, match="frame must be"):
        kt.compliance(model, [0.0, 0.0, 0.0], 0, frame="tool")
