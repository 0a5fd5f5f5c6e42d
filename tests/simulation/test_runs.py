"""Run files and pictures: exact round trips, tampering noticed, nothing half written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kinetree import functions
from kinetree.errors import FileError, InputError, MissingExtraError
from kinetree.model.examples import example
from kinetree.simulation import audit, load_run, simulate


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
    assert back.model is model and load_run(saved).model.digest == model.digest
    for name in ("t", "q", "v", "p", "tau", "kinetic", "potential", "energy"):
        assert np.array_equal(getattr(back, name), getattr(run, name)) and not getattr(back, name).flags.writeable
    assert list(saved.parent.iterdir()) == [saved]


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_every_run_comes_back(run, tmp_path_factory, data):
    """Whatever the numbers, the texts and the events: the file gives back the bits."""
    counts = data.draw(st.lists(st.integers(0, 3), max_size=3))
    whole = st.integers(0, 2**62)
    changes = {
        "q": data.draw(arrays(float, run.q.shape, elements=NUMBERS)),
        "message": data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
        "dt": data.draw(NUMBERS),
        "steps": data.draw(whole),
        "nfev": data.draw(whole),
        "event_names": tuple(f"event {k}" for k in range(len(counts))),
        "t_events": tuple(data.draw(arrays(float, m, elements=NUMBERS)) for m in counts),
        "q_events": tuple(data.draw(arrays(float, (m, 9), elements=NUMBERS)) for m in counts),
        "v_events": tuple(np.zeros((m, 8)) for m in counts),
    }
    made = replace(run, **changes)
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    made.save(path)
    back = load_run(path)
    assert back.provenance() == made.provenance()
    for name in ("q", "t_events", "q_events", "v_events"):
        ours, theirs = getattr(made, name), getattr(back, name)
        assert len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))


def test_files_of_older_versions_are_read(run, saved):
    later = ("form", "origin", "store_every", "steps", "nfev", "wall_time", "event_names", "event_counts")
    with np.load(saved) as archive:
        entries = {name: x for name, x in archive.items() if name != "model"}
    told = {name: x for name, x in json.loads(entries["about"].tobytes()).items() if name not in later}
    np.savez(saved, **entries | {"about": np.frombuffer(json.dumps(told).encode(), np.uint8)})
    back = load_run(saved)
    assert back.model is None and back.form == "newton-euler" and back.event_names == () and np.array_equal(back.q, run.q)
    with pytest.raises(InputError, match=r"momenta of a run need its model.* kt.load_run\(path, model\)"):
        _ = back.p
    assert np.array_equal(load_run(saved, run.model).p, run.p)


def test_numbers_of_a_run(run, model):
    assert (run.steps, run.nfev, run.success, run.form) == (10, 40, True, "newton-euler") and 0.0 < run.wall_time < 60.0
    assert np.array_equal(run.p, functions.momentum(model, run.q, run.v)) and not run.p.flags.writeable


def test_two_runs_are_one_if_they_fit(run, model):
    later = replace(run, t=run.t + run.t[-1])
    both = run + later
    assert len(both.t) == 2 * len(run.t) - 1 and both.steps == 20 and both.nfev == 80 and (np.diff(both.t) > 0).all()
    with pytest.raises(InputError, match=r"begin where the earlier one ends, at t = 0\.1"):
        run + run
    with pytest.raises(InputError, match=r"the same dt, found 0\.01 and 0\.02"):
        run + replace(later, dt=0.02)
    with pytest.raises(TypeError):
        run + 1


def test_dataset_names_columns_and_units(run):
    pytest.importorskip("xarray")
    found = run.to_xarray()
    assert np.array_equal(found.q.sel(coordinate="left array"), run.q[:, 7])
    assert np.array_equal(found.p.sel(velocity="bus.vx"), run.p[:, 3]) and found.tau.shape == run.tau.shape
    assert str(found.velocity_unit.sel(velocity="bus.vx").item()) == "m/s" and found.time.attrs["units"] == "s"
    assert found.energy.attrs["units"] == "J" and found.attrs["integrator"] == "rk4" and dict(found.sizes)["time"] == 11
    assert "p" not in replace(run, model=None).to_xarray()


def test_missing_xarray_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingExtraError, match=r'pip install "kinetree\[xarray\]"'):
        run.to_xarray()


def test_another_model_is_refused(run, saved):
    with pytest.raises(FileError, match=r"run of 'satellite' with digest .* model given is 'planar-2r'"):
        load_run(saved, example("planar-2r"))
    with pytest.raises(InputError, match="the run is of 'satellite'"):
        audit(run, example("planar-2r"))


def test_first_version_of_the_file_still_loads(run, saved):
    back = load_run(rewritten(saved, tau=None, about={"version": 1}))
    assert np.array_equal(back.q, run.q) and not back.tau.any()
    driven = load_run(rewritten(saved, tau=None, about={"version": 1, "driven": True}))
    assert np.isnan(driven.tau).all()
    driven.save(saved)
    assert np.isnan(load_run(saved).tau).all()


HITS = {"t_events": np.zeros(2), "q_events": np.zeros((2, 9)), "v_events": np.zeros((1, 8))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": None}, "lacks q"),
        ({"about": {"format": "other"}}, "format must be 'kinetree-run'"),
        ({"about": {"version": 99}}, "has version 99"),
        ({"about": {"dt": "soon"}}, "dt is 'soon'"),
        ({"about": {"status": "fine"}}, "status is 'fine'; allowed: finished, event, interrupted, stopped"),
        ({"about": {"q_labels": [1]}}, "q_labels must be pairs"),
        ({"q": np.zeros((3, 3))}, "q must have shape"),
        ({"t": np.zeros(11)}, "t must increase"),
        ({"v": np.zeros(11, dtype=int)}, "v must be float64"),
        ({"kinetic": np.full(11, np.nan)}, "kinetic must be finite"),
        ({"model": np.frombuffer(b"{}", np.uint8)}, "the model in it"),
        ({"about": {"event_names": ["hit"]}}, "events do not fit together"),
        (
            {"about": {"event_names": ["hit"], "event_counts": [2]}, **HITS},
            r"v_events must have shape \(2, 8\), found \(1, 8\)",
        ),
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
