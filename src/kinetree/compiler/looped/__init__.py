"""Sweeps as loops: each node function traced once per class of bodies, whatever their number.

algorithm on recorded values   →  program   which sweeps, over what
program, model                 →  classes   bodies that run the same code, and the tables of their constants
program, classes               →  passes    alternating loops over the tree; what each class computes, loads and stores
chain                          →  cutting   segments for the lanes of a vector, one state at a time (`across`: sweeps over them)
passes                         →  code      LLVM text of the loops
"""
