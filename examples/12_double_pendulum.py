"""A double pendulum is chaotic, and yet keeps its energy: two of them, 1e-9 rad apart, part ways by a factor e every so often.

Usage: python examples/12_double_pendulum.py
"""

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

model = kt.example("double-pendulum")
start = np.array([[2.4, 1.0], [2.4 + 1e-9, 1.0]])
two = kt.rollout(model, start, np.zeros(2), None, 5e-4, "rk4", steps=40_000, store_every=20)

apart = np.linalg.norm(two.q[1] - two.q[0], axis=-1)
energy = kt.kinetic_energy(model, two.q, two.v) + kt.potential_energy(model, two.q)
drift = np.abs(energy - energy[:, :1]).max()
print(f"after {two.t[-1]:g} s they are {apart[-1]:.2g} rad apart; energy has drifted by {drift:.1e} J of {energy[0, 0]:.1f} J")

growing = (apart > 1e-8) & (apart < 1e-1)
rate = np.polyfit(two.t[growing], np.log(apart[growing]), 1)[0]
print(f"small differences grow by a factor e every {1 / rate:.2f} s (Lyapunov exponent {rate:.2f} 1/s)")

figure = Figure(figsize=(7.0, 6.0), layout="constrained", dpi=150)
angles, distance = figure.subplots(2, 1, sharex=True)
for k, name in enumerate(("one", "the other")):
    angles.plot(two.t, two.q[k, :, 1], linewidth=1.0, label=name, linestyle=("-", "--")[k])
angles.set_ylabel("angle of the lower link [rad]")
angles.legend(frameon=False)
distance.semilogy(two.t, apart, label="distance [rad]")
distance.semilogy(two.t, np.abs(energy[0] - energy[0, 0]) + 1e-17, label="drift of energy [J]")
distance.semilogy(two.t, 1e-9 * np.exp(rate * two.t), "k:", linewidth=1.0, label=f"1e-9 exp({rate:.2f} t)")
distance.set(xlabel="time [s]", ylim=(1e-16, 1e2))
distance.legend(frameon=False)
figure.savefig("double_pendulum.png")
print("wrote double_pendulum.png")
