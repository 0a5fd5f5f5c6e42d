"""Sweeps over a tree: what every spatial operator becomes when it is applied."""
