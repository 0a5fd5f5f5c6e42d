"""Traces cut into pieces, and bodies within bodies: what they compute, and that they compute it once."""

import numpy as np
import zoo
from tolerance import assert_close, gamma

import kinetree as kt
from kinetree.algorithms import impulse
from kinetree.compiler.cuts import Trace
from kinetree.compiler.guard import body_guard
from kinetree.compiler.kernel import build_source
from kinetree.compiler.looped.lower import looped_source
from kinetree.compiler.routines import Area, Block, Routines

STATES = np.random.default_rng(0).normal(size=(37, 4))


def test_pieces_share_what_follows_from_the_arguments():
    routines = Routines()
    result = routines.area(3, 2, strides=(2,))
    trace = Trace(routines)
    x = trace.at(Area("%in", 0, (1,)), 4)
    angle = x[0] * x[1]
    pairs = trace.piece("pair", lambda y: np.array([np.sin(angle) + y, -np.cos(angle) * y]), [Block()], [Block(2)])
    last = trace.piece("last", lambda y: (-np.sin(angle), 2.0 * y), [Block()], [Block(), Block()])
    with routines.procedure("body") as body:
        body.call(trace.known)
        with body.loop(0, 2) as k:
            body.call(pairs, Area("%in", 2, (1,))[k], result[k])
        body.call(last, Area("%in", 3, (1,))[0], result[2], Area(result.base, result.slot + 5, (1,))[0])
    source = routines.source([(4,)], [(3, 2)])
    found = build_source("cut", "", source)(STATES)
    a, y = STATES[:, 0] * STATES[:, 1], STATES[:, 2:]
    expected = [[np.sin(a) + y[:, 0], -np.cos(a) * y[:, 0]], [np.sin(a) + y[:, 1], -np.cos(a) * y[:, 1]]]
    assert_close(found, np.moveaxis(np.array([*expected, [-np.sin(a), 2 * y[:, 1]]]), -1, 0), 8 * np.finfo(float).eps)
    assert source.operations["sin"] == source.operations["cos"] == 1


def test_results_that_need_nothing_of_a_piece_and_numbers_are_stored_by_it():
    routines = Routines()
    result, trace = routines.area(5, strides=(1,)), Trace(routines)
    x = trace.at(Area("%in", 0, (1,)), 4)
    kept = routines.area(2, strides=(1,))
    trace.keep(kept, [x[0] + x[1], 7.0])
    piece = trace.piece("some", lambda y: np.array([x[0] + x[1], x[2], 3.0, -x[3], 1.0]), [Block()], [Block(5)])
    with routines.procedure("body") as body:
        body.call(trace.known)
        body.call(piece, kept[0], result[0])
    found = build_source("numbers", "", routines.source([(4,)], [(5,)]))(STATES)
    expected = [STATES[:, 0] + STATES[:, 1], STATES[:, 2], 3.0 + 0 * STATES[:, 0], -STATES[:, 3], 1.0 + 0 * STATES[:, 0]]
    assert np.array_equal(found, np.stack(expected, axis=-1))


def test_loops_over_bodies_run_inside_others_each_with_its_own_tables():
    """Impulses on two bodies of a chain, one after the other, by two bodies of kernels in one."""
    model, rng = zoo.model("long chain"), np.random.default_rng(1)
    q, v, W = model.random(rng, 9), rng.normal(size=(9, model.nv)), rng.normal(size=(9, 6))
    hit = model.nbodies - 1, model.nbodies // 2
    routines = Routines()
    final = routines.area(model.nv, strides=(1,))
    shapes = {"q": (model.nq,), "v": (model.nv,), "impulses": (6,)}
    sources = [looped_source(impulse.struck, model, shapes, {"bodies": (k,)}, routines.lanes, body_guard)[0] for k in hit]
    (first, second), room = routines.embed(*sources)
    copy, given = routines.piece("copy", lambda x: x, [Block()], [Block()]), Area("%in", 0, (1,))
    asked = routines.area(model.nq + model.nv + 6, strides=(1,))
    with routines.procedure("body") as body:
        body.compute(first, given[0], room[0])
        with body.loop(0, model.nq + model.nv + 6) as k:
            body.call(copy, given[k], asked[k])
        with body.loop(0, model.nv) as k:
            body.call(copy, room[k], Area("%out", asked.slot + model.nq, (1,))[k])
        body.compute(second, asked[0], room[0])
        with body.loop(0, model.nv) as k:
            body.call(copy, room[k], final[k])
    found = build_source("twice", "", routines.source([*shapes.values()], [(model.nv,)]))(q, v, W)
    kernel, expected = kt.compile(kt.impulse_response, model), v
    for k in hit:
        wrenches = np.zeros((9, model.nbodies, 6))
        wrenches[:, k] = W
        expected = expected + kernel(q, wrenches)[0]
    assert_close(found, expected, gamma(model) * np.linalg.cond(kt.mass_matrix(model, q)).max())
