"""A user's expression of operators as a kernel: trace f(ops, x, …) once; sizes of x are found where it is used."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np

from kinetree.algebra.expression import Operator
from kinetree.algebra.rigid import sko_model
from kinetree.algebra.sko import SKO
from kinetree.algorithms.arguments import SHAPES
from kinetree.compiler.compile import SizeFound, Straight, loops_of, lowered
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.kernel import build_source
from kinetree.compiler.llvm import host_lanes
from kinetree.compiler.stats import KernelStats
from kinetree.compiler.text import FLOAT64
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array

Shape = tuple[int, ...]
USUAL = ("v", "a", "tau", "external")
"""Arguments of a user's function that have the shape they have everywhere."""


@final
class NamedKernel:
    """A kernel whose results have names: called with arrays, it returns a dictionary.

    Attributes
    ----------
    names : tuple of str
    ufunc : the kernel itself, which returns them as a tuple
    """

    def __init__(self, names: Sequence[str], ufunc: np.ufunc) -> None:
        self.names, self.ufunc = tuple(names), ufunc

    def __repr__(self) -> str:
        return f"<{self.ufunc!r} → {', '.join(self.names)}>"

    @property
    def stats(self) -> KernelStats:
        """What the kernel does and took."""
        return self.ufunc.stats  # pyright: ignore[reportAttributeAccessIssue]

    def __call__(self, *arrays: Any, **keywords: Any) -> dict[str, Array]:
        results = self.ufunc(*arrays, **keywords)
        return dict(zip(self.names, results if len(self.names) > 1 else (results,), strict=True))


@final
class _Unknown:
    """An argument whose shape is not known yet: its first use says what it is, and the trace starts again."""

    def __init__(self, known: dict[str, Shape], name: str, usual: Shape | None) -> None:
        self._known, self._name, self._usual = known, name, usual

    def found_size(self, n: int) -> NoReturn:
        """An operator that takes vectors of length n is applied to it."""
        raise SizeFound(self._known, self._name, (n,))

    def used(self, *_: Any, **__: Any) -> NoReturn:
        if self._usual is not None:
            raise SizeFound(self._known, self._name, self._usual)
        raise InputError(
            f"the shape of {self._name!r} is not known where it is first used, because no operator is applied to it "
            f'directly. Say it: kinetree.compile(f, model, shapes={{"{self._name}": (…,)}}).'
        )

    __array__ = __array_ufunc__ = __getitem__ = __iter__ = __len__ = __bool__ = __float__ = __neg__ = __setitem__ = used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = used
    __matmul__ = __rmatmul__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = used
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> NoReturn:
        self.used()


def argument_names(function: Callable[..., Any]) -> list[str]:
    """Names of what f takes after the operators."""
    return list(inspect.signature(function).parameters)[1:]


def kernel_of_expression(
    function: Callable[..., Any],
    model: Model | SKO,
    shapes: Mapping[str, Sequence[int | str]],
    lowering: str = "auto",
    dtype: np.dtype[Any] = FLOAT64.dtype,
) -> np.ufunc | NamedKernel:
    """The kernel of f(ops, x, …): arguments q (for a model of bodies), x, …"""
    names = [name for name in argument_names(function) if name != "q" or isinstance(model, SKO)]
    strange = sorted(set(shapes) - set(names))
    if strange:
        raise InputError(f"shapes has {strange}, which f does not take. It takes {names}.")
    call = _Call(function, model, names, {name: _shape(model, name, shape) for name, shape in shapes.items()})
    loops, lanes = None, host_lanes(dtype)
    if isinstance(model, Model):
        loops = loops_of(_name(function), call.with_arrays, model, call.input_shapes, {}, None, lowering, lanes)
    elif lowering == "looped":
        raise InputError("an SKO model of plain numbers is compiled without loops: leave out lowering.")

    def trace() -> Straight:
        graph = Graph()
        outputs = [_output(_name(function), result) for result in call.with_inputs(graph.input)]
        if not call.inputs or any(0 in np.shape(x) for x in (*call.inputs.values(), *outputs)):
            raise InputError(f"{_name(function)} cannot be compiled: an argument or result has no entries, or none is there.")
        return graph, list(call.inputs.values()), outputs

    sources = lowered(loops, trace, lowering, lanes)
    kernel = build_source(_name(function), call.doc, *sources)
    return NamedKernel(call.result_names, kernel) if call.result_names is not None else kernel


@final
class _Call:
    """One call of f on arrays that stand for numbers; repeated until the sizes of all arrays are known."""

    def __init__(self, function: Callable[..., Any], model: Model | SKO, names: Sequence[str], known: dict[str, Shape]) -> None:
        self.function, self.model, self.names, self.known = function, model, names, known
        self.inputs: dict[str, Any] = {}
        self.result_names: list[str] | None = None

    @property
    def doc(self) -> str:
        """Of the kernel."""
        where = self.model.name if isinstance(self.model, Model) else repr(self.model)
        return f"{_name(self.function)} of {where}: ({', '.join(self.inputs)}). NaN in, NaN out, as NumPy ufuncs do."

    def input_shapes(self) -> dict[str, Shape]:
        """Shapes of the kernel's arguments, as far as they are known."""
        q = {"q": (self.model.nq,)} if isinstance(self.model, Model) else {}
        return {**q, **{name: self.known[name] for name in self.names if name in self.known}}

    def with_inputs(self, make: Callable[[Shape], Any]) -> list[Any]:
        """What f returns, its arrays made by `make`, of which only the last made count."""
        while True:
            try:
                return self.with_arrays(self.model, **{name: make(shape) for name, shape in self.input_shapes().items()})
            except SizeFound as found:
                found.known[found.name] = found.shape

    def with_arrays(self, model: Any, **arrays: Any) -> list[Any]:
        """What f returns for some arrays; those missing are unknown."""
        self.inputs = arrays
        ops = sko_model(model, arrays["q"]) if isinstance(model, Model) else model
        unknown = {name: _Unknown(self.known, name, _usual(model, name)) for name in self.names if name not in arrays}
        # Copies, so that a function which changes its argument in place does not change what the kernel is given.
        own = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in arrays.items()}
        given = [own[name] if name in own else unknown[name] for name in argument_names(self.function)]
        try:
            result = self.function(ops, *given)
        except (TypeError, ZeroDivisionError) as failure:
            raise InputError(
                f"{_name(self.function)} cannot be traced: {failure} (A kernel knows the operators, + − * / **, "
                "np.abs, np.sin, np.cos, np.sqrt and np.log.)"
            ) from failure
        results = self._listed(result)
        for x in results:
            if isinstance(x, Operator) or x is None or isinstance(x, str):
                _output(_name(self.function), x)
            if isinstance(x, _Unknown):
                x.used()
        if unknown:
            raise InputError(f"{_name(self.function)} does not use {sorted(unknown)}: leave it out.")
        return results

    def _listed(self, result: Any) -> list[Any]:
        if not isinstance(result, dict):
            return list(result) if isinstance(result, (tuple, list)) else [result]
        self.result_names = [str(name) for name in result]
        if len(set(self.result_names)) < len(result) or not result:
            raise InputError(f"{_name(self.function)} must name its results differently, found the names {list(result)}.")
        return list(result.values())


def _output(name: str, result: Any) -> Array:
    if isinstance(result, Operator):
        raise InputError(f"{name} returns the operator {result}: return what it gives, {result} @ x, or its .dense().")
    try:
        found = np.asarray(result, dtype=object)
    except ValueError:
        found = np.asarray(repr(result), dtype=object)
    strange = [x for x in found.flat if not isinstance(x, (Expr, int, float, np.floating, np.integer))]
    if strange:
        raise InputError(
            f"{name} must return arrays of real numbers, a tuple or a dictionary of them, found {strange[0]!r:.80}."
        )
    return found


def _shape(model: Model | SKO, name: str, shape: Sequence[int | str]) -> Shape:
    listed = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
    sizes = {"nq": getattr(model, "nq", None), "nv": getattr(model, "nv", None), "nbodies": getattr(model, "nbodies", None)}
    found = tuple(sizes.get(n) if isinstance(n, str) else n for n in listed)
    if any(n == 0 and isinstance(word, str) for n, word in zip(found, listed, strict=True)):
        raise InputError(f"{name!r} has no entries: the model has no coordinates, so there is nothing to compile.")
    if not all(isinstance(n, (int, np.integer)) and n > 0 for n in found):
        raise InputError(f'the shape of {name!r} must be of whole numbers or "nq", "nv", "nbodies", found {shape!r}.')
    return tuple(int(n) for n in found if n is not None)


def _usual(model: Model | SKO, name: str) -> Shape | None:
    if name not in USUAL or isinstance(model, SKO):
        return None
    return _shape(model, name, SHAPES[name])


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "expression")
    return "expression" if name == "<lambda>" else name
