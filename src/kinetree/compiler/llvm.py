"""LLVM text to machine code of this process."""

import ctypes
import functools
import weakref
from dataclasses import dataclass
from typing import Any

__all__ = ["LANES", "MachineCode", "host_lanes", "machine_code"]

LANES = (2, 4, 8)
_OPTIMIZATION = 2


@dataclass(frozen=True)
class MachineCode:
    """Code in memory; it lives as long as `engine` does.

    Attributes
    ----------
    address : int
        Of the function ``loop``.
    engine : object
        Owner of the memory.
    """

    address: int
    engine: Any


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
def host_lanes() -> int:
    """How many float64 a vector register of this machine holds."""
    features = _binding().get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


def machine_code(text: str) -> MachineCode:
    """Machine code of a module in LLVM's text form that defines ``@loop``; attribute group ``#0`` is added here."""
    binding = _binding()
    triple, processor, features = _host()
    target = binding.Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=processor, features=features, opt=_OPTIMIZATION, reloc="default", codemodel="jitdefault"
    )
    # Without these LLVM keeps to 256 bits where it believes that wide vectors slow the clock.
    attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }\n'
    weights = '!0 = !{!"branch_weights", i32 1, i32 1000000}\n'
    module = binding.parse_assembly(f'target triple = "{triple}"\n{text}\n{attributes}{weights}')
    module.data_layout = str(machine.target_data)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    code = MachineCode(engine.get_function_address("loop"), engine)
    release = engine.get_function_address("release")
    if release:
        weakref.finalize(code, _release, release, engine).atexit = False
    return code


def _release(address: int, engine: Any) -> None:
    """Free what a module kept from call to call; the engine is an argument so that its code is still there."""
    ctypes.CFUNCTYPE(None)(address)()
