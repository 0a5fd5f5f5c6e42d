"""LLVM text to machine code of this process."""

import ctypes
import functools
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.compiler.text import FLOAT32, FLOAT64, Lanes

__all__ = [
    "LANES",
    "compiler_fingerprint",
    "host_fingerprint",
    "host_lanes",
    "linked_by_llvm",
    "object_code",
    "text_size",
]

_REGISTERS = (16, 32, 64)  # bytes
LANES = tuple(Lanes(size // element.bytes, element) for element in (FLOAT64, FLOAT32) for size in _REGISTERS)
"""What fills the vector registers of some machine."""
_OPTIMIZATION = 2
_NUMBERS = itertools.count()


@functools.cache
def _binding() -> Any:
    """llvmlite.binding with the native target ready; imported on first use because it takes a while."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@functools.cache
def _host() -> tuple[str, str, str]:
    """Triple, processor name and features of this machine. The name may be masked, so the features are always given."""
    binding = _binding()
    features = binding.get_host_cpu_features()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features.flatten()


@functools.cache
def host_lanes(dtype: np.dtype[Any] = FLOAT64.dtype) -> Lanes:
    """What fills a vector register of this machine. Raises StopIteration for other numbers than float64 and float32."""
    features = _binding().get_host_cpu_features()
    size = 64 if features.get("avx512f") else 32 if features.get("avx2") else 16
    return next(lanes for lanes in LANES if (lanes.bytes, lanes.element.dtype) == (size, dtype))


def compiler_fingerprint() -> str:
    """Which LLVM this is, without importing it: its version, and the size and date of its library."""
    import llvmlite

    files = sorted(Path(llvmlite.__file__).parent.glob("binding/*llvmlite*"))
    return f"llvmlite {llvmlite.__version__} {[(x.name, x.stat().st_size, x.stat().st_mtime_ns) for x in files]}"


def host_fingerprint() -> str:
    """The processor, as LLVM sees it."""
    return " ".join(_host())


def _machine() -> Any:
    """Code near its constants: it reads them relative to itself, which makes a humanoid's forward dynamics a tenth faster."""
    triple, processor, features = _host()
    target = _binding().Target.from_triple(triple)
    return target.create_target_machine(cpu=processor, features=features, opt=_OPTIMIZATION, reloc="pic", codemodel="small")


@functools.cache
def _linker() -> Any:
    """LLVM's linker in memory, which never ends: threads may sleep in its code when the interpreter does."""
    linker = _binding().create_lljit_compiler(_machine(), use_jit_link=sys.platform != "win32")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(linker))
    return linker


def object_code(text: str) -> bytes:
    """Object code of a module in LLVM's text form; attribute group ``#0`` is added here."""
    binding, machine = _binding(), _machine()
    # Without these LLVM keeps to 256 bits where it believes that wide vectors slow the clock.
    attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }\n'
    weights = '!0 = !{!"branch_weights", i32 1, i32 1000000}\n'
    module = binding.parse_assembly(f'target triple = "{machine.triple}"\n{text}\n{attributes}{weights}')
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def text_size(code: bytes) -> int:
    """Bytes of instructions in object code."""
    return sum(part.size() for part in _binding().ObjectFileRef.from_data(code).sections() if part.is_text())


def linked_by_llvm(code: bytes, names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
    """Where the functions of these names are, and the owner of the memory."""
    library = _binding().JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        library.export_symbol(name)
    made = library.link(_linker(), f"kernel {next(_NUMBERS)}")
    return {name: made[name] for name in names}, made
