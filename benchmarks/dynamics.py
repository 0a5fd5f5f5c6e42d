"""Forward and inverse dynamics of Panda and G1: kinetree, Pinocchio and MuJoCo on one core, interleaved in one run.

    python benchmarks/dynamics.py [--json FILE]

Needs kinetree[robots,peers]. Every timed result is compared with kinetree's first; the run stops above 1e-9 relative.
"""

import argparse
import json
import os
import platform
import site
import statistics
import subprocess
import sys
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from lxml import etree  # noqa: E402

import kinetree as kt  # noqa: E402

AGREEMENT = 1e-9
REPEATS = 15
BATCH = 4096
ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "G1 29 dof": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
}
IMPORT_BUDGET = 8


def robots_folder() -> Path:
    for packages in site.getsitepackages():
        folder = Path(packages) / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    raise SystemExit("example-robot-data is not installed; install kinetree[robots,peers]")


class Pinocchio:
    """The robot in Pinocchio: `state` is (q, v, x) in its coordinates, `order` its velocities among ours."""

    def __init__(self, model, path, base, q, v, x):
        flyer = [pin.JointModelFreeFlyer()] if base == "free" else []
        self.model = pin.buildModelFromUrdf(str(path), *flyer)
        self.data = self.model.createData()
        self.pool = pin.ModelPool(self.model, 1)
        theirs, self.order = np.zeros((len(q), self.model.nq)), np.zeros(self.model.nv, int)
        for k, (name, at, rates) in enumerate(zip(model.joint_names, model.q_slices, model.v_slices, strict=True)):
            free = k == 0 and base == "free"
            joint = self.model.joints[1 if free else self.model.getJointId(name)]
            own = np.arange(at.start, at.stop)
            theirs[:, joint.idx_q : joint.idx_q + joint.nq] = q[:, own[[4, 5, 6, 1, 2, 3, 0]] if free else own]
            own = np.arange(rates.start, rates.stop)
            self.order[joint.idx_v : joint.idx_v + joint.nv] = own[[3, 4, 5, 0, 1, 2]] if free else own
        self.state = theirs, v[:, self.order].copy(), x[:, self.order].copy()
        self.columns = tuple(np.asfortranarray(array.T) for array in self.state)

    def ours(self, result):
        back = np.empty_like(result)
        back[..., self.order] = result
        return back


class MuJoCo:
    """The robot in MuJoCo without contacts, limits, damping or mimic constraints; linear velocity of the base in world axes."""

    def __init__(self, model, path, base, q, v, x):
        spec = mujoco.MjSpec.from_string(without_geometry(path))
        spec.compiler.fusestatic, spec.compiler.balanceinertia = True, False
        if base == "free":
            spec.worldbody.bodies[0].add_freejoint(name=model.joint_names[0])
        self.model = m = spec.compile()
        self.base = base
        m.opt.gravity = model.gravity
        off = mujoco.mjtDisableBit
        m.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_EQUALITY | off.mjDSBL_LIMIT
        m.dof_damping[:], m.dof_frictionloss[:], m.dof_armature[:] = 0, 0, 0
        self.data = mujoco.MjData(m)
        self.q, self.columns = np.zeros((len(q), m.nq)), np.zeros(m.nv, int)
        for k, (name, at, rates) in enumerate(zip(model.joint_names, model.q_slices, model.v_slices, strict=True)):
            joint = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, name)
            free = k == 0 and base == "free"
            own = np.arange(at.start, at.stop)
            where = m.jnt_qposadr[joint]
            self.q[:, where : where + len(own)] = q[:, own[[4, 5, 6, 0, 1, 2, 3]] if free else own]
            own = np.arange(rates.start, rates.stop)
            where = m.jnt_dofadr[joint]
            self.columns[where : where + len(own)] = own[[3, 4, 5, 0, 1, 2]] if free else own
        self.R = kt.forward_kinematics(model, q)[0][:, 0]
        self.omega, self.linear = v[:, :3], v[:, 3:6]
        self.v, self.x_force = self.theirs(v), self.theirs(x)
        turned = x.copy()
        if base == "free":
            turned[:, 3:6] += np.cross(self.omega, self.linear)
        self.x_acceleration = self.theirs(turned)

    def theirs(self, x):
        x = x.copy()
        if self.base == "free":
            x[:, 3:6] = np.einsum("nij,nj->ni", self.R, x[:, 3:6])
        return x[:, self.columns]

    def ours(self, result, acceleration):
        back = np.empty((len(result), len(self.columns)))
        back[:, self.columns] = result
        if self.base == "free":
            R = self.R[: len(result)]
            back[:, 3:6] = np.einsum("nji,nj->ni", R, back[:, 3:6])
            if acceleration:
                back[:, 3:6] -= np.cross(self.omega[: len(result)], self.linear[: len(result)])
        return back

    def forward(self, count):
        """mj_forward: kinematics, mass matrix and its factor, bias, acceleration (no contacts)."""
        m, d, out = self.model, self.data, np.empty((count, self.model.nv))
        for k in range(count):
            d.qpos[:], d.qvel[:], d.qfrc_applied[:] = self.q[k], self.v[k], self.x_force[k]
            mujoco.mj_forward(m, d)
            out[k] = d.qacc
        return out

    def inverse(self, count):
        """mj_inverse: kinematics, mass matrix, bias, M a + bias."""
        m, d, out = self.model, self.data, np.empty((count, self.model.nv))
        for k in range(count):
            d.qpos[:], d.qvel[:], d.qacc[:] = self.q[k], self.v[k], self.x_acceleration[k]
            mujoco.mj_inverse(m, d)
            out[k] = d.qfrc_inverse
        return out


def without_geometry(path: Path) -> str:
    root = etree.fromstring(path.read_bytes(), etree.XMLParser(remove_comments=True))
    for tag in ("visual", "collision", "transmission", "gazebo"):
        for node in list(root.iter(tag)):
            node.getparent().remove(node)
    return etree.tostring(root, encoding="unicode")


def check(found, wanted, what):
    error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    if not error <= AGREEMENT:
        raise SystemExit(f"{what}: differs from kinetree by {error:.3g} relative, more than {AGREEMENT:g}")


def contestants(function, model, pinocchio, moving, state):
    """(name, states, call, result in our coordinates) of everything timed for one function of one robot."""
    inverse = function is kt.inverse_dynamics
    kernel = kt.compile(function, model)
    one = tuple(x[0].copy() for x in state)
    m, d, pool = pinocchio.model, pinocchio.data, pinocchio.pool
    their_one = tuple(x[0].copy() for x in pinocchio.state)
    single = pin.rnea if inverse else pin.aba
    parallel = pin.rneaInParallel if inverse else pin.abaInParallel
    columns = pinocchio.columns
    out, their_out = np.empty((BATCH, model.nv)), np.empty((model.nv, BATCH), order="F")
    loop = moving.inverse if inverse else moving.forward

    def batch():
        return kernel(*state, out=out)

    def in_parallel():
        parallel(1, pool, *columns, their_out)
        return their_out

    yield "kinetree, public function", 1, lambda: function(model, *one), lambda x: x
    yield "kinetree, kernel", 1, lambda: kernel(*one), lambda x: x
    yield f"Pinocchio {single.__name__}", 1, lambda: single(m, d, *their_one), pinocchio.ours
    yield f"MuJoCo mj_{loop.__name__}", 1, lambda: loop(1), lambda x: moving.ours(x, not inverse)[0]
    yield "kinetree, public function", BATCH, lambda: function(model, *state), lambda x: x
    yield "kinetree, kernel", BATCH, batch, lambda x: x
    yield f"Pinocchio {parallel.__name__}", BATCH, in_parallel, lambda x: pinocchio.ours(x.T)
    yield f"MuJoCo mj_{loop.__name__}, Python loop", BATCH, lambda: loop(BATCH), lambda x: moving.ours(x, not inverse)


def timed(call, calls):
    started = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - started) / calls


def measure(robot):
    file, base = ROBOTS[robot]
    path = robots_folder() / file
    model = kt.load(path, base=base)
    rng = np.random.default_rng(0)
    state = model.random(rng, BATCH), *rng.uniform(-1, 1, (2, BATCH, model.nv))
    pinocchio, moving = Pinocchio(model, path, base, *state), MuJoCo(model, path, base, *state)
    for function in (kt.forward_dynamics, kt.inverse_dynamics):
        started = time.perf_counter()
        wanted = function(model, *state)
        compile_seconds = time.perf_counter() - started
        runs = list(contestants(function, model, pinocchio, moving, state))
        samples = [[] for _ in runs]
        calls = [max(1, min(1000, int(4e-3 / timed(run[2], 1)))) for run in runs]
        for repeat in range(REPEATS):
            for (name, count, call, ours), times, n in zip(runs, samples, calls, strict=True):
                times.append(timed(call, n))
                if repeat in (0, REPEATS - 1):
                    check(ours(call()), wanted[0] if count == 1 else wanted, f"{robot}, {function.__name__}, {name}")
        for (name, count, *_), times in zip(runs, samples, strict=True):
            yield {
                "robot": robot,
                "nv": model.nv,
                "quantity": function.__name__,
                "states": count,
                "who": name,
                "ns_per_state": statistics.median(times) / count * 1e9,
                "first_call_seconds": compile_seconds if name.startswith("kinetree, public") and count == 1 else None,
            }


def with_ratios(rows):
    """ratio: how many times as long as kinetree's kernel on the same work; below 1 is a loss of ours."""
    for row in rows:
        same = [r for r in rows if all(r[k] == row[k] for k in ("robot", "quantity", "states"))]
        row["ratio"] = row["ns_per_state"] / next(r["ns_per_state"] for r in same if r["who"] == "kinetree, kernel")
        ours = next(r["ns_per_state"] for r in same if r["who"] == "kinetree, public function")
        row["loss"] = not row["who"].startswith("kinetree") and row["ns_per_state"] < ours
    return rows


def import_seconds() -> float:
    code = "import time; t = time.perf_counter(); import kinetree; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(IMPORT_BUDGET)
    ]
    return statistics.median(runs)


def machine() -> dict:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu)
    versions = {"Python": platform.python_version(), "NumPy": np.__version__, "kinetree": kt.__version__}
    return {"cpu": cpu, "cores": os.cpu_count(), **versions, "Pinocchio": pin.__version__, "MuJoCo": mujoco.__version__}


def table(rows) -> str:
    lines = ["| robot | quantity | states | who | ns per state | × kernel | first call |", "|---|---|--:|---|--:|--:|--:|"]
    for r in rows:
        first = f"{r['first_call_seconds']:.2f} s" if r["first_call_seconds"] is not None else ""
        lines.append(
            f"| {r['robot']} (nv {r['nv']}) | {r['quantity']} | {r['states']} | {r['who']} "
            f"| {r['ns_per_state']:,.0f} | {r['ratio']:.1f} | {first} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers there too")
    options = parser.parse_args()
    imported = import_seconds()
    pinned = hasattr(os, "sched_setaffinity")
    if pinned:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = with_ratios([row for robot in ROBOTS for row in measure(robot)])
    where = machine()
    print(
        ", ".join(f"{k} {v}" for k, v in where.items())
        + f"; one core{'' if pinned else ' (not pinned)'}, medians of {REPEATS}."
    )
    print(f"import kinetree, in a fresh process: {imported:.3f} s.\n")
    print(table(rows))
    losses = [f"{r['robot']} {r['quantity']}, {r['states']} state(s): {r['who']}" for r in rows if r["loss"]]
    print("\nFaster than kinetree's public function: " + ("; ".join(losses) if losses else "none") + ".")
    if options.json:
        options.json.write_text(json.dumps({"machine": where, "import_seconds": imported, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
