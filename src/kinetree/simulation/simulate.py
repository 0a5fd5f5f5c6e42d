"""`simulate`: checks at the boundary, then one loop of integrator steps that never loses what it has computed."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.contact.scene import Scene
from kinetree.errors import InputError, KinetreeError, SimulationError
from kinetree.model import Model
from kinetree.simulation.checks import check_memory
from kinetree.simulation.clock import clock
from kinetree.simulation.contact.ends import without_stops
from kinetree.simulation.contact.stepper import ContactStepper, contact_stepper
from kinetree.simulation.contact.touched import Touched
from kinetree.simulation.contact.unilateral import check_start
from kinetree.simulation.control import applied, control_signal, external_signal
from kinetree.simulation.events import Watch, events_of
from kinetree.simulation.labels import velocity_labels
from kinetree.simulation.progress import ProgressBar
from kinetree.simulation.record import Record
from kinetree.simulation.run import Run
from kinetree.simulation.start import initial_state, manner, too_fast
from kinetree.simulation.system import maps_of, stepper
from kinetree.spatial.scalars import Array


@final
class SimulationStopped(SimulationError):  # noqa: N818
    """The simulation could not go on; `run`, a `Run` or `Rollout`, holds everything up to the last good state."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run


def simulate(
    model: Model,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = 5.0,
    dt: float | None = None,
    *,
    control: Any = None,
    external: Any = None,
    events: Any = None,
    contact: Scene | None = None,
    restart: Run | None = None,
    form: str | None = None,
    integrator: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    store_every: int | None = None,
    passive: bool | None = None,
    progress: bool | None = None,
) -> Run:
    """The motion of a model from (q0, v0), or from where an earlier run ended, a `Run`.

    There are n = ⌈duration/dt⌉ steps; the last is shortened so that it lands on duration exactly.

    Parameters
    ----------
    q0 (nq,), v0 (nv,) : initial state; the neutral configuration, of joints that end elsewhere their nearest end where those
        are contacts, and rest where not given
    duration [s] : how long, from the start or the restart
    dt [s] : time step, 1 ms
    control : joint forces [N m or N]: None, a constant (nv,), a `Table` or pair (times (K,), taus (K, nv)), or a function
        control(t, q, v) → (nv,)
    external : wrenches [moment; force] on the bodies, body axes: None, a constant (nbodies, 6), or a function of (t, q, v)
    events : a function of (t, q, v) → number, or several. Where one passes through zero between two steps, its time and state
        are kept in the run. As in SciPy, the attribute `direction` of a function says whether only rising (> 0) or falling
        (< 0) counts, and `terminal` whether its first crossing, or which, ends the run
    contact : a `kinetree.contact.Scene`: what bodies may touch, and how. Impacts are located between steps and kept in the run;
        what rests, rolls or slides goes by time-stepping, of second order in dt at most; see docs/contact.md
    restart : an earlier run of this model. Time goes on from its end; q0 and v0 stand for its last state, and dt, form,
        integrator, store_every and passive, where given, for its own. `earlier + later` is one run
    form : of the equations of motion: "newton-euler", the articulated recursion in (q, v); "hamilton", in (q, p), O(N) too;
        "lagrange", by the mass and the Coriolis matrix, another road to the same numbers, O(N³)
    integrator : "rk4" or "semi-implicit-euler", explicit; "implicit-midpoint", "gauss-legendre-4" or "variational", which keep
        energy near its value for ever and momenta exactly; "dop853" or "radau" (for stiff models), SciPy's, whose steps are
        as long as the error allows and dt is the spacing of what can be stored; see docs/simulation.md. If not told, "rk4",
        or "semi-implicit-euler" where damping, friction or springs of joints are too fast for it at this dt
    rtol, atol : relative and absolute error of a step of SciPy's integrators, in each of (q, v) or (q, p); 1e-8 and 1e-10
    store_every : keep every so-manieth state; the first and the last are always kept
    passive : whether joints do what they do by themselves, yes if not told: damping, friction, springs, stops at position
        limits, and effort limits, which hold control within them. Semi-implicit Euler takes all of that as it is at the end of
        a step, so that none of it is too strong for any dt; other integrators as it is when they ask
    progress : show a progress bar; None shows it on a terminal when the whole takes more than a second

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    SimulationStopped : the state became infinite, the equations of an implicit step could not be solved, or control, external
        or an event failed; its `run` holds what was computed

    Ctrl-C returns what was computed, with status "interrupted"; going on from there gives the same bits as if it had not been.
    An event is found as exactly as the integrator steps, and the state that is kept is the last one before it, to rounding. One
    that is zero at the start counts when it comes back; two crossings within a step are not seen.

    Cost: O(N) per call of the dynamics, 4 a step for rk4, 1 for semi-implicit-euler; implicit rules repeat until their
    equations are solved to rounding, some 4 to 10 times, "gauss-legendre-4" twice in each.
    """
    q, v, p = initial_state(model, q0, v0, restart, contact)
    how = manner(
        model, restart, dt=dt, form=form, integrator=integrator, store_every=store_every, rtol=rtol, atol=atol, passive=passive
    )
    time = clock(duration, how.dt, restart)
    drives = control_signal(model, control), external_signal(model, external)
    carried, velocity = maps_of(model, how.form)
    acting = without_stops(model if how.passive else model.without_resistance, contact)
    step, forces = stepper(acting, how.form, how.integrator, *drives, how.rtol, how.atol), applied(acting, *drives)
    if contact is not None:
        step = contact_stepper(model, acting, contact, step, how.form, how.integrator, how.dt)
        if restart is None or q0 is not None:
            check_start(step.contacts, q)
    touched = Touched(step) if isinstance(step, ContactStepper) else None
    watch = Watch(events_of(events), step, velocity)
    rows = _rows(model, time.last - time.first, how.store_every)
    record = Record(model, rows, **asdict(how), origin=time.origin, driven=drives != (None, None))
    every, last = how.store_every, time.last
    t, y, done = time.start, p if p is not None and how.form == "hamilton" else carried(q, v), 0

    def run(status: str, message: str) -> Run:
        told = {"carried": y.copy()} if how.form == "hamilton" else {}
        told |= watch.found(model.nq, model.nv)
        told |= {} if touched is None else touched.found()
        return record.run(t, q, velocity(q, y), status, message, steps=done, nfev=step.nfev, **told)

    try:
        with ProgressBar(time.last - time.first, progress, f"simulating {model.name}") as bar, np.errstate(all="ignore"):
            record.store(t, q, v, forces(t, q, v))
            watch.begin(t, q, y, next(time.steps())[2])
            for k, after, h in time.steps():
                q_after, y_after = step(t, q, y, h)
                if not math.isfinite(q_after.dot(q_after) + y_after.dot(y_after)):
                    said = divergence(acting, t, how.dt, velocity(q, y))
                    raise SimulationError(f"the simulation of {model.name!r} diverged: the state {said}")
                if touched is not None:
                    touched.look(h)
                ended = watch.after((t, q, y), h, (after, q_after, y_after)) if watch.events else None
                t, q, y = (after, q_after, y_after) if ended is None else ended[1]
                done += 1
                if touched is not None:
                    touched.keep(t)
                if ended or k % every == 0 or k == last:
                    v = velocity(q, y)
                    record.store(t, q, v, forces(t, q, v))
                    if touched is not None:
                        touched.store(record.count - 1)
                if ended:
                    return run("event", f"event {ended[0]!r} at t = {t:.9g} s")
                bar.at(done)
    except KeyboardInterrupt:
        return run("interrupted", f"interrupted at t = {t:.9g} s of {time.end:g} s; restart=run goes on from there")
    except KinetreeError as failure:
        if not done and isinstance(failure, InputError):
            raise
        raise SimulationStopped(str(failure), run("stopped", str(failure))) from failure.__cause__
    return run("finished", "")


def divergence(model: Model, t: float, dt: float, v: Array) -> str:
    """How a state diverged, in words: when, and what was fast while it was finite."""
    fastest = int(np.argmax(np.abs(v)))
    body = next(i for i, s in enumerate(model.v_slices) if s.start <= fastest < s.stop)
    return (
        f"after t = {t:.9g} s is not finite. Fastest was joint "
        f"{model.joint_names[body]!r} at {v[fastest]:.3g} {velocity_labels(model)[fastest][1]}. "
        f"Try a smaller dt (now {dt:g} s), and look at control and at very light bodies.{_resisting(model, dt)}"
    )


def _resisting(model: Model, dt: float) -> str:
    """What joints do by themselves faster than a step can follow, in words; nothing if there is no such thing."""
    found = too_fast(model, dt)
    if found is None:
        return ""
    name, rate = found
    return (
        f" What joint {name!r} does by itself settles in {1.0 / rate:.2g} s, too fast for that dt:"
        ' integrator="semi-implicit-euler" takes it implicitly, passive=False leaves it out.'
    )


def _rows(model: Model, steps: int, store_every: int) -> int:
    """How many states are stored."""
    rows = steps // store_every + 3
    check_memory(steps, rows, 8 * (model.nq + 2 * model.nv + 4))
    return rows
