"""What was promised of kinetree, beside what was measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.peers.kinetree import KERNEL, OUR_ROLLOUT, PUBLIC, SINGLE_PRECISION
from benchmarks.peers.peer import FORWARD, INVERSE, ROLLOUT
from benchmarks.race import Row

BATCH, THREADS_BATCH, ROLLOUT_BATCH, LONG_CHAIN = 4096, 65_536, 1024, 100_000


@dataclass(frozen=True)
class Bar:
    """work, against what, the bound as it is printed, what was measured (None if it was not), and whether that meets it."""

    work: str
    against: str
    bound: str
    measured: str | None
    met: bool | None

    @property
    def verdict(self) -> str:
        return "not measured" if self.met is None else "met" if self.met else "**missed**"


class Measured:
    """Seconds per state of what was raced."""

    def __init__(self, rows: list[Row]) -> None:
        self.seconds = {(r.model, r.quantity, r.states, r.who): r.seconds for r in rows if r.seconds is not None}

    def ratio(self, slow: tuple, fast: tuple) -> float | None:
        if slow in self.seconds and fast in self.seconds:
            return self.seconds[slow] / self.seconds[fast]
        return None


def bars(rows: list[Row], threads: int, memory: dict | None, second_start: float | None) -> Iterator[Bar]:
    """As many bars as were set, in their order.

    Parameters
    ----------
    memory : as from `fresh.chain_bytes`
    second_start : as from `fresh.second_start`
    """
    found = Measured(rows)
    at_least, at_most = (
        _bound(lambda x, bound: x >= bound, "at least {:g}×"),
        _bound(lambda x, bound: x <= bound, "at most {:g}×"),
    )
    for quantity, promised in ((FORWARD, (40, 24)), (INVERSE, (35, 20))):
        for robot, least in zip(("Panda", "G1"), promised, strict=True):
            what = robot, quantity, BATCH
            who = "Pinocchio InParallel, 1 thread"
            yield at_least(f"{quantity}, {robot}, batch {BATCH:,}", who, least, found.ratio((*what, who), (*what, KERNEL)))
    for quantity in (FORWARD, INVERSE):
        for robot in ("Panda", "G1"):
            what = robot, quantity, BATCH
            ratio = found.ratio((*what, KERNEL), (*what, SINGLE_PRECISION))
            yield at_least(f"{quantity}, {robot}, float32", "kinetree, float64", 1.7, ratio)
    for ours in (KERNEL, PUBLIC):
        for quantity, least in ((FORWARD, 2.5), (INVERSE, 1.4)):
            for robot in ("Panda", "G1"):
                what = robot, quantity, 1
                work = f"{quantity}, {robot}, one call, {ours.removeprefix('kinetree, ')}"
                yield at_least(work, "Pinocchio's call from Python", least, found.ratio((*what, "Pinocchio"), (*what, ours)))
    what = "Panda", ROLLOUT, ROLLOUT_BATCH
    ratio = found.ratio((*what, "MuJoCo rollout, 1 thread"), (*what, OUR_ROLLOUT))
    yield at_least(f"rollout, Panda, batch {ROLLOUT_BATCH:,}, semi-implicit Euler", "MuJoCo rollout, 1 thread", 25, ratio)
    long = found.seconds.get((f"chain-{LONG_CHAIN}", FORWARD, 1, KERNEL))
    work = f"forward dynamics, a chain of {LONG_CHAIN:,}"
    yield _at_most(f"{work}, time per body", 250, "ns", None if long is None else long / LONG_CHAIN * 1e9)
    for what, words in (("kernel", "its tables and workspace"), ("process", "growth of the process")):
        yield _at_most(f"{work}, memory per body: {words}", 2048, "bytes", memory and memory[what])
    ratio = found.ratio(("chain-10000", FORWARD, 1, KERNEL), ("chain-100", FORWARD, 1, KERNEL))
    yield at_most("forward dynamics, time per body, 100 → 10,000 bodies", "itself", 1.6, ratio and ratio / 100)
    for robot in ("Panda", "G1"):
        what = robot, FORWARD, THREADS_BATCH
        ratio = found.ratio((*what, KERNEL), (*what, f"{KERNEL}, {threads} threads"))
        yield at_least(f"forward dynamics, {robot}, batch {THREADS_BATCH:,}, {threads} threads", "1 thread", 1.7, ratio)
    ms = second_start and second_start * 1e3
    yield _at_most("forward dynamics, G1, compiled and called in a second process", 50, "ms", ms)


def _bound(meets: Callable[[float, float], bool], words: str):
    def bar(work: str, against: str, bound: float, ratio: float | None) -> Bar:
        measured = None if ratio is None else f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.1f}×"
        return Bar(work, against, words.format(bound), measured, None if ratio is None else meets(ratio, bound))

    return bar


def _at_most(work: str, most: float, unit: str, found: float | None) -> Bar:
    measured = None if found is None else f"{found:,.0f} {unit}"
    return Bar(work, "", f"at most {most:,} {unit}", measured, None if found is None else found <= most)
