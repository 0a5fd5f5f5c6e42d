"""The whole run: which races there are, who starts in them, and what was found."""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks import fresh
from benchmarks.bars import LONG_CHAIN, ROLLOUT_BATCH, THREADS_BATCH, Bar, bars
from benchmarks.limit import Rates, limits
from benchmarks.models import Case, Missing
from benchmarks.peers import LIBRARIES, OURS
from benchmarks.peers.peer import FORWARD, INVERSE, ROLLOUT, Unfit
from benchmarks.race import Plan, Row, problem, race
from benchmarks.worker import Failed, Worker

Runner = tuple[str, int]
"""Key of a library, threads."""
VALUES = 2**18
"""Velocities in a batch at most, so that large models have smaller batches."""
SMALLEST_BATCH = 8
LONGEST_BATCH = 30.0
"""Seconds."""
IMPORTS = 8


@dataclass
class Report:
    """All that a run found.

    Attributes
    ----------
    machine : its processor, and versions
    threads : cores there are
    absent : a line for each library that is not there, and for each that does not take a model
    computes : of a library, what its calls do more or less than ours
    imported : seconds of importing kinetree
    memory, second_start : as from `fresh.chain_bytes` and `fresh.second_start`
    """

    machine: dict[str, str]
    plan: Plan
    threads: int
    rates: Rates
    imported: float
    rows: list[Row] = field(default_factory=list)
    limits: list[dict] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    computes: dict[str, str] = field(default_factory=dict)
    memory: dict | None = None
    second_start: float | None = None
    anew: str = ""
    """Which rows are of a later run than the others."""

    @property
    def bars(self) -> list[Bar]:
        return list(bars(self.rows, self.threads, self.memory, self.second_start))

    def json(self) -> dict:
        names = "machine", "threads", "imported", "limits", "absent", "computes", "memory", "second_start", "anew"
        more = {"plan": asdict(self.plan), "rates": asdict(self.rates), "rows": [row.json() for row in self.rows]}
        verdicts = [{**asdict(bar), "verdict": bar.verdict} for bar in self.bars]
        return {**{name: getattr(self, name) for name in names}, **more, "bars": verdicts}

    def taken_up(self, later: "Report") -> "Report":
        """This run with what a later one measured again in the place of its own."""
        rows = {(row.model, row.quantity, row.states, row.who): row for row in (*self.rows, *later.rows)}
        limits = {(x["model"], x["quantity"]): x for x in (*self.limits, *later.limits)}
        return replace(
            later,
            machine=self.machine | later.machine,
            rows=list(rows.values()),
            limits=list(limits.values()),
            absent=[*dict.fromkeys(self.absent + later.absent)],
            computes=self.computes | later.computes,
            memory=later.memory or self.memory,
            second_start=later.second_start or self.second_start,
            anew=f"{_listed(row.model for row in later.rows)} by {_listed(row.peer for row in later.rows)}",
        )

    @staticmethod
    def from_json(found: dict) -> "Report":
        """The report that `json` wrote, without its samples."""
        names = "machine", "threads", "imported", "limits", "absent", "computes", "memory", "second_start", "anew"
        rows, plan, rates = [Row(**row) for row in found["rows"]], Plan(**found["plan"]), Rates(**found["rates"])
        return Report(plan=plan, rates=rates, rows=rows, **{name: found[name] for name in names if name in found})


def run(cases: list[Case], keys: list[str], plan: Plan, say: Callable[[str], None]) -> Report:
    """Every race of the cases among the libraries; ours is always one of them."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    say("this core, and an import")
    report = Report(machine(), plan, threads, fresh.rates(), fresh.import_seconds(1 if plan.quick else IMPORTS))
    field = _Field(report, [key for key in (OURS, *keys) if _installed(key, report)])
    for case in cases:
        try:
            _ = case.model
        except (Missing, ImportError) as missing:
            report.absent.append(f"{case.name}: {missing}")
            continue
        for quantity, states, workers in field.races(case):
            say(f"{case.name}: {quantity}, {'one state' if states == 1 else f'{states:,} states'}")
            field.race(case, quantity, states, workers)
        for quantity in (FORWARD, INVERSE):
            report.limits.append({"model": case.name, "quantity": quantity, **limits(case, quantity, report.rates)})
        if case.name == "G1":
            report.second_start = fresh.second_start(case.name)
        if case.name == f"chain-{LONG_CHAIN}":
            say(f"{case.name}: memory")
            report.memory = fresh.chain_bytes(LONG_CHAIN)
    return report


def machine() -> dict[str, str]:
    cpu, info = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu)
    return {"cpu": cpu, "cores": str(os.cpu_count()), "Python": platform.python_version()}


def _installed(key: str, report: Report) -> bool:
    versions = LIBRARIES[key].versions()
    if versions is None:
        report.absent.append(f'{LIBRARIES[key].name} is not installed: pip install "{LIBRARIES[key].pip}"')
    report.machine.update(versions or {})
    return versions is not None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


class _Field:
    """Who races, in which races, on one case after the other."""

    def __init__(self, report: Report, keys: list[str]) -> None:
        self.report, self.keys = report, keys
        self.workers: dict[Runner, Worker] = {}
        self.restarted: set[Runner] = set()
        self.given_up: dict[tuple[str, str], str] = {}
        """Libraries that took too long on a model, with its family: they are spared the larger ones."""

    def races(self, case: Case):
        """(quantity, states, workers) of each race; the workers live until the next is asked for after the last."""
        self.workers, self.restarted = {}, set()
        for key in self.keys:
            self._start_all(case, key)
        many = min(self.report.plan.batch, 2 ** max(0, (VALUES // case.model.nv).bit_length() - 1))
        try:
            for quantity in (FORWARD, INVERSE):
                yield quantity, 1, self._those(case, lambda key, threads: threads == 1)
                if many >= SMALLEST_BATCH:
                    fast = self._fast_enough(case, quantity, many)
                    yield quantity, many, self._those(case, lambda key, threads, fast=fast: key in fast)
            if case.name in ("Panda", "G1") and any(threads > 1 for _, threads in self.workers):
                yield FORWARD, THREADS_BATCH, self._those(case, lambda key, threads: key in (OURS, "pinocchio"))
            if case.name == "Panda":
                yield ROLLOUT, ROLLOUT_BATCH, self._those(case, lambda key, threads: key in (OURS, "mujoco"))
        finally:
            for worker in self.workers.values():
                worker.close()

    def race(self, case: Case, quantity: str, states: int, workers: dict[Runner, Worker]) -> None:
        for row in race(problem(case, quantity, states), workers, self.report.plan, threads=states == THREADS_BATCH):
            self.report.rows.append(row)
            if row.why and row.why.startswith("more than") and row.family != "robots":
                self.given_up[row.peer, row.family] = f"{row.why} on {row.model}"

    def _those(self, case: Case, wanted: Callable[[str, int], bool]) -> dict[Runner, Worker]:
        """Some of the workers; one that has ended is started once more."""
        for runner, worker in list(self.workers.items()):
            if not worker.alive:
                del self.workers[runner]
                if runner not in self.restarted:
                    self.restarted.add(runner)
                    self._start(case, *runner)
        return {runner: worker for runner, worker in self.workers.items() if wanted(*runner)}

    def _fast_enough(self, case: Case, quantity: str, states: int) -> set[str]:
        """Libraries for which a batch would not take too long, judged by one state."""
        fast = set()
        for key, _ in self.workers:
            of = (r for r in self.report.rows if (r.model, r.quantity, r.peer) == (case.name, quantity, key))
            seconds = min((row.seconds * states for row in of if row.seconds), default=0.0)
            if seconds <= LONGEST_BATCH:
                fast.add(key)
            else:
                why = f"not tried, for {states:,} times one state is {seconds:,.0f} s"
                self.report.rows.append(Row.failed(case, quantity, states, LIBRARIES[key].name, key, why))
        return fast

    def _start_all(self, case: Case, key: str) -> None:
        """On one core, and, for robots, on all."""
        why = self.given_up.get((key, case.family))
        if why:
            self.report.absent.append(f"{case.name}, {LIBRARIES[key].name}: not tried, for it took {why}")
            return
        self._start(case, key, 1)
        threads = self.report.threads
        wanted = threads > 1 and case.family == "robots" and not self.report.plan.quick
        if wanted and LIBRARIES[key].threaded and (key, 1) in self.workers:
            self._start(case, key, threads)

    def _start(self, case: Case, key: str, threads: int) -> None:
        library = LIBRARIES[key].name
        try:
            self.workers[key, threads] = worker = Worker(key, case, threads, self.report.plan.limit)
            self.report.computes[library] = worker.computes
        except Unfit as unfit:
            self.report.absent.append(f"{case.name}, {library}: {unfit}")
        except Failed as failed:
            self.report.rows.append(Row.failed(case, "loading", 1, library, key, str(failed)))
