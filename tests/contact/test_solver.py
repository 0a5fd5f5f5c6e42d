"""Impulses in contact space, against the laws of contact themselves: redundant contacts, far masses, many at once."""

import numpy as np
import pytest
from tolerance import assert_close

from kinetree.contact.solver import TOLERANCE, solved


def broken(x, A, b, least, mu):
    """How far x (B, 3m) is from Signorini's and Coulomb's laws (B,), over the impulse that a contact alone would need."""
    w = (np.einsum("bij,bj->bi", A, x) + b).reshape(*mu.shape, 3)
    stiff = np.diagonal(A, axis1=1, axis2=2).reshape(*mu.shape, 3).max(axis=-1)
    scale = np.abs(b.reshape(*mu.shape, 3) / stiff[..., None]).max(axis=(1, 2)) + np.abs(least).max(axis=1)
    x, w = x.reshape(*mu.shape, 3), w / stiff[..., None]
    normal = np.minimum(x[..., 0] - least, w[..., 0])  # zero: both at least that, one of both no more
    cone = np.maximum(0.0, np.linalg.norm(x[..., 1:], axis=-1) - mu * x[..., 0])
    y, radius = x[..., 1:] - w[..., 1:], (mu * np.maximum(x[..., 0], 0.0))[..., None]
    slip = x[..., 1:] - y * np.minimum(1.0, radius / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-300))
    return np.maximum(np.abs(normal), np.maximum(cone, np.abs(slip).max(axis=-1))).max(axis=1) / scale


def problem(rng, states, m, dof, mu, spread=0.0):
    """m contacts of a system with so many degrees of freedom, whose masses are `spread` decades apart."""
    J = rng.normal(size=(states, 3 * m, dof)) * 10.0 ** (0.5 * spread * rng.uniform(-0.5, 0.5, (states, 1, dof)))
    A = J @ J.swapaxes(1, 2)
    b = np.einsum("bij,bj->bi", J, rng.normal(size=(states, dof)))
    return A, b, np.zeros((states, m)), np.full((states, m), mu), np.zeros((states, 3 * m), dtype=bool)


@pytest.mark.parametrize("m", [1, 2, 5, 12])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rank", [None, 6])
def test_redundant_contacts_obey_the_laws(m, mu, rank):
    """Six degrees of freedom, up to 36 directions: A is singular, impulses that obey the laws exist, and are found."""
    given = problem(np.random.default_rng(m), 100, m, 6, mu)
    assert broken(solved(*given, rank=rank), *given[:4]).max() < 20 * TOLERANCE


def test_the_same_contact_many_times():
    A, b, least, mu, lost = problem(np.random.default_rng(0), 9, 1, 3, 0.5)
    n = 6
    given = np.tile(A, (1, n, n)), np.tile(b, (1, n)), np.tile(least, (1, n)), np.tile(mu, (1, n)), np.tile(lost, (1, n))
    x = solved(*given).reshape(9, n, 3)
    assert broken(x.reshape(9, -1), *given[:4]).max() < 20 * TOLERANCE
    assert_close(x.sum(axis=1), solved(A, b, least, mu, lost), 1e-9)


def test_free_impulses_are_the_shortest():
    """Without friction, and all contacts pressed: x_n is orthogonal to what A maps to zero."""
    rng = np.random.default_rng(1)
    J = np.zeros((8, 24, 3))
    J[:, ::3] = rng.uniform(0.5, 1.0, (8, 8, 3))
    A = J @ J.swapaxes(1, 2)
    least, mu, lost = np.zeros((8, 8)), np.zeros((8, 8)), np.tile([False, True, True], (8, 8))
    x = np.zeros((8, 24))
    x[:, ::3] = np.einsum("bij,bj->bi", J[:, ::3], rng.uniform(0.5, 1.0, (8, 3)))  # short, and positive
    assert_close(solved(A, -np.einsum("bij,bj->bi", A, x), least, mu, lost), x, 1e-7)


@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("decades", [0.0, 4.0, 8.0])
def test_whatever_the_masses(mu, decades):
    """Masses up to 10⁸ apart; there, with much friction, one state in a thousand is missed."""
    given = problem(np.random.default_rng(7), 300, 2, 8, mu, decades)
    x = solved(*given)
    assert np.isfinite(x).all()
    assert (broken(x, *given[:4]) > 1e-7).sum() <= (decades == 8.0 and mu >= 1.0)


def test_least_impulses():
    """Poisson's decompression: some normal impulses are given, and more of them is taken only to keep contacts apart."""
    rng = np.random.default_rng(2)
    A, b, least, mu, lost = problem(rng, 40, 3, 6, 0.4)
    least = rng.uniform(0.0, 1.0, least.shape)
    assert broken(solved(A, b, least, mu, lost), A, b, least, mu).max() < 20 * TOLERANCE


def test_a_state_is_not_changed_by_its_neighbours():
    """Bit for bit: any batch, any order, though some states take a hundred times as long as others."""
    rng = np.random.default_rng(3)
    given = problem(rng, 45, 4, 5, 0.8)
    whole, order = solved(*given), rng.permutation(45)
    assert np.array_equal(solved(*(x[order] for x in given)), whole[order])
    assert np.array_equal(np.concatenate([solved(*(x[k : k + 1] for x in given)) for k in range(45)]), whole)
