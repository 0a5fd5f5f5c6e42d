"""Robots that other packages have installed, found by name: `example-robot-data` keeps some seventy URDFs."""

import site
import sys
from pathlib import Path

FOLDER = Path("cmeel.prefix", "share", "example-robot-data", "robots")


def installed_robots() -> dict[str, Path]:
    """Name → URDF of every robot of `example-robot-data` in this environment; empty where it is not installed."""
    folders = [Path(place, FOLDER) for place in (*site.getsitepackages(), site.getusersitepackages(), *sys.path)]
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(folders):
        for path in sorted(folder.glob("*/**/*.urdf")):
            found.setdefault(path.stem, path)
    return found
