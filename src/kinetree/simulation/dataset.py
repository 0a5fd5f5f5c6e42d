"""A run as an xarray Dataset: arrays that know the names and units of their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.errors import MissingExtraError
from kinetree.simulation.run import Run

if TYPE_CHECKING:
    from xarray import Dataset  # pyright: ignore[reportMissingImports]


def dataset(run: Run) -> Dataset:
    """Variables q, v, tau, p, kinetic, potential and energy over `time`; `coordinate` and `velocity` name the columns.

    The units of columns are coordinates too, `coordinate_unit` and `velocity_unit`. Where the run came without its model
    there is no p.
    """
    try:
        from xarray import Dataset  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError('a Dataset needs xarray: pip install "kinetree[xarray]"') from None
    over_q, over_v = ("time", "coordinate"), ("time", "velocity")
    variables: dict[str, Any] = {
        "q": (over_q, run.q, {"long_name": "generalized coordinates"}),
        "v": (over_v, run.v, {"long_name": "generalized velocities"}),
        "tau": (over_v, run.tau, {"long_name": "joint forces of control and of external wrenches"}),
    }
    if run.model is not None:
        variables["p"] = over_v, run.p, {"long_name": "generalized momenta"}
    for name in ("kinetic", "potential", "energy"):
        about = {"units": "J", "long_name": "total energy" if name == "energy" else f"{name} energy"}
        variables[name] = ("time",), getattr(run, name), about
    axes = {
        "time": ("time", run.t, {"units": "s"}),
        "coordinate": [name for name, _ in run.q_labels],
        "coordinate_unit": ("coordinate", [unit for _, unit in run.q_labels]),
        "velocity": [name for name, _ in run.v_labels],
        "velocity_unit": ("velocity", [unit for _, unit in run.v_labels]),
    }
    kept = ("model_name", "model_digest", "form", "integrator", "dt", "status", "message", "steps", "nfev")
    about = {name: getattr(run, name) for name in kept}
    return Dataset(variables, axes, about | {"driven": int(run.driven)})
