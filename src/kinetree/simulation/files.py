"""Run files: .npz without pickle. Arrays as NumPy writes them, one JSON text on where they came from, one of the model."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import FileError, InputError
from kinetree.io.json import json_model
from kinetree.model import Model
from kinetree.model.saving import model_text, whole_file
from kinetree.simulation.impacts import IMPACTS, Blow, packed, unpacked
from kinetree.simulation.run import ARRAYS, EVENTS, FORCES, STATUSES, Run
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
_LATER: dict[str, tuple[Any, Any]] = {
    "form": (str, "newton-euler"),
    "origin": ((int, float), 0.0),
    "store_every": (int, 1),
    "rtol": ((int, float), 1e-8),
    "atol": ((int, float), 1e-10),
    "passive": (bool, False),
    "steps": (int, 0),
    "nfev": (int, 0),
    "wall_time": ((int, float), 0.0),
    "event_names": (list, []),
    "contacts": (list, []),
    "contact_bodies": (list, []),
    "contact_steps": (list, []),
}
"""What files of older versions lack, and what stands for it."""


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Write a run, with its model and its events; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise InputError(f"{path}: the suffix is {path.suffix!r}; a run is saved as .npz")
    told = {"format": FORMAT, "version": VERSION, **run.provenance(), "event_counts": [len(t) for t in run.t_events]}
    told["impact_total"] = len(run.impacts)
    entries: dict[str, Any] = {"about": _bytes(json.dumps(told, ensure_ascii=False))}
    entries |= {name: getattr(run, name) for name in ARRAYS}
    if run.t_events:
        entries |= {name: np.concatenate(getattr(run, name)) for name in EVENTS}
    entries |= packed(run.impacts)
    if len(run.forces):
        entries |= {name: np.asarray(getattr(run, name), dtype=float) for name in FORCES}
    if run.carried is not None:
        entries["carried"] = run.carried
    if run.model is not None:
        entries["model"] = _bytes(model_text(run.model))
    with whole_file(path) as stream:
        np.savez_compressed(stream, **entries)


def _bytes(text: str) -> Array:
    return np.frombuffer(text.encode(), np.uint8)


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
    if not about["driven"] and about["version"] == 1:
        found["tau"] = np.zeros(found["v"].shape)
    arrays = {name: _array(path, found[name], name) for name in ARRAYS}
    _check_shapes(path, arrays, about)
    events = _events(path, found, about)
    impacts, forces = _impacts(path, found, about), _forces(path, found, len(arrays["t"]), len(about["contacts"]))
    carried = _array(path, found["carried"], "carried") if "carried" in found else None
    if carried is not None and carried.shape != arrays["v"].shape[1:]:
        raise FileError(f"{path}: carried must have shape {arrays['v'].shape[1:]}, found {carried.shape}")
    if model is None:
        model = _model(path, found, about)
    elif model.digest != about["model_digest"]:
        raise FileError(
            f"{path}: holds a run of {about['model_name']!r} with digest {about['model_digest']}, but the model given is "
            f"{model.name!r} with digest {model.digest}: a mass, a joint, a placement or gravity differs."
        )
    return Run(
        **arrays,
        **events,
        **forces,
        impacts=impacts,
        carried=carried,
        model=model,
        **{name: about[name] for name in (*_TYPES, *_LATER)},
    )


def _about(path: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Where the run came from, every entry checked."""
    if "tau" not in found and "v" in found:
        found["tau"] = np.full(found["v"].shape, np.nan)  # version 1 did not keep them
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
    about = {name: usual for name, (_, usual) in _LATER.items()} | {"event_counts": [], "impact_total": 0} | about
    kinds = _TYPES | {name: kind for name, (kind, _) in _LATER.items()} | {"event_counts": list, "impact_total": int}
    for name, kind in kinds.items():
        if not isinstance(about.get(name), kind):
            raise FileError(f"{path}: its entry 'about' is damaged: {name} is {about.get(name)!r:.60}")
    if about["status"] not in STATUSES:
        raise FileError(f"{path}: status is {about['status']!r}; allowed: {', '.join(STATUSES)}")
    about |= _contacts(path, about)
    for name in ("q_labels", "v_labels"):
        labels = about[name]
        if not all(isinstance(x, list) and len(x) == 2 and all(isinstance(s, str) for s in x) for x in labels):
            raise FileError(f"{path}: its entry 'about' is damaged: {name} must be pairs of name and unit")
        about[name] = tuple(map(tuple, labels))
    return about


def _model(path: Path, found: dict[str, Any], about: dict[str, Any]) -> Model | None:
    """The model that the file holds; its digest is the one that counts, for it may be made otherwise by now."""
    if "model" not in found:
        return None
    model = json_model(found["model"].tobytes(), Path(f"{path} (the model in it)"))
    if (model.nq, model.nv) != (len(about["q_labels"]), len(about["v_labels"])):
        raise FileError(f"{path}: is damaged: the model in it has nq = {model.nq} and nv = {model.nv}, unlike q and v")
    about["model_digest"] = model.digest
    return model


def _events(path: Path, found: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """The events, each array cut into those of each event."""
    names, counts = about["event_names"], about["event_counts"]
    fine = all(isinstance(x, str) for x in names) and all(type(n) is int and n >= 0 for n in counts)
    if not fine or len(names) != len(counts) or (counts and any(name not in found for name in EVENTS)):
        raise FileError(f"{path}: is damaged: its events do not fit together")
    about["event_names"] = tuple(names)
    if not counts:
        return {}
    total = sum(counts)
    shapes = (total,), (total, len(about["q_labels"])), (total, len(about["v_labels"]))
    arrays = {name: _array(path, found[name], name) for name in EVENTS}
    for (name, x), shape in zip(arrays.items(), shapes, strict=True):
        if x.shape != shape:
            raise FileError(f"{path}: {name} must have shape {shape}, found {x.shape}")
    ends = np.cumsum(counts)[:-1]
    return {name: tuple(part.copy() for part in np.split(x, ends)) for name, x in arrays.items()}


def _contacts(path: Path, about: dict[str, Any]) -> dict[str, Any]:
    """What could touch, checked."""
    names, bodies, steps = about["contacts"], about["contact_bodies"], about["contact_steps"]
    pairs = all(isinstance(x, list) and len(x) == 2 and all(type(k) is int for k in x) for x in bodies)
    counts = all(type(n) is int and n >= 0 for n in steps)
    if not (all(isinstance(x, str) for x in names) and pairs and counts and len(names) == len(bodies) == len(steps)):
        raise FileError(f"{path}: is damaged: its contacts do not fit together")
    return {"contacts": tuple(names), "contact_bodies": tuple(map(tuple, bodies)), "contact_steps": tuple(steps)}


def _forces(path: Path, found: dict[str, Any], rows: int, contacts: int) -> dict[str, Array]:
    """The forces of contacts, checked."""
    if not any(name in found for name in FORCES):
        return {}
    if not all(name in found for name in FORCES):
        raise FileError(f"{path}: is damaged: its forces do not fit together")
    row, contact, force = (_array(path, found[name], name) for name in FORCES)
    shapes = row.ndim == 1 and contact.shape == row.shape and force.shape == (len(row), 3)
    if not shapes or not ((row >= 0) & (row < rows)).all() or not ((contact >= 0) & (contact < contacts)).all():
        raise FileError(f"{path}: is damaged: its forces do not fit together")
    return {"force_rows": row.astype(int), "force_contacts": contact.astype(int), "forces": force}


def _impacts(path: Path, found: dict[str, Any], about: dict[str, Any]) -> tuple[Blow, ...]:
    """The impacts, checked."""
    total = about["impact_total"]
    if not total:
        return ()
    if total < 0 or any(entry not in found for entry in IMPACTS):
        raise FileError(f"{path}: is damaged: its impacts do not fit together")

    def read(entry: str, shape: tuple[int, ...]) -> Array:
        x = _array(path, found[entry], entry)
        if x.shape != shape:
            raise FileError(f"{path}: {entry} must have shape {shape}, found {x.shape}")
        return x

    try:
        return unpacked(read, len(about["q_labels"]), len(about["v_labels"]), len(about["contacts"]), total)
    except ValueError as failure:
        raise FileError(f"{path}: is damaged: {failure}") from None


def _array(path: Path, x: Array, name: str) -> Array:
    if x.dtype != np.float64:
        raise FileError(f"{path}: {name} must be float64, found {x.dtype}")
    unknown = name == "tau" and np.isnan(x).all()
    if not unknown and not np.isfinite(x).all():
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
