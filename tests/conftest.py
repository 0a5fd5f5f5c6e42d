"""The zoo is for every test: its folder is put where `import zoo` and `import documents` find it.

Compiled code is kept in a folder of its own while the tests run, and then removed: the user's is not touched. What hypothesis
draws is the same each time; `--hypothesis-profile=default` draws anew.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent / "zoo"))

settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

FIRST = "PYTEST_XDIST_WORKER" not in os.environ
if FIRST:
    os.environ["KINETREE_CACHE_DIR"] = tempfile.mkdtemp(prefix="kinetree-tests-")
    os.environ.pop("KINETREE_CACHE", None)


def pytest_unconfigure():
    if FIRST:
        shutil.rmtree(os.environ["KINETREE_CACHE_DIR"], ignore_errors=True)
