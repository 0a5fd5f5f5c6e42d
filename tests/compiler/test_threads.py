"""Large batches are shared among threads: the same bits, warnings and errors as on one, from any thread and after a fork."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import batches
import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.compiler.graph import Graph
from kinetree.compiler.kernel import build, build_source, straight_source


def kernel_and_batch(size, name="panda"):
    model = zoo.model(name)
    rng = np.random.default_rng(size)
    v, tau = rng.uniform(-1, 1, (2, size, model.nv))
    return kt.compile(kt.forward_dynamics, model), (model.random(rng, size), v, tau)


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("size", [9, 16, 1000, 1001])
def test_any_number_of_threads_gives_the_same_bits(size, count):
    kernel, given = kernel_and_batch(size)
    wanted = kernel(*given)
    with batches.shared_among(count, kernel):
        for layout in (np.ascontiguousarray, batches.spread, np.asfortranarray):
            batches.assert_equal(kernel(*map(layout, given)), wanted)
        out = batches.spread(np.zeros_like(wanted))
        assert kernel(*given, out=out) is out
        batches.assert_equal(out, wanted)
        batches.assert_equal(kernel(given[0], given[1][0], given[2]), kernel(given[0], given[1][:1], given[2]))
        batches.assert_equal(kernel(*(x.reshape(1, 1, *x.shape) for x in given))[0, 0], wanted)


@pytest.mark.parametrize("name", ["mixed chain", "forest", "random 25"])
def test_loops_are_shared_too(name):
    model = zoo.model(name)
    kernel = kt.compile(kt.inverse_dynamics, model, lowering="looped")
    rng = np.random.default_rng(0)
    batches.assert_batches_do_not_matter(kernel, (model.random(rng, 21), *rng.uniform(-1, 1, (2, 21, model.nv))))


def test_many_threads_call_at_once():
    kernel, given = kernel_and_batch(500)
    wanted = kernel(*given)
    with batches.shared_among(3, kernel), ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: kernel(*given), range(200)):
            batches.assert_equal(found, wanted)


def test_the_number_of_threads_changes_while_kernels_run():
    kernel, given = kernel_and_batch(500)
    wanted, wrong, stop = kernel(*given), [], threading.Event()

    def work():
        while not stop.is_set():
            if not np.array_equal(kernel(*given), wanted):
                wrong.append(kt.compiler.threads.threads())

    with batches.shared_among(2, kernel):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for count in [1, 4, 2, 6, 1, 3] * 10:
            kt.set_threads(count)
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_flags_of_every_thread_reach_the_caller():
    graph = Graph()
    x = graph.input(())
    kernel = build("square", "", graph, [x], [x[()] * x[()]])
    quiet = build("square", "", graph, [x], [x[()] * x[()]], warn=False)
    data = np.ones(4000)
    with batches.shared_among(3, kernel, quiet):
        for place in (0, 1999, 3999):
            data[:] = 1.0
            kernel(data)
            data[place] = 1e300
            with pytest.warns(RuntimeWarning, match="overflow"):
                assert kernel(data)[place] == np.inf
            assert quiet(data)[place] == np.inf


LARGE = """
import os, numpy as np, kinetree as kt
from kinetree.compiler import threads
link = kt.Inertia(1.0, [0.05, 0.0, 0.01], np.diag([0.01, 0.02, 0.015]))
joint, pose = kt.Revolute([1, 0, 0]), kt.Pose(translation=[0.1, 0, 0])
def chain(size):
    return kt.Model([kt.Body(f"b{k}", f"b{k - 1}" if k else None, joint, pose, link) for k in range(size)])
def call(model, states):
    q = np.tile(np.linspace(0, 1e-3, model.nv), (states, 1))
    return kt.compile(kt.inverse_dynamics, model)(q, q, q)
def workers():
    return threads._team.started
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", LARGE + code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


def test_no_memory_in_any_thread_is_an_error():
    graph = Graph()
    x = graph.input(())
    body = straight_source(graph, [x], [x[()] + 1.0])
    kernel = build_source("greedy", "", replace(body, spare=2**44))  # more than any machine can address
    for count in (1, 3):
        with batches.shared_among(count, kernel), pytest.raises(MemoryError):
            kernel(np.ones(1000))


def test_a_forked_process_has_a_team_of_its_own():
    code = """
kt.set_threads(3)
model = chain(2000)
wanted = call(model, 300)
print(workers(), flush=True)
child = os.fork()
fresh = workers()
same = (call(model, 300) == wanted).all()
os.write(1, f"{fresh} {same} {workers()}\\n".encode())  # whole, beside that of the other process
os._exit(0) if child == 0 else os.waitpid(child, 0)
"""
    first, *rest = run(code)
    assert first == "2" and sorted([rest[:3], rest[3:]]) == [["0", "True", "2"], ["2", "True", "2"]]


def test_no_thread_is_started_before_it_is_needed():
    code = "model = chain(2000); call(model, 8); print(workers(), kt.compiler.threads.threads());"
    code += "call(model, 300); print(workers())"
    assert run(code, KINETREE_THREADS="3") == ["0", "3", "2"]
    assert run(code, KINETREE_THREADS="1") == ["0", "1", "0"]
    cores = str(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else str(os.cpu_count())
    assert run("print(kt.compiler.threads.threads())", KINETREE_THREADS="") == [cores]


@pytest.mark.parametrize("count", [0, -1, 1025, 1.0, True, "2", None])
def test_the_number_of_threads_is_checked(count):
    with pytest.raises(kt.InputError, match="whole number from 1 to 1024, found"):
        kt.set_threads(count)


@pytest.mark.parametrize("text", ["0", "two", "-1", "1e1"])
def test_the_environment_is_checked(text):
    code = "try:\n    kt.compiler.threads.threads()\nexcept kt.InputError as failure:\n    print(failure)"
    assert " ".join(run(code, KINETREE_THREADS=text)) == (
        f"the environment variable KINETREE_THREADS must be a whole number from 1 to 1024, found {text!r}."
    )
