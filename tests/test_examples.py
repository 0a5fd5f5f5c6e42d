"""The examples run as a user would run them, and the README's commands are those that continuous integration runs."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from kinetree.simulation import Audit

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

CLAIMS = {
    "03_satellite": lambda n: abs(n["turned"]).max() > 0.01 and n["found"]["angular momentum"].expected,
    "11_moving_base_pendulum": lambda n: np.ptp(n["center"][:, 0]) < 1e-9 < 0.5 < np.ptp(n["cart"]),
    "12_double_pendulum": lambda n: n["drift"] < 1e-6 < 1.0 < n["apart"][-1] and n["rate"] > 0.5,
    "13_three_link_arm": lambda n: n["miss"] < 1e-8,
    "15_two_coordinate_sets": lambda n: n["apart"].max() < 1e-12,
    "16_crane": lambda n: not n["runs"]["swing fed back"].tau[:, 2:4].any() and n["swing"][n["last"]].max() > 4.0,
    "17_gimballed_antenna": lambda n: n["off"][n["run"].t > 10].max() < 0.1 and n["turned"][-1] > 90.0,
    "18_hand": lambda n: not n["M"][:, n["between"]].any(),
    "19_falling_humanoid": lambda n: np.abs(n["center"] - n["parabola"]).max() < 1e-6 and n["spin"].max() > 2 * n["spin"][0],
    "20_bouncing_satellite": lambda n: len(n["run"].impacts) > 2 and n["found"]["total energy"].verdict == "only falls",
    "21_catching_a_ball": lambda n: (
        abs(n["force"][0] / n["mass"] - 9.81) < 0.05
        and n["deepest"] < 1e-6
        and np.abs(n["run"].q[-1, -3:] - [0.05, 0.0, -0.01]).max() < 0.02
    ),
    "22_g1_stands_and_falls": lambda n: (
        abs(n["standing"] / n["weight"] - 1.0) < 5e-3 and n["deepest"] < 1e-6 and n["run"].impacts and n["run"].q[-1, 6] < 0.35
    ),
}
"""What the examples say, by the names they leave; every audit called found has passed as well."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    names = runpy.run_path(str(path), run_name="__main__")
    assert CLAIMS.get(path.stem, lambda names: True)(names)
    assert not isinstance(names.get("found"), Audit) or names["found"].passed
    assert capsys.readouterr().out.strip()
    assert len(path.read_text().splitlines()) < 60


def test_there_are_examples():
    assert EXAMPLES


def test_ci_runs_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert readme.count("<!-- run -->") == readme.count("<!-- test -->") == 1
    assert "README.md" in (ROOT / ".ci" / "run").read_text()
