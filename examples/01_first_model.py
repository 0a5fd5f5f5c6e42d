"""A model in ten lines: a pendulum on a cart, its mass matrix, and what gravity asks of its joints.

Usage: python examples/01_first_model.py
"""

import numpy as np

import kinetree as kt

cart = kt.Body("cart", None, kt.Prismatic([1, 0, 0]), inertia=kt.Inertia(1.3))
rod = kt.Body(
    "rod",
    parent="cart",
    joint=kt.Revolute([0, 1, 0]),
    inertia=kt.Inertia(mass=0.7, com=[0, 0, -0.8], tensor=np.diag([0.02, 0.02, 0.001])),
)
model = kt.Model([cart, rod], name="cart and rod")

q = np.array([0.25, 0.6])  # [m, rad]
print(model)
print("mass matrix\n", kt.mass_matrix(model, q))
print("gravity asks for", kt.gravity_force(model, q), "[N, N m]")
print("let go, it accelerates by", kt.forward_dynamics(model, q, np.zeros(2), np.zeros(2)))
