"""One quantity of one model at some states: every contestant in turn, many times over, every result checked."""

import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

import kinetree as kt
from benchmarks.models import Case
from benchmarks.peers import LIBRARIES
from benchmarks.peers.kinetree import KERNEL
from benchmarks.peers.peer import DT, FORWARD, INVERSE, STEPS
from benchmarks.worker import Failed, Worker

AGREEMENT = 1e-9
"""Largest relative difference of where two rollouts end; rounding grows from step to step."""
DENSE = 300
"""Velocities up to which a mass matrix is formed to say how large M a may be."""
SHARED = (KERNEL, "Pinocchio InParallel")
"""Who is asked how much more threads help."""
PART = 4096
"""States that are checked at once."""
LONG = 0.5
"""Seconds of a call above which two samples must do."""


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    repeats : samples of each timing
    sample : seconds that one takes at least
    batch : states
    limit : seconds that a process may take to answer
    quick : whether the largest races are left out
    """

    repeats: int = 15
    sample: float = 4e-3
    batch: int = 4096
    limit: float = 120.0
    quick: bool = False


@dataclass
class Row:
    """A contestant in one race; `why` where it failed, and no seconds then."""

    model: str
    family: str
    size: int
    nv: int
    quantity: str
    states: int
    who: str
    peer: str
    dtype: str = "float64"
    seconds: float | None = None
    """Per state (of a rollout, per state and step), the median."""
    width: float | None = None
    """Middle half of the samples, relative to the median."""
    first: float | None = None
    """Seconds of making it and its first call: tracing, compiling, running."""
    error: float | None = None
    why: str | None = None
    samples: list[float] = field(default_factory=list, repr=False)

    @staticmethod
    def of(case: Case, quantity: str, states: int, who: str, peer: str, dtype: str = "float64") -> "Row":
        return Row(case.name, case.family, case.size, case.model.nv, quantity, states, who, peer, dtype)

    @staticmethod
    def failed(case: Case, quantity: str, states: int, who: str, peer: str, why: str) -> "Row":
        row = Row.of(case, quantity, states, who, peer)
        row.why = why
        return row

    def json(self) -> dict:
        return {key: value for key, value in asdict(self).items() if key != "samples"}


@dataclass(frozen=True)
class Problem:
    """q, v and x (…, nv) of a race, x the force or the acceleration."""

    case: Case
    quantity: str
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray

    @property
    def states(self) -> tuple[np.ndarray, ...]:
        return self.q, self.v, self.x

    @property
    def count(self) -> int:
        return 1 if self.q.ndim == 1 else len(self.q)

    def error(self, found: np.ndarray, dtype: str) -> float:
        """How wrong a result is, in units of what rounding explains: at most 1.

        Forward dynamics is judged by the force that the accelerations found need, M a + h, which must be the one given: what
        the conditioning of M makes of rounding is no one's fault. The force that inverse dynamics finds must be ours. Allowed
        is γ (|h| + |M a + h| + ‖M‖ |a|), γ = 36 (N + 1) ε of N bodies, ε of the number type; beyond `DENSE` velocities |M a|
        for ‖M‖ |a|. A rollout must end where steps written out in NumPy do, to `AGREEMENT`.
        """
        if found.shape[:-1] != self.q.shape[:-1] or not np.isfinite(found).all():
            return np.inf
        if self.quantity not in (FORWARD, INVERSE):
            wanted = _rolled_out(self.case.model, *self.states)
            return float(np.abs(found - wanted).max() / np.abs(wanted).max() / AGREEMENT)
        gamma = 36 * float(np.finfo(dtype).eps) * (self.case.model.nbodies + 1)
        if self.count == 1:
            return self._residual(*self.states, found) / gamma
        parts = (slice(k, k + PART) for k in range(0, self.count, PART))
        return max(self._residual(*(x[part] for x in self.states), found[part]) for part in parts) / gamma

    def _residual(self, q, v, x, found) -> float:
        model = self.case.model
        a, given = (found, x) if self.quantity == FORWARD else (x, found)
        still, needed = kt.bias_force(model, q, v), kt.inverse_dynamics(model, q, v, a)
        scale = _size(still) + _size(needed)
        if model.nv <= DENSE:
            scale += np.abs(kt.mass_matrix(model, q)).sum(axis=-1).max(axis=-1) * _size(a)
        else:
            scale += _size(needed - still)
        return float((_size(needed - given) / scale).max())


def problem(case: Case, quantity: str, count: int) -> Problem:
    """Random states: velocities, accelerations and forces within ±1; no force on free bases, as no robot has any."""
    rng = np.random.default_rng(0)
    q = case.model.random(rng, count)
    v, x = rng.uniform(-1, 1, (2, count, case.model.nv))
    if quantity != INVERSE:
        for body, rates in zip(case.model.bodies, case.model.v_slices, strict=True):
            if body.joint.kind == "free":
                x[:, rates] = 0
    return Problem(case, quantity, q, v, x) if count > 1 else Problem(case, quantity, q[0], v[0], x[0])


def race(problem: Problem, workers: dict[tuple[str, int], Worker], plan: Plan, *, threads: bool = False) -> Iterator[Row]:
    """A row for each contestant of the workers, by library and threads; the failed ones too.

    Times are the processor's; the clock's where threads are to be compared, among those only that are worth it.
    """
    about = (problem.case, problem.quantity, problem.count)
    runners = []
    for (peer, _), worker in workers.items():
        try:
            entries = worker.prepare(problem.quantity, problem.states)
        except Failed as failed:
            yield Row.failed(*about, LIBRARIES[peer].name, peer, str(failed))
            continue
        for index, entry in enumerate(entries):
            if threads and not entry.who.startswith(SHARED):
                continue
            runners.append(_Runner(worker, index, threads, Row.of(*about, entry.who, peer, entry.dtype)))
    for runner in runners:
        runner.attempt(lambda runner: runner.start(plan))
    for turn in range(plan.repeats):
        for runner in runners:
            runner.attempt(lambda runner, turn=turn: runner.take_turn(problem, turn, turn == plan.repeats - 1))
    for runner in runners:
        yield runner.finished(problem)


class _Runner:
    def __init__(self, worker: Worker, index: int, by_the_clock: bool, row: Row) -> None:
        self.worker, self.index, self.by_the_clock, self.row = worker, index, by_the_clock, row
        self.calls, self.most = 1, 1

    def _timed(self, calls: int) -> float:
        return self.worker.timed(self.index, calls, by_the_clock=self.by_the_clock)

    def attempt(self, step) -> None:
        if self.row.why is None:
            try:
                step(self)
            except Failed as failed:
                self.row.why = str(failed)

    def start(self, plan: Plan) -> None:
        self.row.first = self.worker.first(self.index)
        self.most = plan.repeats
        while (once := self._timed(self.calls)) * self.calls < plan.sample:
            self.calls *= 2
        if once > LONG:
            self.row.samples.append(once)
            self.most = 1

    def take_turn(self, problem: Problem, turn: int, last: bool) -> None:
        if turn < self.most:
            self.row.samples.append(self._timed(self.calls))
        if turn == 0 or last:
            error = problem.error(self.worker.result(self.index), self.row.dtype)
            self.row.error = max(error, self.row.error or 0.0)
            if not error <= 1:
                self.row.why = f"differs from kinetree: {error:.3g} times what rounding explains"

    def finished(self, problem: Problem) -> Row:
        row = self.row
        if row.why is None:
            steps = 1 if problem.quantity in (FORWARD, INVERSE) else STEPS
            low, middle, high = np.quantile(row.samples, [0.25, 0.5, 0.75])
            row.seconds = statistics.median(row.samples) / problem.count / steps
            row.width = float((high - low) / middle)
        return row


def _size(x):
    return np.abs(x).max(axis=-1)


def _rolled_out(model, q, v, tau):
    """The last q and v of `STEPS` semi-implicit Euler steps."""
    for _ in range(STEPS):
        v = v + DT * kt.forward_dynamics(model, q, v, tau)
        q = kt.integrate(model, q, DT * v)
    return np.concatenate([q, v], axis=-1)
