"""Every kind of bad URDF gives one message, kept in messages.json.

Rewrite the file with KINETREE_UPDATE_SNAPSHOTS=1 and read the difference before committing it.
"""

import json
import os
import re
from pathlib import Path

import pytest
from samples import ERRORS, REPAIRS, ROBOT, spoiled

from kinetree.errors import FileError, InputError, KinetreeError
from kinetree.io import load

SNAPSHOT = Path(__file__).with_name("messages.json")
UPDATE = bool(os.environ.get("KINETREE_UPDATE_SNAPSHOTS"))


@pytest.fixture(scope="module")
def messages():
    known = {} if UPDATE else json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    yield known
    if UPDATE:
        SNAPSHOT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def compare(messages, name, found):
    if UPDATE:
        messages[name] = found
    assert messages.get(name) == found


def elsewhere(text: object, tmp_path: Path) -> str:
    text = re.sub(r"(not well-formed XML: )[^;]*", r"\1(the parser's words)", str(text))
    return text.replace(str(tmp_path), "FOLDER").replace(str(Path.cwd()), "HERE")


@pytest.mark.parametrize("name", ERRORS)
def test_message(name, load_text, tmp_path, messages):
    with pytest.raises(FileError) as caught:
        load_text(ERRORS[name])
    message = elsewhere(caught.value, tmp_path)
    assert message.startswith("FOLDER/robot.urdf:"), "the message names the file and the line"
    assert message.removeprefix("FOLDER/robot.urdf:").split(":")[0].isdigit()
    assert len(message) < 700
    compare(messages, name, message)


@pytest.mark.parametrize("name", REPAIRS)
def test_repair(name, load_text, tmp_path, messages):
    model = load_text(REPAIRS[name])
    assert len(model.diagnostics) >= 1
    assert model.diagnostics[0].line is not None
    compare(messages, f"repair: {name}", elsewhere(model.diagnostics[0], tmp_path))
    with pytest.raises(FileError, match="strict=True") as caught:
        load_text(REPAIRS[name], strict=True)
    compare(messages, f"strict: {name}", elsewhere(caught.value, tmp_path))


def test_files_that_are_not_files(tmp_path, messages):
    fifo = tmp_path / "pipe.urdf"
    os.mkfifo(fifo)
    (tmp_path / "folder.urdf").mkdir()
    for name in ("missing.urdf", "folder.urdf", "pipe.urdf", "robot.stl", "robot.xacro", "robot", "nul\0.urdf"):
        with pytest.raises(FileError) as caught:
            load(tmp_path / name)
        compare(messages, f"path: {name}", elsewhere(caught.value, tmp_path))


def test_file_too_large(tmp_path):
    path = tmp_path / "large.urdf"
    with path.open("wb") as stream:
        stream.truncate(65 * 2**20)
    with pytest.raises(FileError, match="larger than 64 MiB"):
        load(path)


def test_too_many_elements(load_text):
    with pytest.raises(FileError, match="more than 1000000 elements"):
        load_text("<robot>" + "<a/>" * 2_000_001 + "</robot>")


def test_wrong_options(tmp_path):
    with pytest.raises(InputError, match="allowed"):
        load(tmp_path / "a.urdf", base="floating")
    with pytest.raises(InputError, match=r"os\.PathLike"):
        load(3)


def test_strict_passes_what_is_clean(load_text):
    assert load_text(ROBOT, strict=True).diagnostics == ()


def test_lines_are_right_beyond_65535(load_text):
    text = spoiled('<joint name="wrist"', "\n" * 70_000 + '<!-- <a>\n -->\n<joint\nname="wrist"').replace("1 0 0", "0 0 0")
    line = text[: text.index('<joint\nname="wrist"')].count("\n")
    with pytest.raises(FileError) as caught:
        load_text(text)
    axis = text[: text.index('<axis xyz="0 0 0"')].count("\n") + 1
    assert axis > line > 70_000
    assert f"robot.urdf:{axis}: " in str(caught.value)


def test_errors_are_value_errors():
    assert issubclass(FileError, ValueError)
    assert issubclass(FileError, KinetreeError)
