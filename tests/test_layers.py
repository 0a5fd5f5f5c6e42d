"""Data flows one way: a file imports its own layer and those before it. And importing kinetree stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree

ROOT = Path(kinetree.__file__).parent
ORDER = (
    "errors",
    "spatial",
    "model",
    "algebra",
    "algorithms",
    "compiler",
    "columns",
    "evaluation",
    "functions",
    "coordinates",
    "controllers",
    "compilation",
    "contact",
)
LAYERS = {
    **{layer: set(ORDER[:n]) for n, layer in enumerate(ORDER)},
    "io": {"errors", "spatial", "model"},
    "simulation": {*ORDER, "io"},
    "gym": {*ORDER, "io", "simulation"},
}
FREE = ("cli", "__init__", "__main__")
"""The command line and the package itself see every layer."""
FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def imported_layers(text: str, path: Path) -> set[str]:
    """Layers of kinetree that a source text imports anywhere, in functions too."""
    found = set()
    package = ["kinetree", *path.parts[:-1]]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{name.name}" for name in node.names}
    parts = [name.split(".") for name in found]
    return {part[1] if len(part) > 1 else "__init__" for part in parts if part[0] == "kinetree"}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_go_one_way(path):
    layer = layer_of(path)
    if layer in FREE:
        return
    assert layer in LAYERS, f"{path}: say in LAYERS what the new layer {layer!r} may import"
    wrong = imported_layers((ROOT / path).read_text(encoding="utf-8"), path) - LAYERS[layer] - {layer}
    assert not wrong, f"{path} is in layer {layer!r} and imports {sorted(wrong)}; allowed: {sorted(LAYERS[layer])}"


def test_layers_are_in_order():
    seen = set()
    for layer, allowed in LAYERS.items():
        assert allowed <= seen
        seen.add(layer)


def test_the_parser_sees_every_form_of_import():
    forms = "import kinetree.io.urdf", "from kinetree import cli", "from ..compiler import graph"
    text = "\n".join((*forms, "def f():\n    from kinetree.model import Body"))
    assert imported_layers(text, Path("spatial/x.py")) == {"io", "cli", "compiler", "model"}


def test_import_is_light():
    heavy = "llvmlite", "lxml", "rich", "tyro", "matplotlib", "gymnasium", "xarray"
    code = f"import sys, kinetree; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]", f"import kinetree imports {run.stdout.strip()}"
