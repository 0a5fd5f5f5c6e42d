"""Dynamics algorithms, each a page that reads like its equations.

Every function takes the model and arrays of scalars (floats, batches or traced expressions) without batch axes. Its
positional arguments are arrays, named as in `SHAPES`; keyword-only arguments are options fixed when it is compiled.
"""
