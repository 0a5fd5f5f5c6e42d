"""The body of a kernel: the live part of a graph as straight-line vector code, one state per lane.

``void @body(ptr in, ptr out, ptr tables)`` reads inputs and writes results laid out ``[slot][lane]``. Nodes are emitted in the
order of `live_nodes`, each once; a result is stored as soon as it is known. Sines and cosines wait for each other: all
those that depend on equally many sines and cosines before them are computed together, and share one check for far
arguments.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.logarithm import logarithm
from kinetree.compiler.text import Lanes
from kinetree.compiler.trigonometry import far_path, sine_cosine_group

__all__ = ["StraightLine", "body", "declarations", "live_nodes"]

# Every so many lines a basic block ends, with a branch that is never taken so that blocks are not merged again: LLVM orders the
# instructions of a block as it likes, and over ten thousand of them it keeps twice as many values waiting in memory as the
# order of the nodes needs. Its schedulers also compare every store of a block with every other.
_STRETCH = 250

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def live_nodes(graph: Graph, outputs: Sequence[Expr | float]) -> list[Expr]:
    """The nodes that some output depends on, constants left out, each as late as its first use allows.

    Depth first from the outputs: what a body needs is computed where it is needed and not a sweep earlier, so that fewer
    values wait in memory. On a humanoid this runs a fifth faster than the order in which the sweeps were traced.
    """
    seen = bytearray(len(graph.nodes))
    ordered: list[Expr] = []
    for output in outputs:
        if not isinstance(output, Expr):
            continue
        if output.graph is not graph:
            raise ValueError("an output belongs to another trace")
        pending = [(output, False)]
        while pending:
            node, operands_done = pending.pop()
            if operands_done:
                ordered.append(node)
            elif not seen[node.index] and node.op != "const":
                seen[node.index] = 1
                pending.append((node, True))
                pending.extend((operand, False) for operand in reversed(node.args))
    return ordered


def body(nodes: Sequence[Expr], inputs: Sequence[Expr], outputs: Sequence[Expr | float], lanes: Lanes) -> str:
    """LLVM text of ``@body`` and of what it calls.

    Parameters
    ----------
    nodes : sequence of Expr
        The `live_nodes` of `outputs`.
    inputs, outputs : sequence
        What each slot holds.
    lanes : Lanes
        One state in each.
    """
    T, slots = lanes, {node.index: slot for slot, node in enumerate(inputs)}

    def load(node: Expr) -> list[str]:
        slot = slots.get(node.index)
        if slot is None:
            raise ValueError(f"the outputs depend on {node!r}, which is not among the inputs")
        return [
            f"  %i{slot} = getelementptr {T}, ptr %in, i64 {slot}",
            f"  %v{node.index} = load {T}, ptr %i{slot}, align {lanes.bytes}",
        ]

    def store(slot: int, value: str) -> list[str]:
        at = f"  %o{slot} = getelementptr {T}, ptr %out, i64 {slot}"
        return [at, f"  store {T} {value}, ptr %o{slot}, align {lanes.bytes}"]

    code = StraightLine(nodes, list(enumerate(outputs)), lanes, load, store)
    head = "define internal void @body(ptr noalias readonly %in, ptr noalias %out, ptr %tables) noinline #0"
    return f"{declarations([code])}\n{code.function(head)}"


def declarations(parts: Sequence["StraightLine"]) -> str:
    """What the functions of a module need declared, and the code that they share."""
    lines = "\n".join(sorted(set().union(*(part.declared for part in parts))))
    turning = [part for part in parts if part.has_trigonometry]
    return f"{lines}\n{far_path(turning[0].lanes)}" if turning else lines


class StraightLine:
    """A function of straight-line vector code.

    Parameters
    ----------
    nodes : sequence of Expr
        In the order of their code, operands first.
    results : sequence of (target, value)
        What is stored where.
    lanes : Lanes
    load : callable
        Lines that make ``%v{index}`` of an input node.
    store : callable
        Lines that store a vector at a target.
    late : collection of int
        Nodes that are stored after all others, by index: inputs that lie where something else is stored.
    """

    def __init__(
        self,
        nodes: Sequence[Expr],
        results: Sequence[tuple[Any, Expr | float]],
        lanes: Lanes,
        load: Callable[[Expr], list[str]],
        store: Callable[[Any, str], list[str]],
        late: Collection[int] = (),
    ):
        self.nodes = nodes
        self.lanes = lanes
        self.lines: list[str] = []
        self.allocations: list[str] = []
        self.block = "entry"
        self.stretch_start = 0
        self.load, self.store = load, store
        self.targets: dict[int, list[Any]] = {}
        for target, value in results:
            if isinstance(value, Expr):
                self.targets.setdefault(value.index, []).append(target)
        self.waiting = {index: self.targets.pop(index) for index in late if index in self.targets}
        self.declared: set[str] = set()
        self.done: set[int] = set()
        self.used_once = _used_once(nodes, self.targets | self.waiting)
        generations = _generations(nodes)
        self.has_trigonometry = bool(generations)
        self._write(results, generations)

    def function(self, head: str) -> str:
        """The whole function under a head such as ``define void @f(...)`` with an argument ``ptr %out`` that is not null."""
        lines = "\n".join([*self.allocations, "  %never = icmp eq ptr %out, null", *self.lines])
        return f"{head} {{\nentry:\n{lines}\n  ret void\nleave:\n  ret void\n}}\n"

    def _write(self, results: Sequence[tuple[Any, Expr | float]], generations: Sequence[Sequence[Expr]]) -> None:
        for target, value in results:
            if not isinstance(value, Expr):
                self.lines += self.store(target, self.lanes.splat(float(value)))
                self._limit_stretch()
        started = 0
        for node in self.nodes:
            if node.index in self.done:
                continue
            if node.op in ("sin", "cos"):
                while node.index not in self.done:
                    self._trigonometry(started, generations[started])
                    started += 1
            else:
                self._emit(node)
                self._limit_stretch()
        for index, targets in self.waiting.items():
            for target in targets:
                self.lines += self.store(target, f"%v{index}")

    def _limit_stretch(self) -> None:
        if len(self.lines) - self.stretch_start >= _STRETCH:
            self.block = f"stretch{len(self.lines)}"
            self.lines += [f"  br i1 %never, label %leave, label %{self.block}", f"{self.block}:"]
            self.stretch_start = len(self.lines)

    def _operand(self, node: Expr) -> str:
        return f"%v{node.index}" if node.value is None else self.lanes.splat(node.value)

    def _intrinsic(self, word: str, operand: str) -> str:
        T, name = self.lanes, self.lanes.intrinsic(word)
        self.declared.add(f"declare {T} {name}({T})")
        return f"call {T} {name}({T} {operand})"

    def _emit(self, node: Expr) -> None:
        self.done.add(node.index)
        op, T, i, lines = node.op, self.lanes, node.index, self.lines
        if op in _BINARY:
            a, b = map(self._operand, node.args)
            lines.append(f"  %v{i} = {_BINARY[op]} contract {T} {a}, {b}")
        elif op == "input":
            lines += self.load(node)
        elif op == "neg":
            (a,) = node.args
            if a.op == "sub" and a.index in self.used_once:  # the difference itself is then dead
                lines.append(f"  %v{i} = fsub contract {T} {', '.join(map(self._operand, reversed(a.args)))}")
            else:
                lines.append(f"  %v{i} = fneg contract {T} {self._operand(a)}")
        elif op == "check":
            a = self._operand(node.args[0])
            lines.append(f"  %v{i} = fsub {T} {a}, {a}")
        elif op in ("abs", "sqrt", "rint"):
            lines.append(f"  %v{i} = {self._intrinsic('fabs' if op == 'abs' else op, self._operand(node.args[0]))}")
        elif op == "log":
            lines += logarithm(f"%v{i}", self._operand(node.args[0]), self.lanes)
        elif op == "where":
            c, a, b = map(self._operand, node.args)
            lines.append(f"  %w{i} = fcmp une {T} {c}, zeroinitializer")
            lines.append(f"  %v{i} = select {T.truths} %w{i}, {T} {a}, {T} {b}")
        else:
            raise ValueError(f"no code for {node!r}")
        for target in self.targets.get(i, ()):
            lines += self.store(target, f"%v{i}")

    def _trigonometry(self, generation: int, members: Sequence[Expr]) -> None:
        """Sines and cosines of one generation, after everything their arguments need."""
        arguments = list({x.args[0].index: x.args[0] for x in members}.values())
        for node in _needed(arguments, self.done):
            self._emit(node)
            self._limit_stretch()
        prefix = f"g{generation}"
        lines, allocations, self.block = sine_cosine_group(
            prefix, [self._operand(x) for x in arguments], self.lanes, self.block
        )
        self.allocations += allocations
        place = {x.index: k for k, x in enumerate(arguments)}
        # A name cannot be given twice in LLVM's text, so the group's names are replaced by the nodes' own.
        names = {f"%{prefix}{x.op[0]}{place[x.args[0].index]}": f"%v{x.index}" for x in members}
        for k in range(len(lines) - 2 * len(arguments), len(lines)):
            left, right = lines[k].strip().split(" = ", 1)
            lines[k] = f"  {names.get(left, left)} = {right}"
        self.lines += lines
        self.stretch_start = len(self.lines)
        for node in members:
            self.done.add(node.index)
            for target in self.targets.get(node.index, ()):
                self.lines += self.store(target, f"%v{node.index}")


def _used_once(nodes: Sequence[Expr], targets: dict[int, list[Any]]) -> set[int]:
    uses = {index: len(places) for index, places in targets.items()}
    for node in nodes:
        for operand in node.args:
            uses[operand.index] = uses.get(operand.index, 0) + 1
    return {index for index, count in uses.items() if count == 1}


def _generations(nodes: Sequence[Expr]) -> list[list[Expr]]:
    """Sines and cosines by how many of their kind lie on the longest way to them from an input."""
    depth: dict[int, int] = {}
    generations: list[list[Expr]] = []
    for node in nodes:
        d = max((depth.get(x.index, 0) for x in node.args), default=0)
        if node.op in ("sin", "cos"):
            if d == len(generations):
                generations.append([])
            generations[d].append(node)
            d += 1
        depth[node.index] = d
    return generations


def _needed(roots: Sequence[Expr], done: set[int]) -> list[Expr]:
    """What is still to be emitted before `roots` are known, in traced order."""
    found: dict[int, Expr] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.op != "const" and node.index not in done and node.index not in found:
            found[node.index] = node
            stack += node.args
    return [found[index] for index in sorted(found)]
