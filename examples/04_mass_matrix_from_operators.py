"""The mass matrix is a product you write down: ℳ = H φ M φ* H*, from the velocities of the bodies to a quadruped's matrix.

It is applied without being formed, follows from composite inertias, and has blocks only where one body carries the other.

Usage: python examples/04_mass_matrix_from_operators.py
"""

import numpy as np

import kinetree as kt

model = kt.load("solo12", base="free")  # a trunk that flies, four legs of three joints
q = model.random(seed=0)
v = np.random.default_rng(0).normal(size=model.nv)

ops = kt.operators(model, q)
E, phi, H, M, R = ops.E, ops.phi, ops.H, ops.M, ops.R

# Motion goes outward: V(k) = φ*(p, k) V(p) + H*(k) v(k), so V = φ* H* v, and kinetic energy is ½ V* M V = ½ v* ℳ v.
V = phi.T @ H.T @ v
mass = H @ phi @ M @ phi.T @ H.T
print(mass)
print(f"kinetic energy  {V @ (M @ V) / 2:.6f} J by bodies, {v @ (mass @ v) / 2:.6f} J by joints")

# As a sum of its diagonal, upper and lower part, Jain II (17), by inertias of bodies with all they carry, joints locked (18).
by_parts = H @ R @ H.T + H @ phi @ E @ R @ H.T + H @ R @ E.T @ phi.T @ H.T
print(by_parts, "=", by_parts.simplify())
print(f"largest difference  {np.abs(by_parts.dense() - kt.mass_matrix(model, q)).max():.0e}")
print(f"the trunk's R weighs {R.blocks('base_link', 'base_link')[5, 5]:.3f} kg, the trunk alone {M.blocks(0, 0)[5, 5]:.3f} kg")

# Two legs meet in the trunk and nowhere else.
print("blocks that can be nonzero:")
for name, row in zip(model.body_names, mass.pattern(), strict=True):
    print("  ", *("■" if x else "·" for x in row), name)
