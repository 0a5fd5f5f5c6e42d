"""One state given as plain arrays is computed without NumPy's machinery, and nobody can tell but by the clock."""

import ctypes
import gc
import pickle
import sys
import threading
import tracemalloc

import batches
import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.compiler import ufunc
from kinetree.compiler.direct import GENERAL
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build
from kinetree.compiler.ufunc import owner_of


def made(warn=True):
    """Vectors, a matrix and a number in; vectors and a matrix out."""
    graph = Graph()
    q, A, h = graph.input(5), graph.input((2, 3)), graph.input(())
    return build("f", "", graph, [q, A, h], [q * h[()], A.T + h[()], np.concatenate([q, A[0]])], warn=warn)


def wanted(q, A, h):
    return q * h, A.T + h, np.concatenate([q, A[0]])


Q, A = np.arange(5.0), np.arange(6.0).reshape(2, 3)


def is_direct(kernel):
    return "call" in owner_of(kernel).code.addresses


class Loud(np.ndarray):
    def __array_ufunc__(self, *_, **__):
        return "mine"


class Quiet(np.ndarray):
    """A subclass that leaves it to NumPy."""


GIVEN = {
    "plain": (Q, A, 2.0),
    "array of no axes": (Q, A, np.array(2.0)),
    "NumPy's number": (Q, A, np.float64(2.0)),
    "integer": (Q, A, 2),
    "lists": (Q.tolist(), A.tolist(), 2.0),
    "integers": (Q.astype(int), A, 2.0),
    "single": (Q, A.astype(np.float32), 2.0),
    "big-endian": (Q.astype(">f8"), A, 2.0),
    "strided": (np.repeat(Q, 2)[::2], A, 2.0),
    "backwards": (Q[::-1].copy()[::-1], A, 2.0),
    "columns first": (Q, np.asfortranarray(A), 2.0),
    "unaligned": (batches.unaligned(Q), A, 2.0),
    "subclass": (Q.view(Quiet), A, 2.0),
}


@pytest.mark.parametrize("name", GIVEN)
def test_every_kind_of_argument(name):
    kernel = made()
    assert is_direct(kernel)
    found = kernel(*GIVEN[name])
    assert isinstance(found, tuple)
    batches.assert_equal(tuple(np.asarray(x) for x in found), wanted(Q, A, 2.0))
    assert isinstance(found[0], Quiet) == (name == "subclass")


def directly(kernel, *given):
    """Whether a call stays away from NumPy's machinery, seen by putting another function in its place."""
    general = ctypes.PYFUNCTYPE(ctypes.py_object, *4 * [ctypes.c_void_p])(lambda *_: "the long way")
    words = (ctypes.c_void_p * 5).from_address(ufunc.host_address(np.dtype(float)))
    before = words[GENERAL]
    words[GENERAL] = ctypes.cast(general, ctypes.c_void_p).value
    try:
        return kernel(*given) != "the long way"
    finally:
        words[GENERAL] = before


def test_plain_arrays_go_the_short_way():
    kernel, direct = made(), {name for name, given in GIVEN.items() if directly(made(), *given)}
    assert direct == {"plain"}
    sent = pickle.loads(pickle.dumps((Q, A)))
    assert sent[0].dtype is not Q.dtype and directly(kernel, *sent, 2.0)
    assert not directly(kernel, Q.view(np.int64), A, 2.0) and not directly(kernel, Q.view(">f8"), A, 2.0)


def test_everything_else_goes_the_long_way():
    kernel = made()
    batches.assert_equal(kernel(Q[None], A, 2.0), tuple(x[None] for x in wanted(Q, A, 2.0)))
    out = tuple(np.zeros_like(x) for x in wanted(Q, A, 2.0))
    assert all(x is y for x, y in zip(kernel(Q, A, 2.0, out=out), out, strict=True))
    batches.assert_equal(out, wanted(Q, A, 2.0))
    assert kernel(Q, A, 2.0, *out)[0] is out[0]
    assert kernel(Q, A, 2.0, dtype=float)[0].dtype == float
    assert kernel(Q.view(Loud), A, 2.0) == "mine"
    for wrong in ((Q[:4], A, 2.0), (Q, A.T, 2.0), (Q, A[0], 2.0)):
        with pytest.raises(ValueError, match=r"core dimension|enough dimensions"):
            kernel(*wrong)
    for wrong in ((Q, A), (Q, A, "2"), ()):
        with pytest.raises(TypeError):
            kernel(*wrong)
    with pytest.raises(TypeError):
        kernel(Q, A, 2.0, speed=1)
    assert kernel.__call__(Q, A, 2.0)[0].shape == (5,) and kernel(*(Q, A), 2.0)[1].shape == (3, 2)


def test_results_are_arrays_of_their_own():
    kernel = kt.compile(kt.inverse_dynamics, zoo.model("panda"))
    q = zoo.model("panda").random(0)
    first, second = kernel(q, q, q), kernel(q, 2 * q, q)
    assert is_direct(kernel) and first.flags.owndata and first.flags.writeable and first.flags.c_contiguous
    assert not np.shares_memory(first, second) and not np.array_equal(first, second) and type(first) is np.ndarray
    batches.assert_equal(first, kernel(q[None], q, q)[0])


def test_nothing_is_left_behind():
    kernel, numbers = made(), np.dtype(float)
    kernel(Q, A, 2.0)
    gc.collect()
    before = sys.getrefcount(numbers), sys.getrefcount(Q), sys.getrefcount(np.ndarray)
    tracemalloc.start()
    for _ in range(3000):
        kernel(Q, A, 2.0)
        with np.errstate(all="ignore"):
            kernel(Q, A, 1e308)  # overflows, so that the long way has to tell
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 20_000
    after = sys.getrefcount(numbers), sys.getrefcount(Q), sys.getrefcount(np.ndarray)
    assert all(abs(x - y) < 20 for x, y in zip(before, after, strict=True))


def test_warnings_are_those_of_numpy():
    kernel, quiet = made(), made(warn=False)
    with pytest.warns(RuntimeWarning, match="overflow encountered in f"):
        found = kernel(Q, A, 1e308)
    assert found[0][4] == np.inf and np.isinf(quiet(Q, A, 1e308)[0][4])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        kernel(Q, A, 1e308)
    raised = ctypes.CDLL(None).feraiseexcept if sys.platform != "win32" else ctypes.cdll.ucrtbase.feraiseexcept
    raised(8)  # somebody else's, on any machine some flag
    kernel(Q, A, 2.0)
    assert np.isnan(kernel(Q * np.nan, A, 2.0)[0]).all()


def test_nobody_waits_for_long_computations():
    link = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))
    joint, pose = kt.Revolute([1, 0, 0]), kt.Pose(translation=[0.1, 0, 0])
    bodies = [kt.Body(f"b{k}", f"b{k - 1}" if k else None, joint, pose, link) for k in range(3000)]
    kernel = kt.compile(kt.forward_dynamics, kt.Model(bodies))
    assert not is_direct(kernel)
    assert is_direct(kt.compile(kt.forward_dynamics, zoo.model("g1")))
    assert not is_direct(kt.compile(kt.kinetic_energy, zoo.model("panda")))  # its results are NumPy's numbers, no arrays


def test_threads_call_at_once():
    kernel = made()
    wrong = []

    def work(n):
        for _ in range(2000):
            if not np.array_equal(kernel(Q + n, A, 2.0)[0], 2.0 * (Q + n)):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_numpy_laid_out_differently_is_called_the_long_way(monkeypatch):
    monkeypatch.setattr(ufunc, "_host", lambda _: None)
    assert ufunc.host_address(np.dtype(float)) == 0
    batches.assert_equal(made()(Q, A, 2.0), wanted(Q, A, 2.0))


def test_numbers_of_single_precision():
    model = zoo.model("panda")
    kernel = kt.compile(kt.inverse_dynamics, model, dtype=np.float32)
    q = model.random(0).astype(np.float32)
    found = kernel(q, q, q)
    assert is_direct(kernel) and found.dtype == np.float32
    batches.assert_equal(found, kernel(q[None], q, q)[0])
    stepped = kt.compile(lambda ops, x, h: (ops.mass @ x) * h, model, dtype=np.float32, shapes={"h": ()})
    assert not is_direct(stepped)
    batches.assert_equal(stepped(q, q, 0.1), stepped(q[None], q, 0.1)[0])


def test_the_result_may_be_given():
    graph = Graph()
    q, v = graph.input(5), graph.input((2, 2))
    kernel = build("f", "", graph, [q, v], [np.concatenate([q * 2.0 + v[0, 0], q])])
    v = np.ones((2, 2))
    right = np.concatenate([2.0 * Q + 1.0, Q])
    for call in (lambda out: kernel(Q, v, out=out), lambda out: kernel(Q, v, out), lambda out: kernel(Q, v, out=(out,))):
        for out in (np.zeros(10), np.zeros(20)[::2], np.zeros(10, ">f8"), np.zeros((1, 10)), batches.unaligned(np.zeros(10))):
            assert call(out) is out
            batches.assert_equal(out.reshape(10), right)
        before = sys.getrefcount(out)
        for _ in range(100):
            call(out)
        assert sys.getrefcount(out) == before
        frozen = np.zeros(10)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            call(frozen)
        with pytest.raises(ValueError, match="mismatch"):
            call(np.zeros(9))
        room = np.zeros(15)
        for start in range(6):  # it shares some, all, or none of its memory with the argument
            room[:5] = Q
            batches.assert_equal(kernel(room[:5], v, out=room[start : start + 10]), right)
    with pytest.raises(TypeError):
        kernel(Q, v, np.zeros(10), np.zeros(10))
    with pytest.raises(TypeError):
        kernel(Q, v, np.zeros(10), out=np.zeros(10))
    assert kernel(Q, v, dtype=float).dtype == float
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert kernel(Q * 1e308, v, out=room[:10])[4] == np.inf
