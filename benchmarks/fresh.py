"""What only a fresh process can tell: how long an import takes, how much memory a long chain, how fast a core is."""

import contextlib
import ctypes
import gc
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

STARTS = 5


def import_seconds(count: int) -> float:
    """Of the processor, to import kinetree: the median of so many processes."""
    code = "import time; t = time.process_time(); import kinetree; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(count)]
    return statistics.median(float(run.stdout) for run in runs)


def second_start(name: str) -> float:
    """Seconds that compiling and calling forward dynamics of a model takes where an earlier process has kept it; the median."""
    code = f"""
import time
import kinetree as kt
from benchmarks.models import chosen
model = chosen([{name!r}])[0].model
q, v = model.neutral(), [0.0] * model.nv
started = time.process_time()
kt.compile(kt.forward_dynamics, model)(q, v, v)
print(time.process_time() - started)
"""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "KINETREE_CACHE_DIR": folder}
        command = [sys.executable, "-c", code]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=env) for _ in range(1 + STARTS)]
    return statistics.median(float(run.stdout) for run in runs[1:])


def chain_bytes(size: int) -> dict[str, float]:
    """Bytes per body of a chain: of the model; of the tables and the workspace of the kernel for forward dynamics; by how much
    compiling and calling it made the process larger (what the allocator holds given back), and at most on the way there.
    """
    return _in_a_process(_chain_bytes, size)


def rates():
    """`limit.measured_rates` on a core of its own."""
    return _in_a_process(_rates)


def _in_a_process(function, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def _rates():
    from benchmarks.limit import measured_rates
    from benchmarks.worker import one_core

    one_core()
    return measured_rates()


def _chain_bytes(size):
    import numpy as np

    os.environ["KINETREE_CACHE"] = "0"
    import kinetree as kt
    from benchmarks.models import chain
    from kinetree.compiler.ufunc import owner_of

    kt.compile(kt.forward_dynamics, chain(3), lowering="looped")  # what any kernel needs is not the chain's
    start = _resident()
    model = chain(size)
    built = _resident()
    q, v = model.random(0), np.zeros(size)
    before = _resident()
    kernel = kt.compile(kt.forward_dynamics, model)
    kernel(q, v, v)
    after, most = _resident(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tables = sum(table.nbytes for table in owner_of(kernel).tables)
    sizes = {"model": built - start, "kernel": tables + kernel.stats.workspace_bytes, "process": after - before}
    return {what: count / size for what, count in {**sizes, "process at most": most - before}.items()}


def _resident() -> int:
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
