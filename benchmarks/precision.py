"""How far float32 kernels are from float64 ones on the same numbers: Panda, G1, and chains of 30 to 1,000 bodies.

    python -m benchmarks.precision [--quick]

Needs kinetree[robots]. Prints a table in Markdown. An error is the largest of a state, over the largest entry of the result, in
units of ε = 2⁻²³; after a solve with the mass matrix also over its condition number κ, where that is known. The run stops where
it is beyond √(36 (N + 1)) for N bodies: roundings of sweeps as if they were independent of each other.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import kinetree as kt
from benchmarks.models import chosen

EPS = float(np.finfo(np.float32).eps)
STATES = 500
ROBOTS = {"Panda": "Panda", "G1, 29 joints": "G1"}
"""As they are printed, and as the models of this folder are called."""
SWEEPS = {
    kt.forward_kinematics: "q",
    kt.inverse_dynamics: "qva",
    kt.bias_force: "qv",
    kt.kinetic_energy: "qv",
    kt.mass_matrix: "q",
}
SOLVES = {kt.forward_dynamics: "qva", kt.inverse_mass_matrix: "q", kt.velocity: "qv", kt.hamiltonian: "qv"}
DENSE = (kt.mass_matrix, kt.inverse_mass_matrix)
MOST_DENSE = 40
"""Bodies up to which matrices are compared and their condition number is known."""


def chain(size: int) -> kt.Model:
    """Rods of 1 kg and 0.1 m, each turned about an axis across the one before."""
    axes, rod = np.eye(3)[:2], np.diag([1.0, 1.0, 0.01]) / 1200.0
    inertia = kt.Inertia(1.0, [0, 0, 0.05], rod)
    place = kt.Pose(np.eye(3), [0, 0, 0.1])
    bodies = [kt.Body(f"rod {k}", f"rod {k - 1}" if k else None, kt.Revolute(axes[k % 2]), place, inertia) for k in range(size)]
    return kt.Model(bodies, name=f"chain of {size:,}")


def errors(function: Callable[..., Any], model: kt.Model, given: dict[str, np.ndarray]) -> np.ndarray:
    """Of each state, over the largest entry of the result."""
    arguments = [given[name] for name in (SWEEPS | SOLVES)[function]]
    found, wanted = (kt.compile(function, model, dtype=dtype)(*arguments) for dtype in (np.float32, np.float64))
    pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
    states = len(arguments[0])
    parts = [(abs(a - b).reshape(states, -1).max(axis=1), abs(b).reshape(states, -1).max(axis=1)) for a, b in pairs]
    return np.max([error / size for error, size in parts], axis=0)


def rows(model: kt.Model, count: int) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    """By the name of a function: errors in ε, and in ε κ after a solve where κ is known."""
    random = np.random.default_rng(0)
    v, a = random.uniform(-1, 1, (2, count, model.nv))
    given = {name: x.astype(np.float32) for name, x in (("q", model.random(random, count)), ("v", v), ("a", a))}
    small = model.nbodies <= MOST_DENSE
    kappa = np.linalg.cond(kt.mass_matrix(model, given["q"])) if small else None
    made = {}
    for function in SWEEPS | SOLVES:
        if function in DENSE and not small:
            continue
        found = errors(function, model, given) / EPS
        scaled = found / kappa if function in SOLVES and kappa is not None else None
        bounded = found if function in SWEEPS else scaled
        if bounded is not None and bounded.max() > np.sqrt(36 * (model.nbodies + 1)):
            raise SystemExit(f"{function.__name__} of {model.name} is {bounded.max():.0f} off")
        made[function.__name__] = found, scaled
    return made


def spelt(found: np.ndarray) -> str:
    return " / ".join(f"{x:,.0f}" if x >= 100 else f"{x:.2g}" for x in (np.median(found), found.max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few states of Panda and a short chain")
    quick = parser.parse_args().quick
    robots = list(ROBOTS.items())[: 1 if quick else None]
    models = {printed: chosen([name])[0].model for printed, name in robots}
    models |= {f"chain of {size:,}": chain(size) for size in ((10,) if quick else (30, 100, 1000))}
    tables = [rows(model, 20 if quick else STATES) for model in models.values()]
    print("| median / largest error | unit |", " | ".join(models), "|")
    print("|---|---|" + "---|" * len(models))
    for function in SWEEPS | SOLVES:
        name = function.__name__
        for place, unit in enumerate(("ε", "ε κ") if function in SOLVES else ("ε",)):
            found = [table[name][place] if name in table else None for table in tables]
            print(f"| `{name}` | {unit} |", " | ".join("" if x is None else spelt(x) for x in found), "|")


if __name__ == "__main__":
    main()
