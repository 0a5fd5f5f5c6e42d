"""The pages of docs/ are true: every Python block runs and prints what stands under it, every name in the notation exists.

KINETREE_UPDATE_SNAPSHOTS=1 writes the outputs anew.
"""

import contextlib
import io
import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PAGES = sorted(path for path in DOCS.glob("*.md") if BLOCK.search(path.read_text()))
UPDATE = os.environ.get("KINETREE_UPDATE_SNAPSHOTS") == "1"


def printed(code: str, names: dict, path: Path, line: int) -> str:
    """What a block prints; a traceback of it names the page and its line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * (line - 1) + code, str(path), "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_prints_what_it_shows(path):
    text, names = path.read_text(), {}
    found = []
    with np.printoptions():
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("code")) + 1
            found.append(printed(block["code"], names, path, line))
    if UPDATE:
        outputs = iter(found)
        path.write_text(BLOCK.sub(lambda block: _written(block["code"], next(outputs)), text))
    shown = [block["output"] or "" for block in BLOCK.finditer(path.read_text())]
    assert found == shown


def _written(code: str, output: str) -> str:
    shown = f"\n```text\n{output}```\n" if output else ""
    return f"```python\n{code}```\n{shown}"


def test_every_block_is_read():
    """A block that BLOCK does not see would never be checked."""
    for path in DOCS.glob("*.md"):
        text = path.read_text()
        assert text.count("```python") == len(BLOCK.findall(text)), path
        assert text.count("```text") == sum(block["output"] is not None for block in BLOCK.finditer(text)), path


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_names_in_the_text_exist(path):
    ops = kt.operators(kt.example("three-link-arm"), np.zeros(3))
    for name in re.findall(r"`(?:kt|kinetree)\.(\w+)", path.read_text()):
        assert hasattr(kt, name) or find_spec(f"kinetree.{name}"), name
    for chain in re.findall(r"`ops\.([\w.]+)", path.read_text()):
        found = ops
        for name in chain.split("."):
            assert hasattr(found, name), chain
            found = getattr(found, name)
