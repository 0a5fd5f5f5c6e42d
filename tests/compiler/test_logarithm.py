"""The logarithm against high precision, at every exponent, and beside what has no logarithm."""

import functools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.compiler.graph import Expr, Graph, log
from kinetree.compiler.kernel import build
from kinetree.compiler.llvm import LANES
from kinetree.compiler.text import Lanes

RANDOM = np.random.default_rng(0)


@functools.cache
def _kernel(lanes):
    graph = Graph()
    x = graph.input(())
    return build("log", "", graph, [x], [x[()].log()], lanes)


def _of_its_kind(lanes, x):
    with np.errstate(over="ignore", under="ignore"):
        x = x.astype(lanes.element.dtype)
    return x[np.isfinite(x) & (x > 0)]


def _around(x):
    return np.concatenate([np.nextafter(x, 0), x, np.nextafter(x, np.inf)])


def _every_exponent():
    significands = RANDOM.integers(0, 1 << 52, (2, 2047))
    return ((np.arange(2047) << 52) + significands).ravel().view(np.float64)


ARGUMENTS = {
    "every exponent": _every_exponent(),
    "subnormal": np.concatenate([RANDOM.integers(1, 1 << 52, 300).view(float), 2.0 ** RANDOM.uniform(-1074, -1022, 300)]),
    "powers of two": _around(2.0 ** np.arange(-1073, 1024)),
    "where the exponent changes": _around(math.sqrt(0.5) * 2.0 ** np.arange(-1020, 1024, 3)),
    "near one": 1 + RANDOM.choice([-1, 1], 2000) * 10.0 ** RANDOM.uniform(-16, -1, 2000),
    "common": RANDOM.uniform(0, 4, 3000),
    # The farthest off of some millions: 0.86 units.
    "hard": np.array([float.fromhex(x) for x in ("0x1.69176f14ef453p-1", "0x1.69f605cbe53c5p+0", "0x1.66c2f66b26279p-1")]),
    "ends": np.array([5e-324, 2.0**-1022, np.nextafter(2.0**-1022, 0), np.finfo(float).max]),
}


@functools.cache
def _exact(kind, element):
    with mpmath.workprec(120):
        return [mpmath.log(mpmath.mpf(float(x))) for x in _of_its_kind(Lanes(2, element), ARGUMENTS[kind])]


@pytest.mark.parametrize("lanes", LANES, ids=str)
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_within_one_unit_in_the_last_place(kind, lanes):
    with np.errstate(all="raise"):
        got = _kernel(lanes)(_of_its_kind(lanes, ARGUMENTS[kind]))
    with mpmath.workprec(120):
        for value, wanted in zip(got, _exact(kind, lanes.element), strict=True):
            assert abs(mpmath.mpf(float(value)) - wanted) <= float(np.spacing(abs(type(value)(wanted)))) * (wanted != 0)


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_one_gives_positive_zero(lanes):
    zero = _kernel(lanes)(lanes.element.dtype.type(1.0))
    assert zero == 0.0 and not np.signbit(zero)


SPECIAL = (
    (0.0, -np.inf, "divide by zero"),
    (-0.0, -np.inf, "divide by zero"),
    (-1e-44, np.nan, "invalid value"),
    (-1.0, np.nan, "invalid value"),
    (-1.5e38, np.nan, "invalid value"),
    (-np.inf, np.nan, "invalid value"),
    (np.inf, np.inf, None),
    (np.nan, np.nan, None),
    (-np.nan, np.nan, None),
)


@pytest.mark.parametrize("lanes", LANES, ids=str)
@pytest.mark.parametrize(("x", "wanted", "flag"), SPECIAL)
def test_special_values_raise_the_flags_that_numpy_raises(x, wanted, flag, lanes):
    plain = RANDOM.uniform(0.1, 10, 3 * lanes.count - 1).astype(lanes.element.dtype)
    expected = _kernel(lanes)(plain)
    flags = []
    with np.errstate(all="call", call=lambda kind, _: flags.append(kind)):
        for place in range(len(plain)):
            data = plain.copy()
            data[place] = x
            got = _kernel(lanes)(data)
            np.testing.assert_array_equal(got[place], wanted)
            np.testing.assert_array_equal(np.delete(got, place), np.delete(expected, place))
    assert flags == ([flag] * len(plain) if flag else [])


@pytest.mark.parametrize("lanes", LANES, ids=str)
@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 1 << 52, 0x7FF << 52]), min_size=1, max_size=20))
def test_any_bits_beside_any_others(lanes, patterns):
    x = np.array(patterns, dtype=np.uint64).view(lanes.element.dtype)
    with np.errstate(all="ignore"):
        got = _kernel(lanes)(x)
        np.testing.assert_array_equal(got, [_kernel(lanes)(value) for value in x])
        np.testing.assert_allclose(got, np.log(x.astype(float)), rtol=4 * np.finfo(x.dtype).eps)


def test_it_traces():
    x, y = Graph().input(2)
    assert isinstance(x.log(), Expr) and np.log(np.array([x, y]))[1] is y.log() and log(x) is x.log()
    assert repr(x.log()) == "%2 = log %0"
    mixed = log(np.array([x, 2.0], dtype=object))
    assert mixed[0] is x.log() and mixed[1] == math.log(2.0) and log(2.0) == math.log(2.0)


def test_among_other_operations():
    graph = Graph()
    x = graph.input(3)
    positive = np.sin(x) + 1.5
    outputs = [np.log(positive), np.cos(np.log(positive) * 3.0), np.log(np.log(positive + 2.0)), 2.0 - log(x[0] * x[0])]
    kernel = build("mixture", "", graph, [x], outputs)
    data = RANDOM.normal(size=(37, 3))
    a = np.sin(data) + 1.5
    wanted = np.log(a), np.cos(np.log(a) * 3.0), np.log(np.log(a + 2.0)), 2.0 - np.log(data[:, 0] ** 2)
    for got, expected in zip(kernel(data), wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-14)
    assert kernel.stats.logarithms == 10
    assert kernel.stats.operations == kernel.stats.additions + kernel.stats.multiplications + 6 + 10 - kernel.stats.fused
