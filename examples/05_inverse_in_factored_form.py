"""The inverse of a mass matrix is a product, too: (1 − H ψ K)* D⁻¹ (1 − H ψ K), which solves in O(N) and has a determinant.

Usage: python examples/05_inverse_in_factored_form.py
"""

import numpy as np

import kinetree as kt

model = kt.load("g1_29dof_rev_1_0")  # a humanoid that stands fixed at the pelvis
q = model.random(seed=0)
tau = np.random.default_rng(0).normal(size=model.nv)

ops = kt.operators(model, q)
mass = ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T
print(mass.inv.explain())

a = mass.inv @ tau
dense = mass.dense()
print(f"\nresidual  {np.abs(mass @ a - tau).max():.0e}")
print(f"largest difference to np.linalg.solve  {np.abs(a - np.linalg.solve(dense, tau)).max() / np.abs(a).max():.0e}")

# Where joints are numbered from the base, the factor is upper triangular with ones on its diagonal: its determinant is 1.
factor = (1 + ops.H @ ops.phi @ ops.K).dense()
print("unit triangular:", np.array_equal(np.tril(factor), np.eye(model.nv)))
print(f"nonzeros above the diagonal  {np.count_nonzero(factor) - model.nv} of {model.nv * (model.nv - 1) // 2}")

# So the determinant is that of D: what each motor feels if all joints behind it are free.
print(f"log det  {mass.logdet():.9f} by D, {np.linalg.slogdet(dense)[1]:.9f} by LU")
felt, locked = np.diag(ops.D.dense()), np.diag(dense)
for joint in ("waist_yaw_joint", "left_hip_pitch_joint", "right_elbow_joint"):
    k = model.joint_names.index(joint)
    print(f"{joint} turns {felt[k]:.4f} kg m² with the joints behind it free, {locked[k]:.4f} with them locked")
