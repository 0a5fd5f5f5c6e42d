"""v = ℳ⁻¹ p of one state of a chain by Hamilton's factored form, against forming ℳ and solving with LAPACK.

    python -m benchmarks.velocities [--bodies 10 30 100 300 1000 3000]

Prints a table in Markdown, and the exponent that the time grows with. Times are medians of alternating runs on one core; ℳ is
formed by `kt.mass_matrix`, solved by a Cholesky factor (SciPy). Every result is checked.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import kinetree as kt
from benchmarks.models import chain

SAMPLES = 9
LONGEST = 0.3
"""Seconds of a sample at most, where one call takes less."""


def seconds(call: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - started) / count


def measured(bodies: int) -> tuple[float, float, float, float]:
    """Seconds of the factored form, of forming ℳ, of solving; how much the results differ, over κ ε."""
    model, rng = chain(bodies), np.random.default_rng(0)
    q, p = 0.3 * rng.normal(size=model.nq), rng.normal(size=model.nv)

    def solve(M=kt.mass_matrix(model, q)):  # noqa: B008
        return cho_solve(cho_factor(M, lower=True), p)

    calls = lambda: kt.velocity(model, q, p), lambda: kt.mass_matrix(model, q), solve
    for call in calls:
        call()
    counts = [max(1, min(3000, int(LONGEST / SAMPLES / seconds(call, 3)))) for call in calls]
    samples = [[seconds(call, count) for call, count in zip(calls, counts, strict=True)] for _ in range(SAMPLES)]
    ours, forming, solving = (statistics.median(column) for column in zip(*samples, strict=True))
    M, v = kt.mass_matrix(model, q), kt.velocity(model, q, p)
    error = np.abs(M @ v - p).max() / (np.finfo(float).eps * np.abs(M).sum(axis=1).max() * np.abs(v).max())
    if error > 36 * (bodies + 1):
        raise SystemExit(f"{bodies} bodies: M v differs from p by {error:.3g} roundings")
    return ours, forming, solving, error


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.velocities", description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, nargs="+", default=[10, 30, 100, 300, 1000, 3000])
    sizes = parser.parse_args().bodies
    kt.set_threads(1)
    print(
        "| bodies | ℳ⁻¹ p, factored | forming ℳ | LAPACK | both over ours | M v − p, in ε ‖M‖ ‖v‖ |\n|--:|--:|--:|--:|--:|--:|"
    )
    times = []
    for bodies in sizes:
        ours, forming, solving, error = measured(bodies)
        times.append(ours)
        micro = (f"{1e6 * x:,.1f} µs" for x in (ours, forming, solving))
        print(f"| {bodies:,} | {' | '.join(micro)} | {(forming + solving) / ours:,.0f}× | {error:.2g} |", flush=True)
    if len(sizes) > 1:
        print(f"\nexponent {np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}")


if __name__ == "__main__":
    main()
