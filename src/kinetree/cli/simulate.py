"""`kinetree simulate`: a motion, what it conserved, its file and its picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import numpy as np

from kinetree.cli.report import Report, add_row, heading, table
from kinetree.cli.source import Source, coordinates, velocities
from kinetree.contact.apart import apart
from kinetree.contact.scene import Scene, pairs_of
from kinetree.errors import InputError, MissingExtraError
from kinetree.model import Model, Plane
from kinetree.simulation import Run, SimulationStopped, audit, load_run, simulate
from kinetree.simulation.auditing import Row, laws
from kinetree.simulation.auditing.audit import HEADINGS, NUMERIC, cells_of
from kinetree.simulation.contact.ends import ends_of
from kinetree.simulation.impacts import Blow
from kinetree.simulation.settings import SETTINGS, Setting

MOST_TOLD = 6
"""Impacts that are told one by one."""
Integrators = Literal["rk4", "semi-implicit-euler", "implicit-midpoint", "gauss-legendre-4", "variational", "dop853", "radau"]


@final
@dataclass(frozen=True, kw_only=True)
class Simulate(Source):
    """Simulate a model, print what the motion conserved, write the run and a picture of it.

    Example: kinetree simulate double-pendulum --q0 0.5 0.2 --duration 5 --out run.npz --plot run.png
    Example: kinetree simulate satellite --random 0 --audit
    Example: kinetree simulate two-link-impact --duration 0.6
    Example: kinetree simulate double-pendulum --restart run.npz --duration 5 --out longer.npz
    """

    duration: float = 5.0
    """Whole time [s]."""
    dt: float | None = None
    """Time step [s]; 0.001 where not given."""
    form: Literal["newton-euler", "lagrange", "hamilton"] | None = None
    """Of the equations of motion; newton-euler where not given."""
    integrator: Integrators | None = None
    """How each step is made; rk4 where not given."""
    rtol: float | None = None
    """Relative error of a step of dop853 and radau; 1e-8 where not given."""
    atol: float | None = None
    """Absolute error of a step of dop853 and radau; 1e-10 where not given."""
    restart: str | None = None
    """File of a run of this model to go on from, as it went; the file written holds both."""
    q0: tuple[float, ...] | None = None
    """Initial coordinates [rad or m]; neutral where not given."""
    v0: tuple[float, ...] | None = None
    """Initial velocities; rest where not given."""
    tau: tuple[float, ...] | None = None
    """Constant joint forces [N m or N]."""
    random: int | None = None
    """Seed of a random initial state, instead of --q0 and --v0."""
    store_every: int | None = None
    """Keep every so-manieth state; all where not given."""
    floor: float | None = None
    """Height [m] of a floor under everything that has shapes; joints do not pass their limits either."""
    self_contact: bool = False
    """Bodies do not pass through each other, but those that overlap at the start; joints do not pass their limits either."""
    friction: float | None = None
    """Coulomb's coefficient of all contacts there are; 0 where not given."""
    restitution: float | None = None
    """Of all contacts, from 0 to 1, likewise."""
    no_passive: bool = False
    """Joints do nothing by themselves: no damping, friction, springs, stops, effort limits."""
    out: str = "run.npz"
    """File of the run, .npz."""
    plot: str | None = None
    """File of the picture (.png, .pdf, .svg …); beside the run where not given."""
    audit: bool = False
    """Compare the three forms of the dynamics too, and draw every drift over time beside the picture, as run-audit.png."""

    def report(self) -> Report:
        """Simulate, write, tell."""
        if not self.out.lower().endswith(".npz"):
            raise InputError(f"--out: {self.out}: a run is saved as .npz")
        model = self.model()
        earlier, setting = self._earlier(model), self._setting(model)
        q0, v0 = self._start(model, setting)
        scene, overlapping = self._scene(model, setting, q0 if earlier is None else earlier.q[0])
        try:
            later = simulate(
                model,
                q0,
                v0,
                self.duration,
                self.dt,
                control=None if self.tau is None else velocities(model, self.tau, "--tau"),
                contact=scene,
                restart=earlier,
                form=self.form,
                integrator=self.integrator,
                rtol=self.rtol,
                atol=self.atol,
                store_every=self.store_every,
                passive=False if self.no_passive else None,
                progress=False if self.json else None,
            )
        except SimulationStopped as stopped:
            (stopped.run if earlier is None else earlier + stopped.run).save(self.out)
            raise InputError(f"{stopped} What was computed is in {self.out}.") from None
        run = later if earlier is None else earlier + later
        run.save(self.out)
        picture, note = self._picture(run)
        audited = audit(run) if self.audit else None
        rows = laws(model, run) if audited is None else audited.rows
        drifts = None if audited is None or picture is None else str(Path(picture).with_stem(Path(picture).stem + "-audit"))
        if audited is not None and drifts is not None:
            audited.plot(drifts)
        steps, wall = later.steps, later.wall_time
        data = {
            "model": run.model_name,
            "digest": run.model_digest,
            "status": run.status,
            "form": run.form,
            "integrator": run.integrator,
            "dt": run.dt,
            "duration": float(run.t[-1]),
            "steps": steps,
            "wall_s": wall,
            "steps_per_s": steps / wall,
            "nfev": run.nfev,
            "conserved": [row.data() for row in rows],
            "impacts": [_told(run, blow) for blow in run.impacts],
            "q": run.q[-1].tolist(),
            "v": run.v[-1].tolist(),
            "run": self.out,
            "picture": picture,
            "audit_picture": drifts,
        }
        speed = f"{steps:,} steps of {run.integrator} in {wall:.3g} s ({steps / wall:,.0f} steps/s)"
        wrote = "wrote " + ", ".join(filter(None, (self.out, picture, drifts)))
        title = f"{run.model_name}: what was conserved over {run.t[-1]:g} s"
        lines = [
            line for line in (run.message, overlapping, *_impacts(run), *_too_fast(model, run), speed, wrote, note) if line
        ]
        return Report(data, [heading(title), _drawn(rows), *lines], 130 if run.status == "interrupted" else 0)

    def _earlier(self, model: Model) -> Run | None:
        """The run to go on from."""
        if self.restart is None:
            return None
        new = ("q0", "v0", "random", "dt", "form", "integrator", "store_every")
        given = [f"--{name.replace('_', '-')}" for name in new if getattr(self, name) is not None]
        if given:
            raise InputError(f"--restart goes on from the end of a run as that went; leave out {', '.join(given)}.")
        return load_run(self.restart, model)

    def _setting(self, model: Model) -> Setting | None:
        """Of a named example that touches something, unless other contacts are asked for."""
        asked = self.self_contact or self.floor is not None
        named = self.file in SETTINGS and not Path(self.file).is_file() and not asked
        return SETTINGS[self.file](model) if named else None

    def _scene(self, model: Model, setting: Setting | None, q0: Any) -> tuple[Scene | None, str]:
        """The scene, and a line that says what of it overlaps at the start."""
        given = {name: x for name in ("friction", "restitution") if (x := getattr(self, name)) is not None}
        if setting is not None:
            return replace(setting.scene, **given), ""
        if given and self.floor is None and not self.self_contact:
            raise InputError(f"--{next(iter(given))} is for contacts: add --floor 0, or another height, or --self-contact.")
        ground = () if self.floor is None else Plane(offset=self.floor)
        if not self.self_contact:
            return None if self.floor is None else Scene(ground, pairs="ground", **given), ""
        scene = Scene(ground, **given)
        found = apart(model, scene, ends_of(model, scene.limits).within(model.neutral()) if q0 is None else q0)
        return found, _overlapping(model, scene, found)

    def _start(self, model: Model, setting: Setting | None) -> tuple[Any, Any]:
        if self.random is None and self.q0 is None and self.v0 is None:
            return (None, None) if setting is None or self.restart is not None else (setting.q0, setting.v0)
        if self.random is None:
            q0 = None if self.q0 is None else coordinates(model, self.q0, "--q0")
            return q0, velocities(model, self.v0, "--v0")
        if self.q0 is not None or self.v0 is not None:
            raise InputError("--random chooses the initial state; leave out --q0 and --v0.")
        if self.random < 0:
            raise InputError(f"--random must be a seed of at least 0, found {self.random}.")
        rng = np.random.default_rng(self.random)
        return model.random(rng), rng.normal(size=model.nv)

    def _picture(self, run: Run) -> tuple[str | None, str]:
        """Draw where asked, or beside the run where matplotlib is there."""
        path = self.plot or self.out[: -len(".npz")] + ".png"
        try:
            run.plot(path)
        except MissingExtraError as missing:
            if self.plot:
                raise
            return None, f"no picture: {missing}"
        return path, ""


def _overlapping(model: Model, whole: Scene, left: Scene) -> str:
    """Which pairs of bodies a scene has and what is left of it has not."""
    pairs = {(pair.first, pair.second): None for pair in pairs_of(model, whole)}
    kept = {(pair.first, pair.second) for pair in pairs_of(model, left)}
    names = [f"{model.body_names[a]!r} and {model.body_names[b]!r}" for a, b in pairs if (a, b) not in kept]
    more = f"; and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return f"overlap at the start, and may: {'; '.join(names[:MOST_TOLD])}{more}" if names else ""


def _too_fast(model: Model, run: Run) -> list[str]:
    """A line for each joint that was faster than its velocity limit, which nothing holds it to."""
    most = np.concatenate([body.limits.velocity for body in model.bodies])
    lines = []
    for k, (name, unit) in enumerate(run.v_labels):
        when = int(np.argmax(np.abs(run.v[:, k])))
        if (fastest := abs(run.v[when, k])) > most[k]:
            lines.append(f"{name} reached {fastest:.3g} {unit} at t = {run.t[when]:.4g} s; its limit is {most[k]:.3g} {unit}")
    return lines


def _told(run: Run, blow: Blow) -> dict[str, Any]:
    """An impact, as JSON holds it."""
    return {
        "t": blow.t,
        "contacts": [run.contacts[k] for k in blow.contacts],
        "impulses": blow.impulses.tolist(),
        "energy": blow.energy,
        "before": blow.before.tolist(),
        "after": blow.after.tolist(),
    }


def _impacts(run: Run) -> list[str]:
    """A line for each of the first impacts, and how many there were."""
    lines = []
    for blow in run.impacts[:MOST_TOLD]:
        pushed: dict[str, Any] = {}
        for k, x in zip(blow.contacts, blow.impulses, strict=True):
            pushed[run.contacts[k]] = pushed.get(run.contacts[k], 0.0) + x
        where = "; ".join(f"{name}, {np.linalg.norm(x):.4g} N s" for name, x in list(pushed.items())[:3])
        more = f"; and {len(pushed) - 3} more" if len(pushed) > 3 else ""
        lines.append(f"impact at t = {blow.t:.6g} s, {blow.energy:.4g} J: {where}{more}")
    rest = len(run.impacts) - MOST_TOLD
    return [*lines, f"and {rest} more impacts"] if rest > 0 else lines


def _drawn(rows: tuple[Row, ...]) -> Any:
    made = table(*(f">{name}" if k in NUMERIC else name for k, name in enumerate(HEADINGS)))
    for row in rows:
        add_row(made, *cells_of(row))
    return made
