"""Bad arrays at run time: refused with one message each, kept in bad_input.json, or taken as NumPy would.

KINETREE_UPDATE_SNAPSHOTS=1 writes the messages anew.
"""

import threading
from pathlib import Path

import numpy as np
import pytest
import zoo
from snapshots import Snapshots
from tolerance import assert_close

import kinetree as kt

MESSAGES = Snapshots(Path(__file__).with_name("bad_input.json"))


def model():
    return zoo.model("floating")  # nq = 11, nv = 10, 5 bodies


def good():
    q = model().neutral()
    return q, np.zeros(10), np.zeros(10)


def changed(x, index, value):
    x = np.array(x)
    x[index] = value
    return x


def forward(q=None, v=None, tau=None, external=None):
    q0, v0, tau0 = good()
    arrays = (q0 if q is None else q, v0 if v is None else v, tau0 if tau is None else tau)
    return kt.forward_dynamics(model(), *arrays, external)


Q, V, _ = np.eye(1, 11)[0], np.zeros(10), None
REFUSED = {
    "q too short": lambda: forward(q=Q[:10]),
    "q too long": lambda: forward(q=np.append(Q, 0.0)),
    "v too short": lambda: forward(v=V[:9]),
    "v of length one": lambda: forward(v=[0.0]),
    "tau too long": lambda: forward(tau=np.zeros(11)),
    "q empty": lambda: forward(q=[]),
    "q a number": lambda: forward(q=1.0),
    "v with axes swapped": lambda: forward(v=np.zeros((10, 3))),
    "external without its last axis": lambda: forward(external=np.zeros(6)),
    "external flat": lambda: forward(external=np.zeros(30)),
    "external transposed": lambda: forward(external=np.zeros((6, 5))),
    "external for one body less": lambda: forward(external=np.zeros((4, 6))),
    "external NaN": lambda: forward(external=changed(np.zeros((5, 6)), (2, 1), np.nan)),
    "q ragged": lambda: forward(q=[[1.0, 0.0], [0.0]]),
    "q NaN": lambda: forward(q=changed(Q, 8, np.nan)),
    "v infinite": lambda: forward(v=changed(V, 3, np.inf)),
    "tau minus infinite": lambda: forward(tau=changed(V, 9, -np.inf)),
    "one NaN in a batch": lambda: forward(v=changed(np.zeros((4, 10)), (2, 7), np.nan)),
    "v complex": lambda: forward(v=V + 1j),
    "q of objects": lambda: forward(q=np.array([None] * 11)),
    "q of numbers as objects": lambda: forward(q=Q.astype(object)),
    "q of text": lambda: forward(q=["1"] * 11),
    "q of one text": lambda: forward(q="neutral"),
    "q None": lambda: kt.mass_matrix(model(), None),
    "v a dictionary": lambda: forward(v={"a": 1.0}),
    "v of dates": lambda: forward(v=np.zeros(10, "datetime64[s]")),
    "batch axes that do not broadcast": lambda: forward(q=np.tile(Q, (3, 1)), v=np.zeros((4, 10))),
    "quaternion not normalised": lambda: forward(q=changed(Q, 0, 1.1)),
    "quaternion zero": lambda: forward(q=np.zeros(11)),
    "quaternion slightly off": lambda: forward(q=changed(Q, 0, 1.0 + 2e-6)),
    "quaternion wrong in a batch": lambda: kt.mass_matrix(model(), changed(np.tile(Q, (3, 1)), (1, 0), 0.5)),
    "quaternion huge": lambda: forward(q=changed(Q, 0, 1e200)),
    "velocity that overflows": lambda: forward(v=changed(V, 0, 1e200)),
    "force that overflows": lambda: forward(tau=np.full(10, 1e308)),
    "difference with q NaN": lambda: kt.difference(model(), Q, changed(Q, 0, np.nan)),
    "difference with a zero quaternion": lambda: kt.difference(model(), Q, np.zeros(11)),
    "difference too short": lambda: kt.difference(model(), Q, Q[:4]),
    "integrate NaN": lambda: kt.integrate(model(), Q, changed(V, 0, np.nan)),
    "unknown body": lambda: kt.jacobian(model(), Q, "hand"),
    "body index too large": lambda: kt.jacobian(model(), Q, 5),
    "body index negative": lambda: kt.jacobian(model(), Q, -1),
    "body a truth value": lambda: kt.jacobian(model(), Q, True),
    "body a float": lambda: kt.jacobian(model(), Q, 1.0),
    "unknown frame": lambda: kt.jacobian(model(), Q, 0, frame="local"),
    "not a model": lambda: kt.mass_matrix("panda.urdf", Q),
    "unknown example": lambda: kt.example("robot"),
    "compile in float16": lambda: kt.compile(kt.mass_matrix, model(), dtype=np.float16),
    "compile something else": lambda: kt.compile(print, model()),
    "compile with an unknown option": lambda: kt.compile(kt.mass_matrix, model(), fast=True),
    "compile a Jacobian of no body": lambda: kt.compile(kt.jacobian, model()),
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


def test_an_unknown_body_is_told_the_names_that_exist():
    with pytest.raises(kt.InputError) as caught:
        kt.jacobian(model(), Q, "hand")
    assert all(name in str(caught.value) for name in model().body_names)


def test_messages_are_one_line_of_bounded_length():
    MESSAGES.check_lengths()


def spoiled(x):
    """The same numbers, held in memory in other ways."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]))
    wide[..., ::2] = x
    frozen = x.copy()
    frozen.setflags(write=False)
    shifted = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    return {
        "big-endian": x.astype(">f8"),
        "strided": wide[..., ::2],
        "reversed": x[..., ::-1].copy()[..., ::-1],
        "batch-last": np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0),
        "column-major": np.asfortranarray(x),
        "read-only": frozen,
        "unaligned": shifted,
        "a list": x.tolist(),
    }


@pytest.mark.parametrize("kind", spoiled(np.zeros((2, 1))))
def test_any_memory_layout(kind):
    rng = np.random.default_rng(1)
    arrays = model().random(rng, 37), *rng.normal(size=(2, 37, 10))
    wanted = kt.forward_dynamics(model(), *arrays)
    found = kt.forward_dynamics(model(), *(spoiled(x)[kind] for x in arrays))
    assert_close(found, wanted, 1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, bool, np.float32, np.float16])
def test_other_numbers_are_taken(dtype):
    q, v = Q.astype(dtype), np.ones(10, dtype)
    assert_close(kt.bias_force(model(), q, v), kt.bias_force(model(), Q, np.ones(10)), 1e-15)


@pytest.mark.parametrize("which", [1, 2])
def test_out_may_be_an_argument(which):
    kernel = kt.compile(kt.forward_dynamics, model())
    rng = np.random.default_rng(2)
    for size in ((), (1,), (8,), (37,)):
        arrays = [model().random(rng, size), rng.normal(size=(*size, 10)), rng.normal(size=(*size, 10))]
        wanted = kernel(*arrays)
        result = kernel(*arrays, out=arrays[which])
        assert result is arrays[which]
        assert np.array_equal(result, wanted)


def test_out_may_overlap_an_argument():
    kernel = kt.compile(kt.forward_dynamics, model())
    rng = np.random.default_rng(3)
    memory = rng.normal(size=(38, 10))
    q, tau, v = model().random(rng, 37), rng.normal(size=(37, 10)), memory[:-1].copy()
    wanted = kernel(q, v, tau)
    assert np.array_equal(kernel(q, memory[:-1], tau, out=memory[1:]), wanted)


def test_a_kernel_lets_nan_through():
    kernel = kt.compile(kt.forward_dynamics, model())
    v = changed(np.zeros((16, 10)), (3, 4), np.nan)
    found = kernel(np.tile(Q, (16, 1)), v, np.zeros((16, 10)))
    assert np.isnan(found[3]).any()
    assert np.isfinite(np.delete(found, 3, 0)).all()


def test_nothing_is_written_to_the_arguments():
    q, v, tau = good()
    copies = [x.copy() for x in (q, v, tau)]
    forward(q, v, tau)
    assert all(np.array_equal(x, y) for x, y in zip((q, v, tau), copies, strict=True))


def test_an_empty_batch_is_an_empty_result():
    assert kt.forward_dynamics(model(), np.empty((0, 11)), np.empty((0, 10)), np.empty((0, 10))).shape == (0, 10)


def test_a_welded_point_mass_is_no_singular_model():
    point = kt.Inertia(1.0, [0.0, 0.0, 0.0], np.zeros((3, 3)))
    arm = kt.Body("arm", None, kt.Revolute([0, 0, 1]), kt.Pose(), kt.Inertia(1.0, [0.1, 0, 0], np.eye(3)))
    model = kt.Model([arm, kt.Body("ball", "arm", kt.Weld(), kt.Pose(translation=[0.5, 0, 0]), point)])
    assert model.nv == 1
    with pytest.raises(kt.ModelError, match="ball"):
        kt.Model([arm, kt.Body("ball", "arm", kt.Spherical(), kt.Pose(translation=[0.5, 0, 0]), point)])


@pytest.mark.parametrize("arguments", [("a",), (0, -1), (-1,), (0, (2, "x")), (0, 1.5)])
def test_random_coordinates_are_refused_by_name(arguments):
    with pytest.raises(kt.ModelError, match="random takes a seed"):
        model().random(*arguments)


def test_simulate_names_the_argument_that_is_wrong():
    with pytest.raises(kt.InputError, match="simulate of 'floating': q0 must have shape"):
        kt.simulate(model(), Q[:3], V)


def test_what_is_wrong_elsewhere_is_no_concern_of_a_call():
    """Something wrong is counted, not attributed: whoever sees the count go up looks for a cause in his own numbers."""
    model = zoo.model("panda")
    q, v = model.random(0), np.ones(model.nv)
    wanted, stop, said = kt.inverse_dynamics(model, q, v, v), threading.Event(), []

    def wrong():
        while not stop.is_set():
            with pytest.raises(kt.InputError, match="v must be finite"):
                kt.inverse_dynamics(model, q, v * np.nan, v)
            said.append(1)

    thread = threading.Thread(target=wrong)
    thread.start()
    while len(said) < 20:
        np.testing.assert_array_equal(kt.inverse_dynamics(model, q, v, v), wanted)
    stop.set()
    thread.join()


def test_finite_numbers_whose_sum_overflows_are_fine():
    model = zoo.model("chain")
    q = np.full(model.nv, 1.7e308)
    assert np.isfinite(kt.gravity_force(model, q)).all()
