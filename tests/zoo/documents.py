"""The worked systems of the source documents as models, from tests/data/seed_cases.json.

The documents write rates in their own coordinates: inertial components of [ω; velocity] for a free base, Euler rates
for a ball. A `Case` says how those become kinetree's: v = S q̇, a = S q̈ + ṡ.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

import kinetree as kt

FILE = Path(__file__).parents[1] / "data" / "seed_cases.json"

TREES = (
    "000_ex1_pendulum_on_moving_base",
    "000_ex2_double_pendulum",
    "000_ex3_satellite",
    "000_ex4_three_link_arm",
    "002_fig3_5segment_tree12",
    "003_fig2_tree10_revolute",
    "003_fig2_tree10_mixed_RP",
    "003_tree6_multidof_joints",
    "003_freebase_tree5",
    "004_chain3_christoffel",
)
COORDINATES = {"R": 1, "P": 1, "H": 1, "U": 2, "C": 2, "E": 3, "F": 6}


@dataclass(frozen=True)
class Case:
    """A document's system, its state in kinetree's coordinates, and the map between the two kinds of rates."""

    model: kt.Model
    q: np.ndarray
    S: np.ndarray
    s_dot: np.ndarray
    params: dict
    expected: dict

    @property
    def v(self):
        return self.S @ self.array("qd")

    def a(self, qdd):
        """Kinetree's acceleration of the documents' q̈."""
        return self.S @ qdd + self.s_dot

    def array(self, name):
        return np.array(self.params[name], dtype=float)

    @property
    def external(self):
        """The documents' loads, inertial torque and force at η + y, as wrenches at the joint frame in body axes."""
        rotations, _ = kt.forward_kinematics(self.model, self.q)
        wrenches = np.zeros((self.model.nbodies, 6))
        for i, loads in enumerate(self.params["loads"]):
            for load in loads:
                force = np.array(load["force"])
                moment = np.array(load["torque"]) + np.cross(load["y"], force)
                wrenches[i] += np.concatenate([rotations[i].T @ moment, rotations[i].T @ force])
        return wrenches


@cache
def cases() -> dict:
    return {case["name"]: case for case in json.loads(FILE.read_text(encoding="utf-8"))["cases"]}


def euler_map(angles):
    """W: rates of the angles of Rz Ry Rx to angular velocity in body axes."""
    _, b, c = angles
    return np.array(
        [[-np.sin(b), 0, 1], [np.cos(b) * np.sin(c), np.cos(c), 0], [np.cos(b) * np.cos(c), -np.sin(c), 0]],
    )


def joint_of(body):
    match body["joint"]:
        case "R":
            return kt.Revolute(body["axis"])
        case "P":
            return kt.Prismatic(body["axis"])
        case "H":
            return kt.Screw(body["axis"], body["pitch"])
        case "U":
            return kt.Universal(body["axis"], body["axis2"])
        case "C":
            return kt.Cylindrical(body["axis"])
        case "E":
            return kt.Spherical()
        case "F":
            return kt.Free()


def quaternion(R):
    return Rotation.from_matrix(R).as_quat(scalar_first=True)


@cache
def case(name: str) -> Case:
    found = cases()[name]
    p = dict(found["params"])
    p |= {"q": p["q0"], "qd": p["qd0"]} if "q0" in p else {}
    bodies = [
        kt.Body(
            f"body {k}",
            f"body {b['parent']}" if b["parent"] else None,
            joint_of(b),
            kt.Pose(b.get("R0", np.eye(3)), b["d"]),
            kt.Inertia(b["m"], b["s"], b["I"]),
        )
        for k, b in enumerate(p["bodies"], start=1)
    ]
    q_parts, S, s_dot, start = [], [], [], 0
    for b in p["bodies"]:
        n = COORDINATES[b["joint"]]
        q, qd = np.array(p["q"][start : start + n]), np.array(p["qd"][start : start + n])
        start += n
        if b["joint"] == "F":
            C = np.array(p["base_rotation_C1"])
            q_parts += [quaternion(C), p["base_position_eta1"]]
            S.append(np.kron(np.eye(2), C.T))
            s_dot += [np.zeros(3), -C.T @ np.cross(qd[:3], qd[3:])]  # d/dt (C v) = C (v̇ + ω × v)
        elif b["joint"] == "E":
            q_parts.append(Rotation.from_euler("ZYX", q).as_quat(scalar_first=True))
            S.append(euler_map(q))
            s_dot.append(euler_map(q + 1e-30j * qd).imag / 1e-30 @ qd)
        else:
            q_parts.append(q)
            S.append(np.eye(n))
            s_dot.append(np.zeros(n))
    model = kt.Model(bodies, gravity=p["gravity"], name=name)
    return Case(model, np.concatenate(q_parts), block_diag(*S), np.concatenate(s_dot), p, found["expected"])
