"""The table of docs/robots.md. Run this file to write it anew."""

from pathlib import Path

from conftest import robots_folder

from kinetree.errors import KinetreeError
from kinetree.io import load
from kinetree.model import Model

PAGE = Path(__file__).parents[2] / "docs/robots.md"
HEAD = """# Robots that load

The {count} URDF files of the package example-robot-data: {loaded} load, {refused} are refused with the message
shown. `nv` is the number of generalized velocities with the base fixed and with it free; notes are the diagnostics of
the free base, or of the fixed one where only that loads. Written by `tests/io/robots_table.py`, checked by the tests.

| file | nv fixed | nv free | notes |
|---|---:|---:|---|
"""


def attempt(path: Path, base: str) -> Model | str:
    """The model, or why there is none."""
    try:
        return load(path, base=base)
    except KinetreeError as error:
        return str(error).replace(str(path), path.name).replace("|", "/")


def page(folder: Path) -> str:
    """The whole page."""
    rows, loaded = [], 0
    paths = sorted(folder.rglob("*.urdf"), key=lambda path: path.relative_to(folder).as_posix())
    for path in paths:
        found = [attempt(path, base) for base in ("fixed", "free")]
        loaded += any(isinstance(model, Model) for model in found)
        velocities = ["refused" if isinstance(model, str) else str(model.nv) for model in found]
        name = path.relative_to(folder).as_posix()
        rows.append(f"| {name} | {' | '.join(velocities)} | {notes(*found)} |")
    head = HEAD.format(count=len(paths), loaded=loaded, refused=len(paths) - loaded)
    return head + "\n".join(rows) + "\n"


def notes(fixed: Model | str, free: Model | str) -> str:
    """Counts of diagnostics by code, and refusals."""
    model = free if isinstance(free, Model) else fixed
    codes = [note.code for note in model.diagnostics] if isinstance(model, Model) else []
    counts = [f"{codes.count(code)} {code}" for code in dict.fromkeys(codes)]
    refusals = dict.fromkeys(reason for reason in (fixed, free) if isinstance(reason, str))
    return "; ".join([*counts, *refusals])


if __name__ == "__main__":
    PAGE.write_text(page(robots_folder()), encoding="utf-8")
