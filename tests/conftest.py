"""The zoo is for every test: its folder is put where `import zoo` and `import documents` find it.

Compiled code is kept in a folder of its own while the tests run, and then removed: the user's is not touched.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "zoo"))

FIRST = "PYTEST_XDIST_WORKER" not in os.environ
if FIRST:
    os.environ["KINETREE_CACHE_DIR"] = tempfile.mkdtemp(prefix="kinetree-tests-")
    os.environ.pop("KINETREE_CACHE", None)


def pytest_unconfigure():
    if FIRST:
        shutil.rmtree(os.environ["KINETREE_CACHE_DIR"], ignore_errors=True)
