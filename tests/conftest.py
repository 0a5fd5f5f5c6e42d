"""The zoo is for every test: its folder is put where `import zoo` and `import documents` find it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "zoo"))
