"""The flop-bound limit: operations of a kernel at the rate this core does them in vectors, measured."""

import ctypes
import time
from dataclasses import dataclass

import llvmlite.binding as llvm

import kinetree as kt
from benchmarks.models import Case
from benchmarks.peers.kinetree import FUNCTIONS

CHAINS = 24
"""Operations that do not wait for each other: more than latency times units of a core, fewer than it has registers."""
TURNS = 100_000
SAMPLES = 25


@dataclass(frozen=True)
class Rates:
    """float64 operations per second of one core, lanes counted.

    Attributes
    ----------
    fma : multiply-adds only, each as one
    mixed : as many additions beside as many multiply-adds; more than `fma` where a core has adders of their own
    """

    fma: float
    mixed: float


def measured_rates() -> Rates:
    return Rates(_rate(CHAINS, 0), _rate(CHAINS // 2, CHAINS // 2))


def limits(case: Case, quantity: str, rates: Rates) -> dict:
    """Of our kernel: operations, and seconds per state below which it cannot be.

    A multiply-add is one operation; so is a division, a root, and a sine with its cosine, which cost more: the limits are too
    low. `flop_bound` is all operations at the rate of multiply-adds; `two_pipes` lets additions that are not fused run beside.
    """
    found = kt.compile(FUNCTIONS[quantity], case.model).stats
    two_pipes = max(found.multiplications / rates.fma, found.operations / rates.mixed)
    return {"operations": found.operations, "flop_bound": found.operations / rates.fma, "two_pipes": two_pipes}


def _rate(multiply_adds: int, additions: int) -> float:
    lanes, count = kt.compile(kt.kinetic_energy, kt.example("planar-2r")).stats.lanes, multiply_adds + additions
    engine = _engine(_text(lanes, multiply_adds, additions))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(engine.get_function_address("loop"))
    sink, best = (ctypes.c_double * lanes)(), float("inf")
    for _ in range(SAMPLES):
        started = time.process_time()
        run(ctypes.addressof(sink), TURNS)
        best = min(best, time.process_time() - started)
    return count * TURNS * lanes / best


def _engine(text: str):
    """Owner of the machine code of a module; it lives as long as this does."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


def _text(lanes: int, multiply_adds: int, additions: int) -> str:
    """A loop of independent x ← x h + h and x ← x + h, h = ½, whose sum is stored so that nothing is left out."""
    vector, half, count = f"<{lanes} x double>", "splat (double 5.0e-1)", multiply_adds + additions
    fma = f"@llvm.fma.v{lanes}f64"
    steps = [f"  %y{k} = call {vector} {fma}({vector} %x{k}, {vector} {half}, {vector} {half})" for k in range(multiply_adds)]
    sums = [f"  %y{k} = fadd {vector} %x{k}, {half}" for k in range(multiply_adds, count)]
    if sums:
        steps = [line for pair in zip(steps, sums, strict=True) for line in pair]
    return "\n".join(
        (
            f"declare {vector} {fma}({vector}, {vector}, {vector})",
            "define void @loop(ptr %sink, i64 %turns) #0 {\nentry:\n  br label %again\nagain:",
            "  %turn = phi i64 [0, %entry], [%next, %again]",
            *(f"  %x{k} = phi {vector} [zeroinitializer, %entry], [%y{k}, %again]" for k in range(count)),
            *steps,
            "  %next = add i64 %turn, 1\n  %more = icmp slt i64 %next, %turns\n  br i1 %more, label %again, label %end\nend:",
            f"  %s0 = fadd {vector} %y0, {half}",
            *(f"  %s{k} = fadd {vector} %s{k - 1}, %y{k}" for k in range(1, count)),
            f"  store {vector} %s{count - 1}, ptr %sink, align 8\n  ret void\n}}",
            'attributes #0 = { "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        )
    )
