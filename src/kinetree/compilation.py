"""`compile` and `reference`: any public function, or any expression of yours, as a kernel or by the NumPy reference."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kinetree.algebra.sko import SKO
from kinetree.algorithms.arguments import array_arguments
from kinetree.compiler.compile import LOWERINGS, kernel_of
from kinetree.compiler.expressions import argument_names, kernel_of_expression
from kinetree.errors import InputError
from kinetree.evaluation import bodies_of, body_of, evaluate_reference, operators
from kinetree.functions import algorithm_of, algorithm_with, check_frame, difference
from kinetree.model import Model


def compile(
    function: Callable[..., Any],
    model: Model | SKO,
    dtype: DTypeLike = np.float64,
    *,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
    lowering: str = "auto",
    **options: Any,
) -> Any:
    """A kernel for one model: a NumPy generalized ufunc. It broadcasts, casts, takes `out=`, and honours strides.

    A public function, compiled once and kept with the model::

        kernel = kt.compile(kt.forward_dynamics, model)         # kernel(q, v, tau, out=None)

    An expression of yours, traced once; all it applies is fused, what it has in common is computed once::

        kernel = kt.compile(lambda ops, x: (ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T).inv @ x, model)   # kernel(q, x)

    Kernels check nothing: NaN in, NaN out, where the result depends on it. `kernel.stats` says what one does for a state and
    what it took: operations, the share of multiply-adds, bytes of code and workspace, lanes, lowering, seconds, whether the
    code was on disk (`KINETREE_CACHE=0` keeps it off).

    Parameters
    ----------
    function : a public function of kinetree; or f(ops, x, y, …) of the SKO model and arrays. An argument called `q` receives
        the coordinates. f returns an array, several, or a dictionary of arrays: the kernel then returns a dictionary.
    model : a model; or, for f, an `SKO` model of plain numbers: the kernel has no argument q then
    dtype : float64; or float32, twice as many states at a time to some six digits (docs/kernels.md). Arguments are cast as
        NumPy casts: a float64 kernel takes float32 arrays, a float32 kernel refuses float64 ones
    shapes : {"x": (n, …)} of f's arrays; a number, or "nq", "nv", "nbodies". Found by itself where an operator is applied
        to the array itself; v, a, tau and external have their usual shapes otherwise
    lowering : "unrolled", straight-line code for this model; "looped", each node function once per kind of body, for any size;
        "auto", by the number of operations; "segmented", `forward_dynamics` of one state of a serial chain of thousands of
        bodies, which is cut into segments, one for each lane of a vector
    options : of a public function: `external=True` adds that argument; `body`, `bodies`, `frame` as in its call.
        `impulse_response` takes q and wrenches on all bodies, and with `body` q, a point and an impulse [moment; force] on it

    Raises
    ------
    InputError : an unknown option, a dtype other than float64 and float32, a model without coordinates; f branches on a number
        it was given, or returns something that is not numbers
    """
    number = _checked_dtype(dtype)
    if lowering not in LOWERINGS:
        raise InputError(f"lowering must be one of {', '.join(map(repr, LOWERINGS))}, found {lowering!r}.")
    if function not in algorithm_of:
        return _compile_expression(function, model, shapes or {}, lowering, number, options)
    if not isinstance(model, Model):
        raise InputError(f"{function.__name__} is compiled for a kinetree Model, found {type(model).__name__}.")
    if function is difference:
        raise InputError("difference has no kernel: it runs through the NumPy reference. Call kinetree.difference.")
    if shapes is not None:
        raise InputError(f"shapes are for functions of yours; those of {function.__name__} follow from the model.")
    algorithm = algorithm_with(function, options)
    if options.get("external") and "external" not in array_arguments(algorithm):
        raise InputError(f"{function.__name__} takes no external wrenches: leave out external=True.")
    without = () if options.pop("external", False) else ("external",)
    fixed = _static_options(function, model, options)
    return kernel_of(algorithm, model, without, fixed, lowering=lowering, dtype=number)


def reference(function: Callable[..., Any], model: Model, *arrays: ArrayLike | None, **options: Any) -> Any:
    """What a public function, or f(ops, x, …) of yours, returns by the NumPy reference: the same sweeps, nothing compiled.

    Slow and plain; accepts complex arrays, so that derivatives can be taken by complex steps.
    """
    if function in algorithm_of:
        given, algorithm = [x for x in arrays if x is not None], algorithm_with(function, options)
        names = array_arguments(algorithm)
        if not len(names) - ("external" in names) <= len(given) <= len(names):
            raise InputError(f"{function.__name__} takes the arrays ({', '.join(names)}), found {len(given)}.")
        return evaluate_reference(algorithm, model, *given, **_static_options(function, model, options))
    _check_expression(function)
    if options:
        raise InputError(f"unknown options {sorted(options)}: a function of yours takes none.")
    names = argument_names(function)
    expected = list(names) if isinstance(model, SKO) else ["q", *(name for name in names if name != "q")]
    if len(arrays) != len(expected):
        raise InputError(f"{function.__name__} takes the arrays ({', '.join(expected)}), found {len(arrays)}.")
    given = {name: np.array(x) for name, x in zip(expected, arrays, strict=True)}
    ops = model if isinstance(model, SKO) else operators(model, given["q"])
    return function(ops, *(given[name] for name in names))


def _compile_expression(
    function: Callable[..., Any],
    model: Model | SKO,
    shapes: Mapping[str, Sequence[int | str]],
    lowering: str,
    dtype: np.dtype[Any],
    options: Mapping[str, Any],
) -> Any:
    _check_expression(function)
    if options:
        raise InputError(f"unknown options {sorted(options)}: a function of yours takes only shapes.")
    if lowering == "segmented":
        raise InputError('lowering="segmented" is for forward_dynamics, found a function of yours. Use lowering="looped".')
    if not isinstance(model, (Model, SKO)):
        raise InputError(f"an expression is compiled for a kinetree Model or an SKO model, found {type(model).__name__}.")
    return kernel_of_expression(function, model, shapes, lowering, dtype)


def _checked_dtype(dtype: Any) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = dtype
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"kernels are compiled for float64 or float32, found dtype {found}. Leave out dtype for float64.")
    return found


def _check_expression(function: Any) -> None:
    if (getattr(function, "__module__", None) or "").startswith("kinetree."):
        raise InputError(
            f"{function.__name__} has no kernel of its own: compile what it calls (compliance for operational_space_inertia), "
            "or a function of yours."
        )
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if not parameters or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        names = ", ".join(f.__name__ for f in algorithm_of)
        raise InputError(f"{function!r} cannot be compiled. Give f(ops, x, …) with named arguments, or one of: {names}.")


def _static_options(function: Callable[..., Any], model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options fixed at compilation, in the algorithm's order, defaults as in the public function."""
    algorithm, public = algorithm_with(function, given), inspect.signature(function).parameters
    known = [p.name for p in inspect.signature(algorithm).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if set(given) - set(known):
        raise InputError(f"unknown options {sorted(set(given) - set(known))}; allowed: {sorted({*known, 'external'})}.")
    return {name: _option(model, name, given.get(name, public[name].default)) for name in known}


def _option(model: Model, name: str, value: Any) -> Any:
    if name == "frame":
        check_frame(value)
        return value
    if value is inspect.Parameter.empty:
        raise InputError(f"say {name}=…, by name or index; bodies of {model.name!r}: {', '.join(model.body_names[:40])}.")
    return body_of(model, value) if name == "body" else bodies_of(model, value)
