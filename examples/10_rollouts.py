"""A thousand futures of a robot arm: which of 1,024 random plans of joint torques brings the wrist nearest to a point?

Usage: python examples/10_rollouts.py
"""

from time import perf_counter

import numpy as np

import kinetree as kt

model = kt.load("panda")
wrist, target = model.body_index("panda_link7"), np.array([0.5, 0.3, 0.5])
q0 = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8, 0.0, 0.0])
v0 = np.zeros(model.nv)

plans, steps, dt = 1024, 500, 1e-3
rng = np.random.default_rng(0)
knots = rng.normal(scale=[8.0, 8.0, 6.0, 6.0, 1.0, 1.0, 0.3, 0.0, 0.0], size=(plans, 5, model.nv))
tau = kt.gravity_force(model, q0) + np.repeat(knots, steps // 5, axis=1)  # (1024, 500, 9): one row per step

kt.rollout(model, q0, v0, tau[:8, :2], dt)  # compiled at first use
start = perf_counter()
run = kt.rollout(model, q0, v0, tau, dt, store_every=10)
seconds = perf_counter() - start
print(run)
print(f"{1e9 * seconds / (plans * steps):.0f} ns per step and state: {plans * steps * dt / seconds:,.0f} times real time")

_, origins = kt.forward_kinematics(model, run.q)  # (1024, 51, bodies, 3)
path = origins[..., wrist, :]
miss = np.linalg.norm(path[:, -1] - target, axis=-1)
best = int(np.nanargmin(miss))
print(f"plan {best} ends {100 * miss[best]:.1f} cm from the target, the median plan {100 * np.nanmedian(miss):.0f} cm")

one = kt.rollout(model, q0, v0, tau[best], dt, store_every=10)
print("alone, the best plan gives the same bits:", np.array_equal(one.q, run.q[best]))

try:
    from matplotlib.figure import Figure
except ImportError:
    raise SystemExit('for a picture: pip install "kinetree[plot]"') from None
figure = Figure(figsize=(6.0, 5.0), layout="constrained", dpi=150)
axes = figure.subplots()
axes.plot(*path[::4, :, :2].T, color="tab:blue", alpha=0.15, linewidth=0.6)
axes.plot(*path[best, :, :2].T, color="tab:red", linewidth=2.0, label="best plan")
axes.plot(*target[:2], "k+", markersize=12, label="target")
axes.set(xlabel="x [m]", ylabel="y [m]", title=f"The wrist under {plans} random plans, seen from above")
axes.set_aspect("equal")
axes.legend(frameon=False)
figure.savefig("rollouts.png")
print("wrote rollouts.png")
