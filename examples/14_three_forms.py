"""The ten-body tree of Hamilton's figure 2 in three forms: Newton–Euler, Lagrange and Hamilton give one motion.

Usage: python examples/14_three_forms.py
"""

import numpy as np

import kinetree as kt

model = kt.example("ten-body-tree")
q, v = model.random(seed=1), 0.5 * np.random.default_rng(1).normal(size=model.nv)
tau = np.linspace(-1.0, 1.0, model.nv)

# Newton–Euler: forces from the tips to the base, accelerations outward
a = kt.forward_dynamics(model, q, v, tau)
# Lagrange: ℳ a + C v + g = τ, dense
M, C, g = kt.mass_matrix(model, q), kt.coriolis_matrix(model, q, v), kt.gravity_force(model, q)
print("Lagrange differs by", np.abs(np.linalg.solve(M, tau - C @ v - g) - a).max(), "of", np.abs(a).max())
# Hamilton: p = ℳ v, ṗ = τ − ∂H/∂q; and v̇ = ℳ⁻¹ (ṗ − ℳ˙ v) with ℳ˙ = C + C*
p = kt.momentum(model, q, v)
rate = kt.momentum_rate(model, q, p, tau)
print("Hamilton differs by", np.abs(kt.velocity(model, q, rate - (C + C.T) @ v) - a).max())
print("H, T + U:", kt.hamiltonian(model, q, p), kt.kinetic_energy(model, q, v) + kt.potential_energy(model, q))

run = kt.simulate(model, q, v, duration=2.0, dt=2e-4)
found = kt.audit(run)
print(found)
found.plot("three_forms.png")
print("wrote three_forms.png")
