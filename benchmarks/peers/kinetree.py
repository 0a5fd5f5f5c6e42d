"""kinetree itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import kinetree as kt
from benchmarks.models import Case
from benchmarks.peers.peer import DT, FORWARD, INVERSE, ROLLOUT, STEPS, Array, Contestant, Peer

FUNCTIONS: dict[str, Any] = {FORWARD: kt.forward_dynamics, INVERSE: kt.inverse_dynamics}
KERNEL, PUBLIC, SINGLE_PRECISION = "kinetree, kernel", "kinetree, public function", "kinetree, kernel, float32"
OUR_ROLLOUT = "kinetree, rollout"


class Kinetree(Peer):
    """The kernel that `kt.compile` returns, and the public function, which checks its arguments and result."""

    computes = """
    The kernel (`kt.compile`) checks nothing; the public function and `kt.rollout` check their arguments and their result.
    First calls are without the cache on disk.
    """

    def __init__(self, case: Case, threads: int) -> None:
        self.model, self.threads = case.model, threads
        kt.set_threads(threads)

    def contestants(self, quantity: str, q: Array, v: Array, x: Array) -> Iterator[Contestant]:
        more = f", {self.threads} threads" if self.threads > 1 else ""
        q, v, x = map(np.ascontiguousarray, (q, v, x))
        if quantity == ROLLOUT:
            yield Contestant(OUR_ROLLOUT + more, lambda: self._rollout(q, v, x), _last_state)
            return
        function = FUNCTIONS[quantity]
        yield Contestant(KERNEL + more, lambda: self._kernel(function, np.float64, q, v, x))
        if self.threads == 1:
            yield Contestant(PUBLIC, lambda: lambda: function(self.model, q, v, x))
        yield Contestant(SINGLE_PRECISION + more, lambda: self._kernel(function, np.float32, q, v, x), dtype="float32")

    def _kernel(self, function, dtype, *state):
        kernel = kt.compile(function, self.model, dtype)
        state = [array.astype(dtype) for array in state]
        if state[0].ndim == 1:
            return lambda: kernel(*state)
        out = np.empty_like(state[2])
        return lambda: kernel(*state, out=out)

    def _rollout(self, q, v, tau):
        rows = np.repeat(tau[:, None], STEPS, axis=1)
        return lambda: kt.rollout(self.model, q, v, rows, DT, integrator="semi-implicit-euler", passive=False)


def _last_state(run) -> Array:
    return np.concatenate([run.q[..., -1, :], run.v[..., -1, :]], axis=-1)
