"""`kinetree show`: what is in a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, final

from kinetree.cli.picture import draw
from kinetree.cli.report import Report, add_row, heading, number, table
from kinetree.cli.source import Source
from kinetree.cli.sparsity import Sparsity
from kinetree.cli.trees import branches
from kinetree.model import Body, Model

DYNAMICS = {"damping": "N m s", "friction": "N m", "stiffness": "N m", "rest": "rad", "armature": "kg m²"}
"""What a joint may do by itself, in the units of one that turns."""


@final
@dataclass(frozen=True, kw_only=True)
class Show(Source):
    """What is in a model: bodies and joints as a tree, sizes, masses, and what the loader repaired.

    Example: kinetree show panda.urdf --base free --sparsity
    """

    sparsity: bool = False
    """Show the serial-chain segments, and which blocks of E, φ and the mass matrix are zero."""
    picture: str | None = None
    """Draw these blocks to a file (.png, .pdf, .svg …); goes with --sparsity, asked for or not."""

    def report(self) -> Report:
        """The tree as a table, and its sparsity where asked for."""
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
                "dynamics": _of_joint(body),
                "shapes": [shape.geometry.kind for shape in body.shapes],
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
        branch = branches(model.tree)
        for i in model.tree.depth_first:
            body, q, v = bodies[i], model.q_slices[i], model.v_slices[i]
            name = branch[i] + body["name"]
            add_row(rows, i, name, body["joint"], body["kind"], _range(q), _range(v), number(body["mass"]))
        sizes = f"{model.nbodies} bodies, nq = {model.nq}, nv = {model.nv}, mass {mass:.6g} kg, gravity {data['gravity']} m/s²"
        notes = [f"note: {note}" for note in model.diagnostics]
        parts = [heading(model.name), rows, sizes, *_shapes(model), *_dynamics(model), *notes]
        if self.sparsity or self.picture is not None:
            parts += self._sparsity(model, data)
        return Report(data, parts)

    def _sparsity(self, model: Model, data: dict[str, Any]) -> list[Any]:
        """What to print of the sparsity; adds it to the data, and draws it where asked for."""
        sparsity = Sparsity(model)
        data["sparsity"] = sparsity.data
        if self.picture is None:
            return ["", *sparsity.parts]
        drawing = sparsity.by_bodies
        names = tuple(model.body_names[k] for k in sparsity.order)
        draw(drawing, names, f"{model.name}: blocks that can be nonzero, between {drawing.rows}", self.picture)
        data["picture"] = self.picture
        return ["", *sparsity.parts, "", f"wrote {self.picture}"]


def _of_joint(body: Body) -> dict[str, list[float]]:
    """What the joint does by itself, where it does something."""
    parts = {name: getattr(body.dynamics, name) for name in DYNAMICS}
    return {name: x.tolist() for name, x in parts.items() if x.any()}


def _dynamics(model: Model) -> list[Any]:
    """A table of what joints do by themselves, if any does something."""
    found = {body.joint_name: _of_joint(body) for body in model.bodies if not body.dynamics.is_none}
    columns = [name for name in DYNAMICS if any(name in own for own in found.values())]
    if not columns:
        return []
    rows = table("joint", *(f">{name} [{DYNAMICS[name]}]" for name in columns))
    for joint, own in found.items():
        add_row(rows, joint, *(" ".join(map(number, own.get(name, ()))) for name in columns))
    return ["", rows]


def _shapes(model: Model) -> list[str]:
    """How many shapes of which kinds there are, if any."""
    counts = Counter(shape.geometry.kind for _, shape in model.shapes)
    carriers = len({k for k, _ in model.shapes})
    listed = ", ".join(f"{n} × {kind}" for kind, n in sorted(counts.items()))
    return [f"shapes on {carriers} bodies: {listed}"] if counts else []


def _range(part: slice) -> str:
    size = part.stop - part.start
    return "" if size == 0 else str(part.start) if size == 1 else f"{part.start}–{part.stop - 1}"
