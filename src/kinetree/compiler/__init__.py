"""Trace, simplify, emit: a function of arrays becomes machine code, and the code a NumPy generalized ufunc.

=============================  ===============================================================
graph                          traced scalars, simplified as they are made; the IR's grammar
emit, trigonometry, logarithm  graph to straight-line vector code
layout                         strided arrays to the workspace [slot][lane] and back
llvm                           text to machine code
ufunc                          machine code to `numpy.ufunc`
kernel                         all of the above in one call: `build`, `stats`, `source`
=============================  ===============================================================
"""
