"""Code put into memory as an image does what LLVM's linker makes of it, and what is not known is left to LLVM."""

import platform
import subprocess
import sys

import batches
import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.algorithms.articulated import forward_dynamics
from kinetree.compiler import linking
from kinetree.compiler.compile import sources_of
from kinetree.compiler.graph import Graph, sin
from kinetree.compiler.image import image_of
from kinetree.compiler.kernel import build, build_source
from kinetree.compiler.linking import linked
from kinetree.compiler.llvm import object_code
from kinetree.compiler.ufunc import owner_of

IMAGES = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="images are for Linux on x86-64; elsewhere LLVM links"
)
PAGE = 4096


def kernels(name, lowering):
    model = zoo.model(name)
    sources = sources_of(forward_dynamics, model, ("external",), lowering=lowering)
    rng = np.random.default_rng(0)
    return build_source("f", "", *sources), (model.random(rng, 19), *rng.uniform(-1, 1, (2, 19, model.nv)))


@pytest.mark.parametrize(("name", "lowering"), [("panda", "unrolled"), ("forest", "looped"), ("long chain", "looped")])
def test_both_linkers_make_the_same(name, lowering, monkeypatch):
    kernel, given = kernels(name, lowering)
    monkeypatch.setattr(linking, "_in_pages", lambda *_: None)
    other, _ = kernels(name, lowering)
    assert type(owner_of(other).code.library).__name__ == "ResourceTracker"
    batches.assert_equal(other(*given), kernel(*given))
    batches.assert_equal(other(*(x[0] for x in given)), kernel(*(x[0] for x in given)))
    given[0][3, 0] = 1e9  # beyond what is not left to libm
    batches.assert_equal(other(*given), kernel(*given))


def test_llvm_links_all_that_threads_need():
    code = (
        "import numpy as np, kinetree as kt\n"
        "from kinetree.compiler import linking, threads\n"
        "linking._in_pages = lambda *_: None\n"
        "kt.set_threads(2)\n"
        "model = kt.example('planar-2r')\n"
        "q = np.linspace(0, 1, 400_000).reshape(-1, 2)\n"
        "kernel = kt.compile(kt.gravity_force, model)\n"
        "print((kernel(q) == np.concatenate([kernel(x) for x in np.split(q, 200)])).all(), threads._team.started)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["True", "1"], run.stderr


@IMAGES
def test_code_is_put_into_pages():
    kernel, _ = kernels("panda", "unrolled")
    assert isinstance(owner_of(kernel).code.library, linking._Pages)


@IMAGES
def test_what_is_not_known_is_left_to_llvm():
    code = object_code("@x = external global i8\ndefine ptr @loop() {\n  ret ptr @x\n}")
    image = image_of(code, PAGE)
    assert set(image.imports) == {"x"} and set(image.exports) == {"loop"} and image.fixed == len(image.data) == PAGE
    assert image_of(b"\x7fELF\x01" + code[5:], PAGE) is None  # 32 bits
    assert image_of(code[:18] + b"\xb7" + code[19:], PAGE) is None  # another processor
    far = object_code("@x = external global i8\n@y = global ptr @x\ndefine ptr @loop() {\n  ret ptr @y\n}")
    assert image_of(far, PAGE) is None  # an address in full, which no code of ours has
    near = object_code("@y = internal global i64 7\ndefine ptr @loop() {\n  ret ptr @y\n}")
    image = image_of(near, PAGE)
    assert (image.fixed, len(image.data)) == (PAGE, 2 * PAGE)
    at = int.from_bytes(image.data[PAGE : PAGE + 8], "little")
    assert at == 7


@IMAGES
def test_a_name_that_is_nowhere_is_refused():
    code = object_code(
        "declare void @kinetree_nowhere()\ndefine void @loop() {\n  call void @kinetree_nowhere()\n  ret void\n}"
    )
    with pytest.raises(RuntimeError, match="symbols"):
        linked(code, "loop")


@IMAGES
def test_pages_are_given_back():
    graph = Graph()
    x = graph.input(3)

    def executable():
        """Bytes of code in memory that come from no file."""
        with open("/proc/self/maps") as file:
            found = [line.split() for line in file]
        spans = [words[0].split("-") for words in found if "x" in words[1] and len(words) == 5]
        return sum(int(end, 16) - int(start, 16) for start, end in spans)

    before = executable()
    made = [build("f", "", graph, [x], [sin(x) * float(n)]) for n in range(30)]
    assert executable() - before >= 30 * PAGE
    del made
    assert executable() == before


def test_kernels_of_one_process_are_apart():
    models = [zoo.model(name) for name in ("chain", "bush", "forest")]
    made = [kt.compile(kt.gravity_force, model, lowering="looped") for model in models]
    for kernel, model in zip(made, models, strict=True):
        q = model.random(0)
        batches.assert_equal(kernel(q), kernel(q[None])[0])
        np.testing.assert_allclose(kernel(q), kt.reference(kt.gravity_force, model, q), rtol=1e-10, atol=1e-10)
