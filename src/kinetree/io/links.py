"""<link>: a name and an inertia."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.io.numbers import number
from kinetree.io.poses import mass_origin
from kinetree.io.report import Report, shown
from kinetree.io.xml import Element, name_of, only_children
from kinetree.model import Pose

MASS_RANGE = (1e-20, 1e30)
"""Masses that are read [kg], beside 0: products of masses and lengths in range neither overflow nor vanish."""
MOMENT_RANGE = (1e-30, 1e60)
"""Moments of inertia that are read [kg m^2], beside 0; products of inertia below are rounding and count as 0."""
ROUNDING = 1e-16
"""A tensor that no body has and that is below this many m^2 times the mass is what is left of m r^2 - m r^2."""
PSD_TOLERANCE = 1e-9  # of the largest entry of the tensor
TRIANGLE_TOLERANCE = 1e-6  # of the largest entry of the tensor

_INERTIAL = frozenset({"origin", "mass", "inertia"})
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


class Mass(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and tensor (3, 3) [kg m^2] about it, not yet known to be physical.

    Exporters write tensors with a slightly negative moment for small parts. What moves is the sum of the parts that are
    fixed to each other, so it is the sum that is judged.
    """

    mass: float
    com: np.ndarray
    tensor: np.ndarray
    negative: Element | None = None
    """The <inertia> with a negative moment, if it has one."""

    def moved(self, pose: Pose) -> "Mass":
        """The same in the frame that `pose` is given in."""
        com = pose.rotation @ self.com + pose.translation
        return Mass(self.mass, com, _turned(pose.rotation, self.tensor), self.negative)

    @property
    def is_zero(self) -> bool:
        """Whether there is nothing here to move."""
        return self.mass == 0.0 and not self.tensor.any()


@dataclass(frozen=True)
class Link:
    """A link as the file has it; `inertia` in the link's frame, None where the file gives none."""

    name: str
    element: Element
    inertia: Mass | None


def read_link(report: Report, element: Element) -> Link:
    """One <link>, every number checked."""
    name = name_of(report, element, "name", "a <link>")
    inertial = only_children(report, element, f"link {shown(name)}", frozenset({"inertial"})).get("inertial")
    return Link(name, element, None if inertial is None else _inertia(report, inertial, f"link {shown(name)}"))


def _inertia(report: Report, inertial: Element, link: str) -> Mass:
    parts = only_children(report, inertial, f"{link} <inertial>", _INERTIAL)
    for tag, what in (("mass", '<mass value="..."/> in kg'), ("inertia", '<inertia ixx="..." .../> in kg m^2')):
        if tag not in parts:
            report.fail(inertial, f"{link} <inertial> has no <{tag}>; add {what}, or remove <inertial>")
    mass = _mass(report, parts["mass"], link)
    element = parts["inertia"]
    tensor = _tensor(report, element, link)
    tensor, negative = _judged(report, element, link, mass, tensor)
    turn, com = mass_origin(report, parts.get("origin"), f"{link} <inertial> <origin>")
    return Mass(mass, com, tensor if turn is None else _turned(turn, tensor), element if negative else None)


def _mass(report: Report, element: Element, link: str) -> float:
    mass = number(report, element, f"{link} <mass>", "value")
    low, high = MASS_RANGE
    if mass != 0.0 and not low <= mass <= high:
        why = "a mass is not negative" if mass < 0.0 else "check its unit"
        report.fail(element, f'{link} <mass> attribute "value" is {mass:g}; allowed: 0, or {low:g} to {high:g} kg; {why}')
    return mass


def _tensor(report: Report, element: Element, link: str) -> np.ndarray:
    values = [number(report, element, f"{link} <inertia>", name) for name in _MOMENTS]
    low, high = MOMENT_RANGE
    for name, value in zip(_MOMENTS, values, strict=True):
        if abs(value) > high or (name in ("ixx", "iyy", "izz") and 0.0 < abs(value) < low):
            allowed = f"0, or a size of {low:g} to {high:g} kg m^2; check its unit"
            report.fail(element, f'{link} <inertia> attribute "{name}" is {value:g}; allowed: {allowed}')
    xx, xy, xz, yy, yz, zz = (value if abs(value) >= low else 0.0 for value in values)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _judged(report: Report, element: Element, link: str, mass: float, tensor: np.ndarray) -> tuple[np.ndarray, bool]:
    """The tensor, or zeros where it is rounding, and whether it has a negative moment."""
    a, b, c = moments = np.linalg.eigvalsh(tensor)
    largest = np.abs(tensor).max()
    negative = a < -PSD_TOLERANCE * largest
    if not negative and c - a - b <= TRIANGLE_TOLERANCE * largest:
        return tensor, False
    found = f"{link} <inertia> has the principal moments {listed_moments(moments)} kg m^2"
    if largest < ROUNDING * mass:
        note = f"{found}, rounding beside its mass of {mass:g} kg; taken as 0"
        report.repair("inertia-rounding", element, note)
        return np.zeros((3, 3)), False
    if negative:
        note = f"{found}, one of them negative, which no body has; kept as given, if what is fixed together has none"
        report.repair("inertia-negative", element, note)
        return tensor, True
    note = f"{found}, the largest above the sum of the others, which no distribution of mass has; kept as given"
    report.repair("inertia-triangle", element, note)
    return tensor, False


def _turned(R: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    turned = R @ tensor @ R.T
    return 0.5 * (turned + turned.T)


def listed_moments(moments: np.ndarray) -> str:
    """Principal moments as text."""
    return ", ".join(f"{moment:.6g}" for moment in moments)
