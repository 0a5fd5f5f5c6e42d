"""What is written once runs as loops and as straight-line code, and does the same."""

import itertools

import numpy as np
import pytest

from kinetree.compiler.kernel import build_once
from kinetree.compiler.parts import Parts
from kinetree.compiler.routines import Area, Block, Routines


def turned(m, few):
    """A kernel of x (m, 2) and y (2,): y ← x₀ + 2 y, x₀ ← y and so on along the rows, then the last two rows exchanged."""

    def sources():
        routines = Routines()
        found, last = routines.area(m, 2, strides=(2,)), routines.area(2, strides=(2,))
        x, y = Area("%in", 0, (2,)), Area("%in", 2 * m, (2,))
        temporary = routines.area(2, strides=(2,))
        parts, two = Parts(routines, few), Block(2)
        copy, more = (
            parts.part("copy", lambda a: a, [two], [two]),
            parts.part("more", lambda a, b: a + 2 * b, [two, two], [two]),
        )
        with parts.procedure("along", scratch=[(temporary, 2)]) as along:
            along.call(copy, y[0], last[0])
            for k in along.each(0, m):
                along.call(more, x[k], last[0], last[0])
                along.call(copy, last[0], found[k])
            along.call(copy, found[m - 1], temporary[0])
            along.call(copy, found[m - 2], found[m - 1])
            along.call(copy, temporary[0], found[m - 2])
        with parts.procedure("exchanged") as exchanged:  # reads what it writes over
            exchanged.call(copy, found[0], temporary[0])
            exchanged.call(copy, found[1], found[0])
            exchanged.call(copy, temporary[0], found[1])
        with parts.procedure("body", loops=True) as body:
            body.run(along)
            body.run(exchanged)
        return routines.source([(m, 2), (2,)], [(m, 2), (2,)]), None

    return build_once("turned", "", (turned, m, few), sources, warn=False)


@pytest.mark.parametrize(("m", "few"), list(itertools.product([3, 5], [False, True])))
def test_loops_and_straight_lines_do_the_same(m, few):
    rng = np.random.default_rng(m)
    x, y = rng.integers(-9, 9, (11, m, 2)).astype(float), rng.integers(-9, 9, (11, 2)).astype(float)
    found, last = turned(m, few)(x, y)
    rows = [y]
    for k in range(m):
        rows.append(x[:, k] + 2 * rows[-1])
    wanted = np.stack(rows[1:], axis=1)
    assert np.array_equal(last, wanted[:, -1])
    wanted[:, [m - 2, m - 1]] = wanted[:, [m - 1, m - 2]]
    wanted[:, [0, 1]] = wanted[:, [1, 0]]
    assert np.array_equal(found, wanted)
