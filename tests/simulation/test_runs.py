"""Run files and pictures: exact round trips, tampering noticed, nothing half written."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from kinetree.errors import FileError, InputError, MissingExtraError
from kinetree.model.examples import example
from kinetree.simulation import conserved, load_run, simulate


@pytest.fixture(scope="module")
def model():
    return example("satellite")


@pytest.fixture(scope="module")
def run(model):
    return simulate(model, model.random(2), np.ones(model.nv), duration=0.1, dt=1e-2)


@pytest.fixture
def saved(run, tmp_path):
    path = tmp_path / "run.npz"
    run.save(path)
    return path


def rewritten(path, **changes):
    """The file with some entries replaced, or left out where the change is None; `about` takes a dict of changes."""
    with np.load(path) as archive:
        entries = dict(archive)
    about = changes.pop("about", {})
    told = {**json.loads(entries["about"].tobytes()), **about}
    entries["about"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    entries = {name: x for name, x in {**entries, **changes}.items() if x is not None}
    np.savez(path, **entries)
    return path


def test_round_trip_is_exact(run, model, saved):
    back = load_run(saved, model)
    assert back.provenance() == run.provenance() and repr(back) == repr(run)
    assert back.model is model and load_run(saved).model is None
    for name in ("t", "q", "v", "tau", "kinetic", "potential", "energy"):
        assert np.array_equal(getattr(back, name), getattr(run, name)) and not getattr(back, name).flags.writeable
    assert list(saved.parent.iterdir()) == [saved]


def test_another_model_is_refused(run, saved):
    with pytest.raises(FileError, match=r"run of 'satellite' with digest .* model given is 'planar-2r'"):
        load_run(saved, example("planar-2r"))
    with pytest.raises(InputError, match="the run is of 'satellite'"):
        conserved(example("planar-2r"), run)


def test_first_version_of_the_file_still_loads(run, saved):
    back = load_run(rewritten(saved, tau=None, about={"version": 1}))
    assert np.array_equal(back.q, run.q) and not back.tau.any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": None}, "lacks q"),
        ({"about": {"format": "other"}}, "format must be 'kinetree-run'"),
        ({"about": {"version": 99}}, "has version 99"),
        ({"about": {"dt": "soon"}}, "dt is 'soon'"),
        ({"about": {"status": "fine"}}, "status is 'fine'; allowed: finished, interrupted, stopped"),
        ({"about": {"q_labels": [1]}}, "q_labels must be pairs"),
        ({"q": np.zeros((3, 3))}, "q must have shape"),
        ({"t": np.zeros(11)}, "t must increase"),
        ({"v": np.zeros(11, dtype=int)}, "v must be float64"),
        ({"kinetic": np.full(11, np.nan)}, "kinetic must be finite"),
        ({"q": np.array([{"a": 1}], dtype=object)}, "not a run saved by kinetree, or is damaged"),
    ],
)
def test_tampered_file_is_refused(saved, changes, message):
    with pytest.raises(FileError, match=message):
        load_run(rewritten(saved, **changes))


def test_damaged_bytes_are_refused(saved, tmp_path):
    whole = saved.read_bytes()
    broken = [b"", b"PK\x03\x04", b"not a run", whole[: len(whole) // 2], whole[:200] + b"\xff" * 40 + whole[240:]]
    for k, content in enumerate(broken):
        path = tmp_path / f"{k}.npz"
        path.write_bytes(content)
        with pytest.raises(FileError, match=str(path)):
            load_run(path)
    np.save(tmp_path / "single.npy", np.zeros(3))
    with pytest.raises(FileError, match="single array"):
        load_run(tmp_path / "single.npy")
    with pytest.raises(FileError, match="cannot be read: No such file"):
        load_run(tmp_path / "missing.npz")


def test_unwritable_paths(run, tmp_path):
    with pytest.raises(FileError, match="cannot be written: No such file"):
        run.save(tmp_path / "no" / "run.npz")
    with pytest.raises(InputError, match=r"a run is saved as \.npz"):
        run.save(tmp_path / "run.pkl")
    with pytest.raises(FileError, match="cannot be written"):
        run.plot(tmp_path / "no" / "run.png")
    with pytest.raises(FileError, match=r"suffix is '\.xyz'; allowed: .*\.png"):
        run.plot(tmp_path / "run.xyz")
    assert list(tmp_path.iterdir()) == []


def test_picture_has_three_panels_with_units(run, tmp_path):
    figure = run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in sys.modules
    labels = [panel.get_ylabel() for panel in figure.axes]
    assert labels[0].startswith("coordinates [") and labels[1].startswith("velocities [rad/s")
    assert labels[2] == "energy drift [J]"


def test_picture_names_few_coordinates_and_not_many():
    few = simulate(example("planar-2r"), duration=0.01, dt=1e-3).plot()
    assert few.axes[0].get_legend() is not None
    tree = example("satellite")
    many = simulate(tree, duration=0.01, dt=1e-3)
    assert (many.plot().axes[0].get_legend() is not None) == (tree.nq <= 12)


def test_missing_matplotlib_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "kinetree\[plot\]"'):
        run.plot()
