"""Operator expressions on chains and trees of 10 to 3,000 bodies against dense NumPy, and compiled on G1; one core.

    python -m benchmarks.operators [--quick] [--json FILE] [--plot FILE.png]

ℳ x, ℳ⁻¹ x, log det ℳ and five blocks of Ω = J ℳ⁻¹ J*: interpreted, compiled, and by NumPy on a dense ℳ. G1 needs
kinetree[robots], its comparison kinetree[peers]. Before and after it is timed every result is compared with a mass matrix made
by none of it, from the Jacobians of all bodies: it must be the exact result for a matrix that differs by no more than γ ‖ℳ‖,
γ = 36 (N + 1) ε, the rounding of sweeps over N bodies. The run stops otherwise. Times are processor time of one thread.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import kinetree as kt  # noqa: E402
from benchmarks import models  # noqa: E402

BATCH = 1024
WIDE = 0.15
"""Middle half of the samples of a timing, relative to their median, above which more are taken."""
COMPILE_LIMIT = 20.0
"""Seconds; an expression that is expected to take longer is not compiled."""
PROMISED_RATIO = 1.1
PAIRS = 5
FRESH, SOLVED = "interpreted, fresh", "interpreted, solved"
ONE, MANY = "compiled, one state", "compiled, batch"
GIVEN, FORMED = "NumPy, ℳ given", "NumPy, ℳ formed"
WAYS = {
    FRESH: "interpreted, from `kt.operators(model, q)` on",
    SOLVED: "interpreted, operators already solved",
    ONE: "compiled, one state",
    MANY: f"compiled, per state of {BATCH:,}",
    GIVEN: "NumPy, dense ℳ given",
    FORMED: "NumPy, ℳ formed by `mass.dense()`",
}
OURS = FRESH, SOLVED, ONE, MANY
Result = np.ndarray


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    sizes : numbers of bodies
    repeats, more : samples of each timing, and how many times as many again where they spread
    sample : seconds that one sample takes at least
    robot : name among the models of this folder, number of states
    """

    sizes: tuple[int, ...]
    repeats: int
    more: int
    sample: float
    robot: tuple[str, int]


FULL = Plan((10, 30, 100, 300, 1000, 3000), 9, 3, 5e-3, ("G1", 4096))
QUICK = Plan((2, 4), 3, 0, 5e-4, ("Panda", 64))


def chain(size: int) -> kt.Model:
    """Equal links of 0.2 m on revolute joints, axes x and y in turn."""
    return _model("chain", range(-1, size - 1), lambda k: np.eye(3)[k % 2], lambda k: ([0, 0, 0.2 * (k > 0)], [0, 0, 0.1]))


def random_tree(size: int) -> kt.Model:
    """Each body on any one before it, the axis, the place of the joint and the centre of mass in any direction."""
    rng = np.random.default_rng(size)
    parents = [int(rng.integers(0, k)) if k else -1 for k in range(size)]
    return _model("tree", parents, lambda k: _unit(rng), lambda k: rng.uniform(-0.2, 0.2, (2, 3)))


FAMILIES = {"chain": chain, "random tree": random_tree}


def _model(name, parents, axis, places) -> kt.Model:
    tensor, bodies = np.diag([0.004, 0.003, 0.002]), []
    for k, parent in enumerate(parents):
        joint, com = places(k)
        above = f"body {parent}" if parent >= 0 else None
        bodies.append(
            kt.Body(f"body {k}", above, kt.Revolute(axis(k)), kt.Pose(np.eye(3), joint), kt.Inertia(1.0, com, tensor))
        )
    return kt.Model(bodies, name=f"{name} of {len(bodies)}")


def _unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


class Case:
    """A model at a state, its mass matrix and Jacobians from the motion of every body in the world, and pairs of bodies."""

    def __init__(self, model: kt.Model) -> None:
        rng = np.random.default_rng(1)
        self.model, self.q = model, model.random(rng)
        self.x = rng.uniform(-1, 1, model.nv)
        places = np.random.default_rng(2).random((PAIRS, 2))  # the same at every size, relative to it
        self.pairs = [tuple(map(int, pair)) for pair in places * model.nbodies]
        self.M, self.J = _mass_matrix_and_jacobians(model, self.q, {k for pair in self.pairs for k in pair})
        values = np.linalg.eigvalsh(self.M)
        self.gamma = 36 * np.finfo(float).eps * (model.nbodies + 1)
        self.norm, self.condition, self.trace_of_inverse = values[-1], values[-1] / values[0], (1 / values).sum()


def _mass_matrix_and_jacobians(model, q, wanted) -> tuple[Result, dict[int, Result]]:
    """ℳ = Σ m Jc* Jc + Jw* I Jw over the bodies, revolute joints only; J (6, nv) of some, [ω; v of the origin] in body axes."""
    R, origin = kt.reference(kt.forward_kinematics, model, q)
    axes = np.array([R[k] @ body.joint.axis for k, body in enumerate(model.bodies)])
    turning, moving, weighted, momentum = np.zeros((4, model.nbodies, 3, model.nv))
    J = {}
    carried = np.zeros((model.nbodies, model.nv), dtype=bool)
    for k, (parent, body) in enumerate(zip(model.parents, model.bodies, strict=True)):
        carried[k] = carried[parent] if parent >= 0 else False
        carried[k, k] = True
        center = origin[k] + R[k] @ body.inertia.com
        turning[k] = np.where(carried[k], axes.T, 0)
        moving[k] = np.where(carried[k], np.cross(axes, center - origin).T, 0)
        weighted[k] = R[k] @ body.inertia.tensor @ R[k].T @ turning[k]
        momentum[k] = body.inertia.mass * moving[k]
        if k in wanted:
            at_origin = np.where(carried[k], np.cross(axes, origin[k] - origin).T, 0)
            J[k] = np.concatenate([R[k].T @ turning[k], R[k].T @ at_origin])
    flat = [X.reshape(-1, model.nv) for X in (turning, weighted, moving, momentum)]
    M = flat[0].T @ flat[1] + flat[2].T @ flat[3]
    return 0.5 * (M + M.T), J


@dataclass(frozen=True)
class Quantity:
    """expression: of the case, the f(ops, …) and its arrays; dense: the same of ℳ; error: in units of what γ allows."""

    expression: Callable[[Case], tuple[Callable[..., Any], tuple[Result, ...]]]
    dense: Callable[[Case, Result], Any]
    error: Callable[[Case, Any], float]


def mass(ops):
    return ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T


def blocks(pairs, ops):
    return tuple(ops.Omega.blocks(i, j) for i, j in pairs)


def dense_blocks(case, M):
    right = np.linalg.solve(M, np.concatenate([case.J[j] for _, j in case.pairs]).T)
    return np.stack([case.J[i] @ right[:, 6 * n : 6 * n + 6] for n, (i, _) in enumerate(case.pairs)])


def _of_product(case, y):
    return np.linalg.norm(y - case.M @ case.x) / (case.norm * np.linalg.norm(case.x))


def _of_solution(case, y):
    return np.linalg.norm(case.M @ y - case.x) / (case.norm * np.linalg.norm(y))


def _of_logdet(case, found):
    return abs(found - np.linalg.slogdet(case.M)[1]) / (case.norm * case.trace_of_inverse)


def _of_blocks(case, found):
    size, error = partial(np.linalg.norm, ord=2), 0.0
    for Z, (i, j) in zip(found, case.pairs, strict=True):
        X, Y = (np.linalg.solve(case.M, case.J[k].T) for k in (i, j))
        allowed = size(X) * case.norm * size(Y) + size(case.J[i]) * size(Y) + size(X) * size(case.J[j])
        error = max(error, size(Z - case.J[i] @ Y) / allowed)
    return error


QUANTITIES = {
    "ℳ x": Quantity(lambda case: (lambda ops, x: mass(ops) @ x, (case.x,)), lambda case, M: M @ case.x, _of_product),
    "ℳ⁻¹ x": Quantity(
        lambda case: (lambda ops, x: mass(ops).inv @ x, (case.x,)), lambda case, M: np.linalg.solve(M, case.x), _of_solution
    ),
    "log det ℳ": Quantity(
        lambda case: (lambda ops: mass(ops).logdet(), ()), lambda case, M: np.linalg.slogdet(M)[1], _of_logdet
    ),
    "5 blocks of Ω": Quantity(lambda case: (partial(blocks, case.pairs), ()), dense_blocks, _of_blocks),
}


def timed(call, calls=1) -> float:
    started = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - started) / calls


def medians(calls, plan) -> list[tuple[float, float]]:
    """Seconds of each call, the median of samples taken in turn, and how wide their middle half is, relative to it."""
    counts = [max(1, min(5000, int(plan.sample / max(timed(call), 1e-9)))) for call in calls]
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(1 + plan.more):
        waiting = [k for k, times in enumerate(samples) if not times or _width(times) > WIDE]
        for _ in range(plan.repeats):
            for k in waiting:
                samples[k].append(timed(calls[k], counts[k]))
    return [(statistics.median(times), _width(times)) for times in samples]


def _width(times):
    low, middle, high = np.quantile(times, [0.25, 0.5, 0.75])
    return float((high - low) / middle)


def measure(family, plan) -> Iterator[dict]:
    """A row per size, quantity and way; dense() itself too."""
    past: dict[str, list[tuple[int, float]]] = {name: [] for name in QUANTITIES}
    for size in plan.sizes:
        case = Case(FAMILIES[family](size))
        about = {"family": family, "bodies": size, "condition": case.condition}
        ((seconds, width),) = medians([lambda case=case: kt.operators(case.model, case.q).mass.dense()], plan)
        yield {**about, "quantity": "mass.dense()", "way": FRESH, "states": 1, "seconds": seconds, "width": width}
        for name, quantity in QUANTITIES.items():
            runs, kernel = ways(case, quantity, past[name])
            errors = [quantity.error(case, result()) / case.gamma for _, _, _, result in runs]
            found = medians([call for _, _, call, _ in runs], plan)
            errors = [max(e, quantity.error(case, r[3]()) / case.gamma) for e, r in zip(errors, runs, strict=True)]
            for (way, states, _, _), (seconds, width), error in zip(runs, found, errors, strict=True):
                if not error <= 1:
                    raise SystemExit(f"{family} of {size}, {name}, {way}: {error:.3g} times as wrong as rounding explains")
                row = {**about, "quantity": name, "way": way, "states": states, "seconds": seconds / states}
                yield {**row, "width": width, "error": error, **(kernel if way == ONE else {})}


def ways(case, quantity, past) -> tuple[list[tuple[str, int, Callable, Callable]], dict]:
    """(way, states, call to time, what it found for the case) of each way; how long compiling took, and into what."""
    f, arrays = quantity.expression(case)
    model, q, ops = case.model, case.q, kt.operators(case.model, case.q)

    def fresh():
        return f(kt.operators(model, q), *arrays)

    def formed():
        return quantity.dense(case, kt.operators(model, q).mass.dense())

    runs = [
        (FRESH, fresh),
        (SOLVED, partial(f, ops, *arrays)),
        (GIVEN, partial(quantity.dense, case, case.M)),
        (FORMED, formed),
    ]
    found = [(way, 1, call, call) for way, call in runs]
    if expected(past, model.nbodies) > COMPILE_LIMIT:
        return found, {}
    started = time.process_time()
    kernel = kt.compile(f, model)
    past.append((model.nbodies, time.process_time() - started))
    kind = "loops" if kernel.stats.lowering == "looped" else "straight"
    rng = np.random.default_rng(2)
    states = model.random(rng, BATCH), *(rng.uniform(-1, 1, (BATCH, len(x))) for x in arrays)
    for batch, own in zip(states, (q, *arrays), strict=True):
        batch[-1] = own
    out = kernel(*states)
    many = partial(kernel, *states, out=out)
    return [
        *found,
        (ONE, 1, partial(kernel, q, *arrays), partial(kernel, q, *arrays)),
        (MANY, BATCH, many, lambda: _last_state(many())),
    ], {"compile": past[-1][1], "kind": kind}


def _last_state(found):
    return [x[-1] for x in found] if isinstance(found, tuple) else found[-1]


def expected(past, size) -> float:
    """Seconds to compile, by the growth so far."""
    if len(past) < 2:
        return 0.0
    (n0, t0), (n1, t1) = past[-2:]
    return t1 * (size / n1) ** max(1.0, np.log(t1 / t0) / np.log(n1 / n0))


def growth(rows) -> float | None:
    """p of seconds ~ bodiesᵖ, least squares of logarithms over the upper decade of sizes."""
    most = max(row["bodies"] for row in rows)
    upper = [row for row in rows if row["bodies"] >= most / 10]
    if len(upper) < 2:
        return None
    return float(np.polyfit(np.log([row["bodies"] for row in upper]), np.log([row["seconds"] for row in upper]), 1)[0])


def crossing(ours, theirs) -> str:
    """Bodies from which ours is faster, by logarithmic interpolation between the sizes that both have."""
    times = {row["bodies"]: row["seconds"] for row in theirs}
    lead = [(row["bodies"], np.log(row["seconds"] / times[row["bodies"]])) for row in ours]
    behind = [k for k, (_, x) in enumerate(lead) if x >= 0]
    if not behind:
        return f"{lead[0][0]:,} or fewer"
    if behind[-1] == len(lead) - 1:
        return f"not by {lead[-1][0]:,}"
    (n0, x0), (n1, x1) = lead[behind[-1] : behind[-1] + 2]
    return f"{n0 * (n1 / n0) ** (x0 / (x0 - x1)):,.0f}"


def measure_robot(plan) -> dict:
    """Compiled ℳ⁻¹ x of a robot in a batch, against its forward dynamics and, if it is installed, Pinocchio."""
    name, states = plan.robot
    (case,) = models.chosen([name])
    model = case.model
    rng = np.random.default_rng(0)
    q, v, x = model.random(rng, states), *rng.uniform(-1, 1, (2, states, model.nv))
    solve, forward = kt.compile(lambda ops, x: mass(ops).inv @ x, model), kt.compile(kt.forward_dynamics, model)
    y, a = np.empty_like(x), np.empty_like(x)
    calls = {"ℳ⁻¹ x, kernel": lambda: solve(q, x, out=y), "forward dynamics, kernel": lambda: forward(q, v, x, out=a)}
    try:
        calls |= _pinocchio(case, q, v, x)
    except ImportError:
        print("Pinocchio is not installed (kinetree[peers]): its rows are left out.\n")
    M, gamma = kt.mass_matrix(model, q), 36 * np.finfo(float).eps * (model.nbodies + 1)
    norm = np.linalg.norm(M, 2, axis=(-2, -1))
    found = medians(list(calls.values()), plan)
    for who, call in calls.items():
        z = call()
        wanted = x - kt.bias_force(model, q, v) if who.startswith("forward") else x
        residual = np.linalg.norm((M @ z[..., None])[..., 0] - wanted, axis=-1)
        allowed = gamma * (norm * np.linalg.norm(z, axis=-1) + np.linalg.norm(wanted, axis=-1))
        if not (residual <= allowed).all():
            raise SystemExit(f"{name}, {who}: {np.max(residual / allowed):.3g} times as wrong as rounding explains")
    seconds = {who: t / states for who, (t, _) in zip(calls, found, strict=True)}
    ratio = seconds["ℳ⁻¹ x, kernel"] / seconds["forward dynamics, kernel"]
    return {"robot": name, "nv": model.nv, "states": states, "seconds": seconds, "ratio": ratio}


def _pinocchio(case: models.Case, q, v, x) -> dict[str, Callable[[], Result]]:
    """aba without velocity and gravity is ℳ⁻¹ x in O(N); computeMinverse makes the whole inverse."""
    import pinocchio as pin

    from benchmarks.peers.pinocchio import Pinocchio

    peer = Pinocchio(case, 1)
    peer.model.gravity.setZero()
    there = peer.coordinates(q, 0 * v)
    forces = there.force(x)
    columns = [np.asfortranarray(array.T) for array in (there.q, there.v, forces)]
    pool = pin.ModelPool(peer.model, 1)
    m, data, out = peer.model, peer.data, np.empty((peer.model.nv, len(q)), order="F")

    def many():
        pin.abaInParallel(1, pool, *columns, out)
        return there.our_force(out.T)

    def inverses():
        found = np.empty_like(x)
        for k, (theirs, own) in enumerate(zip(there.q, forces, strict=True)):
            upper = np.triu(pin.computeMinverse(m, data, theirs))
            found[k] = upper @ own + np.triu(upper, 1).T @ own
        return there.our_force(found)

    return {"Pinocchio abaInParallel, 1 thread, v = g = 0": many, "Pinocchio computeMinverse, times x, Python loop": inverses}


def machine() -> str:
    cpu, info = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu)
    return (
        f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}, kinetree {kt.__version__}"
    )


def spoken(seconds) -> str:
    """Three significant digits and a unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= 0.9995 * size or unit == "ns":
            value = seconds / size
            return f"{value:.{max(0, 2 - int(np.floor(np.log10(value))))}f} {unit}"
    raise ValueError(seconds)


def tables(rows) -> str:
    """A Markdown table per family: a line per quantity and way, a column per size, growth last."""
    lines = []
    for family in dict.fromkeys(row["family"] for row in rows):
        mine = [row for row in rows if row["family"] == family]
        sizes = sorted({row["bodies"] for row in mine})
        head = ["", f"{family} of", *(f"{n:,}" for n in sizes), "grows as"]
        lines += [_line(head), _line(["---", "---", *["--:"] * (len(sizes) + 1)])]
        for name in ("mass.dense()", *QUANTITIES):
            for way, words in WAYS.items():
                own = [row for row in mine if (row["quantity"], row["way"]) == (name, way)]
                if own:
                    lines.append(_line([name, words, *_cells(own, sizes, "seconds"), _power(growth(own))]))
                if own and way == ONE:
                    lines.append(_line([name, "trace and compile, once", *_cells(own, sizes, "compile"), ""]))
        lines.append("")
    return "\n".join(lines)


def _cells(rows, sizes, key) -> list[str]:
    kinds = {row["bodies"]: ", loops" if key == "compile" and row.get("kind") == "loops" else "" for row in rows}
    of = {row["bodies"]: spoken(row[key]) + kinds[row["bodies"]] for row in rows if key in row}
    return [of.get(n, "–") for n in sizes]


def _line(cells) -> str:
    return f"| {' | '.join(cells)} |"


def _power(p) -> str:
    return "" if p is None else f"N^{p:.2f}"


def races(rows) -> str:
    """From how many bodies on each way of kinetree's is faster than NumPy with ℳ given; the first, than with ℳ formed too."""
    races = [(way, GIVEN) for way in OURS] + [(FRESH, FORMED)]
    lines = [_line(["faster from so many bodies on", *(f"{ours} / {theirs}" for ours, theirs in races)])]
    lines.append(_line(["---", *["--:"] * len(races)]))
    for family in dict.fromkeys(row["family"] for row in rows):
        for name in QUANTITIES:
            of = {way: [r for r in rows if (r["family"], r["quantity"], r["way"]) == (family, name, way)] for way in WAYS}
            lines.append(_line([f"{name}, {family}", *(crossing(of[ours], of[theirs]) for ours, theirs in races)]))
    return "\n".join(lines)


def robot_report(robot) -> str:
    seconds, ours = robot["seconds"], robot["seconds"]["ℳ⁻¹ x, kernel"]
    lines = [_line([f"{robot['robot']}, nv {robot['nv']}, {robot['states']:,} states", "per state", "× kernel"])]
    lines += [_line(["---", "--:", "--:"]), *(_line([who, spoken(t), f"{t / ours:.2f}"]) for who, t in seconds.items())]
    verdict = "kept" if robot["ratio"] <= PROMISED_RATIO else "BROKEN"
    lines += ["", f"ℳ⁻¹ x / forward dynamics = {robot['ratio']:.2f}; promised at most {PROMISED_RATIO}: {verdict}."]
    return "\n".join(lines)


def plot(rows, file) -> None:
    """Time against the number of bodies, both logarithmic: a row per family, a panel per quantity."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    styles = {
        FRESH: ("#1f5fa8", "-", "o"),
        SOLVED: ("#6ba3dc", "-", "o"),
        ONE: ("#1b7f4d", "-", "s"),
        MANY: ("#6cc596", "-", "s"),
        GIVEN: ("#444444", "--", "^"),
        FORMED: ("#c2562d", "--", "^"),
    }
    families = list(dict.fromkeys(row["family"] for row in rows))
    figure = Figure(figsize=(13, 3.6 * len(families) + 0.7), layout="constrained")
    grid = figure.subplots(len(families), len(QUANTITIES), sharex=True, sharey=True, squeeze=False)
    for family, panels in zip(families, grid, strict=True):
        for name, axes in zip(QUANTITIES, panels, strict=True):
            for way, (color, line, marker) in styles.items():
                own = [r for r in rows if (r["family"], r["quantity"], r["way"]) == (family, name, way)]
                x, y = [r["bodies"] for r in own], [r["seconds"] for r in own]
                label = WAYS[way].replace("`", "")
                axes.loglog(x, y, line, color=color, marker=marker, markersize=4, linewidth=1.6, label=label)
            _slopes(axes, max(row["bodies"] for row in rows))
            axes.set_title(f"{name}, {family}", fontsize=11)
            axes.grid(which="major", color="#dddddd", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(which="minor", length=0)
        panels[0].set_ylabel("time per state")
    for axes in grid[-1]:
        axes.set_xlabel("bodies")
    axes.set_ylim(bottom=2e-9)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.yaxis.set_major_locator(LogLocator(1000, numticks=9))
    axes.yaxis.set_major_formatter(lambda t, _: f"1 {'s' if t > 0.5 else 'ms' if t > 5e-4 else 'µs' if t > 5e-7 else 'ns'}")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(file, dpi=130)


def _slopes(axes, largest) -> None:
    """What N and N³ look like, from one point."""
    n = np.array([largest / 10, largest])
    for power, name in ((1, "N"), (3, "N³")):
        t = 4e-9 * (n / n[0]) ** power
        axes.loglog(n, t, color="#aaaaaa", linewidth=0.9)
        axes.annotate(name, (n[1], t[1]), xytext=(3, -3), textcoords="offset points", fontsize=8, color="#888888")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, few samples, a small robot")
    parser.add_argument("--json", type=Path, help="write the numbers there too")
    parser.add_argument("--plot", type=Path, help="write a picture there (kinetree[plot])")
    options = parser.parse_args()
    pinned = hasattr(os, "sched_setaffinity")
    if pinned:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    plan = QUICK if options.quick else FULL
    rows = [row for family in FAMILIES for row in measure(family, plan)]
    print(f"{machine()}; one core{'' if pinned else ' (not pinned)'}, medians of {plan.repeats} or more.\n")
    print(tables(rows))
    print(f"{races(rows)}\n")
    worst = max(rows, key=lambda row: row.get("error", 0))
    print(f"Worst error, in units of what rounding explains: {worst['error']:.2g} ({worst['family']}, {worst['quantity']}).")
    print(f"Largest condition number of ℳ: {max(row['condition'] for row in rows):.1e}.\n")
    found = measure_robot(plan)
    print(robot_report(found))
    if options.json:
        whole = {"machine": machine(), "pinned": pinned, "rows": rows, "robot": found}
        options.json.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
