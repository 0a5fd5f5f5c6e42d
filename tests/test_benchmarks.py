"""The benchmarks run on small models: every result is checked, every table and file comes out, a wrong result is noticed."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

ROOT = Path(__file__).parents[1]
QUANTITIES = ("ℳ x", "ℳ⁻¹ x", "log det ℳ", "5 blocks of Ω")


@pytest.fixture(autouse=True)
def _from_the_repository(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(os, "environ", dict(os.environ))  # a benchmark asks for one thread before it imports NumPy


def run(*arguments) -> str:
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_peers_quickly(tmp_path):
    numbers, page, picture = (tmp_path / name for name in ("peers.json", "peers.md", "peers.png"))
    files = "--json", numbers, "--markdown", page, "--picture", picture
    run("benchmarks", "--quick", "--models", "panda", "chain-3", "--peers", "pinocchio", "mujoco", *files)
    assert picture.read_bytes().startswith(b"\x89PNG")
    whole = json.loads(numbers.read_text(encoding="utf-8"))
    rows = whole["rows"]
    assert {row["model"] for row in rows} == {"Panda", "chain-3"}
    assert {row["quantity"] for row in rows} == {"forward dynamics", "inverse dynamics", "rollout"}
    names = {"kinetree, kernel", "kinetree, public function", "Pinocchio", "Pinocchio InParallel, 1 thread", "MuJoCo"}
    assert names <= {row["who"] for row in rows}
    assert [row["why"] for row in rows if row["why"]] == []
    assert all(row["seconds"] > 0 and 0 <= row["error"] <= 1 for row in rows)
    assert all(0 < one["two_pipes"] <= one["flop_bound"] for one in whole["limits"])
    text = page.read_text(encoding="utf-8")
    assert "![" in text and "## The bars" in text and "## Losses" in text
    for bar in whole["bars"]:
        assert bar["work"] in text
    run("benchmarks", "--quick", "--models", "chain-3", "--peers", "--again", numbers, "--json", tmp_path / "again.json")
    again = {_key(row): row for row in json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))["rows"]}
    assert again.keys() == {_key(row) for row in rows}
    for row in rows:
        ours = row["model"] == "chain-3" and row["peer"] == "kinetree"
        assert (again[_key(row)]["seconds"] == row["seconds"]) != ours


def _key(row):
    return row["model"], row["quantity"], row["states"], row["who"]


def test_a_wrong_result_of_a_peer_is_noticed():
    race, models = importlib.import_module("benchmarks.race"), importlib.import_module("benchmarks.models")
    (case,) = models.chosen(["chain-5"])
    for quantity, function in (("forward dynamics", kt.forward_dynamics), ("inverse dynamics", kt.inverse_dynamics)):
        for count in (1, 4):
            problem = race.problem(case, quantity, count)
            right = function(case.model, *problem.states)
            assert problem.error(right, "float64") <= 1 < problem.error(right * (1 + 1e-9), "float64")
            assert (
                problem.error(right.astype(np.float32).astype(float), "float32") <= 1 < problem.error(right * 1.01, "float32")
            )
            assert problem.error(right * np.nan, "float64") > 1


def test_a_peer_that_dies_or_takes_too_long_is_a_line():
    worker, models = importlib.import_module("benchmarks.worker"), importlib.import_module("benchmarks.models")
    (case,) = models.chosen(["chain-3"])
    with pytest.raises(worker.Failed, match="ModuleNotFoundError"):
        worker.Worker("nobody", case, 1, 30.0)
    with pytest.raises(worker.Failed, match=r"more than 0 s"):
        worker.Worker("kinetree", case, 1, 0.0)
    killed = worker.Worker("kinetree", case, 1, 30.0)
    killed._process.kill()
    for _ in range(2):
        with pytest.raises(worker.Failed, match="signal 9"):
            killed.first(0)


def test_memory_of_a_chain_is_measured():
    found = importlib.import_module("benchmarks.fresh").chain_bytes(2000)
    assert 0 < found["kernel"] <= found["process at most"]


def test_humanoids_are_those_of_mujoco():
    """Two joints on one body, a body without, joints off its origin: as a kinetree model, and in MuJoCo."""
    mujoco, mjcf = pytest.importorskip("mujoco"), importlib.import_module("benchmarks.mjcf")
    coordinates = importlib.import_module("benchmarks.coordinates")
    text = """<mujoco><worldbody><body name="a"><freejoint name="root"/><geom size=".1"/><body pos="0 0 .2" euler="0 30 0">
      <geom type="box" size=".1 .05 .02"/></body><body pos=".1 .2 .3" euler="10 20 30"><joint name="x" pos="0 .1 0" axis="1 2 0"
      armature=".1" stiffness="3"/><joint name="z" pos=".1 0 0" axis="0 0 1" damping="2"/><geom type="box" size=".1 .2 .05"/>
      <body pos="0 .3 0"><joint name="s" type="slide" axis="0 1 1"/><geom size=".05" pos="0 0 .1"/></body></body></body>
      </worldbody></mujoco>"""
    m = mjcf.plain(text)
    model = mjcf.kinetree_model(m, "small")
    assert model.joint_names == ("root", "x", "z", "s")
    rng, d = np.random.default_rng(0), mujoco.MjData(m)
    q, v, a = model.random(rng), *rng.uniform(-1, 1, (2, model.nv))
    where = {name: (int(m.joint(name).qposadr[0]), int(m.joint(name).dofadr[0])) for name in model.joint_names}
    there = coordinates.Coordinates(model, q, v, where.__getitem__, world=True)
    d.qpos[:], d.qvel[:], d.qacc[:] = there.q, there.v, there.acceleration(a)
    mujoco.mj_inverse(m, d)
    wanted = kt.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(there.our_force(d.qfrc_inverse), wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


def test_operators_quickly(tmp_path):
    numbers, picture = tmp_path / "numbers.json", tmp_path / "picture.png"
    printed = run("benchmarks.operators", "--quick", "--json", numbers, "--plot", picture)
    assert "promised at most 1.1" in printed
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
    head, _, *rows = run("benchmarks.precision", "--quick").splitlines()
    assert head.endswith("| Panda | chain of 10 |") and len(rows) == 13
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    assert all(row.split("|")[1:3] in [line.split("|")[1:3] for line in page.splitlines()] for row in rows)


def test_integrators_quickly(tmp_path):
    head, _, *rows = run("benchmarks.integrators", "--quick").splitlines()
    assert "16, `rollout`" in head and len(rows) == 5 * 3 + 2
    said = run("benchmarks.integrators", "--quick", "--drift", tmp_path / "drift.png")
    assert len(said.splitlines()) == 4 and (tmp_path / "drift.png").read_bytes().startswith(b"\x89PNG")


def test_impacts_quickly(tmp_path):
    numbers, page, picture = (tmp_path / name for name in ("impacts.json", "impacts.md", "impacts.png"))
    run("benchmarks.impacts", "--quick", "--json", numbers, "--markdown", page, "--picture", picture)
    assert picture.read_bytes().startswith(b"\x89PNG") and "promised 15×" in page.read_text(encoding="utf-8")
    rows = json.loads(numbers.read_text(encoding="utf-8"))["rows"]
    assert {row["model"] for row in rows} == {"Panda", "chain-8"} and len(rows) == 2 * 5
    assert all(row["peer"] > 0 and row["error"] <= 1e-8 for row in rows)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_wrong_result_of_an_operator_is_noticed(name):
    operators = importlib.import_module("benchmarks.operators")
    quantity, case = operators.QUANTITIES[name], operators.Case(operators.chain(4))
    right = quantity.dense(case, case.M)
    assert quantity.error(case, right) <= case.gamma
    assert quantity.error(case, right * (1 + 1e-9)) > case.gamma
