"""What a fingertip feels like to push: the compliance of an Allegro hand's tips, and the operational space of a Panda arm.

Usage: python examples/08_operational_space_of_a_hand.py
"""

import numpy as np

import kinetree as kt

np.set_printoptions(precision=3, suppress=True)

hand = kt.load("allegro_right_hand")  # four fingers of four joints on a palm that is held
tips = {"index": "link_3.0", "middle": "link_7.0", "ring": "link_11.0", "thumb": "link_15.0"}
q = np.full(hand.nq, 0.5)  # half closed

# Λ, the inertia of a tip against all wrenches, asks for six directions. Four joints have four:
try:
    kt.operational_space_inertia(hand, q, tips["index"])
except kt.InputError as message:
    print(message)

# Pushed and free to turn, a tip has only three directions, and the block of forces of its compliance has an inverse.
for name, tip in tips.items():
    C = kt.compliance(hand, q, tip)  # (6, 6): acceleration [angular; linear] per wrench [moment; force]
    masses = np.linalg.eigvalsh(np.linalg.inv(C[3:, 3:]))
    print(f"{name:6} feels like {1000 * masses[0]:.0f}, {1000 * masses[1]:.0f} and {1000 * masses[2]:.0f} g")

# Fingers feel each other through the palm, if it is not held: blocks of Ω off the diagonal.
for how, base in (("held", "fixed"), ("flying", "free")):
    model = kt.load("allegro_right_hand", base=base)
    state = model.neutral()
    state[-hand.nq :] = q
    push = kt.operators(model, state).Omega.blocks(tips["index"], tips["thumb"])[3:, 3:]
    print(f"{how}: 1 N on the thumb accelerates the index by up to {np.linalg.norm(push, 2):.2f} m/s²")

# Seven joints: the last link of a Panda arm goes everywhere, and has a Λ.
panda = kt.load("panda")
q = panda.random(seed=0)
inertia = kt.operational_space_inertia(panda, q, "panda_link7", frame="world")
print("Λ of the Panda's last link\n", inertia)
J = kt.jacobian(panda, q, "panda_link7")
dense = np.linalg.inv(J @ np.linalg.solve(kt.mass_matrix(panda, q), J.T))
error = np.abs(inertia - dense).max() / np.abs(dense).max()
print(f"largest relative difference to (J ℳ⁻¹ J*)⁻¹ by dense matrices  {error:.0e}")
