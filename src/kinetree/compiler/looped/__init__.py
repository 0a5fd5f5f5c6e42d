"""Sweeps as loops: each node function traced once per class of bodies, whatever their number.

algorithm on recorded values   →  program   which sweeps, over what
program, model                 →  classes   bodies that run the same code, and the tables of their constants
program, classes               →  passes    alternating loops over the tree; what each class computes, loads and stores
passes                         →  code      LLVM text of the loops
"""
