"""A run as Markdown: the bars first, then every race, the limit, the losses, and what is compared."""

from collections.abc import Callable, Iterable, Iterator

from benchmarks.bars import LONG_CHAIN, THREADS_BATCH
from benchmarks.peers.kinetree import KERNEL
from benchmarks.peers.peer import FORWARD, INVERSE, ROLLOUT, STEPS
from benchmarks.race import Row
from benchmarks.suite import Report

FAMILIES = {
    "robots": "Robots",
    "humanoids": "Humanoids",
    "chains": "Chains",
}
ABOUT = {
    "robots": "Panda has a fixed base and 9 joints; G1 and Talos have free bases. URDFs of `example-robot-data`.",
    "humanoids": "The models `test_data/humanoid` of mujoco-mjx: 1 to 10 humanoids of 27 degrees of freedom in one model.",
    "chains": "Equal links on revolute joints with the axes x and y in turn, the first on the ground.",
}
COLUMNS = {"Pinocchio": ("pinocchio",), "MuJoCo": ("mujoco",), "fastest of JAX": ("frax", "adam", "jaxsim", "mjx")}
"""Of the summary: libraries of which the fastest is taken."""
BEGIN, END = "<!-- measured -->", "<!-- end measured -->"


def markdown(report: Report, picture: str | None = None) -> str:
    return "\n".join(_lines(report, picture)).rstrip() + "\n"


def _lines(report: Report, picture: str | None) -> Iterator[str]:
    here = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in here.items() if name not in ("cpu", "cores"))
    yield "# Measured against peers\n"
    yield '`python -m benchmarks` made this page (README, "Measured", says how).\n'
    yield f"{here['cpu']}, {here['cores']} cores; {versions}.\n"
    yield _prose(f"""
        Every contestant runs in a process of its own, on one core if nothing else is said. Times are those of the
        processor, with more threads those of the clock: medians of {report.plan.repeats} samples taken in turn. Every
        result is checked at the first and at the last. float64 if nothing else is said. × is how many times as long
        as kinetree's kernel; below 1 is a loss of ours. `import kinetree` takes {report.imported:.2f} s.
    """)
    if report.anew:
        yield f"Measured anew, in one run: {report.anew}. All other rows are of an earlier run on this machine (`--again`).\n"
    if picture:
        yield f"![Time per state of every contestant, with the limit]({picture})\n"
    yield "## The bars\n"
    yield from _table(
        ["work", "against", "bar", "measured", ""],
        [[bar.work, bar.against, bar.bound, bar.measured or "–", bar.verdict] for bar in report.bars],
        "lllrl",
    )
    for family, title in FAMILIES.items():
        rows = [row for row in report.rows if row.family == family and row.quantity in (FORWARD, INVERSE)]
        if rows:
            yield f"## {title}\n\n{ABOUT[family]}\n"
            yield from _family(rows)
    yield from _others(report)
    yield from _limit(report)
    if report.memory:
        yield "## Memory\n"
        sizes = ", ".join(f"{what} {size:,.0f}" for what, size in report.memory.items())
        yield _prose(f"""
            Bytes per body of a chain of {LONG_CHAIN:,}: {sizes}. The kernel is its tables and workspace; the process grows by
            compiling and calling it once, what the allocator holds given back; at most, on the way there.
        """)
    yield "## Losses\n"
    yield from _listed(losses(report.rows), "None: nobody was faster than kinetree's kernel in any race.")
    yield "## Failed or left out\n"
    yield from _listed([*failures(report.rows), *report.absent], "Nothing.")
    yield "## What is compared\n"
    yield _prose("""
        A batch is row-major arrays of states for kinetree, columns in Fortran order for Pinocchio, device arrays for JAX;
        the making of these is not timed. Random states, velocities, accelerations and forces; no forces on free bases. What is
        timed is the call from Python to its result. A first call is tracing, compiling and running, the model already loaded;
        the longer of one state's and a batch's.
    """)
    yield _prose("""
        Forward dynamics is right if the forces that its accelerations need, by kinetree's inverse dynamics, are those given;
        inverse dynamics, if its forces are kinetree's: both to γ (|h| + |M a + h| + ‖M‖ |a|) with γ = 36 (N + 1) ε for N
        bodies, the rounding of sweeps over them. A rollout must end, to 1e-9, where the same steps end in NumPy.
    """)
    yield from _listed([f"**{name}.** {_joined(computes)}" for name, computes in report.computes.items()], "")


def _family(rows: list[Row]) -> Iterator[str]:
    for quantity in (FORWARD, INVERSE):
        some = [row for row in rows if row.quantity == quantity and row.states < THREADS_BATCH]
        yield from _matrix(f"{quantity}, per state of a batch", [row for row in some if row.states > 1], _time)
        yield from _matrix(f"{quantity}, one state, called from Python", [row for row in some if row.states == 1], _time)
        yield from _matrix(f"{quantity}, first call", _slowest_first(some), _first)


def _matrix(title: str, rows: list[Row], cell: Callable[[Row, dict], str]) -> Iterator[str]:
    """A line for each contestant, a column for each model, in the order of their sizes."""
    columns = {row.model: row for row in sorted(rows, key=lambda row: row.size)}
    if not columns:
        return
    ours = {row.model: row.seconds for row in rows if row.who == KERNEL}
    heads = [
        f"{name}, nv {row.nv:,}" + (f", {row.states:,} states" if cell is _time and row.states > 1 else "")
        for name, row in columns.items()
    ]
    lines = []
    for who in dict.fromkeys(row.who for row in sorted(rows, key=lambda row: row.seconds is None)):
        cells = {row.model: cell(row, ours) for row in rows if row.who == who}
        if any(cells.values()):
            lines.append([who, *(cells.get(name, "") for name in columns)])
    yield from _table([title, *heads], lines, "l" + "r" * len(heads))


def _time(row: Row, ours: dict) -> str:
    if row.seconds is None:
        return "failed"
    kernel = ours.get(row.model)
    return spoken(row.seconds) + (f" ({times(row.seconds / kernel)})" if kernel and row.who != KERNEL else "")


def _first(row: Row, _: dict) -> str:
    return "" if row.first is None else spoken(row.first)


def _slowest_first(rows: list[Row]) -> list[Row]:
    """Of each contestant on each model the row with the longest first call."""
    found: dict[tuple, Row] = {}
    for row in rows:
        if row.states < THREADS_BATCH:
            key = row.model, row.quantity, row.who
            found[key] = max(row, found.get(key, row), key=lambda row: row.first or 0.0)
    return list(found.values())


def _others(report: Report) -> Iterator[str]:
    """Rollouts and races of threads, which have one model each."""
    races: dict[tuple, list[Row]] = {}
    for row in report.rows:
        if row.quantity == ROLLOUT or row.states == THREADS_BATCH:
            races.setdefault((row.model, row.quantity, row.states), []).append(row)
    if not races:
        return
    yield "## Threads and rollouts\n"
    lines = []
    for (model, quantity, states), rows in races.items():
        work = f"{model}, {quantity}, {states:,} states" + (f", {STEPS} steps, per step" if quantity == ROLLOUT else "")
        ours = next((row.seconds for row in rows if row.peer == "kinetree" and row.seconds), None)
        for row in rows:
            ratio = times(row.seconds / ours) if row.seconds and ours else ""
            lines.append([work, row.who, "failed" if row.seconds is None else spoken(row.seconds), ratio])
    yield from _table(["work", "who", "per state", "× kinetree"], lines, "llrr")


def _limit(report: Report) -> Iterator[str]:
    found = {(r.model, r.quantity): r for r in report.rows if r.who == KERNEL and r.seconds and r.states < THREADS_BATCH}
    lines = []
    for one in report.limits:
        row = found.get((one["model"], one["quantity"]))
        if row:
            shares = [f"{spoken(one[k])} ({100 * one[k] / row.seconds:.0f} %)" for k in ("flop_bound", "two_pipes")]
            lines.append([one["model"], one["quantity"], f"{one['operations']:,}", spoken(row.seconds), *shares])
    if not lines:
        return
    yield "## The limit\n"
    yield _prose(f"""
        One core does {report.rates.fma / 1e9:.1f}·10⁹ multiply-adds a second in float64, and {report.rates.mixed / 1e9:.1f}·10⁹
        operations where every other one is an addition; both measured, of independent operations in registers. The flop-bound
        limit is all operations of the kernel at the first rate, a multiply-add as one. With additions beside them it is the
        larger of all multiplications at the first rate and all operations at the second. A division, a root, and a sine
        with its cosine count as one operation, though they are many: the limits cannot quite be reached. In brackets, how much
        of it is reached.
    """)
    heads = ["model", "quantity", "operations", "kernel, per state", "flop-bound limit", "with additions beside"]
    yield from _table(heads, lines, "llrrrr")


def losses(rows: Iterable[Row]) -> list[str]:
    """Where another library was faster than our kernel, or, in single calls, than our public function."""
    races: dict[tuple, list[Row]] = {}
    for row in rows:
        races.setdefault((row.model, row.quantity, row.states), []).append(row)
    found = []
    for (model, quantity, states), some in races.items():
        count = "one state" if states == 1 else f"{states:,} states"
        for ours in (row for row in some if row.peer == "kinetree" and row.dtype == "float64" and row.seconds is not None):
            faster = [row for row in some if row.peer != "kinetree" and row.seconds is not None and row.seconds < ours.seconds]
            if "threads" in ours.who:
                continue
            found += [
                f"{model}, {quantity}, {count}: {r.who} {spoken(r.seconds)}, {ours.who} {spoken(ours.seconds)}." for r in faster
            ]
    return found


def failures(rows: Iterable[Row]) -> list[str]:
    said: dict[tuple, list[str]] = {}
    for row in rows:
        if row.why:
            count = "one state" if row.states == 1 else f"{row.states:,} states"
            said.setdefault((row.model, row.who, row.why), []).append(f"{row.quantity}, {count}")
    return [f"{model}, {who} ({'; '.join(what)}): {why}" for (model, who, why), what in said.items()]


def _prose(text: str) -> str:
    return _joined(text) + "\n"


def _joined(text: str) -> str:
    return " ".join(text.split())


def spoken(seconds: float) -> str:
    """Three significant digits and a unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= 0.9995 * size or unit == "ns":
            value = seconds / size
            return (
                f"{value:.2f} {unit}" if value < 9.995 else f"{value:.1f} {unit}" if value < 99.95 else f"{value:,.0f} {unit}"
            )
    raise ValueError(seconds)


def times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 9.995 else f"{ratio:.1f}×" if ratio < 99.95 else f"{ratio:,.0f}×"


def _table(head: list[str], lines: list[list[str]], sides: str) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('--:' if side == 'r' else '---' for side in sides)}|"
    for line in lines:
        yield f"| {' | '.join(line)} |"
    yield ""


def _listed(lines: list[str], otherwise: str) -> Iterator[str]:
    yield "\n".join(f"- {line}" for line in lines) or otherwise
    yield ""


def summary(report: Report) -> str:
    """The robots in one table: our kernel, and the fastest way of each library, JAX's as one."""
    races: dict[tuple, list[Row]] = {}
    for row in report.rows:
        if row.family == "robots" and row.quantity in (FORWARD, INVERSE) and row.states < THREADS_BATCH:
            races.setdefault((row.model, row.quantity, row.states), []).append(row)
    first = {(row.model, row.quantity): row.first for row in _slowest_first(report.rows) if row.who == KERNEL}
    lines = []
    for (model, quantity, states), rows in races.items():
        done = [row for row in rows if row.seconds is not None and row.dtype == "float64" and "threads" not in row.who]
        ours = next((row for row in done if row.who == KERNEL), None)
        if ours:
            others = [
                min((r for r in done if r.peer in keys), key=lambda r: r.seconds, default=None) for keys in COLUMNS.values()
            ]
            cells = ["–" if r is None else f"{spoken(r.seconds)} ({times(r.seconds / ours.seconds)})" for r in others]
            compiled = spoken(first[model, quantity]) if states > 1 else ""
            lines.append([f"{model}, nv {ours.nv}, {quantity}", f"{states:,}", spoken(ours.seconds), *cells, compiled])
    heads = ["", "states", "kinetree", *COLUMNS, "compile and first batch"]
    return "\n".join(_table(heads, lines, "lr" + "r" * (len(COLUMNS) + 2)))


def with_summary(text: str, report: Report) -> str:
    """A page whose part between the two marks is the summary of this run."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{summary(report)}{END}{after}"
