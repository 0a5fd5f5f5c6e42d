"""Run files: .npz without pickle. Arrays as NumPy writes them, and one JSON text that says where they came from."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import FileError, InputError
from kinetree.model import Model
from kinetree.simulation.run import ARRAYS, STATUSES, Run
from kinetree.spatial.scalars import Array

FORMAT, VERSION = "kinetree-run", 2
_TYPES: dict[str, type | tuple[type, ...]] = {
    "model_name": str,
    "model_digest": str,
    "integrator": str,
    "dt": (int, float),
    "driven": bool,
    "status": str,
    "message": str,
    "q_labels": list,
    "v_labels": list,
}


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Write a run; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise InputError(f"{path}: the suffix is {path.suffix!r}; a run is saved as .npz")
    about = json.dumps({"format": FORMAT, "version": VERSION, **run.provenance()}, ensure_ascii=False)
    arrays = {name: getattr(run, name) for name in ARRAYS}
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as stream:
            temporary = stream.name
            np.savez_compressed(stream, about=np.frombuffer(about.encode(), np.uint8), **arrays)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as failure:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise FileError(f"{path}: cannot be written: {failure.strerror or failure}") from None


def load_run(path: str | os.PathLike[str], model: Model | None = None) -> Run:
    """The run that `Run.save` wrote. Given its model, the run holds it; a run of another one is refused.

    Raises
    ------
    FileError
        The file is missing, not a run, damaged, or was written by a newer kinetree; or it is a run of another model.
    """
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FileError(f"{path}: is a single array, not a run saved by kinetree")
            with archive:
                found = {name: archive[name] for name in archive.files}
    except FileError:
        raise
    except OSError as failure:
        raise FileError(f"{path}: cannot be read: {failure.strerror or failure}") from None
    except (ValueError, EOFError, KeyError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        raise FileError(f"{path}: is not a run saved by kinetree, or is damaged.") from None
    about = _about(path, found)
    arrays = {name: _array(path, found, name) for name in ARRAYS}
    _check_shapes(path, arrays, about)
    run = Run(**arrays, **about, model=model)
    if model is not None and model.digest != run.model_digest:
        raise FileError(
            f"{path}: holds a run of {run.model_name!r} with digest {run.model_digest}, but the model given is "
            f"{model.name!r} with digest {model.digest}: a mass, a joint, a placement or gravity differs."
        )
    return run


def _about(path: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Where the run came from, every entry checked."""
    if "tau" not in found and "v" in found:
        found["tau"] = np.zeros(found["v"].shape)  # version 1 did not keep them
    missing = [name for name in ("about", *ARRAYS) if name not in found]
    if missing:
        raise FileError(f"{path}: is not a run saved by kinetree: it lacks {', '.join(missing)}")
    try:
        about = json.loads(found["about"].tobytes().decode())
    except (ValueError, RecursionError) as failure:
        raise FileError(f"{path}: its entry 'about' is damaged: {failure}") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise FileError(f"{path}: is not a run saved by kinetree: its format must be {FORMAT!r}")
    if about.get("version") not in range(1, VERSION + 1):
        raise FileError(
            f"{path}: has version {about.get('version')!r} of the run format; this kinetree reads versions 1 to {VERSION}. "
            "Read it with the kinetree that wrote it, or a newer one."
        )
    for name, kind in _TYPES.items():
        if not isinstance(about.get(name), kind):
            raise FileError(f"{path}: its entry 'about' is damaged: {name} is {about.get(name)!r:.60}")
    if about["status"] not in STATUSES:
        raise FileError(f"{path}: status is {about['status']!r}; allowed: {', '.join(STATUSES)}")
    for name in ("q_labels", "v_labels"):
        labels = about[name]
        if not all(isinstance(x, list) and len(x) == 2 and all(isinstance(s, str) for s in x) for x in labels):
            raise FileError(f"{path}: its entry 'about' is damaged: {name} must be pairs of name and unit")
        about[name] = tuple(map(tuple, labels))
    return {name: about[name] for name in _TYPES}


def _array(path: Path, found: dict[str, Any], name: str) -> Array:
    x = found[name]
    if x.dtype != np.float64:
        raise FileError(f"{path}: {name} must be float64, found {x.dtype}")
    if not np.isfinite(x).all():
        raise FileError(f"{path}: {name} must be finite, found {x[~np.isfinite(x)][0]}")
    return x


def _check_shapes(path: Path, arrays: dict[str, Array], about: dict[str, Any]) -> None:
    K = len(arrays["t"]) if arrays["t"].ndim else 0
    expected = {"q": (K, len(about["q_labels"])), "v": (K, len(about["v_labels"])), "tau": (K, len(about["v_labels"]))}
    for name, x in arrays.items():
        shape = expected.get(name, (K,))
        if x.shape != shape or not K:
            raise FileError(f"{path}: {name} must have shape {shape} with at least one state, found {x.shape}")
    if (np.diff(arrays["t"]) <= 0.0).any():
        raise FileError(f"{path}: t must increase")
