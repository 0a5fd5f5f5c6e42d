"""How many threads share a large batch, and the team of them: started when first needed, and anew after a fork."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import numpy as np

from kinetree.compiler.kept import object_code_once
from kinetree.compiler.linking import linked
from kinetree.compiler.team import TEAM_TEXT, WORKER_WORDS
from kinetree.errors import InputError

__all__ = ["set_threads", "shares", "team_address", "threads"]

MOST_THREADS = 1024
VARIABLE = "KINETREE_THREADS"
WORK, PART = 250_000, 50_000
"""Vector operations that are worth waking a thread for, about 100 µs of them; and that threads take at a time."""
_NO_THREAD = ctypes.c_ulong(-1).value


class _Team(ctypes.Structure):
    _fields_ = (
        ("split", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("started", ctypes.c_int64),
        ("workers", ctypes.c_void_p),
    )


# i32 split(team, states, count of arrays, args, dims, steps, data)
_SPLIT = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.c_int64, *[ctypes.c_void_p] * 4)
_STATES = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)

_team = _Team()
_lock = threading.RLock()
_workers: Any = None
_code: Any = None


def threads() -> int:
    """How many threads a large batch is shared among."""
    with _lock:
        if not _team.threads:
            set_threads(_asked_for() or _cores())
        return _team.threads


def set_threads(count: int) -> None:
    """Share large batches among so many threads, the caller's among them, from now on; 1 never starts one.

    At first it is what the environment variable ``KINETREE_THREADS`` says, else as many cores as the process may use. A
    batch is shared only where each thread gets some 100 µs of work. Results do not depend on it, bit for bit.

    Raises
    ------
    InputError : not a whole number from 1 to 1024
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_THREADS:
        raise InputError(f"set_threads takes a whole number from 1 to {MOST_THREADS}, found {count!r}.")
    with _lock:
        _team.threads = int(count)
        _publish()


def shares(lanes: int, operations: int) -> tuple[int, int]:
    """States worth waking a thread for, and states to take at a time, if a vector of states takes so many operations."""
    least, grain = (lanes * -(-work // max(operations, 1)) for work in (WORK, PART))
    return least, grain


def team_address() -> int:
    """Where the team is (see `team`), ready."""
    threads()
    return ctypes.addressof(_team)


def _asked_for() -> int | None:
    """The number in the environment, or None."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_THREADS:
        raise InputError(
            f"the environment variable {VARIABLE} must be a whole number from 1 to {MOST_THREADS}, found {text!r}."
        )
    return int(text)


def _cores() -> int:
    """Cores that this process may use."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(found, MOST_THREADS)


def _publish() -> None:
    """What kernels are to call with large batches: nothing, the team, or what starts it first."""
    if _team.threads == 1:
        _team.split = None
    elif _team.started < _team.threads - 1:
        _team.split = ctypes.cast(_start, ctypes.c_void_p).value
    else:
        _team.split = _code.addresses["split"]


@_SPLIT
def _start(team: int, states: int, count: int, *arguments: int) -> int:
    """Start what threads are missing, then do as `split` of the team does; alone, if no threads can be had."""
    try:
        with _lock:
            _start_workers()
            split = _SPLIT(_code.addresses["split"])
    except Exception:  # no memory, no threads, no code: one thread is enough
        _team.split = None
        return _STATES(states)(*arguments)
    return split(team, states, count, *arguments)


def _start_workers() -> None:
    global _workers, _code
    if _code is None:
        _code = linked(object_code_once(TEAM_TEXT)[0], "split", "work")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_code))  # threads sleep in it until the process ends
    if _workers is None:
        _workers = (ctypes.c_void_p * (WORKER_WORDS * MOST_THREADS))()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_workers))
        _team.workers = ctypes.addressof(_workers)
    new_lock, take, start = (
        getattr(ctypes.pythonapi, f"PyThread_{word}") for word in ("allocate_lock", "acquire_lock", "start_new_thread")
    )
    new_lock.restype, take.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    start.restype, start.argtypes = ctypes.c_ulong, (ctypes.c_void_p, ctypes.c_void_p)
    for n in range(_team.started, _team.threads - 1):
        at = WORKER_WORDS * n
        for word in (at + 2, at + 3):
            _workers[word] = new_lock()
            take(_workers[word], 1)
        if start(_code.addresses["work"], _team.workers + ctypes.sizeof(ctypes.c_void_p) * at) == _NO_THREAD:
            raise OSError("no more threads")
        _team.started = n + 1
    _publish()


def _forget() -> None:
    """In a forked process: the threads are those of the parent."""
    global _workers, _lock
    _lock = threading.RLock()
    _workers, _team.started, _team.workers = None, 0, None
    if _team.threads:
        _publish()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
