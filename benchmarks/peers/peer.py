"""What a library is to the benchmark."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.models import Case

Array = np.ndarray
FORWARD, INVERSE, ROLLOUT = "forward dynamics", "inverse dynamics", "rollout"
STEPS, DT = 100, 1e-3
"""Of a rollout."""


class Unfit(Exception):  # noqa: N818
    """This library does not take part in this; the message says why."""


@dataclass(frozen=True)
class Contestant:
    """A way of a library to do one thing.

    Attributes
    ----------
    who : as it is printed
    make : gives the call to time; what only the first call does belongs here or in that first call
    ours : what the call returned, in our coordinates, shape (..., nv); of a rollout (..., nq + nv), the last q and v
    dtype : "float64", or "float32", which is compared as such
    """

    who: str
    make: Callable[[], Callable[[], Any]]
    ours: Callable[[Any], Array] = np.asarray
    dtype: str = "float64"


class Peer(ABC):
    """A library with a model loaded, on a number of threads."""

    computes: ClassVar[str]
    """What its calls do more or less than ours."""

    @abstractmethod
    def __init__(self, case: Case, threads: int) -> None:
        """Raises `Unfit`."""

    @abstractmethod
    def contestants(self, quantity: str, q: Array, v: Array, x: Array) -> Iterator[Contestant]:
        """Of one state, q (nq,), or many, q (n, nq); x (…, nv) is the force, or the acceleration for inverse dynamics.

        Empty where it has nothing for that.
        """
