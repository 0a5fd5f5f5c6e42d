"""<origin>: where a frame sits on another, as position and roll, pitch, yaw."""

import math

import numpy as np

from kinetree.io.numbers import numbers
from kinetree.io.report import Report
from kinetree.io.xml import Element
from kinetree.model import Pose

IDENTITY = Pose()
MAX_LENGTH = 1e15
"""The longest distance that is read [m]."""


def origin(report: Report, element: Element | None, where: str) -> Pose:
    """The pose of an <origin>; the identity where there is none."""
    if element is None:
        return IDENTITY
    angles, xyz = _angles_position(report, element, where)
    return Pose(rotation(*angles), xyz)


def mass_origin(report: Report, element: Element | None, where: str) -> tuple[np.ndarray | None, np.ndarray]:
    """Rotation, None where it is the identity, and position of an <origin> within <inertial>."""
    if element is None:
        return None, np.zeros(3)
    angles, xyz = _angles_position(report, element, where)
    return (rotation(*angles) if any(angles) else None), np.array(xyz)


def _angles_position(report: Report, element: Element, where: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    xyz = numbers(report, element, where, "xyz", 3) if "xyz" in element.attrib else (0.0, 0.0, 0.0)
    rpy = numbers(report, element, where, "rpy", 3) if "rpy" in element.attrib else (0.0, 0.0, 0.0)
    if max(map(abs, xyz)) > MAX_LENGTH:
        report.fail(
            element,
            f'{where} attribute "xyz" is {list(xyz)}; allowed: {-MAX_LENGTH:g} to {MAX_LENGTH:g} m; check its unit',
        )
    return rpy, xyz


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll).

    A file's 1.5708 is not taken for π/2: the matrix would no longer be the one that other readers build.
    """
    (sr, cr), (sp, cp), (sy, cy) = map(_sine_cosine, (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _sine_cosine(angle: float) -> tuple[float, float]:
    """Exact at the multiples of π/2 that a float can only come close to, so that zeros of the matrix are zeros."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if abs(sine) < 1e-15:
        return 0.0, math.copysign(1.0, cosine)
    if abs(cosine) < 1e-15:
        return math.copysign(1.0, sine), 0.0
    return sine, cosine
