"""kinetree and its peers timed in one run, every result compared: `python -m benchmarks`; `python -m benchmarks.operators`."""
