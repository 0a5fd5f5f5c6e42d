"""What the JAX libraries share: a function of one state, under jit, and under jit and vmap for many."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

import jax
import jax.numpy as jnp

from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.peer import FORWARD, INVERSE, Array, Contestant, Peer

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)


class JaxPeer(Peer):
    """Arguments are on the device before the clock starts; a call ends when the result is there."""

    name: ClassVar[str]
    case: Case
    many: ClassVar[str] = "jit and vmap"
    """How many states are done at once; without vmap, the function takes leading axes itself."""

    @abstractmethod
    def coordinates(self, q: Array, v: Array) -> Coordinates: ...

    @abstractmethod
    def function(self, quantity: str) -> Callable:
        """f(q, v, x) of one state in their coordinates."""

    def contestants(self, quantity: str, q: Array, v: Array, x: Array) -> Iterator[Contestant]:
        if quantity not in (FORWARD, INVERSE) or (q.ndim == 1 and self.case.family != "robots"):
            return  # compiling takes minutes: one state by itself for robots only
        there = self.coordinates(q, v)
        forward = quantity == FORWARD
        force, ours = (there.force, there.our_acceleration) if forward else (there.acceleration, there.our_force)
        state = [jnp.asarray(array) for array in (there.q, there.v, force(x))]
        f = self.function(quantity)

        how = "jit" if q.ndim == 1 else self.many

        def make():
            compiled = jax.jit(jax.vmap(f) if "vmap" in how else f)
            return lambda: compiled(*state).block_until_ready()

        yield Contestant(f"{self.name}, {how}", make, ours)
