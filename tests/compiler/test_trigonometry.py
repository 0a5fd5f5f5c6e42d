"""Sine and cosine against high precision, at hard arguments, and without stray warnings."""

from functools import cache

import mpmath
import numpy as np
import pytest

from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build
from kinetree.compiler.llvm import LANES
from kinetree.compiler.text import FLOAT32, FLOAT64
from kinetree.compiler.trigonometry import LIMIT

RANDOM = np.random.default_rng(0)
BOUND = 1.7
"""Of the errors in ulp: 1 for the reduced argument at a power of two, 1/2 for the last sum, 0.2 for products."""


def _kernel(lanes):
    graph = Graph()
    x = graph.input(())
    return build("sine_cosine", "", graph, [x], [x[()].sin(), x[()].cos()], lanes)


@pytest.fixture(scope="module", params=LANES, ids=str)
def sine_cosine(request):
    return _kernel(request.param)


def _of_its_kind(kernel, x):
    with np.errstate(over="ignore", under="ignore"):
        return x.astype(kernel.types[0][0])


def _near_multiples_of_a_right_angle(count):
    with mpmath.workprec(200):
        n = np.unique(np.concatenate([np.arange(1, 200), RANDOM.integers(1, 63662, count), [63660, 63661]]))
        nearest = np.array([float(mpmath.pi / 2 * int(k)) for k in n])
    around = [nearest, np.nextafter(nearest, 0), np.nextafter(nearest, np.inf)]
    return np.concatenate([*around, *(-x for x in around)])


ARGUMENTS = {
    "near multiples of a right angle": _near_multiples_of_a_right_angle(1500),
    # Of all doubles below the limit that are nearest to a multiple of π/2, those nearest of all for their size.
    "nearest": np.array([4.71238898038469, 22.0, 355.0, 710.0, 52174.0 * np.pi / 2, 6381956970095103.0 * 2.0**-40]),
    "small": np.concatenate([10.0 ** RANDOM.uniform(-320, 0, 1000), [0.0, 5e-324, 2.0**-1022, 2.0**-27, 2.0**-26]]),
    "common": RANDOM.uniform(-10, 10, 3000),
    "quarter turns": np.arange(-40, 41) * (np.pi / 4),
    "large": RANDOM.uniform(-LIMIT, LIMIT, 3000),
    "limit": np.array([LIMIT, np.nextafter(LIMIT, 0), np.nextafter(LIMIT, np.inf), -LIMIT]),
    "powers of two": RANDOM.integers(-40, 41, 3000) * (np.pi / 2) + 2.0 ** RANDOM.integers(-10, 0, 3000) * (1 + 1e-9),
    "beyond": np.concatenate([10.0 ** RANDOM.uniform(5, 308, 300), [1.7976931348623157e308]]),
}


@cache
def _exact(function, x):
    with mpmath.workprec(1300):
        return function(mpmath.mpf(x))


def _errors(x, got, exact):
    """Errors in units of the last place of the exact result."""
    wanted = [_exact(exact, float(v)) for v in x]
    with mpmath.workprec(1300):
        unit = [float(np.spacing(abs(got.dtype.type(float(w))))) for w in wanted]
        return [abs(mpmath.mpf(float(g)) - w) / u for g, w, u in zip(got, wanted, unit, strict=True)]


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_within_the_bound_of_its_derivation(sine_cosine, kind):
    x = _of_its_kind(sine_cosine, ARGUMENTS[kind])
    x = x[np.isfinite(x)]
    with np.errstate(all="raise", under="ignore"):
        s, c = sine_cosine(x)
    assert max(_errors(x, s, mpmath.sin)) <= BOUND
    assert max(_errors(x, c, mpmath.cos)) <= BOUND


def test_float32_nearest_to_every_right_angle_and_at_every_size():
    nearest = (np.arange(1, 63662) * (np.pi / 2)).astype(np.float32)
    every = np.arange(0, int(np.float32(LIMIT).view(np.uint32)), 997, dtype=np.uint32).view(np.float32)
    for lanes in LANES:
        if lanes.element is FLOAT32:
            for x in (nearest, every):
                for got, exact in zip(_kernel(lanes)(x), (np.sin, np.cos), strict=True):
                    wanted = exact(x.astype(float))
                    assert (abs(got - wanted) <= BOUND * np.spacing(abs(wanted.astype(np.float32)))).all()


def test_far_neighbours_change_nothing(sine_cosine):
    x = _of_its_kind(sine_cosine, RANDOM.uniform(-LIMIT, LIMIT, (40, 8)))
    wanted = sine_cosine(x)
    for far in (1e30, np.inf, np.nan):
        mixed = x.copy()
        mixed[:, ::3] = far
        with np.errstate(invalid="ignore"):
            found = sine_cosine(mixed)
        for a, b in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(np.delete(a, [0, 3, 6], 1), np.delete(b, [0, 3, 6], 1))


def test_the_width_of_vectors_changes_nothing():
    x = RANDOM.uniform(-LIMIT, LIMIT, 2000)
    for element in (FLOAT32, FLOAT64):
        first, *others = (_kernel(lanes)(x.astype(element.dtype)) for lanes in LANES if lanes.element is element)
        for other in others:
            np.testing.assert_array_equal(other, first)


def test_odd_and_even(sine_cosine):
    for x in ARGUMENTS.values():
        x = _of_its_kind(sine_cosine, x)
        x = x[np.isfinite(x)]
        s, c = sine_cosine(x)
        t, d = sine_cosine(-x)
        np.testing.assert_array_equal(s, -t)
        np.testing.assert_array_equal(c, d)


def test_signed_zero(sine_cosine):
    s, c = sine_cosine(_of_its_kind(sine_cosine, np.array([0.0, -0.0])))
    assert np.signbit(s).tolist() == [False, True] and (c == 1.0).all()


def test_not_a_number_is_quiet_and_infinity_is_not(sine_cosine):
    x = _of_its_kind(sine_cosine, np.linspace(-1, 1, 21))
    x[4] = np.nan
    with np.errstate(all="raise"):
        s, c = sine_cosine(x)
    assert np.isnan([s[4], c[4]]).all() and np.isfinite(np.delete([s, c], 4, 1)).all()
    for infinity in (np.inf, -np.inf):
        with np.errstate(invalid="ignore"):
            assert np.isnan(sine_cosine(x.dtype.type(infinity))).all()
        with pytest.raises(FloatingPointError), np.errstate(invalid="raise"):
            sine_cosine(x.dtype.type(infinity))


def test_chains_of_sines():
    graph = Graph()
    x = graph.input(3)
    y = x
    for k in range(6):
        y = np.sin(y + 0.1 * k) * np.cos(y * y) + x[::-1]
    late = np.cos(x[0] * 0.5) + y[0]  # of the first generation, met after all others
    kernel = build("chain", "", graph, [x], [y, late])
    data = RANDOM.normal(size=(33, 3))
    wanted = data
    for k in range(6):
        wanted = np.sin(wanted + 0.1 * k) * np.cos(wanted * wanted) + data[:, ::-1]
    got = kernel(data)
    np.testing.assert_allclose(got[0], wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got[1], np.cos(data[:, 0] * 0.5) + wanted[:, 0], rtol=1e-9, atol=1e-9)
