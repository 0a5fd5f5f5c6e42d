"""The examples run as a user would run them, and the README's commands are those that continuous integration runs."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert len(path.read_text().splitlines()) < 60


def test_there_are_examples():
    assert EXAMPLES


def test_ci_runs_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert readme.count("<!-- run -->") == readme.count("<!-- test -->") == 1
    assert "README.md" in (ROOT / ".ci" / "run").read_text()
