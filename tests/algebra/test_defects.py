"""Each test is a mistake the algebra once made."""

import re

import numpy as np
import pytest
from cases import case

import kinetree as kt
from kinetree.algebra.sko import SKO


@pytest.mark.parametrize("shape", [(4, 36), (6, 36), (2, 36, 3), (36, 2)])
def test_a_kernel_takes_stacks_of_vectors(shape):
    """Traced, a stack of vectors was split along its first axis: refused from inside, or wrong numbers where that fitted."""
    one = case("bush")
    kernel = kt.compile(lambda ops, x: ops.M @ x, one.model, shapes={"x": shape})
    x = one.rng.normal(size=shape)
    np.testing.assert_allclose(kernel(one.q, x), one.sko.M @ x, rtol=1e-14, atol=1e-14)


def test_a_batch_is_split_along_its_last_axis():
    """`Space.split` took the first axis of a batch for the nodes."""
    one = case("bush")
    stack = one.rng.normal(size=(7, 36))
    for k, block in enumerate(one.sko.bodies.split(stack)):
        assert np.array_equal(block, one.sko.bodies.view(stack, k))
    assert [block.shape for block in one.sko.bodies.split(np.zeros((7, 36, 2)))] == [(7, 6, 2)] * 6


@pytest.mark.parametrize("x", [np.zeros(8), np.zeros((36, 3, 3)), 1.0])
def test_a_vector_of_another_space_is_not_split(x):
    """Blocks of a vector on the joints were read as if it were on the bodies, the last of them empty."""
    bodies = case("bush").sko.bodies
    with pytest.raises(kt.InputError, match="a stacked vector on 6 bodies of size 6"):
        bodies.split(x)
    with pytest.raises(kt.InputError, match="a stacked vector on 6 bodies of size 6"):
        bodies.view(x, 0)


def test_one_root_is_singular():
    """It printed "1 roots"."""
    assert "2 nodes, 1 root, " in repr(SKO([-1, 0], [None, [[1.0]]], [[[1.0]]] * 2, [[[1.0]]] * 2))


def test_a_kernel_finds_the_size_of_what_an_operator_takes():
    """Asked whether it is recorded, an argument of unknown size answered that it had been used."""
    one = case("bush")
    x = one.rng.normal(size=36)
    kernel = kt.compile(lambda ops, x: ops.M @ x, one.model)
    np.testing.assert_allclose(kernel(one.q, x), one.sko.M @ x, rtol=1e-14, atol=1e-14)


def test_the_determinant_of_a_batch_of_mass_matrices():
    """Signs were multiplied as one array, and that of a unit triangle has no batch axes."""
    one = case("bush")
    q = one.model.random(seed=0, size=(2, 3))
    sign, size = kt.operators(one.model, q).mass.slogdet()
    assert sign.shape == size.shape == (2, 3)
    assert (sign == 1.0).all()
    np.testing.assert_allclose(size, kt.logdet_mass_matrix(one.model, q), rtol=1e-12)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda mass: np.linalg.solve(mass, np.ones(3)), "its matrix is .dense()"),
        (lambda mass: np.asarray(mass), "its matrix is .dense()"),
        (lambda mass: mass[0, 0], "blocks(i, j)"),
        (lambda mass: mass.inv(), "without brackets"),
    ],
)
def test_an_operator_taken_for_an_array_says_what_it_is(mistake, message):
    with pytest.raises(kt.InputError, match=re.escape(message)):
        mistake(kt.operators(kt.example("three-link-arm"), [0.0, 0.0, 0.0]).mass)


def test_a_space_prints_short():
    assert repr(kt.operators(kt.example("three-link-arm"), [0.0, 0.0, 0.0]).bodies) == "3 bodies of size 6 (n = 18)"
