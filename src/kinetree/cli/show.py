"""`kinetree show`: what is in a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, final

from kinetree.cli.report import Report, add_row, heading, number, table
from kinetree.cli.source import Source
from kinetree.model import GROUND, Model


@final
@dataclass(frozen=True, kw_only=True)
class Show(Source):
    """What is in a model: bodies and joints as a tree, sizes, masses, and what the loader repaired.

    Example: kinetree show panda.urdf --base free
    """

    def report(self) -> Report:
        """The tree as a table."""
        model = self.model()
        bodies = [
            {
                "index": i,
                "name": body.name,
                "joint": body.joint_name,
                "kind": body.joint.kind,
                "parent": body.parent,
                "nq": body.joint.nq,
                "nv": body.joint.nv,
                "mass": body.inertia.mass,
            }
            for i, body in enumerate(model.bodies)
        ]
        mass = sum(body.inertia.mass for body in model.bodies)
        data: dict[str, Any] = {
            "name": model.name,
            "digest": model.digest,
            "nbodies": model.nbodies,
            "nq": model.nq,
            "nv": model.nv,
            "mass": mass,
            "gravity": model.gravity.tolist(),
            "bodies": bodies,
            "diagnostics": [asdict(note) for note in model.diagnostics],
        }
        rows = table(">", "body", "joint", "kind", ">q", ">v", ">mass [kg]")
        for branch, body in zip(branches(model), bodies, strict=True):
            i, name = body["index"], body["name"]
            q, v = model.q_slices[i], model.v_slices[i]
            add_row(rows, i, branch + name, body["joint"], body["kind"], _range(q), _range(v), number(body["mass"]))
        sizes = f"{model.nbodies} bodies, nq = {model.nq}, nv = {model.nv}, mass {mass:.6g} kg, gravity {data['gravity']} m/s²"
        notes = [f"note: {note}" for note in model.diagnostics]
        return Report(data, [heading(model.name), rows, sizes, *notes])


def branches(model: Model) -> list[str]:
    """The drawing that stands before each body's name: what ties it to its parent."""
    last = {siblings[-1] for siblings in (*model.tree.children, model.tree.roots) if siblings}
    drawings: list[str] = []
    for i, parent in enumerate(model.parents):
        if parent == GROUND:
            drawings.append("")
            continue
        stem = drawings[parent][:-2] + ("  " if parent in last else "│ ") if drawings[parent] else ""
        drawings.append(stem + ("└ " if i in last else "├ "))
    return drawings


def _range(part: slice) -> str:
    size = part.stop - part.start
    return "" if size == 0 else str(part.start) if size == 1 else f"{part.start}–{part.stop - 1}"
