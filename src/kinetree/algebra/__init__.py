"""The spatial operator algebra: a model is E, φ, H, M on a tree; expressions of them become sweeps when applied.

tree, weights, joint maps, inertias   →  sko        the SKO model and its operators
operators                             →  expression products and sums that print as algebra; elements
expression @ x                        →  sweeps     one gather or scatter per resolvent, O(N)
expression.inv .logdet() .simplify()  →  identities one rule per equation; rewriting, inverses
expression.dense() .blocks(i, j)      →  structure  by Lyapunov equations where there is structure
"""
