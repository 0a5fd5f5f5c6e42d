"""Whatever the bytes, a model or a KinetreeError."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import ROBOT as PLAIN

from kinetree.errors import KinetreeError
from kinetree.io import load
from kinetree.model.saving import save

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROBOT = PLAIN.replace('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="0.1" friction="0.2"/>')
WORDS = [
    "nan",
    "-1",
    "1e308",
    "1e-308",
    "",
    "0",
    "arm",
    "base",
    "hand",
    "wrist",
    "fixed",
    "floating",
    "planar",
    "prismatic",
]


def survives(path, data: bytes) -> None:
    path.write_bytes(data)
    for base in ("fixed", "free") if path.suffix == ".urdf" else ("fixed",):
        try:
            load(path, base=base)
        except KinetreeError as error:
            assert str(error).startswith(str(path))


@SETTINGS
@given(st.binary(max_size=400))
def test_random_bytes(tmp_path, data):
    survives(tmp_path / "robot.urdf", data)
    survives(tmp_path / "robot.json", data)


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, len(ROBOT)), st.integers(0, 20), st.binary(max_size=6)), min_size=1, max_size=4))
def test_mutated_text(tmp_path, edits):
    data = ROBOT.encode()
    for at, length, new in edits:
        data = data[:at] + new + data[at + length :]
    survives(tmp_path / "robot.urdf", data)


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(WORDS)), min_size=1, max_size=4))
def test_mutated_values(tmp_path, edits):
    pieces = ROBOT.split('"')  # every second piece is the value of an attribute
    for at, word in edits:
        pieces[2 * (at % (len(pieces) // 2)) + 1] = word
    survives(tmp_path / "robot.urdf", '"'.join(pieces).encode())


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=3))
def test_lines_out_of_place(tmp_path, swaps):
    lines = ROBOT.splitlines()
    for a, b in swaps:
        a, b = a % len(lines), b % len(lines)
        lines[a], lines[b] = lines[b], lines[a]
    survives(tmp_path / "robot.urdf", "\n".join(lines).encode())


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 12), st.sampled_from([*WORDS, "null", "[]", "{", "1e999"]))))
def test_mutated_json(tmp_path, edits):
    source = tmp_path / "robot.urdf"
    source.write_text(ROBOT)
    save(load(source), tmp_path / "good.json")
    text = (tmp_path / "good.json").read_text()
    for at, length, new in edits:
        at %= len(text)
        text = text[:at] + new + text[at + length :]
    survives(tmp_path / "robot.json", text.encode())
