"""Ten thousand states at once: every function takes leading batch axes, and a kernel is a NumPy ufunc.

Usage: python examples/02_many_states.py
"""

import numpy as np

import kinetree as kt

model = kt.example("serial-arm")
rng = np.random.default_rng(0)
q = model.random(seed=0, size=10_000)
v, tau = rng.normal(size=(2, 10_000, model.nv))

a = kt.forward_dynamics(model, q, v, tau)  # (10000, 7), compiled at first use
back = kt.inverse_dynamics(model, q, v, a)
print("inverse dynamics gives the forces back to", f"{np.abs(back - tau).max():.1e}")

kernel = kt.compile(kt.forward_dynamics, model)  # unchecked and as fast as it gets: NaN in, NaN out
kernel(q, v, tau, out=a)
print(type(kernel).__name__, kernel.signature)

slow = kt.reference(kt.forward_dynamics, model, q[:100], v[:100], tau[:100])
print("the NumPy reference agrees to", f"{np.abs(slow - a[:100]).max() / np.abs(a).max():.1e}")
