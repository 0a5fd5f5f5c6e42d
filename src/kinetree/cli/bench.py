"""`kinetree bench`: how fast, against whatever peer is installed, with the results compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, final

import numpy as np

from kinetree import compilation, functions
from kinetree.cli.peers import Peer, PeerUnable, mujoco_peer, pinocchio_peer
from kinetree.cli.report import Report, add_row, heading, table
from kinetree.cli.source import Source
from kinetree.compiler.threads import set_threads, threads
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array

MOST_BATCH = 2**20
_SECONDS = 0.2


@final
@dataclass(frozen=True, kw_only=True)
class Bench(Source):
    """Time forward and inverse dynamics, one call and a batch, against Pinocchio and MuJoCo where they are installed.

    Every peer's result is compared with ours before it is timed.

    Example: kinetree bench panda.urdf --batch 4096
    """

    batch: int = 4096
    """States in the batch."""

    def report(self) -> Report:
        """Medians over repeats, one core."""
        if not 1 <= self.batch <= MOST_BATCH:
            raise InputError(f"--batch must be 1 to {MOST_BATCH}, found {self.batch}.")
        asked = threads()
        set_threads(1)
        try:
            return self._measured(self.model())
        finally:
            set_threads(asked)

    def _measured(self, model: Model) -> Report:
        rng = np.random.default_rng(0)
        q = model.random(rng, self.batch)
        v, tau = rng.normal(size=(2, self.batch, model.nv))
        rows, notes = [], []
        ours: dict[str, Array] = {}
        for name, function in (("forward", functions.forward_dynamics), ("inverse", functions.inverse_dynamics)):
            start = perf_counter()
            kernel = compilation.compile(function, model)
            compiled = perf_counter() - start
            ours[name] = kernel(q, v, tau)
            single = median(lambda k=kernel: k(q[0], v[0], tau[0]))
            checked = median(lambda f=function: f(model, q[0], v[0], tau[0]))
            batch = median(lambda k=kernel, out=ours[name]: k(q, v, tau, out=out)) / self.batch
            more = {"compile_s": compiled, "from_disk": kernel.stats.cached, "checked_ns": checked * 1e9}
            rows.append(_row(name, "kinetree", single, batch, None, **more))
        for make in (pinocchio_peer, mujoco_peer):
            try:
                peer = make(model, self.path, self.base)
                rows += [_measure(peer, name, ours[name], q, v, tau) for name in ours]
            except PeerUnable as unable:
                notes.append(str(unable))
        rows.sort(key=lambda row: row["function"])
        data = {"model": model.name, "nv": model.nv, "batch": self.batch, "rows": rows, "notes": notes}
        return Report(
            data,
            [
                heading(f"{model.name}, nv = {model.nv}, one core"),
                _drawn(self.batch, rows),
                *(f"note: {note}" for note in notes),
            ],
        )


def median(call: Callable[[], Any]) -> float:
    """Median time of a call [s], over repeats that fill a fifth of a second."""
    start = perf_counter()
    call()
    once = max(perf_counter() - start, 1e-7)
    loops = max(1, int(_SECONDS / 20 / once))
    times = []
    for _ in range(15):
        start = perf_counter()
        for _ in range(loops):
            call()
        times.append((perf_counter() - start) / loops)
    return float(np.median(times))


def _measure(peer: Peer, name: str, ours: Array, q: Array, v: Array, x: Array) -> dict[str, Any]:
    """Compare, then time."""
    checked = min(len(q), 64)
    theirs = np.array([np.array(peer.single(name, q[k], v[k], x[k])()) for k in range(checked)])
    theirs = theirs[:, peer.order]
    scale = np.abs(ours[:checked]).max() or 1.0
    difference = float(np.abs(theirs - ours[:checked]).max() / scale)
    single = median(peer.single(name, q[0], v[0], x[0]))
    batch = None
    if peer.batch is not None:
        batch = median(peer.batch(name, q, v, x)) / len(q)
    return _row(name, peer.name, single, batch, difference)


def _row(name: str, who: str, single: float, batch: float | None, difference: float | None, **more: Any) -> dict[str, Any]:
    return {
        "function": f"{name}_dynamics",
        "library": who,
        "single_ns": single * 1e9,
        "batch_ns": None if batch is None else batch * 1e9,
        "difference": difference,
        **more,
    }


def _drawn(batch: int, rows: list[dict[str, Any]]) -> Any:
    made = table(
        "function",
        "library",
        ">one call [ns]",
        f">per state of {batch} [ns]",
        ">relative difference",
    )
    for row in rows:
        batched = "–" if row["batch_ns"] is None else f"{row['batch_ns']:,.1f}"
        difference = "" if row["difference"] is None else f"{row['difference']:.1e}"
        add_row(made, row["function"], row["library"], f"{row['single_ns']:,.0f}", batched, difference)
    return made
