"""Simulation with contact: impacts located between steps, resting and sliding contact by time-stepping, ends of joints.

scene → unilateral (gaps and rates of contacts and joint ends) → judgement (what each does) → impact or time-step → stepper

Source: Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapters 8 and 10.
"""
