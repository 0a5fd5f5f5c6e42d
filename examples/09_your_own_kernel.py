"""Your own formula as one kernel: forces, drag by weights of your own, and a determinant, for 4,096 states in one call.

Usage: python examples/09_your_own_kernel.py
"""

from time import perf_counter

import numpy as np

import kinetree as kt

model = kt.load("ur5_robot")
rng = np.random.default_rng(0)
q = model.random(seed=0, size=4096)
v, tau = rng.normal(size=(2, 4096, model.nv))

drag = np.diag([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])  # N per m/s at each link's joint


def swim(ops: kt.SKO, v: np.ndarray, tau: np.ndarray) -> dict[str, np.ndarray]:
    """An arm in honey: what brakes it, how it accelerates, the power it loses, and log det ℳ."""
    C = ops.diagonal("C", [drag] * model.nbodies, symmetric=True)
    brake = ops.H @ ops.phi @ C @ ops.phi.T @ ops.H.T @ v
    return {
        "brake": brake,
        "acceleration": ops.mass.inv @ (tau - brake),
        "power": np.sum(brake * v, axis=-1),
        "logdet": ops.mass.logdet(),
    }


start = perf_counter()
kernel = kt.compile(swim, model)
compiled = perf_counter()
fast = kernel(q, v, tau)
print(f"{kernel}\n{kernel.ufunc.signature} compiled in {compiled - start:.2f} s")

start = perf_counter()
fast = kernel(q, v, tau)
called = perf_counter()
slow = kt.reference(swim, model, q, v, tau)  # the same expressions, body by body in NumPy
interpreted = perf_counter()
print(f"{1e9 * (called - start) / 4096:.0f} ns per state compiled, {1e9 * (interpreted - called) / 4096:.0f} interpreted")

for name, found in fast.items():
    wanted = slow[name]
    print(f"{name:12} {found.shape!s:9} largest relative difference {np.abs(found - wanted).max() / np.abs(wanted).max():.0e}")
