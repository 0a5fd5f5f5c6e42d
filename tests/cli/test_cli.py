"""The command line: what it prints, its JSON, its exit codes, one message per mistake."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree import functions
from kinetree.algorithms.inverse import gravity_force
from kinetree.cli import main
from kinetree.compiler.compile import kernel_of
from kinetree.contact import Sphere
from kinetree.model.examples import EXAMPLES, example
from kinetree.simulation import load_run


def answer(capsys, *words):
    code = main([*words, "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads(said.out)


@pytest.mark.parametrize("name", EXAMPLES)
def test_show_every_example(capsys, name):
    data = answer(capsys, "show", name)
    assert data["name"] == name and len(data["bodies"]) == data["nbodies"]
    assert main(["show", name]) == 0
    said = capsys.readouterr().out
    assert all(body["name"] in said for body in data["bodies"]) and f"nv = {data['nv']}" in said


def test_eval_is_the_public_function(capsys):
    words = ("eval", "double-pendulum", "forward_dynamics", "--q", "0.5", "-0.2", "--v", "-1e-3", "2", "--tau", "0", "-.5")
    data = answer(capsys, *words)
    ours = functions.forward_dynamics(example("double-pendulum"), [0.5, -0.2], [-1e-3, 2.0], [0.0, -0.5])
    assert np.array_equal(data["result"], ours)
    assert main(list(words)) == 0
    assert "rad/s²" in capsys.readouterr().out


@pytest.mark.parametrize("quantity", ["mass_matrix", "kinetic_energy", "forward_kinematics", "center_of_mass", "jacobian"])
def test_eval_prints_every_shape(capsys, quantity):
    assert main(["eval", "planar-2r", quantity]) == 0
    assert quantity.replace("_", " ") in capsys.readouterr().out


def test_simulate_writes_run_and_picture(capsys, tmp_path):
    out = tmp_path / "a.npz"
    words = ["simulate", "satellite", "--random", "1", "--duration", "0.1", "--out", str(out)]
    data = answer(capsys, *words)
    assert data["steps"] == 100 and all(row["relative"] < 1e-12 for row in data["conserved"])
    assert load_run(out, example("satellite")).t[-1] == 0.1 and (tmp_path / "a.png").exists()
    assert main(words) == 0
    assert "angular momentum" in capsys.readouterr().out


def test_simulate_with_an_audit(capsys, tmp_path):
    out = tmp_path / "a.npz"
    words = ["simulate", "planar-2r", "--tau", "1", "0", "--duration", "0.1", "--out", str(out), "--audit"]
    data = answer(capsys, *words)
    assert [row["verdict"] for row in data["conserved"]] == ["conserved", "agree", "agree"]
    assert data["audit_picture"] == str(tmp_path / "a-audit.png") and (tmp_path / "a-audit.png").exists()
    assert main(words) == 0
    assert "Newton–Euler = Hamilton" in capsys.readouterr().out


def test_simulate_the_impact_of_two_links(capsys, tmp_path):
    """(38), (39): at half a second the joints' velocities jump by (1 + ε) (2 θ̇₁ + θ̇₂) (1/4, −3/2)."""
    out = str(tmp_path / "a.npz")
    words = ["simulate", "two-link-impact", "--duration", "0.6", "--out", out]
    (blow,) = answer(capsys, *words)["impacts"]
    assert abs(blow["t"] - 0.5) < 1e-11 and blow["contacts"] == ["'link 2' and the ground: point 0 in plane"]
    jump = 1.5 * 1.6 * np.array([1 / 4, -3 / 2])
    assert np.allclose(blow["before"], [1.0, -0.4], atol=1e-11) and np.allclose(
        blow["after"], blow["before"] + jump, atol=1e-11
    )
    assert main(words) == 0
    assert "impact at t = 0.5 s, -0.2688 J: 'link 2' and the ground: point 0 in plane, 0.84 N s" in capsys.readouterr().out
    (soft,) = answer(capsys, *words, "--restitution", "0")["impacts"]
    assert np.allclose(soft["after"], soft["before"] + jump / 1.5, atol=1e-11)
    assert main(["simulate", "double-pendulum", "--friction", "0.5", "--out", out]) == 2
    assert "--friction is for contacts: add --floor 0" in capsys.readouterr().err


def test_simulate_bodies_that_touch_each_other(capsys, tmp_path):
    """A trunk whose shin overlaps it from the start, and whose thigh's range leaves out zero, falls on a floor."""
    solid, ends = kt.Inertia(1.0, tensor=0.01 * np.eye(3)), kt.Limits(0.3, 1.0, np.inf, np.inf)
    trunk = kt.Body("trunk", None, kt.Free(), inertia=solid, shapes=Sphere(0.1))
    thigh = kt.Body("thigh", "trunk", kt.Revolute([0, 1, 0]), inertia=solid, shapes=Sphere(0.1), limits=ends)
    shin = kt.Body("shin", "thigh", kt.Revolute([0, 1, 0]), kt.Pose(translation=[0, 0, 0.1]), solid, shapes=Sphere(0.1))
    other = kt.Body("arm", "thigh", kt.Revolute([0, 1, 0]), kt.Pose(translation=[0.4, 0, 0]), solid, shapes=Sphere(0.1))
    file, out = tmp_path / "robot.json", ["--duration", "0.2", "--out", str(tmp_path / "a.npz")]
    kt.Model([trunk, thigh, shin, other]).save(file)
    assert main(["simulate", str(file), "--floor", "-0.3", "--self-contact", "--friction", "0.5", *out]) == 0
    said = capsys.readouterr().out
    assert "overlap at the start, and may: 'shin' and 'trunk'" in said and "impact at t = " in said
    run = load_run(tmp_path / "a.npz")
    assert run.q[0, 7] == 0.3 and ("'arm' and 'trunk'" in str(run.contacts)) and "'shin' and 'trunk'" not in str(run.contacts)
    alone = answer(capsys, "simulate", str(file), "--self-contact", *out)
    assert alone["impacts"] == [] and not any("ground" in name for name in load_run(tmp_path / "a.npz").contacts)


def test_simulate_goes_on_from_a_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = ["simulate", "double-pendulum", "--q0", "1", "0.5", "--form", "hamilton", "--store-every", "10"]
    whole = answer(capsys, *first, "--duration", "0.3", "--out", "whole.npz")
    answer(capsys, *first, "--duration", "0.1")
    data = answer(capsys, "simulate", "double-pendulum", "--restart", "run.npz", "--duration", "0.2", "--out", "both.npz")
    both, single = load_run("both.npz"), load_run("whole.npz")
    assert np.array_equal(both.q, single.q) and both.steps == 300 and data["steps"] == 200 and data["nfev"] == 1200
    assert data["duration"] == pytest.approx(0.3) and data["form"] == "hamilton" and data["q"] == whole["q"]
    assert main(["simulate", "double-pendulum", "--restart", "run.npz", "--dt", "0.1", "--q0", "1", "2"]) == 2
    assert "as that went; leave out --q0, --dt." in capsys.readouterr().err
    assert main(["simulate", "satellite", "--restart", "run.npz"]) == 2
    assert "holds a run of 'double-pendulum'" in capsys.readouterr().err


def test_simulate_without_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    words = ["simulate", "planar-2r", "--duration", "0.01", "--out", str(tmp_path / "a.npz")]
    assert main(words) == 0
    assert "no picture: a picture needs matplotlib" in capsys.readouterr().out
    assert main([*words, "--plot", str(tmp_path / "a.png")]) == 2
    assert capsys.readouterr().err.startswith("kinetree: a picture needs matplotlib")


def test_bench_without_a_urdf(capsys):
    data = answer(capsys, "bench", "planar-2r", "--batch", "16")
    assert {row["library"] for row in data["rows"]} == {"kinetree"} and len(data["notes"]) == 2


@pytest.mark.parametrize("command", ["show", "eval", "simulate", "bench"])
def test_help_has_an_example(capsys, command):
    assert main([command, "--help"]) == 0
    assert f"Example: kinetree {command}" in capsys.readouterr().out


MISTAKES = [
    (["show", "nothing"], "kinetree: no file, example or installed robot named 'nothing'. Examples: "),
    (["show", "nothing.urdf"], "kinetree: nothing.urdf: "),
    (["show", "satellite", "--base", "free"], "kinetree: --base free is for URDF files; the example 'satellite' has"),
    (["dance"], "kinetree: Unrecognized options: dance"),
    (["show", "satellite", "--loud"], "kinetree: Unrecognized options: --loud"),
    (["eval", "planar-2r"], "kinetree: Missing from kinetree eval: QUANTITY"),
    (["eval", "planar-2r", "colour"], "kinetree: Invalid choice"),
    (["eval", "planar-2r", "mass_matrix", "--v", "1", "2"], "kinetree: mass_matrix takes --q; --v has no effect"),
    (["eval", "planar-2r", "mass_matrix", "--q", "1"], "kinetree: --q takes nq = 2 numbers, found 1. One per joint"),
    (["eval", "planar-2r", "mass_matrix", "--q", "1", "nan"], "kinetree: mass_matrix of 'planar-2r': q must be finite"),
    (["eval", "planar-2r", "jacobian", "--body", "tail"], "kinetree: no body named 'tail'"),
    (["simulate", "planar-2r", "--dt", "0"], "kinetree: dt must be positive and finite, found 0 s."),
    (["simulate", "planar-2r", "--out", "a.txt"], "kinetree: --out: a.txt: a run is saved as .npz"),
    (["simulate", "planar-2r", "--out", "no/a.npz", "--duration", "0.01"], "kinetree: no/a.npz: cannot be written: No such"),
    (["simulate", "planar-2r", "--random", "1", "--q0", "1", "2"], "kinetree: --random chooses the initial state"),
    (["bench", "planar-2r", "--batch", "0"], "kinetree: --batch must be 1 to 1048576, found 0."),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_mistakes_have_one_message_and_exit_code_2(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(message) and said.err.count("\n") == 1, said.err


def test_interrupt_is_130(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kinetree.cli.parse.parse", interrupted)
    assert main(["show", "satellite"]) == 130


def test_cache(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    model = example("planar-2r")
    kernel_of(gravity_force, type(model)(model.bodies))
    found = [answer(capsys, "cache", *words) for words in ((), ("--clear",), ())]
    assert [x["entries"] for x in found] == [1, 1, 0] and found[0]["bytes"] == found[1]["bytes"] > 1000 > found[2]["bytes"]
    assert found[0]["path"] == str(tmp_path / "kernels")
    assert main(["cache"]) == 0 and "0 kernels, 0.0 MB of at most 512" in capsys.readouterr().out
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert answer(capsys, "cache")["path"] is None
