"""A model as something to act on: what an action is, what is seen, what it is worth, when it is over. Batched throughout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import compilation, functions
from kinetree.errors import InputError
from kinetree.evaluation import checked_arguments
from kinetree.gym.box import box_of, positive
from kinetree.io import load
from kinetree.model import Free, Model
from kinetree.model.examples import EXAMPLES, example
from kinetree.simulation.checks import check_movable, check_seconds, check_step, whole_number
from kinetree.simulation.rollout import rollout_kernel
from kinetree.spatial.scalars import Array

Start = Callable[[np.random.Generator], tuple[ArrayLike, ArrayLike]]
"""start(rng) → (q0 (nq,), v0 (nv,))."""
Reward = Callable[[Array, Array, Array], Array]
"""reward(q (..., nq), v (..., nv), tau (..., nv)) → (...), the state after a step and the joint forces during it."""
Terminated = Callable[[Array, Array], Array]
"""terminated(q (..., nq), v (..., nv)) → (...) bool."""
EFFORT_COST = 1e-3
"""What full effort of a joint costs a step, where no reward is given: as much as 1 mm of height."""


@final
class Task:
    """What environments share.

    Parameters
    ----------
    model : a `Model`, or the name of an example or an installed robot, or a file
    dt [s] : time between two actions
    substeps : steps of the integrator in it
    integrator : "semi-implicit-euler" or "rk4"
    effort (nv,) or a number [N m or N] : the joint force of an action of 1; 0 for joints that are not driven. Where not given:
        the model's effort limits, and 0 for free joints
    reach [m], speed (nv,) or a number [rad/s or m/s] : what lengths without limits and velocities may not exceed; beyond, and
        beyond twice the range of limits, the episode ends
    start, reward, terminated : see `Start`, `Reward`, `Terminated`. Where not given: near the neutral configuration, almost at
        rest; the height of the centre of mass above that of the neutral configuration [m], less 0.001 Σ action² ("swing up");
        never, but where the box of observations is left

    Raises
    ------
    InputError : an argument has the wrong shape, type or value
    """

    def __init__(
        self,
        model: Model | str,
        *,
        dt: float = 0.02,
        substeps: int = 4,
        integrator: str = "semi-implicit-euler",
        effort: ArrayLike | None = None,
        reach: float = 100.0,
        speed: ArrayLike = 100.0,
        start: Start | None = None,
        reward: Reward | None = None,
        terminated: Terminated | None = None,
    ) -> None:
        if isinstance(model, str):
            model = example(model) if model in EXAMPLES else load(model)
        check_movable(model)
        check_seconds(dt, "dt")
        check_step(integrator)
        self.model, self.dt, self.substeps = model, float(dt), whole_number(substeps, "substeps")
        self.effort = _effort(model, effort)
        self.driven = np.flatnonzero(self.effort)
        self.box = box_of(model, reach, speed)
        self.start = start or near_neutral(model)
        self.reward = reward or swing_up(model, self.effort)
        self.terminated = terminated
        for name in ("start", "reward", "terminated"):
            if not callable(getattr(self, name) or swing_up):
                raise InputError(f"{name} must be a function, found {getattr(self, name)!r:.60}.")
        self._kernel = rollout_kernel(model, "newton-euler", integrator, False)
        self._plan = np.array([1.0, self.substeps])

    def drawn(self, generators: Sequence[np.random.Generator], options: Mapping[str, Any] | None = None) -> tuple[Array, Array]:
        """States (n, nq), (n, nv) to start from, by one generator each; options "q0" and "v0" stand for what would be drawn."""
        options = options or {}
        unknown = options.keys() - {"q0", "v0"}
        if unknown:
            raise InputError(f"options of reset are 'q0' and 'v0', found {', '.join(map(repr, sorted(unknown)))}.")
        states = [self.start(rng) for rng in generators]
        wrong = [state for state in states if not (isinstance(state, tuple) and len(state) == 2)]
        if wrong:
            raise InputError(f"start must give (q0, v0), found {wrong[0]!r:.80}.")
        q, v = np.empty((len(states), self.model.nq)), np.empty((len(states), self.model.nv))
        for name, x, column in (("q0", q, 0), ("v0", v, 1)):
            given = [options[name]] * len(states) if name in options else [state[column] for state in states]
            for k, one in enumerate(given):
                try:
                    found = np.asarray(one, dtype=float)
                except (TypeError, ValueError):
                    found = np.array(None)
                if found.shape != x.shape[1:]:
                    raise InputError(f"{name} of an episode must be numbers of shape {x.shape[1:]}, found {one!r:.80}.")
                x[k] = found
        checked_arguments(_start_state, self.model, (q, v))
        return q, v

    def step(self, q: Array, v: Array, actions: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
        """States (n, nq), (n, nv) under actions (n, m): the next ones, what is seen, the reward, whether it is over, and
        whether that is because the state was not finite any more; such a state stays as it was."""
        tau = self.forces(actions, len(q))
        held = np.broadcast_to(tau[:, None], (len(q), self.substeps, self.model.nv))
        after = np.empty((len(q), 1, self.model.nq)), np.empty((len(q), 1, self.model.nv))
        with np.errstate(all="ignore"):
            self._kernel(q, v, held, self.dt / self.substeps, self._plan, out=after)
        q_after, v_after = (x[:, 0] for x in after)
        diverged = np.asarray(~(np.isfinite(q_after).all(-1) & np.isfinite(v_after).all(-1)))
        if diverged.any():
            q_after[diverged], v_after[diverged] = q[diverged], v[diverged]
        observation = self.box.observation(q_after, v_after)
        over = self.box.left(observation) | diverged
        if self.terminated is not None:
            over = over | self._told("terminated", self.terminated(q_after, v_after), len(q)).astype(bool)
        reward = self._told("reward", self.reward(q_after, v_after, tau), len(q)).astype(float)
        return q_after, v_after, self.seen(observation), reward, over, diverged

    def seen(self, observation: Array) -> Array:
        """What lies outside of the box is seen at its edge."""
        return np.clip(observation, self.box.low, self.box.high)

    def forces(self, actions: Any, n: int) -> Array:
        """Joint forces (n, nv) of actions (n, m), each held within ±1."""
        try:
            found = np.asarray(actions, dtype=float)
        except (TypeError, ValueError):
            found = np.full((), np.nan)
        if found.shape != (n, len(self.driven)) or not np.isfinite(found).all():
            driven = [
                name for name, part in zip(self.model.joint_names, self.model.v_slices, strict=True) if self.effort[part].any()
            ]
            raise InputError(
                f"actions of {self.model.name!r} must be finite numbers in [-1, 1] of shape ({n}, {len(self.driven)}), without "
                f"the first axis for one environment, {len(self.driven)} for the joints {', '.join(driven[:12])}; found "
                f"{actions!r:.60}."
            )
        tau = np.zeros((n, self.model.nv))
        tau[:, self.driven] = np.clip(found, -1.0, 1.0) * self.effort[self.driven]
        return tau

    def _told(self, name: str, value: Any, n: int) -> Array:
        found = np.asarray(value)
        if found.shape != (n,) or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
            raise InputError(
                f"{name} must give a finite number for each of the states it is handed, (n, nq), (n, nv), so shape ({n},); "
                f"found {found!r:.80}. Sum over the last axis only: x.sum(-1)."
            )
        return found


def near_neutral(model: Model) -> Start:
    """Within 0.1 rad or m of the neutral configuration and inside the limits, at up to 0.1 rad/s or m/s."""
    low, high = _limits(model)

    def start(rng: np.random.Generator) -> tuple[Array, Array]:
        q = functions.integrate(model, model.neutral(), rng.uniform(-0.1, 0.1, model.nv))
        return np.clip(q, low, high), rng.uniform(-0.1, 0.1, model.nv)

    return start


def swing_up(model: Model, effort: Array) -> Reward:
    """Height of the centre of mass above that of the neutral configuration [m], less a cost of effort."""
    g = model.gravity
    if not g.any():
        raise InputError(
            f"{model.name!r} knows no gravity, so there is no height to reward: give reward=, a function of q, v, tau."
        )
    up, centre = -g / np.sqrt((g * g).sum()), compilation.compile(functions.center_of_mass, model)
    scale = np.where(effort > 0.0, effort, np.inf)

    def height(q: Array) -> Array:
        c = centre(q)
        return c[..., 0] * up[0] + c[..., 1] * up[1] + c[..., 2] * up[2]

    lowest = height(model.neutral())
    return lambda q, v, tau: height(q) - lowest - EFFORT_COST * ((tau / scale) ** 2).sum(-1)


def _start_state(model: Model, q0: Array, v0: Array) -> None:
    """Names the arguments of a start for messages."""


_start_state.__name__ = "start"


def _limits(model: Model) -> tuple[Array, Array]:
    """Bounds (nq,) of coordinates, ±inf where there are none."""
    low, high = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for body, part in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.quaternion is None:
            low[part], high[part] = body.limits.lower, body.limits.upper
    return low, high


def _effort(model: Model, effort: ArrayLike | None) -> Array:
    """What an action of 1 is at each velocity (nv,)."""
    if effort is not None:
        found = np.array(np.broadcast_to(positive(model, "effort", effort, (model.nv,), zero=True), (model.nv,)))
    else:
        parts = [np.zeros(6) if isinstance(body.joint, Free) else body.limits.effort for body in model.bodies]
        found = np.concatenate(parts)
        endless = [body.joint_name for body, part in zip(model.bodies, parts, strict=True) if not np.isfinite(part).all()]
        if endless:
            raise InputError(
                f"the effort of {len(endless)} joints of {model.name!r} has no limit: {', '.join(endless[:12])}. Give effort=, "
                f"a number or {model.nv} of them, 0 for joints that are not driven."
            )
    if not found.any():
        raise InputError(f"no joint of {model.name!r} is driven: every effort is 0. Give effort=, a number or {model.nv}.")
    return found
