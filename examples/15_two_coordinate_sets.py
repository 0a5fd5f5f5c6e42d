"""The planar 2R arm in joint angles and in absolute angles: other matrices and forces, the same motion.

Usage: python examples/15_two_coordinate_sets.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

model = kt.example("planar-2r")
absolute = kt.Coordinates(model, [[1, 0], [-1, 1]])  # θ = B φ: the second joint turns by φ₂ − φ₁
tau, q0, v0 = np.array([2.0, -0.7]), np.array([0.4, 0.9]), np.array([1.1, -0.6])
B = absolute.B(np.zeros(2))
phi, rate = np.linalg.solve(B, q0), np.linalg.solve(B, v0)

print("joint torques", tau, "are along absolute angles", absolute.generalized_force(phi, tau), "= (τ₁ − τ₂, τ₂)")
print("ℳ in joint angles\n", kt.mass_matrix(model, q0))
print("ℳ in absolute angles\n", absolute.mass_matrix(phi))


def slope(y: np.ndarray) -> np.ndarray:
    """(φ, φ̇)' by Lagrange's equations in φ."""
    return np.concatenate([y[2:], absolute.forward_dynamics(y[:2], y[2:], tau)])


dt, steps = 1e-3, 1500
states = [np.concatenate([phi, rate])]
for _ in range(steps):
    y = states[-1]
    k1 = slope(y)
    k2 = slope(y + dt / 2 * k1)
    k3 = slope(y + dt / 2 * k2)
    states.append(y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + dt * k3)))
path = np.array(states)

run = kt.simulate(model, q0, v0, duration=steps * dt, dt=dt, control=tau)
apart = np.abs(path[:, :2] @ B.T - run.q).max(axis=1)
print(kt.audit(run))
print(f"integrated in one set and in the other, the motions differ by {apart.max():.1e} rad")

figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
angles, difference = figure.subplots(2, 1, sharex=True)
angles.plot(run.t, run.q, label=["θ₁ = φ₁", "θ₂"])
angles.plot(run.t, path[:, 1], "--", label="φ₂")
angles.set_ylabel("angle [rad]")
angles.legend(frameon=False)
difference.semilogy(run.t, apart + 1e-17)
difference.set(xlabel="time [s]", ylabel="|B φ − θ| [rad]")
figure.savefig("two_coordinate_sets.png")
print("wrote two_coordinate_sets.png")
