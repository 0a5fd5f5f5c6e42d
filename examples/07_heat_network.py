"""Two hundred hot nodes of a pipe network cool into a river, by the operators of robot dynamics: one implicit Euler step is Ω.

Usage: python examples/07_heat_network.py
"""

import numpy as np

import kinetree as kt

rng = np.random.default_rng(0)
N, dt = 200, 60.0
parents = [-1, *(int(rng.integers(k // 2, k)) for k in range(1, N))]  # node 0 lies in the river
capacity = rng.uniform(50.0, 150.0, N)  # c of each node [J/K]
conductance = rng.uniform(5.0, 25.0, N)  # g of the pipe to its parent, of node 0 to the river [W/K]

# A step minimizes Σ ½ c/dt (T − T_before)² + ½ g v² over the drops v(k) = T(k) − T(parent); T is above the river's.
#   y = [T; v]           what a node "moves" at
#   M = diag(c/dt, g)    ½ y* M y is what a node adds to the sum
#   E = diag(1, 0)       a node takes on its parent's temperature, not its drop: y(k) = E* y(parent) + H* v(k)
#   H = [1 1]            its own drop raises both
# So ℳ = φ c/dt φ* + g, and articulated inertia is the conductance into a branch: pipes in series, branches in parallel.
net = kt.SKO(
    parents,
    E={k: np.diag([1.0, 0.0]) for k in range(1, N)},
    H=[np.array([[1.0, 1.0]])] * N,
    M=[np.diag([c / dt, g]) for c, g in zip(capacity, conductance, strict=True)],
)
through_pipes = net.H @ net.phi  # heat that a node gives off → what flows through each pipe
temperatures = net.phi.T @ net.H.T  # drops → [T; v]
step = temperatures @ net.mass.inv @ through_pipes
print(step, "=", step.simplify())
kernel = kt.compile(lambda net, x: net.Omega @ x, net)  # all weights are constants: only the sweeps are left

# The same by a dense matrix: (c/dt + Laplacian of the graph) T = c/dt T_before.
is_pipe = np.array(parents) >= 0
drops = np.eye(N) - is_pipe[:, None] * np.eye(N)[parents]
dense = np.linalg.inv(np.diag(capacity / dt) + drops.T @ (conductance[:, None] * drops))

T = T_dense = np.full(N, 50.0)
heat = capacity @ T
for _ in range(60):
    T = kernel(np.stack([capacity / dt * T, np.zeros(N)], axis=1).ravel())[::2]
    T_dense = dense @ (capacity / dt * T_dense)
print(f"after an hour {capacity @ T / heat:.1%} of the heat is left, the warmest node has {T.max():.1f} K, node 0 {T[0]:.1f} K")
print(f"largest difference to the dense solution  {np.abs(T - T_dense).max():.0e} K")

into = net.P.blocks(0, 0)[0, 0]
print(f"node 0 and its branches take up {into:.2f} W/K in a step, the river feels {net.P_plus.blocks(0, 0)[0, 0]:.4f} of it:")
print(f"that in series with a pipe of {conductance[0]:.2f} W/K is {1 / (1 / into + 1 / conductance[0]):.4f}")
