"""Each library on each model is a process of its own: what it does to threads, memory or itself stays there."""

import contextlib
import multiprocessing
import os
import resource
import time
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.models import Case
from benchmarks.peers import peer_class
from benchmarks.peers.peer import Contestant, Unfit

MEMORY = 12 * 2**30
"""Bytes of data a process may have."""
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "KINETREE_CACHE": "0",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 "
    "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}


class Failed(Exception):  # noqa: N818
    """What was asked of a process did not come about; the message says why in a line."""


@dataclass(frozen=True)
class Entry:
    """A contestant as the parent sees it."""

    who: str
    dtype: str


class Worker:
    """A library with a case loaded, in a process pinned to one core, or, with more threads, free to use all.

    Times are those of the processor, so that they do not depend on what else runs; with more threads, of the clock.
    """

    def __init__(self, key: str, case: Case, threads: int, limit: float) -> None:
        self.limit, self.threads = limit, threads
        before = {name: os.environ.get(name) for name in ENVIRONMENT}
        os.environ.update(ENVIRONMENT)
        try:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            named = Case(case.name, case.family, case.size)
            self._process = context.Process(target=_serve, args=(theirs, key, named, threads), daemon=True)
            self._process.start()
            theirs.close()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        self.alive = True
        self.computes: str = self._answer()
        """What the library's calls do more or less than ours."""

    def prepare(self, quantity: str, states: tuple[np.ndarray, ...]) -> list[Entry]:
        """What it can do for a quantity at states; it forgets what was prepared before."""
        return self._ask("prepare", quantity, states)

    def first(self, index: int) -> float:
        """Seconds of making a contestant and its first call."""
        return self._ask("first", index)

    def timed(self, index: int, calls: int, *, by_the_clock: bool = False) -> float:
        """Seconds per call."""
        return self._ask("timed", index, calls, by_the_clock or self.threads > 1)

    def result(self, index: int) -> np.ndarray:
        """In our coordinates, what the last timed call returned."""
        return self._ask("result", index)

    def close(self) -> None:
        if self.alive:
            self.alive = False
            self._process.kill()
            self._process.join()
            self._connection.close()

    def _ask(self, *message) -> Any:
        if not self.alive:
            raise Failed(self._why)
        with contextlib.suppress(BrokenPipeError):
            self._connection.send(message)
        return self._answer()

    def _answer(self) -> Any:
        try:
            if not self._connection.poll(self.limit):
                self._end(f"more than {self.limit:.0f} s")
            kind, value = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            self._end(f"its process ended ({_ending(self._process.exitcode)})")
        if kind == "unfit":
            self.close()
            raise Unfit(value)
        if kind == "failed":
            raise Failed(value)
        return value

    def _end(self, why: str):
        self.close()
        self._why = why
        raise Failed(why)


def one_core() -> None:
    """Keep this process, and threads it starts from here on, to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _serve(connection, key: str, case: Case, threads: int) -> None:
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        _answers(connection, key, case, threads)


def _answers(connection, key: str, case: Case, threads: int) -> None:
    if threads == 1:
        one_core()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        server = _Server(peer_class(key)(case, threads))
    except Unfit as unfit:
        connection.send(("unfit", str(unfit)))
        return
    except Exception as error:
        connection.send(("failed", _spoken(error)))
        return
    connection.send(("done", server.peer.computes))
    while True:
        try:
            name, *arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send(("done", getattr(server, name)(*arguments)))
        except Exception as error:
            connection.send(("failed", _spoken(error)))


class _Server:
    def __init__(self, peer) -> None:
        self.peer = peer
        self.contestants: list[Contestant] = []

    def prepare(self, quantity, states):
        self.contestants = list(self.peer.contestants(quantity, *states))
        self.calls: dict[int, Any] = {}
        self.last: dict[int, Any] = {}
        return [Entry(c.who, c.dtype) for c in self.contestants]

    def first(self, index):
        started = time.process_time()
        self.calls[index] = self.contestants[index].make()
        self.last[index] = self.calls[index]()
        return time.process_time() - started

    def timed(self, index, calls, by_the_clock):
        call, found, now = self.calls[index], None, time.perf_counter if by_the_clock else time.process_time
        started = now()
        for _ in range(calls):
            found = call()
        seconds = (now() - started) / calls
        self.last[index] = found
        return seconds

    def result(self, index):
        return np.asarray(self.contestants[index].ours(self.last[index]), dtype=float)


def _spoken(error: Exception) -> str:
    """Kind, first line, and where in the library itself, not in the JAX below it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next((frame for frame in reversed(frames) if "/jax/_src/" not in frame.filename), frames[-1])
    line = (str(error).strip().splitlines() or [""])[0][:120]
    return f"{type(error).__name__} in {os.path.basename(where.filename)}: {line}"
