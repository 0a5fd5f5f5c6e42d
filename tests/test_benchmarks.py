"""The benchmarks run on small models: every result in them is checked, every table and file comes out."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "operators.py"
QUANTITIES = ("ℳ x", "ℳ⁻¹ x", "log det ℳ", "5 blocks of Ω")


def test_operators_quickly(tmp_path):
    numbers, picture = tmp_path / "numbers.json", tmp_path / "picture.png"
    command = [sys.executable, str(BENCHMARK), "--quick", "--json", str(numbers), "--plot", str(picture)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "promised at most 1.1" in run.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")

    whole = json.loads(numbers.read_text(encoding="utf-8"))
    rows = [row for row in whole["rows"] if row["quantity"] in QUANTITIES]
    assert {row["quantity"] for row in rows} == set(QUANTITIES)
    assert {row["family"] for row in rows} == {"chain", "random tree"}
    assert len({row["way"] for row in rows}) == 6
    assert all(row["seconds"] > 0 and 0 <= row["error"] <= 1 for row in rows)
    assert set(whole["robot"]["seconds"]) >= {"ℳ⁻¹ x, kernel", "forward dynamics, kernel"}
    assert any("Pinocchio" in who for who in whole["robot"]["seconds"])


def test_precision_quickly():
    script = BENCHMARK.with_name("precision.py")
    run = subprocess.run([sys.executable, str(script), "--quick"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    head, _, *rows = run.stdout.splitlines()
    assert head.endswith("| Panda | chain of 10 |") and len(rows) == 13
    page = (BENCHMARK.parents[1] / "docs" / "kernels.md").read_text(encoding="utf-8")
    assert all(row.split("|")[1:3] in [line.split("|")[1:3] for line in page.splitlines()] for row in rows)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_wrong_result_is_noticed(name, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))  # the benchmark asks for one thread before it imports NumPy
    benchmark = runpy.run_path(str(BENCHMARK))
    quantity, case = benchmark["QUANTITIES"][name], benchmark["Case"](benchmark["chain"](4))
    right = quantity.dense(case, case.M)
    assert quantity.error(case, right) <= case.gamma
    assert quantity.error(case, right * (1 + 1e-9)) > case.gamma
