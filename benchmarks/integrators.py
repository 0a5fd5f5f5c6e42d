"""Steps per second of every integrator and form on Panda and G1, against MuJoCo's; and energy against steps, as a picture.

    python -m benchmarks.integrators [--quick] [--drift FILE.png]

Needs kinetree[robots,peers]; of the picture kinetree[plot]. One thread, processor time. Steps of 1 ms from a random state, no
control: 1,000 of one state by `kt.simulate` and by `kt.rollout`, 100 of 1,024 states by `kt.rollout`; MuJoCo by
`mujoco.rollout`, without contacts and all else that is not a rigid body or a joint. Prints a table in Markdown. Where each is
after 100 steps is compared with RK4 at an eighth of the step; the run stops where one is further off than its order allows.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("KINETREE_THREADS", "1")

import mujoco
import mujoco.rollout
import numpy as np

import kinetree as kt
from benchmarks.models import Case, chosen
from benchmarks.operators import FULL, QUICK, Plan, medians
from benchmarks.peers.mujoco import mujoco_coordinates, mujoco_model
from benchmarks.peers.peer import DT

FORMS = ("newton-euler", "hamilton", "lagrange")
FIXED = {"semi-implicit-euler": 1, "rk4": 4, "implicit-midpoint": 2, "variational": 2, "gauss-legendre-4": 4}
THEIRS = {"Euler": ("mjINT_EULER", 1), "RK4": ("mjINT_RK4", 4)}
FAR = {1: 1e-1, 2: 1e-3, 4: 1e-6}
"""Radians or metres that an order may be off after `MANY` steps."""
BATCH = 1024
ONE, MANY = 1000, 100
"""Steps of one state, and of each of many."""
DRIFT = {"semi-implicit-euler": "#c2562d", "rk4": "#1f5fa8", "implicit-midpoint": "#1b7f4d", "gauss-legendre-4": "#8a5fbf"}

Way = tuple[str, str, int, int, Callable[[int], np.ndarray]]
"""Integrator; form or library; order; states (0: one, by `simulate`); what takes so many steps: the last q of each state."""


def ours(case: Case, q: np.ndarray, v: np.ndarray) -> Iterator[Way]:
    model = case.model

    def rolled(integrator: str, form: str, count: int, steps: int):
        options = {"integrator": integrator, "form": form, "steps": steps, "store_every": steps, "passive": False}
        return kt.rollout(model, q[:count], v[:count], None, DT, **options).q[:, -1]

    def stepped(integrator: str, form: str, steps: int):
        options = {"integrator": integrator, "form": form, "passive": False, "progress": False}
        return kt.simulate(model, q[0], v[0], steps * DT, DT, **options).q[None, -1]

    for integrator, order in FIXED.items():
        for form in FORMS:
            yield integrator, form, order, 0, partial(stepped, integrator, form)
            if form != "lagrange":
                for count in (1, len(q)):
                    yield integrator, form, order, count, partial(rolled, integrator, form, count)


def theirs(case: Case, q: np.ndarray, v: np.ndarray) -> Iterator[Way]:
    there, m = mujoco_coordinates(mujoco_model(case), case, q, v), mujoco_model(case)
    data, runner = mujoco.MjData(m), mujoco.rollout.Rollout(nthread=0)
    start = np.zeros((len(q), mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + m.nq], start[:, 1 + m.nq : 1 + m.nq + m.nv] = there.q, there.v
    m.opt.timestep = DT

    def rolled(kind: str, count: int, steps: int):
        m.opt.integrator = getattr(mujoco.mjtIntegrator, kind)
        state, _ = runner.rollout(m, [data], start[:count], nstep=steps)
        return state[:, -1, 1 : 1 + m.nq][:, there.q_columns]

    for name, (kind, order) in THEIRS.items():
        for count in (1, len(q)):
            yield name, "MuJoCo", order, count, partial(rolled, kind, count)


def measured(case: Case, batch: int, plan: Plan) -> Iterator[list[str]]:
    random, model = np.random.default_rng(0), case.model
    q, v = model.random(random, batch), 0.5 * random.uniform(-1, 1, (batch, model.nv))
    exact = kt.rollout(model, q, v, None, DT / 8, "rk4", steps=8 * MANY, store_every=8 * MANY, passive=False).q[:, -1]
    ways, errors = [*ours(case, q, v), *theirs(case, q, v)], []
    for integrator, form, order, count, take in ways:
        found = take(MANY)
        errors.append(float(np.abs(kt.difference(model, exact[: len(found)], found)).max()))
        if not errors[-1] < FAR[order]:
            raise SystemExit(f"{integrator}, {form}, of {case.name} ({count} states) is {errors[-1]:.2g} off")
    steps = [ONE if count <= 1 else MANY for *_, count, _ in ways]
    times = medians([partial(take, n) for (*_, take), n in zip(ways, steps, strict=True)], plan)
    rows: dict[tuple[str, str], dict[int, tuple[float, float, float]]] = {}
    for (integrator, form, _, count, _), n, (seconds, width), error in zip(ways, steps, times, errors, strict=True):
        rows.setdefault((integrator, form), {})[count] = n * max(count, 1) / seconds, width, error
    for (integrator, form), found in rows.items():
        cells = [f"{found[count][0]:,.0f}" if count in found else "" for count in (0, 1, batch)]
        worst, width = max(x[2] for x in found.values()), max(x[1] for x in found.values())
        yield [case.name, integrator, form, *cells, f"{worst:.0e}", f"{100 * width:.0f} %"]


def drift(file: Path, steps: int) -> None:
    """Energy of a chaotic double pendulum over many steps of 5 ms: the largest error of each tenth of a decade."""
    from matplotlib.figure import Figure

    model, every = kt.example("double-pendulum"), max(1, steps // 100_000)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for integrator, color in DRIFT.items():
        run = kt.rollout(model, [2.0, 1.0], [0.0, 0.0], None, 5e-3, integrator, steps=steps, store_every=every)
        energy = kt.kinetic_energy(model, run.q, run.v) + kt.potential_energy(model, run.q)
        scale = np.ptp(kt.potential_energy(model, run.q))
        error = np.abs(energy[1:] - energy[0]) / scale
        at = np.unique(np.geomspace(1, len(error), 10 * int(np.log10(len(error))) + 1).astype(int))
        largest = [error[a:b].max() for a, b in pairwise(at)]
        axes.loglog(at[1:] * every, largest, color=color, label=integrator)
        first, last = error[: len(error) // 10].max(), error[-len(error) // 10 :].max()
        print(f"{integrator}: largest energy error of the first tenth {first:.1e}, of the last {last:.1e}, of what may change")
    axes.set(xlabel="steps of 5 ms", ylabel="energy error / range of potential energy", title="A chaotic double pendulum")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Panda only, few states and samples")
    parser.add_argument("--drift", type=Path, help="only the picture of energy against steps, to this file")
    given = parser.parse_args()
    if given.drift:
        drift(given.drift, 2000 if given.quick else 1_000_000)
        return
    kt.set_threads(1)
    batch = 16 if given.quick else BATCH
    plan = QUICK if given.quick else FULL
    print(f"| model | integrator | form | one, `simulate` | one, `rollout` | {batch:,}, `rollout` | error | spread |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for case in chosen(["Panda"] if given.quick else ["Panda", "G1"]):
        for cells in measured(case, batch, plan):
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
