"""The gradient of log det ℳ by complex steps, exact to the last digits, and by central differences, which are not.

½ log det ℳ is Fixman's potential: its gradient is the force that corrects the statistics of a chain with rigid links. Every
operator takes complex q, and Im f(q + i h) / h has no cancellation, so h may be 1e-30.

Usage: python examples/06_gradient_of_the_log_determinant.py
"""

import numpy as np

import kinetree as kt

np.set_printoptions(precision=4, suppress=True)

model = kt.load("panda")
q = model.random(seed=0)
steps = np.eye(model.nq)  # one row per joint: a batch of states, each with one joint moved


def logdet(q: np.ndarray) -> np.ndarray:
    """log det ℳ = Σ log det D(k), Jain II (53)."""
    return kt.operators(model, q).mass.logdet()


by_complex_step = logdet(q + 1e-30j * steps).imag / 1e-30
print("∂ log det ℳ / ∂q =", by_complex_step + 0.0)
print("(the first is 0: turning the whole arm changes no inertia)")

print("central differences are off by")
for h in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8):
    by_difference = (logdet(q + h * steps) - logdet(q - h * steps)) / (2 * h)
    print(f"   {np.abs(by_difference - by_complex_step).max():.0e}  at h = {h:.0e}")

# A kernel takes real numbers only; there it is differences.
kernel = kt.compile(lambda ops, q: ops.mass.logdet(), model)
h = 1e-5
compiled = (kernel(q + h * steps) - kernel(q - h * steps)) / (2 * h)
print(f"kernel, h = 1e-05: off by {np.abs(compiled - by_complex_step).max():.0e}")
