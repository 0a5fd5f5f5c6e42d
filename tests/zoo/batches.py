"""No bit of what a state gives depends on the batch it is in: on its size, its layout in memory, the threads that share it."""

import contextlib

import numpy as np

import kinetree as kt
from kinetree.compiler.entry import GRAIN, LEAST
from kinetree.compiler.ufunc import owner_of


@contextlib.contextmanager
def shared_among(count, *kernels):
    """Batches of more than one vector are shared among `count` threads."""
    before, words = kt.compiler.threads.threads(), [owner_of(kernel).data for kernel in kernels]
    sizes = [word[LEAST : GRAIN + 1] for word in words]
    kt.set_threads(count)
    try:
        for kernel, word in zip(kernels, words, strict=True):
            word[LEAST] = word[GRAIN] = kernel.stats.lanes
        yield
    finally:
        kt.set_threads(before)
        for word, size in zip(words, sizes, strict=True):
            word[LEAST : GRAIN + 1] = size


def spread(array):
    """The same numbers, every second in memory, backwards, and no vector aligned."""
    room = np.full((2 * len(array) + 1, *array.shape[1:-1], 2 * array.shape[-1] + 1), np.nan)
    view = room[1::2, ..., 1::2][::-1]
    view[...] = array
    return view


def unaligned(array):
    """The same numbers at an address that is no multiple of 8."""
    room = np.empty(array.nbytes + 1, np.uint8)
    view = room[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def listed(results):
    return results if isinstance(results, tuple) else (results,)


def assert_equal(found, wanted):
    for ours, theirs in zip(listed(found), listed(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def assert_batches_do_not_matter(kernel, arguments):
    """`arguments` are batches of some twenty states."""
    whole, size = kernel(*arguments), len(arguments[0])
    for n in range(size):
        assert_equal(kernel(*(x[: n + 1] for x in arguments)), tuple(x[: n + 1] for x in listed(whole)))
        assert_equal(kernel(*(x[n] for x in arguments)), tuple(x[n] for x in listed(whole)))
    for layout in (spread, unaligned, np.asfortranarray):
        assert_equal(kernel(*map(layout, arguments)), whole)
    with shared_among(3, kernel):
        assert_equal(kernel(*arguments), whole)
        assert_equal(kernel(*map(spread, arguments)), whole)
