"""The example robots, and small URDFs to spoil."""

import site
from pathlib import Path

import pytest


def robots_folder() -> Path:
    """Where the package example-robot-data keeps its robots. It is a requirement of the tests: without it they fail."""
    for packages in site.getsitepackages():
        folder = Path(packages) / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    raise FileNotFoundError("example-robot-data is not installed; install kinetree[test]")


@pytest.fixture(scope="session")
def robots() -> Path:
    return robots_folder()


@pytest.fixture
def load_text(tmp_path):
    """Load a model from text, as from a file."""
    from kinetree.io import load

    def load_text(text, suffix=".urdf", **options):
        path = tmp_path / f"robot{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, **options)

    return load_text
