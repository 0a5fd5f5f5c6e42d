"""What tracing simplifies, and what a traced value refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.compiler.graph import Expr, Graph, cos, finite_check, rint, sin, sqrt, where
from kinetree.compiler.kernel import build


@pytest.fixture
def xyz():
    return Graph().input(3)


def test_equal_expressions_are_one_node(xyz):
    x, y, _ = xyz
    assert x * y is y * x
    assert x + y is y + x
    assert 2.0 * x is x * 2
    assert np.sin(xyz)[0] is x.sin()
    assert -(x - y) is y - x


def test_zeros_and_ones_vanish(xyz):
    x, y, _ = xyz
    for zero in (0, 0.0, -0.0, np.float64(0.0), np.int64(0)):
        assert x + zero is x and zero + x is x and x - zero is x
        assert x * zero == 0.0 and zero * x == 0.0 and zero / x == 0.0
        assert zero - x is -x
    for one in (1, 1.0, np.float64(1.0), np.float32(1.0), True):
        assert x * one is x and one * x is x and x / one is x
    assert x * -1.0 is -x
    assert x - x == 0.0 and x / x == 1.0
    assert x * (1.0 / x) == 1.0 and (y / x) * x is y
    assert x + x is 2.0 * x


def test_signs_move_outward(xyz):
    x, y, _ = xyz
    negative = -x
    assert -negative is x
    assert x + (-y) is x - y and (-x) + y is y - x and x - (-y) is x + y
    assert (-x) * y is -(x * y) and (-x) * (-y) is x * y and (-x) / y is -(x / y)
    assert (-x).sin() is -(x.sin()) and (-x).cos() is x.cos() and (-x).rint() is -(x.rint())
    assert abs(-x) is abs(x) is abs(abs(x)) and abs(x.sqrt()) is x.sqrt() and np.abs(np.array([x]))[0] is abs(x)
    assert -2.0 * x is -(2.0 * x) and 3.0 * (2.0 * x) is 6.0 * x
    assert (-x) + (-y) is -(x + y) and x + -2.0 is x - 2.0


def test_the_check_for_finite_values_is_never_folded(xyz):
    x = xyz[0]
    assert x.finite_check().op == "check"
    assert (x + x.finite_check()).op == "add"
    assert finite_check(1.0) == 0.0 and math.isnan(finite_check(math.inf))


def test_powers(xyz):
    x = xyz[0]
    assert x**2 is x * x and x**0 == 1.0 and x**1 is x and x**3 is x * (x * x) and x**-1 is 1.0 / x and x**0.5 is x.sqrt()
    with pytest.raises(TypeError, match="whole power"):
        x**1.5


@pytest.mark.parametrize("scalar", [2.0, 3, np.float64(2.5), np.float32(0.5), np.int32(7)])
def test_numbers_of_every_kind_mix(xyz, scalar):
    x = xyz[0]
    for result in (scalar * x, x * scalar, scalar + x, x + scalar, scalar - x, x - scalar, scalar / x, x / scalar):
        assert isinstance(result, Expr)


def test_arrays_mix(xyz):
    A = np.arange(9.0).reshape(3, 3)
    for result in (
        A @ xyz,
        A * xyz,
        A + xyz,
        xyz @ A,
        xyz / (A + 1),
        A - xyz,
        xyz[0] * A,
        A * xyz[0],
        np.outer(xyz, xyz),
    ):
        assert isinstance(result, np.ndarray) and result.dtype == object
    assert (A @ xyz)[0] is xyz[1] + 2.0 * xyz[2]
    assert (np.eye(3) @ xyz)[1] is xyz[1]
    mixed = np.array([xyz[0], 0.25], dtype=object)
    assert sin(mixed)[0] is xyz[0].sin() and sin(mixed)[1] == math.sin(0.25)
    assert sqrt(4.0) == 2.0 and rint(2.5) == 2.0 and cos(0.0) == 1.0


def test_selection(xyz):
    x, y, z = xyz
    assert where(0.0, x, y) is y and where(1.0, x, y) is x and where(z, x, x) is x
    assert where(-z, x, y) is where(z, x, y)
    assert where(z, np.array([x, y]), 1.0).shape == (2,)


@pytest.mark.parametrize(
    "refused",
    [bool, float, int, lambda x: x < 1.0, lambda x: x == 1.0, lambda x: x >= 0.0, math.sin, lambda x: max(x, 0.0)],
)
def test_no_branch_on_data(xyz, refused):
    with pytest.raises(TypeError):
        refused(xyz[0])


def test_mistakes_are_named(xyz):
    other = Graph().input(1)[0]
    for operation in (Expr.__add__, Expr.__sub__, Expr.__mul__, Expr.__truediv__):
        with pytest.raises(ValueError, match="two traces"):
            operation(xyz[0], other)
    with pytest.raises(ZeroDivisionError):
        xyz[0] / 0.0


def _programs():
    constants = st.sampled_from([0.0, 1.0, -1.0, 2.0, -0.5, 0.3, 3.0])
    step = st.tuples(st.sampled_from("+-*/nsck"), st.integers(0, 40), st.integers(0, 40), constants)
    return st.lists(step, min_size=1, max_size=40)


def _run(program, values, functions, checked):
    values = list(values)
    for op, i, j, c in program:
        a, b = values[i % len(values)], values[j % len(values)]
        match op:
            case "+":
                values.append(a + b)
            case "-":
                values.append(a - b)
            case "*":
                values.append(a * b)
            case "/":
                values.append(checked(a, b))
            case "n":
                values.append(-a)
            case "s":
                values.append(functions[0](a))
            case "c":
                values.append(functions[1](a) * b)
            case "k":
                values.append(c * a + b * c)
    return values


@settings(max_examples=40, deadline=None)
@given(_programs(), st.integers(0, 2**32 - 1))
def test_random_programs_agree_with_numpy(program, seed):
    import mpmath

    data = np.random.default_rng(seed).uniform(-2, 2, (5, 4))
    graph = Graph()
    x = graph.input(4)
    traced = np.array(_run(program, x, (sin, cos), lambda a, b: a / (b * b + 1.5)), dtype=object)
    got = build("f", "", graph, [x], [traced])(data)
    with mpmath.workprec(2000):
        for row, result in zip(data, got, strict=True):
            exact = _run(program, map(mpmath.mpf, row), (mpmath.sin, mpmath.cos), lambda a, b: a / (b * b + 1.5))
            size = max(1.0, *(abs(v) for v in exact))
            if size > 1e3:
                continue  # then a sine's argument, and with it every digit of the sine, is lost to rounding
            for value, wanted in zip(result, exact, strict=True):
                assert abs(value - wanted) <= 2.0**-52 * 4.0 ** min(len(program), 24) * size
