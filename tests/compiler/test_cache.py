"""Code is kept on disk from process to process, and used only if it is whole, the user's own, and the very code asked for."""

import os
import platform
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.algorithms.articulated import forward_dynamics
from kinetree.compiler import cache
from kinetree.compiler.cache import Entry, read, write
from kinetree.compiler.compile import sources_of
from kinetree.compiler.fingerprint import fingerprint
from kinetree.compiler.kept import key_text

ENTRY = Entry({"numbers": [1, 2]}, (b"first", b"", b"\x00third"))
POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own, empty."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(place):
    return sorted(path for path in place.rglob("*") if path.is_file())


def test_what_is_written_is_read(place):
    assert read("key") is None and not place.exists()
    write("key", ENTRY)
    assert read("key") == ENTRY and read("other") is None
    write("key", Entry({}, ()))
    assert read("key") == Entry({}, ())
    (file,) = files(place)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_no_damaged_byte_is_read(place):
    write("key", ENTRY)
    (file,) = files(place)
    whole = file.read_bytes()
    for n in range(len(whole)):
        file.write_bytes(whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :])
        assert read("key") is None, n
        file.write_bytes(whole[:n])
        assert read("key") is None, n
    file.write_bytes(whole + b"\x00")
    assert read("key") is None
    file.write_bytes(whole)
    assert read("key") == ENTRY


def test_no_entry_of_another_key_is_read(place):
    write("one", ENTRY)
    (one,) = files(place)
    write("two", Entry({}, ()))
    (two,) = set(files(place)) - {one}
    two.write_bytes(one.read_bytes())
    assert read("two") is None and read("one") == ENTRY


@POSIX
def test_what_others_may_touch_is_not_read(place, monkeypatch):
    write("key", ENTRY)
    (file,) = files(place)
    for path, right in ((file, 0o600), (file.parent, 0o700)):
        for more in (0o020, 0o004, 0o001, 0o010):
            path.chmod(right | more)
            assert read("key") is None
            write("other", ENTRY)
            assert path is file or read("other") is None
        path.chmod(right)
        assert read("key") == ENTRY
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert read("key") is None


@POSIX
def test_links_are_not_followed(place, tmp_path):
    write("key", ENTRY)
    (file,) = files(place)
    elsewhere = file.rename(tmp_path / "elsewhere")
    file.symlink_to(elsewhere)
    assert read("key") is None
    write("key", ENTRY)  # replaces the link, not what it leads to
    assert read("key") == ENTRY and not file.is_symlink()
    folder = file.parent.rename(tmp_path / "folder")
    file.parent.symlink_to(folder, target_is_directory=True)
    assert read("key") is None
    write("key 2", ENTRY)
    assert len(files(folder)) == 1
    file.parent.unlink()
    file.parent.mkdir(mode=0o700)
    os.mkfifo(file, mode=0o600)
    assert read("key") is None  # and does not wait for a writer


def test_a_place_that_cannot_be_written_makes_no_difference(place, monkeypatch):
    place.write_text("not a folder")
    write("key", ENTRY)
    assert read("key") is None
    monkeypatch.setenv("KINETREE_CACHE_DIR", "/proc/nowhere")
    write("key", ENTRY)
    assert read("key") is None
    monkeypatch.delenv("KINETREE_CACHE_DIR")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache.cache_path() is None and read("key") is None


def test_what_was_used_longest_ago_goes_first(place, monkeypatch):
    for n in range(4):
        write(f"key {n}", Entry({}, (bytes(1000),)))
        os.utime(place / "kernels" / cache._name(f"key {n}"), (n + 1, n + 1))
    assert read("key 0") is not None  # used again
    monkeypatch.setattr(cache, "MOST_BYTES", 4 * 1200)
    write("key 4", Entry({}, (bytes(1000),)))
    assert [read(f"key {n}") is not None for n in range(5)] == [True, False, True, True, True]
    size = sum(path.stat().st_size for path in files(place))
    assert cache.cache_contents() == cache.clear_cache() == (4, size)
    assert files(place) == [] and cache.cache_contents() == (0, 0)


def test_it_can_be_turned_off(place, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", "0")
    write("key", ENTRY)
    assert cache.cache_path() is None and not place.exists() and read("key") is None
    monkeypatch.setenv("KINETREE_CACHE", "yes")
    with pytest.raises(kt.InputError, match="KINETREE_CACHE must be 0 or 1, found 'yes'"):
        read("key")


def test_keys_differ_where_code_does(monkeypatch):
    def keys():
        return {
            key_text((f, model.digest, *rest))
            for f in (kt.forward_dynamics, kt.inverse_dynamics)
            for model in (zoo.model("chain"), zoo.model("bush"))
            for rest in ((), (True,), (1,), ("looped",), (("external",),))
        }

    found = keys()
    assert len(found) == 20 and found == keys()
    assert key_text((kt.forward_dynamics, ((lambda: 0),))) is None  # nobody knows what another function is
    fingerprint.cache_clear()
    monkeypatch.setattr("kinetree.compiler.fingerprint._processor", lambda: "another processor")
    assert not keys() & found
    fingerprint.cache_clear()
    monkeypatch.setattr("kinetree.compiler.fingerprint._IMPORTED", 0.0)  # all sources are newer than that
    assert keys() == {None}
    fingerprint.cache_clear()


SECOND = """
import sys, numpy as np, zoo, kinetree as kt
name, lowering = sys.argv[1:]
model = zoo.model(name)
q, v = model.random(0, 11), np.random.default_rng(0).normal(size=(11, model.nv))
kernel = kt.compile(kt.forward_dynamics, model, lowering=lowering)
kernel(q[0], v[0], v[0])
early = "llvmlite.binding" not in sys.modules
public = kt.inverse_dynamics(model, q, v, v)
solve = kt.compile(lambda ops, x: ops.mass.inv @ x, model)
print(kernel.stats.cached, solve.stats.cached, kernel.stats.lowering, early)
sys.stdout.buffer.write(b"".join(x.tobytes() for x in (kernel(q, v, v), public, solve(q, v))))
"""


def process(place, name="panda", lowering="auto", wait=True, **environment):
    path = os.pathsep.join([os.path.dirname(zoo.__file__), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "KINETREE_CACHE_DIR": str(place), **environment}
    run = subprocess.Popen([sys.executable, "-c", SECOND, name, lowering], stdout=subprocess.PIPE, env=environment)
    return result(run) if wait else run


def result(run):
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 0
    words, _, numbers = output.partition(b"\n")
    return words.decode().split(), np.frombuffer(numbers)


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
def test_a_second_process_compiles_nothing(place, lowering):
    first, wanted = process(place, lowering=lowering)
    second, found = process(place, lowering=lowering)
    assert first[:3] == ["False", "False", lowering] and second[:3] == ["True", "True", lowering]
    np.testing.assert_array_equal(found, wanted)


def test_damaged_code_is_made_anew_and_replaced(place):
    _, wanted = process(place)
    for path in files(place):
        path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    again, found = process(place)
    assert again[:2] == ["False", "False"]
    np.testing.assert_array_equal(found, wanted)
    assert process(place)[0][:2] == ["True", "True"]


def test_processes_at_once(place):
    runs = [process(place, wait=False) for _ in range(3)]
    results = [result(run)[1] for run in runs]
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])
    assert process(place)[0][:2] == ["True", "True"] and all(path.suffix == ".kernel" for path in files(place))


def test_nothing_is_kept_when_it_is_off(place):
    for _ in range(2):
        assert process(place, KINETREE_CACHE="0")[0][:2] == ["False", "False"]
    assert files(place) == []


def test_a_humanoid_starts_at_once(place):
    """Without LLVM, which is what takes the time; `python -m benchmarks` measures it."""
    process(place, "g1")
    found = process(place, "g1")[0]
    assert found[:2] == ["True", "True"]
    assert found[3] == "True" or not (sys.platform == "linux" and platform.machine() == "x86_64")


def test_kernels_of_this_process_say_where_they_come_from(place):
    made = [kt.compile(kt.gravity_force, kt.Model(zoo.model("chain").bodies)) for _ in range(2)]
    assert [kernel.stats.cached for kernel in made] == [False, True]
    once, twice = (kernel.stats for kernel in made)
    assert twice.trace_seconds == 0.0 < once.trace_seconds and twice.compile_seconds > 0.0
    assert (twice.operations, twice.code_bytes, twice.fma_share) == (once.operations, once.code_bytes, once.fma_share)


def test_the_suite_leaves_the_users_cache_alone():
    assert Path(os.environ["KINETREE_CACHE_DIR"]).name.startswith("kinetree-tests-")
    assert time.time() - Path(os.environ["KINETREE_CACHE_DIR"]).stat().st_ctime < 86_400


@pytest.mark.parametrize("name", ["mixed chain", "forest", "panda", "random 25"])
def test_models_with_one_digest_have_one_code(name, tmp_path):
    model = zoo.model(name)
    model.save(tmp_path / "model.json")
    again = kt.load(tmp_path / "model.json")
    assert again.digest == model.digest
    for lowering in ("unrolled", "looped"):
        ours, theirs = (sources_of(forward_dynamics, x, ("external",), lowering=lowering)[0] for x in (model, again))
        assert ours.text == theirs.text
        assert all(map(np.array_equal, ours.arrays, theirs.arrays))
