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
from kinetree.compiler.graph import Expr, Graph
from kinetree.compiler.kernel import build
from kinetree.errors import InputError
from kinetree.model import Model
from kinetree.spatial.scalars import Array

Shape = tuple[int, ...]


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

    def __call__(self, *arrays: Any, **keywords: Any) -> dict[str, Array]:
        results = self.ufunc(*arrays, **keywords)
        return dict(zip(self.names, results if len(self.names) > 1 else (results,), strict=True))


@final
class _SizeFound(Exception):  # noqa: N818, it is news, not an error
    def __init__(self, name: str, shape: Shape) -> None:
        self.name, self.shape = name, shape


@final
class _Unknown:
    """An argument whose shape is not known yet: its first use says what it is, and the trace starts again."""

    def __init__(self, name: str, usual: Shape | None) -> None:
        self._name, self._usual = name, usual

    def found_size(self, n: int) -> NoReturn:
        """An operator that takes vectors of length n is applied to it."""
        raise _SizeFound(self._name, (n,))

    def _used(self, *_: Any, **__: Any) -> NoReturn:
        if self._usual is not None:
            raise _SizeFound(self._name, self._usual)
        raise InputError(
            f"the shape of {self._name!r} is not known where it is first used, because no operator is applied to it "
            f'directly. Say it: kinetree.compile(f, model, shapes={{"{self._name}": (…,)}}).'
        )

    __array__ = __array_ufunc__ = __getitem__ = __iter__ = __len__ = __bool__ = __float__ = __neg__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _used
    __matmul__ = __rmatmul__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _used
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> NoReturn:
        self._used()


def argument_names(function: Callable[..., Any]) -> list[str]:
    """Names of what f takes after the operators."""
    return list(inspect.signature(function).parameters)[1:]


def kernel_of_expression(
    function: Callable[..., Any], model: Model | SKO, shapes: Mapping[str, Sequence[int | str]]
) -> np.ufunc | NamedKernel:
    """The kernel of f(ops, x, …): arguments q (for a model of bodies), x, …"""
    names = [name for name in argument_names(function) if name != "q" or isinstance(model, SKO)]
    strange = sorted(set(shapes) - set(names))
    if strange:
        raise InputError(f"shapes has {strange}, which f does not take. It takes {names}.")
    known = {name: _shape(model, name, shape) for name, shape in shapes.items()}
    while True:
        try:
            graph, inputs, result = _trace(function, model, names, known)
            break
        except _SizeFound as found:
            known[found.name] = found.shape
    if isinstance(result, dict):
        return NamedKernel([str(name) for name in result], _build(function, model, graph, inputs, list(result.values())))
    return _build(function, model, graph, inputs, list(result) if isinstance(result, (tuple, list)) else [result])


def _trace(
    function: Callable[..., Any], model: Model | SKO, names: Sequence[str], known: Mapping[str, Shape]
) -> tuple[Graph, dict[str, Array], Any]:
    graph = Graph()
    inputs: dict[str, Array] = {}
    if isinstance(model, SKO):
        ops = model
    else:
        inputs["q"] = graph.input(model.nq)
        ops = sko_model(model, inputs["q"])
    for name in names:
        if name in known:
            inputs[name] = graph.input(known[name])
    unknown = {name: _Unknown(name, _usual(model, name)) for name in names if name not in known}
    arguments = [inputs[name] if name in inputs else unknown[name] for name in argument_names(function)]
    try:
        result = function(ops, *arguments)
    except (TypeError, ZeroDivisionError) as failure:
        raise InputError(f"{_name(function)} cannot be traced: {failure}") from failure
    if any(name not in inputs for name in names):
        raise InputError(f"{_name(function)} does not use {sorted(unknown)}: leave it out.")
    return graph, inputs, result


def _build(
    function: Callable[..., Any], model: Model | SKO, graph: Graph, inputs: Mapping[str, Array], results: Sequence[Any]
) -> np.ufunc:
    name = _name(function)
    outputs = [_output(name, result) for result in results]
    if not inputs or any(0 in np.shape(x) for x in (*inputs.values(), *outputs)):
        raise InputError(f"{name} cannot be compiled: an argument or result of it has no entries, or it has no arguments.")
    where = model.name if isinstance(model, Model) else repr(model)
    doc = f"{name} of {where}: ({', '.join(inputs)}). NaN in, NaN out, as NumPy ufuncs do."
    return build(name, doc, graph, list(inputs.values()), outputs)


def _output(name: str, result: Any) -> Array:
    if isinstance(result, Operator):
        raise InputError(f"{name} returns the operator {result}: return what it gives, {result} @ x, or its .dense().")
    found = np.asarray(result, dtype=object)
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
    if not all(isinstance(n, (int, np.integer)) and n > 0 for n in found):
        raise InputError(f'the shape of {name!r} must be of whole numbers or "nq", "nv", "nbodies", found {shape!r}.')
    return tuple(int(n) for n in found if n is not None)


def _usual(model: Model | SKO, name: str) -> Shape | None:
    if name not in SHAPES or isinstance(model, SKO):
        return None
    return _shape(model, name, SHAPES[name])


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "expression")
    return "expression" if name == "<lambda>" else name
