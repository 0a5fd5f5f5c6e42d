"""Machine code to a real `numpy.ufunc`, through NumPy's C interface."""

import ctypes
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath  # pyright: ignore[reportAttributeAccessIssue]

__all__ = ["AT_DATA", "HEAD", "host_address", "make_ufunc", "owner_of"]

_FROM_SIGNATURE = 31  # place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table, fixed by its binary interface
_NEW_FROM_DESCR = 94  # and of PyArray_NewFromDescr in that of arrays
_OUT = sys.intern("out")
_NO_IDENTITY = -1  # PyUFunc_None


class _UFuncObject(ctypes.Structure):
    """The head of NumPy's ``PyUFuncObject``, part of its binary interface."""

    _fields_ = (
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    )


HEAD = object.__basicsize__
AT_DATA = _UFuncObject.data.offset


class _Owner:
    """Everything behind one ufunc; NumPy's ``obj`` field holds it and drops it with the ufunc."""

    __slots__ = ("buffers", "payload")

    def __init__(self, payload, buffers):
        self.payload = payload
        self.buffers = buffers


@functools.cache
def _from_signature() -> Any:
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        pointer,
        pointer,
        pointer,
        integer,
        integer,
        integer,
        integer,
        pointer,
        pointer,
        integer,
        pointer,
    )
    return prototype(_table(_multiarray_umath._UFUNC_API)[_FROM_SIGNATURE])


def _table(capsule: Any) -> Any:
    """Addresses of the functions of NumPy's C interface."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.cast(get_pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))


def make_ufunc(
    name: str,
    doc: str,
    address: int,
    inputs: Sequence[tuple[int | str, ...]],
    outputs: Sequence[tuple[int | str, ...]],
    payload: object,
    dtype: np.dtype[Any],
    data: int | None = None,
    direct: int | None = None,
) -> np.ufunc:
    """A generalized ufunc of one kind of number.

    Parameters
    ----------
    name, doc : str
    address : int
        Of the inner loop.
    inputs, outputs : sequence of tuple of int or str
        Core shapes, without zeros; a word is an extent that each call may choose.
    payload : object
        Kept alive as long as the ufunc is; `owner_of` gives it back.
    dtype : numpy.dtype
        Of all arguments and results.
    data : int, optional
        Address that the inner loop is given as its ``data``; what lies there belongs to `payload`.
    direct : int, optional
        Of what is called in place of NumPy's machinery (see `direct`).
    """
    nin, nout = len(inputs), len(outputs)
    signature = "->".join(",".join(f"({','.join(map(str, shape))})" for shape in part) for part in (inputs, outputs))
    functions = (ctypes.c_void_p * 1)(address)
    at_data = (ctypes.c_void_p * 1)(data)
    types = (ctypes.c_char * (nin + nout))(*[dtype.num] * (nin + nout))
    strings = [ctypes.create_string_buffer(text.encode()) for text in (name, doc, signature)]
    at_name, at_doc, at_signature = map(ctypes.addressof, strings)
    ufunc = _from_signature()(
        ctypes.addressof(functions),
        ctypes.addressof(at_data),
        ctypes.addressof(types),
        1,
        nin,
        nout,
        _NO_IDENTITY,
        at_name,
        at_doc,
        0,
        at_signature,
    )
    record = _UFuncObject.from_address(id(ufunc))
    expected = (nin, nout, ctypes.addressof(functions), at_name)
    if (record.nin, record.nout, record.functions, record.name) != expected or record.obj:
        raise RuntimeError(f"NumPy {np.__version__} lays out its ufuncs differently; this kinetree knows NumPy 2.x")
    owner = _Owner(payload, (functions, at_data, types, strings))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    record.obj = id(owner)
    if direct is not None and _host(dtype) is not None:
        ctypes.c_void_p.from_address(id(ufunc) + _at_call()).value = direct
    return ufunc


def host_address(dtype: np.dtype[Any]) -> int:
    """Where the words are that `direct` needs for a kind of number, 0 if this NumPy is laid out differently."""
    words = _host(dtype)
    return 0 if words is None else ctypes.addressof(words)


@functools.cache
def _host(dtype: np.dtype[Any]) -> Any:
    """The words that `direct` names."""
    array, at = np.ones((2, 3), dtype), _at_call()
    kind = dtype.kind + dtype.char + dtype.byteorder
    fields = [
        ctypes.c_void_p.from_address(id(array) + HEAD - 8).value == id(np.ndarray),
        ctypes.c_void_p.from_address(id(array) + HEAD).value == array.ctypes.data,
        ctypes.c_int.from_address(id(array) + HEAD + 8).value == 2,
        ctypes.c_void_p.from_address(id(array) + HEAD + 40).value == id(dtype),
        ctypes.c_int.from_address(id(array) + HEAD + 48).value == array.flags.num,
        (ctypes.c_char * 3).from_address(id(dtype) + HEAD + 8).raw == kind.encode(),
        ctypes.c_int.from_address(id(dtype) + HEAD + 12).value == dtype.num,
        ctypes.c_double.from_address(id(1.5) + HEAD).value == 1.5,
        HEAD <= at < np.ufunc.__basicsize__,
    ]
    if not all(fields):
        return None
    calls = {ctypes.c_void_p.from_address(id(ufunc) + at).value for ufunc in (np.add, np.matmul, np.frexp)}
    shape = ctypes.POINTER(ctypes.c_ssize_t).from_address(id(array) + HEAD + 16)
    if len(calls) > 1 or None in calls or shape[:2] != [2, 3]:
        return None
    make = _table(_multiarray_umath._ARRAY_API)[_NEW_FROM_DESCR]
    return (ctypes.c_void_p * 5)(id(np.ndarray), id(dtype), make, *calls, id(_OUT))


def _at_call() -> int:
    """Where a ufunc has the pointer that calls go through: ``tp_vectorcall_offset`` of its type, after five words of it."""
    return ctypes.c_ssize_t.from_address(id(np.ufunc) + HEAD + 5 * ctypes.sizeof(ctypes.c_void_p)).value


def owner_of(ufunc: np.ufunc) -> object:
    """The payload given to `make_ufunc`, or None for a ufunc from elsewhere."""
    if not isinstance(ufunc, np.ufunc):
        return None
    at = _UFuncObject.from_address(id(ufunc)).obj
    owner = ctypes.cast(at, ctypes.py_object).value if at else None
    return owner.payload if isinstance(owner, _Owner) else None
