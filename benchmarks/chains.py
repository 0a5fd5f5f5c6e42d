"""One state of a long chain: the serial sweep against segments on the lanes of one vector, in time and in accuracy.

    python benchmarks/chains.py [--bodies 1000 10000 100000] [--accuracy 400 2000]

Times are of alternating runs of both kernels. Errors are against the sweeps written out below, in extended precision.
"""

import argparse
import time

import numpy as np

import kinetree as kt

AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
LONG = np.longdouble
MASSES = {
    "equal": lambda n: np.zeros(n),
    "rising to the tip": lambda n: np.linspace(0, 6, n),
    "falling to the tip": lambda n: np.linspace(0, -6, n),
    "heavy tip": lambda n: np.r_[np.zeros(n - 1), 6.0],
    "by turns": lambda n: 6.0 * (np.arange(n) % 2),
    "any": lambda n: np.random.default_rng(1).uniform(-3, 3, n),
}
"""Powers of ten."""


def chain(masses, axes="xyz", unlike=0.0, tensor=(0.01, 0.02, 0.015)):
    """Links with joints about axes by turns; their lengths differ by so much."""
    rng, bodies = np.random.default_rng(0), []
    for k, mass in enumerate(masses):
        inertia = kt.Inertia(mass, [0.05, 0.0, 0.01], mass * np.diag(tensor))
        pose = kt.Pose(translation=np.array([0.1, 0.02, 0.03]) * (1.0 + unlike * rng.uniform(-1, 1)))
        bodies.append(kt.Body(f"b{k}", f"b{k - 1}" if k else None, kt.Revolute(AXES[axes[k % len(axes)]]), pose, inertia))
    return kt.Model(bodies)


def kernels(model):
    return [kt.compile(kt.forward_dynamics, model, lowering=lowering) for lowering in ("looped", "segmented")]


def times(model, seconds):
    """Seconds of the serial and of the segmented kernel: a list each."""
    (q, v, tau), out = 0.1 * np.random.default_rng(0).normal(size=(3, model.nv)), np.empty(model.nv)
    both, found, end = kernels(model), ([], []), time.perf_counter() + seconds
    while time.perf_counter() < end or len(found[0]) < 10:
        for kernel, own in zip(both, found, strict=True):
            start = time.perf_counter()
            kernel(q, v, tau, out=out)
            own.append(time.perf_counter() - start)
    return found


def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=a.dtype)


def exact(model, q, v, tau):
    """v̇ of a chain of revolute joints in extended precision: Jain II (33), (58), every inertia its body's own."""
    q, v, tau, kept, twist = q.astype(LONG), v.astype(LONG), tau.astype(LONG), [], np.zeros(6, LONG)
    for k, body in enumerate(model.bodies):
        axis, d = np.asarray(body.joint.axis, LONG), np.asarray(body.placement.translation, LONG)
        S, H = tilde(axis), np.r_[axis, np.zeros(3, LONG)]
        R = np.eye(3, dtype=LONG) + np.sin(q[k]) * S + (1 - np.cos(q[k])) * (S @ S)
        phi = np.block([[R, tilde(d) @ R], [np.zeros((3, 3), LONG), R]])
        m, s = LONG(body.inertia.mass), tilde(np.asarray(body.inertia.com, LONG))
        M = np.block([[np.asarray(body.inertia.tensor, LONG) - m * s @ s, m * s], [-m * s, m * np.eye(3, dtype=LONG)]])
        moved = phi.T @ twist
        twist = moved + H * v[k]
        cross = np.block([[tilde(twist[:3]), np.zeros((3, 3), LONG)], [tilde(twist[3:]), tilde(twist[:3])]])
        kept.append((phi, H, M, cross @ (H * v[k]), -cross.T @ (M @ twist)))
    P, z, found = np.zeros((6, 6), LONG), np.zeros(6, LONG), []
    for k in reversed(range(len(kept))):
        phi, H, M, a, b = kept[k]
        P = P + M
        G = P @ H / (H @ P @ H)
        eps = tau[k] - H @ (z + P @ a + b)
        found.append((G, eps / (H @ P @ H), a))
        z = phi @ (z + P @ a + b + G * eps)
        P = phi @ (P - np.outer(G, H @ P)) @ phi.T
    alpha, vdot = np.r_[np.zeros(3, LONG), -np.asarray(model.gravity, LONG)], []
    for (phi, H, *_), (G, nu, a) in zip(kept, reversed(found), strict=True):
        alpha = phi.T @ alpha
        vdot.append(nu - G @ alpha)
        alpha = alpha + H * vdot[-1] + a
    return np.array(vdot)


def errors(model):
    """Largest error over largest acceleration, of the serial and of the segmented kernel."""
    q, v, tau = np.array([[0.3], [0.1], [0.1]]) * np.random.default_rng(2).normal(size=(3, model.nv))
    wanted = exact(model, q, v, tau)
    return [float(np.abs(kernel(q, v, tau) - wanted).max() / np.abs(wanted).max()) for kernel in kernels(model)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--accuracy", type=int, nargs="*", default=[400, 2000])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each pair of times")
    asked = parser.parse_args()
    print("| chain | bodies | serial, ns per body | segments | times as fast |\n| --- | --: | --: | --: | --: |")
    for name, options in {"equal links": {}, "all links differ": {"unlike": 0.1}, "planar": {"axes": "z"}}.items():
        for n in asked.bodies:
            serial, segments = (np.array(x) / n * 1e9 for x in times(chain(np.ones(n), **options), asked.seconds))
            middle, least = (f(serial) / f(segments) for f in (np.median, np.min))
            pairs = (f"{np.median(x):.1f} ({x.min():.1f})" for x in (serial, segments))
            print(f"| {name} | {n:,} | {' | '.join(pairs)} | {middle:.2f} ({least:.2f}) |", flush=True)
    print("\n| masses | bodies | error, serial | error, segments |\n| --- | --: | --: | --: |")
    for n in asked.accuracy:
        for name, powers in MASSES.items():
            serial, segments = errors(chain(10.0 ** powers(n)))
            print(f"| {name} | {n:,} | {serial:.0e} | {segments:.0e} |", flush=True)
        serial, segments = errors(chain(np.ones(n), tensor=(1e-6, 1e-6, 1e-6)))
        print(f"| equal, tensors of 1e-6 kg m² | {n:,} | {serial:.0e} | {segments:.0e} |", flush=True)


if __name__ == "__main__":
    main()
