"""Trace, simplify, emit: a function of arrays becomes machine code, and the code a NumPy generalized ufunc.

=============================  ===============================================================
graph                          traced scalars, simplified as they are made; the IR's grammar
emit, trigonometry, logarithm  graph to straight-line vector code
looped                         sweeps to loops over the bodies
layout, movers                 strided arrays to the workspace [slot][lane] and back
staged, timeloop, segments     a body several times a state, once a step, on parts of a chain
entry, team, threads           what NumPy calls; large batches shared among threads
direct                         one state without NumPy's machinery
guard                          what public functions find wrong
llvm, linking, image           text to object code, object code to functions in memory
cache, fingerprint, kept       code on disk, and the key it is under
ufunc, words                   functions to `numpy.ufunc`, and the words that they read
kernel, stats                  all of the above in one call, and what came out
compile, expressions           from an algorithm or a function of the user's to its kernel
=============================  ===============================================================
"""
