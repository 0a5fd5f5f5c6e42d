"""A kernel is an honest NumPy ufunc: any strides, any batch, any lifetime, any thread."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from kinetree.compiler.graph import Graph, sin, where
from kinetree.compiler.kernel import build, source
from kinetree.compiler.layout import WORKSPACE_ON_STACK
from kinetree.compiler.llvm import LANES, host_lanes
from kinetree.compiler.text import Lanes
from kinetree.compiler.ufunc import owner_of


def _mixed(lanes=None):
    """Vectors, matrices, a stack of matrices and a scalar, in and out."""
    graph = Graph()
    q, A, T, s = graph.input(9), graph.input((3, 5)), graph.input((2, 3, 3)), graph.input(())
    outputs = [2.0 * q[::-1] + s[()], A @ A.T, T + 1.0, s[()] * q[0], np.concatenate([q, q])]
    return build("mixed", "A mixture.", graph, [q, A, T, s], outputs, lanes)


def _mixed_reference(q, A, T, s):
    s = s[..., None]
    return 2.0 * q[..., ::-1] + s, A @ np.swapaxes(A, -1, -2), T + 1.0, (s * q)[..., 0], np.concatenate([q, q], -1)


@pytest.fixture(scope="module", params=LANES, ids=str)
def mixed(request):
    return _mixed(request.param)


SHAPES = ((9,), (3, 5), (2, 3, 3), ())


def _batch_last(array, core):
    batch = array.ndim - core
    moved = np.moveaxis(array, range(batch), range(core, array.ndim))
    return np.moveaxis(np.ascontiguousarray(moved), range(core, array.ndim), range(batch))


def _spread(array, core):
    wide = np.full([2 * n + 1 for n in array.shape], np.nan, array.dtype)
    view = wide[tuple(slice(1, 2 * n + 1, 2) for n in array.shape)]
    view[...] = array
    return view


LAYOUTS = {
    "row-major": lambda a, core: np.ascontiguousarray(a),
    "batch-last": _batch_last,
    "fortran": lambda a, core: np.asfortranarray(a),
    "negative": lambda a, core: np.flip(np.ascontiguousarray(np.flip(a))),
    "spread": _spread,
    "transposed core": lambda a, core: a if core < 2 else np.swapaxes(np.ascontiguousarray(np.swapaxes(a, -1, -2)), -1, -2),
    "other byte order": lambda a, core: a.astype(a.dtype.newbyteorder()),
    "half as wide": lambda a, core: a.astype(f"f{a.itemsize // 2}"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [*range(18), 67])
def test_every_layout_and_tail(mixed, layout, size):
    random = np.random.default_rng(size)
    numbers = [random.integers(-9, 9, (size, *shape)).astype(mixed.types[0][0]) for shape in SHAPES]
    arguments = [LAYOUTS[layout](x, len(x.shape) - 1) for x in numbers]
    wanted = _mixed_reference(*(a.astype(float) for a in arguments))
    got = mixed(*arguments)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(x, y)
    if layout in ("batch-last", "negative", "spread", "fortran", "other byte order", "transposed core"):
        out = tuple(LAYOUTS[layout](np.zeros_like(y), len(y.shape) - 1) for y in got)
        around = [np.isnan(x.base).sum() if layout == "spread" else 0 for x in out]
        mixed(*arguments, out=out)
        for x, y, before in zip(out, wanted, around, strict=True):
            np.testing.assert_array_equal(x, y)
            assert layout != "spread" or np.isnan(x.base).sum() == before  # nothing written beside the results


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_rows_of_every_length(lanes):
    graph = Graph()
    inputs = [graph.input(n) for n in range(1, 20)]
    kernel = build("rows", "", graph, inputs, [x + 1.0 for x in inputs], lanes)
    for size in (2, lanes.count, 2 * lanes.count + 3):
        arguments = [np.arange(size * n, dtype=lanes.element.dtype).reshape(size, n) for n in range(1, 20)]
        for x, y in zip(kernel(*arguments), arguments, strict=True):
            np.testing.assert_array_equal(x, y + 1.0)


def test_broadcasting_and_casting(mixed):
    random = np.random.default_rng(0)
    q, A, T, s = (random.integers(-9, 9, shape).astype(np.int16) for shape in ((4, 1, 9), (3, 5), (11, 2, 3, 3), (4, 11)))
    got = mixed(q, A, T, s)
    assert got[0].shape == (4, 11, 9) and got[1].shape == (4, 11, 3, 3)
    np.testing.assert_array_equal(got[0], 2.0 * q[..., ::-1] + s[..., None])
    np.testing.assert_array_equal(got[1], np.broadcast_to(A @ A.T, (4, 11, 3, 3)))
    np.testing.assert_array_equal(got[2], np.broadcast_to(T + 1.0, (4, 11, 2, 3, 3)))


def test_numbers_are_cast_as_numpy_casts_them():
    graph = Graph()
    x = graph.input(3)
    double, single = (build("twice", "", graph, [x], [2.0 * x], host_lanes(np.dtype(word))) for word in ("d", "f"))
    assert double.types == ["d->d"] and single.types == ["f->f"]
    ones = np.ones(3)
    for word in "bhfeB":
        assert double(ones.astype(word)).dtype == np.float64 and single(ones.astype(word)).dtype == np.float32
    for word in "dilq":
        assert double(ones.astype(word)).dtype == np.float64
        with pytest.raises(TypeError, match="safe"):
            single(ones.astype(word))
    assert single(ones, dtype=np.float32).dtype == np.float32  # asked for
    assert single(ones.astype(np.float32), out=np.empty(3)).dtype == np.float64
    with pytest.raises(TypeError, match="Cannot cast"):
        single(ones.astype(np.float32), out=np.empty(3, np.int64))


def test_numpy_names_the_wrong_shape(mixed):
    with pytest.raises(ValueError, match="core dimension"):
        mixed(*(np.zeros(n, np.float32) for n in (8, (3, 5), (2, 3, 3), ())))
    assert mixed.signature == "(9),(3,5),(2,3,3),()->(9),(3,3),(2,3,3),(),(18)"
    assert mixed.__name__ == "mixed" and "A mixture." in mixed.__doc__ and mixed.identity is None


@pytest.mark.parametrize("size", [1, 5, 8, 37])
def test_the_result_may_overwrite_an_argument(size):
    graph = Graph()
    q = graph.input(9)
    kernel = build("reverse", "", graph, [q], [3.0 * q[::-1]])
    data = np.random.default_rng(1).normal(size=(size + 1, 9))
    wanted = 3.0 * data[:, ::-1]
    whole = data.copy()
    kernel(whole, out=whole)
    np.testing.assert_array_equal(whole, wanted)
    shifted = data.copy()
    kernel(shifted[:-1], out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], wanted[:-1])
    reversed_ = data.copy()
    kernel(reversed_, out=reversed_[::-1])
    np.testing.assert_array_equal(reversed_[::-1], wanted)


def test_a_scalar_kernel_in_place():
    graph = Graph()
    x = graph.input(())
    kernel = build("scalar", "", graph, [x], [x[()] * x[()] + 1.0])
    assert kernel(3.0) == 10.0
    for size in range(20):
        data = np.arange(float(size))
        kernel(data, out=data)
        np.testing.assert_array_equal(data, np.arange(float(size)) ** 2 + 1)


def test_not_a_number_goes_through_its_own_lane_only():
    graph = Graph()
    x = graph.input(2)
    kernel = build("f", "", graph, [x], [np.array([sin(x[0]) * x[1], 1.0 + x[0].finite_check(), x[1]], dtype=object)])
    data = np.ones((19, 2))
    data[7, 0] = np.nan
    got = kernel(data)
    assert np.isnan(got[7, :2]).all() and np.isfinite(np.delete(got, 7, 0)).all() and got[7, 2] == 1.0


def test_a_state_does_not_depend_on_its_neighbours():
    graph = Graph()
    x = graph.input(3)
    kernel = build("f", "", graph, [x], [np.sin(np.cos(x) * x[0]) / (x * x + 1.0)])
    data = np.random.default_rng(2).normal(size=(29, 3))
    alone = np.array([kernel(row) for row in data])
    np.testing.assert_array_equal(kernel(data), alone)
    data[::5] *= 1e7  # some lanes then take libm's way
    np.testing.assert_array_equal(kernel(data), np.array([kernel(row) for row in data]))


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_every_operation(lanes):
    graph = Graph()
    x, y = graph.input(2)
    outputs = [x + y, x - y, y - x, x * y, x / y, -x, (x * x).sqrt(), y.rint(), where(x, x, y), where(y.rint(), 1.0, y), abs(y)]
    outputs += [x.finite_check(), 2.5, -0.0, x, -(x - y) * 3.0, x / 3.0, x * 1e-310]
    array = np.array(outputs, dtype=object)
    number = np.finfo(lanes.element.dtype)
    data = np.random.default_rng(3).normal(size=(50, 2)).astype(number.dtype)
    data[3, 0] = 0.0
    a, b = data.T.astype(float)
    one = np.ones(50)
    wanted = [
        a + b,
        a - b,
        b - a,
        a * b,
        a / b,
        -a,
        abs(a),
        np.rint(b),
        np.where(a, a, b),
        np.where(np.rint(b), 1.0, b),
        abs(b),
    ]
    wanted += [0 * a, 2.5 * one, -0.0 * one, a, (b - a) * 3.0, a / 3.0, a * 1e-310]
    got = build("f", "", graph, [np.array([x, y], dtype=object)], [array], lanes)(data)
    np.testing.assert_allclose(got, np.array(wanted).T, rtol=2 * number.eps, atol=2 * number.smallest_subnormal)


def test_inputs_in_any_order_and_unused_ones():
    graph = Graph()
    a, unused, b = graph.input(2), graph.input(3), graph.input(())
    kernel = build("f", "", graph, [b, unused, a], [a + b[()], np.float64(4.0)])
    np.testing.assert_array_equal(kernel(1.0, np.zeros(3), [2.0, 3.0])[0], [3.0, 4.0])
    assert kernel(1.0, np.zeros(3), [2.0, 3.0])[1] == 4.0
    with pytest.raises(ValueError, match="not among the inputs"):
        build("f", "", graph, [b], [a])


def test_mistakes_are_named():
    graph = Graph()
    x = graph.input(2)
    with pytest.raises(ValueError, match="lanes"):
        build("f", "", graph, [x], [x], lanes=Lanes(3))
    with pytest.raises(ValueError, match="core shape"):
        build("f", "", graph, [graph.input(0), x], [x])
    with pytest.raises(ValueError, match="another trace"):
        build("f", "", Graph(), [x], [x])


def test_only_live_nodes_are_emitted():
    graph = Graph()
    x = graph.input(2)
    dead = x[0].sqrt() / x[1]  # noqa: F841
    text = source(graph, [x], [x[0] * x[1]], Lanes(4))
    assert "sqrt" not in text and "fdiv" not in text and text.count("fmul") == 1


def test_statistics():
    graph = Graph()
    x = graph.input(3)
    kernel = build("f", "", graph, [x], [sin(x[0]) * x[0].cos() + x[1] * x[2], x[1] / x[2], (x[1] * x[1]).sqrt()])
    counted = kernel.stats
    assert (counted.additions, counted.multiplications, counted.divisions, counted.square_roots) == (1, 3, 1, 1)
    assert (counted.sines_cosines, counted.fused, counted.operations, counted.lanes) == (1, 1, 6, host_lanes().count)
    assert counted.fma_share == 1 / 6 and counted.lowering == "unrolled" and counted.dtype == "float64"
    assert 0 < counted.code_bytes < 10_000 and counted.workspace_bytes == 8 * counted.lanes * 6
    assert counted.shared_beyond > 10_000 and counted.trace_seconds >= 0 and counted.compile_seconds > 0


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_a_workspace_too_large_for_the_stack(lanes):
    n = 130
    assert lanes.bytes * n * n > WORKSPACE_ON_STACK
    graph = Graph()
    q = graph.input(n)
    kernel = build("outer", "", graph, [q], [np.outer(q, q)], lanes)
    dtype = lanes.element.dtype
    for size in (0, 1, 11):
        data = np.random.default_rng(4).normal(size=(size, n)).astype(dtype)
        np.testing.assert_array_equal(kernel(data), data[:, :, None] * data[:, None, :])
    out = np.moveaxis(np.zeros((n, n, 11), dtype), -1, 0)
    kernel(data, out=out)
    np.testing.assert_array_equal(out, data[:, :, None] * data[:, None, :])


def test_a_kernel_keeps_what_it_needs_and_no_longer():
    kernel = _mixed()
    arguments = [np.ones(shape) for shape in SHAPES]
    gc.collect()
    junk = [bytearray(4096) for _ in range(1000)]
    assert kernel(*arguments)[3] == 1.0 and kernel.__name__ == "mixed" and len(junk) == 1000
    library = weakref.ref(owner_of(kernel).code.library)
    assert library() is not None
    bound = kernel.reduce.__self__  # another reference to the ufunc keeps it whole
    del kernel
    gc.collect()
    assert bound(*arguments)[3] == 1.0
    del bound
    gc.collect()
    assert library() is None


def test_many_kernels_come_and_go():
    graph = Graph()
    x = graph.input(())
    for k in range(20):
        assert build(f"f{k}", "", graph, [x], [x[()] + float(k)])(1.0) == 1.0 + k
    gc.collect()


def test_threads_share_a_kernel():
    kernel = _mixed()
    random = np.random.default_rng(5)
    arguments = [random.integers(-9, 9, (5000, *shape)).astype(float) for shape in SHAPES]
    wanted = _mixed_reference(*arguments)
    failures = []

    def work(part):
        for _ in range(5):
            got = kernel(*(a[part] for a in arguments))
            if not all((x == y[part]).all() for x, y in zip(got, wanted, strict=True)):
                failures.append(part)

    threads = [threading.Thread(target=work, args=(slice(k, None, 4),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_threads_build_at_once():
    kernels = [None] * 4

    def work(k):
        kernels[k] = _mixed()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    arguments = [np.ones(shape) for shape in SHAPES]
    assert [kernel(*arguments)[3] for kernel in kernels] == [1.0] * 4


def test_tracing_does_not_import_the_compiler():
    import subprocess

    code = "import sys, kinetree.compiler.kernel; assert not any(m.startswith('llvmlite') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
