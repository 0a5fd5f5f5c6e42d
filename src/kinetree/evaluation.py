"""One public call: find the kernel, run it, and turn every kind of bad input into one clear message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.algebra.rigid import sko_model
from kinetree.algebra.sko import SKO
from kinetree.algorithms.arguments import array_arguments, shape_of
from kinetree.algorithms.reference import interpret
from kinetree.columns import by_columns
from kinetree.compiler.compile import kernel_of
from kinetree.compiler.guard import QUATERNION_ARGUMENTS, QUATERNION_TOLERANCE
from kinetree.compiler.words import REFUSED
from kinetree.errors import InputError, ModelError
from kinetree.model import Model
from kinetree.spatial.scalars import Array, split


def evaluate(algorithm: Callable[..., Any], model: Model, *arrays: Any, **options: Any) -> Any:
    """Result of an algorithm on its first arrays, with any leading batch axes."""
    try:
        key = (algorithm, len(arrays), *options.values()) if options else (algorithm, len(arrays))
        kernel = model.kernels[key]
    except (KeyError, AttributeError):
        kernel = _guarded_kernel(algorithm, model, len(arrays), options)
    before = REFUSED[0]
    try:
        results = kernel(*arrays)
    except (TypeError, ValueError) as failure:
        checked_arguments(algorithm, model, arrays)
        raise InputError(f"{algorithm.__name__} of {model.name!r}: {failure}") from None
    if REFUSED[0] != before:
        checked_arguments(algorithm, model, arrays)
        for result in results if isinstance(results, tuple) else (results,):
            _refuse_result(algorithm, model, result)
    return results


def evaluate_reference(algorithm: Callable[..., Any], model: Model, *arrays: Any, **options: Any) -> Any:
    """The same by the NumPy reference, nothing compiled; complex arrays are welcome."""
    _check_model(model)
    given = checked_arguments(algorithm, model, arrays, complex)
    return interpret(algorithm, model, given, options)


def operators(model: Model, q: Any) -> SKO:
    """The SKO model of checked coordinates."""
    _check_model(model)
    found = checked_arguments(operators, model, (q,), complex)["q"]
    return sko_model(model, split(found, 1), found.shape[:-1])


def _guarded_kernel(algorithm: Callable[..., Any], model: Model, count: int, options: Mapping[str, Any]) -> Any:
    _check_model(model)
    if model.nv == 0:
        return _reference_kernel(algorithm, model, options)
    without = array_arguments(algorithm)[count:]
    kernel = by_columns(algorithm, model, options) or kernel_of(algorithm, model, without, options, guarded=True)
    model.kernels[algorithm, count, *options.values()] = kernel
    return kernel


def _check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise InputError(f"the first argument must be a kinetree Model, found {type(model).__name__}.")


def _reference_kernel(algorithm: Callable[..., Any], model: Model, options: Mapping[str, Any]) -> Callable[..., Any]:
    """A model that cannot move has arguments of size 0, which a ufunc's signature cannot say."""

    def run(*arrays: Any) -> Any:
        return evaluate_reference(algorithm, model, *arrays, **options)

    return run


def _refuse_result(algorithm: Callable[..., Any], model: Model, result: Array) -> None:
    bad = np.argwhere(~np.isfinite(result))
    if not bad.size:
        return
    where = bad[0]
    raise InputError(
        f"{algorithm.__name__} of {model.name!r}: the result is not finite at index {tuple(map(int, where))}, although the "
        "input is. Either the numbers given overflow, or the mass matrix is singular at this configuration."
    )


def checked_arguments(
    algorithm: Callable[..., Any], model: Model, arrays: tuple[Any, ...], dtype: type = float
) -> dict[str, Array]:
    """The arguments as arrays, by name; or the message of the first that is wrong."""
    given, shapes = {}, {}
    for name, x in zip(array_arguments(algorithm), arrays, strict=False):
        found = given[name] = _array(algorithm, model, name, x, dtype)
        _check_values(algorithm, model, name, found)
        shapes[name] = found.shape[: found.ndim - len(shape_of(model, name))]
    batch_of(f"{algorithm.__name__} of {model.name!r}", shapes)
    return given


def batch_of(call: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """What the batch axes of arguments, by name, broadcast to; an `InputError` that lists them if they do not."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listing = ", ".join(f"{name}: {shape}" for name, shape in shapes.items())
        raise InputError(f"{call}: the batch axes do not broadcast together: {listing}.") from None


def numbers(x: Any, core: tuple[int, ...], what: str) -> Array:
    """Finite numbers (..., *core), or an InputError that says what is wrong."""
    try:
        found = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be an array of numbers, found {x!s:.80}.") from None
    if found.shape[max(found.ndim - len(core), 0) :] != core:
        listing = ", ".join(map(str, core))
        raise InputError(f"{what} must have shape (..., {listing}), found {found.shape}.")
    if not np.isfinite(found).all():
        raise InputError(f"{what} must be finite, found {found[~np.isfinite(found)][0]}.")
    return found


def _array(algorithm: Callable[..., Any], model: Model, name: str, x: Any, dtype: type) -> Array:
    """One argument as an array of numbers whose last axes are right."""
    call = f"{algorithm.__name__} of {model.name!r}: {name}"
    try:
        found = np.asarray(x)
    except (TypeError, ValueError):
        raise InputError(f"{call} must be an array of numbers, found {x!s:.80}.") from None
    if x is None:
        raise InputError(f"{call} must be an array of numbers, found None.")
    if found.dtype.kind not in ("biuf" if dtype is float else "biufc"):
        raise InputError(
            f"{call} must hold real numbers (float or int), found dtype {found.dtype}. Convert it with np.asarray(x, float)."
        )
    core = shape_of(model, name)
    if found.shape[max(found.ndim - len(core), 0) :] != core:
        raise InputError(
            f"{call} must have shape (..., {', '.join(map(str, core))}), found {found.shape}. {_meaning(model, name)}"
        )
    return found


def _meaning(model: Model, name: str) -> str:
    listing = ", ".join(model.joint_names[:12]) + (", …" if len(model.joint_names) > 12 else "")
    if name == "external":
        return f"It has one wrench [moment; force] per body: {', '.join(model.body_names[:12])}."
    count = "nq" if name in QUATERNION_ARGUMENTS else "nv"
    return f"The model has {count} = {getattr(model, count)}, in the order of its joints: {listing}."


def _check_values(algorithm: Callable[..., Any], model: Model, name: str, x: Array) -> None:
    call = f"{algorithm.__name__} of {model.name!r}: {name}"
    bad = ~np.isfinite(x)
    if bad.any():
        where = tuple(map(int, np.argwhere(bad)[0]))
        raise InputError(f"{call} must be finite, found {x[where]} at index {where}{owner(model, name, where)}.")
    if name not in QUATERNION_ARGUMENTS:
        return
    for body, part in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.quaternion is not None:
            u = x[..., part][..., body.joint.quaternion]
            with np.errstate(over="ignore"):
                length = np.linalg.norm(np.real(u), axis=-1)
            off = np.abs(length - 1.0) > QUATERNION_TOLERANCE
            if off.any():
                found = float(np.atleast_1d(length)[np.atleast_1d(off)][0])
                raise InputError(
                    f"{call}: the quaternion [w, x, y, z] of joint {body.joint_name!r} (entries {part.start} to "
                    f"{part.start + 3}) must have length 1 to {QUATERNION_TOLERANCE:g}, found {found:.9g}. "
                    "Divide it by its length."
                )


def owner(model: Model, name: str, where: tuple[int, ...]) -> str:
    """Whose entry of a named argument that is, in words."""
    if name == "external":
        return f", body {model.body_names[where[-2]]!r}"
    slices = model.q_slices if name in QUATERNION_ARGUMENTS else model.v_slices
    joint = next(k for k, s in enumerate(slices) if s.start <= where[-1] < s.stop)
    return f", joint {model.joint_names[joint]!r}"


def body_of(model: Model, body: Any) -> int:
    """Index of a body, with an `InputError` that lists the names that exist."""
    _check_model(model)
    try:
        return model.body_index(body)
    except ModelError as failure:
        raise InputError(str(failure)) from None


def bodies_of(model: Model, bodies: Any) -> tuple[int, ...]:
    """Indices of one body or of several different ones."""
    _check_model(model)
    listed = [bodies] if isinstance(bodies, (str, int, np.integer)) else list(bodies)
    found = tuple(body_of(model, body) for body in listed)
    twice = [model.body_names[k] for k in found if found.count(k) > 1]
    if not found or twice:
        what = f"body {twice[0]!r} is given twice" if twice else "no body is given"
        raise InputError(f"{what}: name one body of {model.name!r} or a list of different ones.")
    return found
