"""Impulse responses and impacts on Panda, G1 and chains against Pinocchio, and how they grow with the length of a chain.

    python -m benchmarks.impacts [--quick] [--json FILE] [--markdown FILE] [--picture FILE.png]

Needs kinetree[robots,peers]; of the picture kinetree[plot]. One core. Contacts with the ground, 1, 4 and 16, with and
without friction: at fingers and links of Panda, under both feet of G1, at the last and the middle link of chains;
velocities before are such that contacts without friction push. Ours are calls from Python of `kt.impulse_response` (of a
batch, of its kernel with `out=`) and `kt.impact`, with all they return; of Pinocchio's calls only what they spend in C++,
contacts' frames and velocities given. Checked each time: velocities after impulses, and after impacts of at most
4 contacts without friction, are Pinocchio's; else how far impulses are from the laws of contact, on Pinocchio's Delassus
matrix.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import kinetree as kt  # noqa: E402
from benchmarks.models import Case, chosen  # noqa: E402
from benchmarks.operators import machine, spoken  # noqa: E402
from benchmarks.peers.pinocchio import MOST_JOINTS  # noqa: E402
from benchmarks.peers.pinocchio_contacts import SOLVERS, TOLERANCE, PinocchioContacts, Sites  # noqa: E402
from benchmarks.worker import one_core  # noqa: E402
from kinetree.contact.contacts import frame  # noqa: E402

Array = np.ndarray
FRICTION = 0.7
COUNTS = 1, 4, 16
BILATERAL = 4
"""Contacts up to which `impulseDynamics`, whose contacts also pull, finds the same."""
WRONG = 1e-4
"""Of the impulse that the fastest contact alone would need: further from the laws, impulses count as wrong."""
CLOSE = 1e-6
"""Of the velocities: how far those after the same impact may differ."""
BATCHES = {"Panda": 4096, "G1": 4096, "chain-100": 1024, "chain-200": 512, "chain-1000": 64}
LENGTHS = 10, 30, 100, 300, 1000, 3000
PROMISED, EXPONENT = 15.0, 1.1
ABOUT = """# Impulses and impacts against Pinocchio

`python -m benchmarks.impacts` made this page. {machine}; one core, float64.

Contacts with the ground: fingers and links of Panda, both feet of G1, the last and the middle link of chains; the
velocities before are such that contacts without friction push. Ours is the time of `kt.impact` called from Python, from
q and v to the velocities, impulses, impulses in all joints and residuals; of a batch of impulse responses, that of the
kernel for that body with `out=`; processor time, the median of three samples. Pinocchio's is what it spends in C++ alone,
the least of three at each of 64 states: `aba` without velocity and gravity for the impulse response; the contacts' Jacobian and
`impulseDynamics` for up to 4 contacts without friction, whose contacts also pull, so that there the states are such
that none does; else `crba`, the Jacobian, the Cholesky factor of Delassus' matrix, and the quicker of its PGS and ADMM
solvers, to its own tolerance of {tolerance:g}. It is given contacts' frames and velocities, and not asked for
velocities after its contact solvers. × is how many times as long as ours it takes per state. "Off by": velocities
differ by so much of the largest; of contact solvers, how far impulses are from the laws of contact, over the impulse
that the fastest contact alone would need, ours at worst, its in the middle; "its right" is the share of states at which
that is below {wrong:g}. μ = {friction:g}. Its Data needs memory as nv³, so there is none of chains beyond {joints}
bodies.
"""


@dataclass(frozen=True)
class Row:
    """Seconds per state: of one call, of a batch, of Pinocchio; what it did; how far results are off, ours and its."""

    model: str
    bodies: int
    work: str
    states: int
    one: float
    batch: float
    peer: float | None = None
    way: str = ""
    error: float | None = None
    peer_error: float | None = None
    peer_right: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.peer / self.batch


def sites(case: Case, count: int) -> Sites:
    """Contacts that are spread over some bodies in turn."""
    names, last = case.model.body_names, case.model.nbodies - 1
    normal = np.array([0.0, 0.0, 1.0])
    if case.name == "G1":
        feet = [k for k, name in enumerate(names) if name.endswith("ankle_roll_link")]
        turns = 2 * np.pi * np.arange(count) / max(count, 4) + 0.4
        points = np.stack([0.035 + 0.085 * np.cos(turns), 0.03 * np.sin(turns), np.full(count, -0.03)], axis=1)
        bodies = [feet[n % 2] for n in range(count)]
    else:
        ends = [last, last - 1, last - 2, last - 4] if case.name == "Panda" else [last, last // 2]
        rng = np.random.default_rng(7)
        points = rng.uniform(-0.1, 0.1, (count, 3))
        normal = np.array([0.3, -0.2, 1.0])
        bodies = [ends[n % len(ends)] for n in range(count)]
    return Sites(tuple(bodies), points, np.broadcast_to(frame(normal, "normal"), (count, 3, 3)))


def contacts_of(where: Sites) -> list[kt.Contact]:
    triples = zip(where.bodies, where.points, where.frames, strict=True)
    return [kt.Contact(body, point, N[0]) for body, point, N in triples]


def states_of(case: Case, where: Sites, count: int) -> tuple[Array, Array]:
    """q and v: whatever moves along the normals is what impulses that push would stop, the rest is random."""
    model, rng = case.model, np.random.default_rng(0)
    q = model.random(rng, count) if case.family == "robots" else 0.3 * rng.normal(size=(count, model.nq))
    v, m = rng.uniform(-1, 1, (count, model.nv)), len(where.bodies)
    back = [
        kt.impulse_response(model, q, k, point, N[0]).dv
        for k, point, N in zip(where.bodies, where.points, where.frames, strict=True)
    ]
    back = np.stack(back, axis=-1)  # ℳ⁻¹ Jₙ*
    moved = [normal_speeds(model, q, where, x) for x in (*np.moveaxis(back, -1, 0), v)]
    A, u = np.stack(moved[:-1], axis=-1), moved[-1]
    x = rng.uniform(0.5, 1.5, (count, m)) / np.trace(A, axis1=-2, axis2=-1)[:, None]
    x = x + np.einsum("bij,bj->bi", np.linalg.pinv(A, rcond=1e-9, hermitian=True), u)
    return q, v - np.einsum("bij,bj->bi", back, x)


def normal_speeds(model: kt.Model, q: Array, where: Sites, v: Array) -> Array:
    """Jₙ v (n, m) by the motions of bodies."""
    R, _ = kt.forward_kinematics(model, q)
    V = kt.compile(lambda ops, v: ops.phi.T @ (ops.H.T @ v), model)(q, v).reshape(*q.shape[:-1], model.nbodies, 6)
    found = [
        np.einsum("bij,bj->bi", R[:, k], V[:, k, 3:] + np.cross(V[:, k, :3], point)) @ N[0]
        for k, point, N in zip(where.bodies, where.points, where.frames, strict=True)
    ]
    return np.stack(found, axis=-1)


def seconds(call: Callable[[], object], repeats: int, least: float) -> float:
    """Median of repeated samples of processor time, each of at least so many seconds."""
    call()
    samples, count = [], 1
    for _ in range(repeats):
        while True:
            started = time.process_time()
            for _ in range(count):
                call()
            spent = time.process_time() - started
            if spent >= least:
                break
            count = max(2 * count, int(1.2 * least / max(spent, 1e-9) * count))
        samples.append(spent / count)
    return statistics.median(samples)


def wrongness(A: Array, u: Array, x: Array, mu: float) -> Array:
    """How far impulses x (n, 3m) are from Signorini's and Coulomb's laws, over what the fastest contact alone would need."""
    n, m = len(x), x.shape[1] // 3
    w, x = (np.einsum("bij,bj->bi", A, x) + u).reshape(n, m, 3), x.reshape(n, m, 3)
    own = np.einsum("bii->bi", A).reshape(n, m, 3)
    rho, r = 1.0 / own[..., 0], 1.0 / own[..., 1:].max(axis=-1)
    pressed = np.maximum(0.0, x[..., 0] - rho * w[..., 0])
    y, radius = x[..., 1:] - r[..., None] * w[..., 1:], mu * x[..., :1]
    held = y * np.minimum(1.0, radius / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-300))
    off = np.concatenate([(x[..., 0] - pressed)[..., None], x[..., 1:] - held], axis=-1)
    alone = np.abs(u.reshape(n, m, 3)[..., 0]).max(axis=1) * rho.max(axis=1)
    return np.abs(off).max(axis=(1, 2)) / alone


def measured(case: Case, batch: int, counts: tuple[int, ...], repeats: int, sampled: int) -> Iterator[Row]:
    model, peers = case.model, case.family == "robots" or case.size <= MOST_JOINTS
    about, least = (case.name, model.nbodies), 0.02 if repeats > 1 else 1e-3
    where = sites(case, 1)
    q, v = states_of(case, where, batch)
    k, point, force = where.bodies[0], where.points[0], np.random.default_rng(1).normal(size=(batch, 3))
    one = seconds(lambda: kt.impulse_response(model, q[0], k, point, force[0]), repeats, least)
    kernel, given = kt.compile(kt.impulse_response, model, body=k), np.concatenate([np.zeros_like(force), force], axis=1)
    out = tuple(np.empty_like(x) for x in kernel(q, point, given))
    many = seconds(lambda: kernel(q, point, given, out=out), repeats, least) / batch
    row = Row(*about, "impulse response", batch, one, many)
    if peers:
        some = slice(min(batch, sampled))
        R, p = kt.forward_kinematics(model, q[some])
        own = np.einsum("bji,bj->bi", R[:, k], force[some])
        peer = PinocchioContacts(case, where, q[some], v[some], R, p)
        spent, theirs = peer.impulse_responses(some.stop, k, np.concatenate([np.cross(point, own), own], axis=1))
        error = difference(kt.impulse_response(model, q, k, point, force).dv[:sampled], theirs)
        row = Row(*about, "impulse response", batch, one, many, spent, "aba", error, error, 1.0)
    yield row
    for count in counts:
        where = sites(case, count)
        q, v = states_of(case, where, batch)
        R, p = kt.forward_kinematics(model, q[:sampled])
        peer = PinocchioContacts(case, where, q[:sampled], v[:sampled], R, p) if peers else None
        for mu in (0.0, FRICTION):
            yield impacts(about, model, where, mu, (q, v), peer, len(R), repeats, least)


def impacts(about, model, where, mu, state, peer, sampled, repeats, least) -> Row:
    (q, v), contacts, count = state, contacts_of(where), len(where.bodies)
    batch = len(q)
    work = f"{count} contact{'s' if count > 1 else ''}, {f'μ = {mu:g}' if mu else 'no friction'}"
    one = seconds(lambda: kt.impact(model, q[0], v[0], contacts, 0.0, mu), repeats, least)
    many = seconds(lambda: kt.impact(model, q, v, contacts, 0.0, mu), repeats, least) / batch
    hit = kt.impact(model, q[:sampled], v[:sampled], contacts, 0.0, mu)
    if peer is None:
        return Row(*about, work, batch, one, many)
    if not mu and count <= BILATERAL:
        spent, after = peer.impulse_dynamics(sampled, 0.0)
        error = difference(hit.v, after)
        return Row(*about, work, batch, one, many, spent, "impulseDynamics", error, error, 1.0)
    found = {}
    for name in SOLVERS:
        spent, x, A, u = peer.contact_solver(name, sampled, mu)
        ours = np.einsum("cij,bcj->bci", where.frames, hit.impulses).reshape(len(x), -1)
        off = np.nan_to_num(wrongness(A, u, x, mu), nan=np.inf)
        found[name] = spent, float(np.median(off)), float((off <= WRONG).mean()), float(wrongness(A, u, ours, mu).max())
    name = min(found, key=lambda name: (found[name][2] < 0.5, found[name][0]))
    spent, off, right, error = found[name]
    return Row(*about, work, batch, one, many, spent, name, error, off, right)


def difference(ours: Array, theirs: Array) -> float:
    found = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if not found <= CLOSE:
        raise SystemExit(f"velocities differ from Pinocchio's by {found:.2g} of the largest")
    return found


def growth(lengths: tuple[int, ...], repeats: int, states: int) -> Iterator[Row]:
    """One impulse and one contact at the tip of chains, seconds per state of a batch."""
    for case in chosen([f"chain-{n}" for n in lengths]):
        model, where = case.model, sites(case, 1)
        q, v = states_of(case, where, states)
        contacts, point, force = contacts_of(where), where.points[0], np.ones((states, 3))
        for work, call in {
            "impulse response": lambda n: kt.impulse_response(model, q[:n], where.bodies[0], point, force[:n]),  # noqa: B023
            "1 contact, μ = 0.7": lambda n: kt.impact(model, q[:n], v[:n], contacts, 0.0, FRICTION),  # noqa: B023
        }.items():
            one, many = (seconds(lambda n=n, call=call: call(n), repeats, 5e-3) / n for n in (1, states))
            yield Row(case.name, case.size, work, states, one, many)


def exponent(rows: list[Row], least: int = 100) -> float:
    """Of the time of a batch, over chains of at least so many bodies: shorter ones cost what a call costs."""
    some = [row for row in rows if row.bodies >= least] if sum(row.bodies >= least for row in rows) > 1 else rows
    return float(np.polyfit(np.log([row.bodies for row in some]), np.log([row.batch for row in some]), 1)[0])


def table(rows: list[Row]) -> str:
    lines = [
        "| model | work | one call | batch | per state | Pinocchio | by | × | ours off by | its | its right |",
        "|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        peer = ["–"] * 6
        if row.peer is not None:
            off = [f"{row.error:.0e}", f"{row.peer_error:.0e}", f"{100 * row.peer_right:.0f} %"]
            peer = [spoken(row.peer), row.way, f"{row.ratio:,.0f}", *off]
        lines.append(f"| {' | '.join([row.model, row.work, spoken(row.one), f'{row.states:,}', spoken(row.batch), *peer])} |")
    return "\n".join(lines)


def growth_table(rows: list[Row]) -> str:
    lengths = list(dict.fromkeys(row.bodies for row in rows))
    lines = [f"| per state of {rows[0].states} | {' | '.join(f'{n:,}' for n in lengths)} | grows as |"]
    lines.append("|---" * 1 + "|--:" * (len(lengths) + 1) + "|")
    for work in dict.fromkeys(row.work for row in rows):
        own = [row for row in rows if row.work == work]
        lines.append(f"| {work} | {' | '.join(spoken(row.batch) for row in own)} | N^{exponent(own):.2f} |")
    return "\n".join(lines)


def verdicts(rows: list[Row], grown: list[Row]) -> str:
    ratios = [row for row in rows if row.ratio is not None]
    worst = min(ratios, key=lambda row: row.ratio)
    least = f"Least ratio: {worst.ratio:.1f}× ({worst.model}, {worst.work}); promised {PROMISED:g}×: "
    found = max(exponent([r for r in grown if r.work == work]) for work in {row.work for row in grown})
    kept = "kept" if worst.ratio >= PROMISED else "MISSED"
    return f"{least}{kept}.\nExponent {found:.2f}, promised at most {EXPONENT}: {'kept' if found <= EXPONENT else 'MISSED'}."


def draw(rows: list[Row], grown: list[Row], file: Path) -> None:
    """Left: time per state, ours and Pinocchio's; right: growth with the length of a chain. Logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    some = [row for row in rows if row.peer is not None]
    for y, row in enumerate(some):
        left.plot([row.batch, row.peer], [y, y], color="#cccccc", zorder=1)
    left.scatter(
        [row.batch for row in some], range(len(some)), color="#1f5fa8", label="kinetree, per state of a batch", zorder=2
    )
    left.scatter([row.peer for row in some], range(len(some)), color="#c2562d", label="Pinocchio, C++ alone", zorder=2)
    left.set_yticks(range(len(some)), [f"{row.model}: {row.work}" for row in some], fontsize=7)
    left.invert_yaxis()
    for work, color in zip(dict.fromkeys(row.work for row in grown), ("#1f5fa8", "#1b7f4d"), strict=False):
        own = [row for row in grown if row.work == work]
        right.loglog([row.bodies for row in own], [row.batch for row in own], "o-", color=color, label=work)
        chains = [r for r in rows if r.bodies >= 10 and r.model.startswith("chain") and r.work == work and r.peer]
        right.loglog([r.bodies for r in chains], [r.peer for r in chains], "^--", color=color, label=f"Pinocchio, {work}")
    left.set(xscale="log", xlabel="seconds per state")
    right.set(xlabel="bodies of the chain", ylabel="seconds per state")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Panda and short chains, few states, one sample")
    parser.add_argument("--models", nargs="*", help="some of the models only")
    for name, what in (("json", "the numbers"), ("markdown", "the tables"), ("picture", "a picture (kinetree[plot])")):
        parser.add_argument(f"--{name}", type=Path, help=f"write {what} there")
    given = parser.parse_args()
    kt.set_threads(1)
    one_core()
    batches = {"Panda": 8, "chain-8": 8} if given.quick else BATCHES
    repeats, sampled = (1, 4) if given.quick else (3, 64)
    rows, grown = [], []
    for case in chosen(given.models or list(batches)):
        for row in measured(case, batches.get(case.name, 64), (1, 4) if given.quick else COUNTS, repeats, sampled):
            rows.append(row)
            print(table([row]).splitlines()[-1], flush=True)
    grown = list(growth((2, 4, 8) if given.quick else LENGTHS, 1 if given.quick else 7, 8 if given.quick else 64))
    found = f"{table(rows)}\n\n{growth_table(grown)}\n\n{verdicts(rows, grown)}\n"
    print(found)
    if given.markdown:
        about = ABOUT.format(machine=machine(), friction=FRICTION, wrong=WRONG, tolerance=TOLERANCE, joints=MOST_JOINTS)
        picture = f"![Time per state]({given.picture.name})\n\n" if given.picture else ""
        given.markdown.write_text(f"{about}\n{picture}{found}", encoding="utf-8")
    if given.json:
        whole = {"machine": machine(), "rows": [asdict(r) for r in rows], "growth": [asdict(r) for r in grown]}
        given.json.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if given.picture:
        draw(rows, grown, given.picture)


if __name__ == "__main__":
    main()
