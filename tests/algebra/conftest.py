"""One BLAS thread: the matrices by hand are small, and threads of several workers would only wait for one another.

Read when NumPy is first imported; in a run that has it already, nothing changes but the time.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
