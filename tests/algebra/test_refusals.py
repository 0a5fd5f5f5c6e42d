"""What is no operator, no vector and no SKO model is refused with one message each, kept in refusals.json.

KINETREE_UPDATE_SNAPSHOTS=1 writes the messages anew.
"""

import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cases import case

import kinetree as kt

SNAPSHOTS = Path(__file__).with_name("refusals.json")
UPDATE = os.environ.get("KINETREE_UPDATE_SNAPSHOTS") == "1"

ops = case("bush").sko  # 6 bodies, nv = 8
X = np.zeros(36)


def changed(x, index, value):
    x = np.array(x)
    x[index] = value
    return x


REFUSED = {
    # x of A @ x
    "x of the wrong length": lambda: ops.phi @ np.zeros(35),
    "x for joints": lambda: ops.phi @ np.zeros(8),
    "x of the wrong length in a stack": lambda: ops.H.T @ np.zeros((4, 7)),
    "x a number": lambda: ops.phi @ 1.0,
    "x empty": lambda: ops.phi @ [],
    "x NaN": lambda: ops.phi @ changed(X, 7, np.nan),
    "x infinite in a stack": lambda: ops.phi @ changed(np.zeros((2, 36)), (1, 3), np.inf),
    "x text": lambda: ops.phi @ "one",
    "x of text": lambda: ops.phi @ (["1"] * 36),
    "x None": lambda: ops.phi @ None,
    "x of None": lambda: ops.phi @ np.array([None] * 36),
    "x of text as objects": lambda: ops.phi @ np.array(["a"] * 36, dtype=object),
    "x ragged": lambda: ops.phi @ [[1.0], [1.0, 2.0]],
    "x of dates": lambda: ops.phi @ np.zeros(36, "datetime64[s]"),
    "x @ A of the wrong length": lambda: np.zeros(36) @ ops.H,
    "columns on the left": lambda: np.zeros((36, 3)) @ ops.phi,
    # operands that do not fit
    "H after H": lambda: ops.H @ ops.H,
    "joints into bodies": lambda: ops.phi @ ops.D,
    "a sum into an element": lambda: (1 - ops.tau) @ ops.D,
    "bodies plus joints": lambda: ops.phi + ops.D,
    "H minus its transpose": lambda: ops.H - ops.H.T,
    "operators of different trees": lambda: ops.phi @ case("forest").sko.M,
    "sum over different trees": lambda: ops.phi + case("forest").sko.M,
    "operators of different sizes": lambda: ops.phi @ case("mixed chain").sko.M,
    "1 + H": lambda: 1 + ops.H,
    "an operator plus an array": lambda: ops.phi + np.eye(36),
    "an operator minus text": lambda: ops.phi - "1",
    "None plus an operator": lambda: None + ops.phi,
    "A * B": lambda: ops.H * ops.phi,
    "sum * sum": lambda: (1 + ops.E) * (1 - ops.E),
    "NaN times an operator": lambda: np.nan * ops.phi,
    "an operator plus infinity": lambda: ops.phi + np.inf,
    "an operator divided by zero": lambda: (1 + ops.phi) / 0,
    "an operator divided by infinity minus itself": lambda: ops.phi - np.inf * ops.phi,
    "power minus one": lambda: ops.mass**-1,
    "power one half": lambda: ops.mass**0.5,
    "power of H": lambda: ops.H**2,
    "power zero of H": lambda: ops.H**0,
}
_found: dict[str, str] = {}


@pytest.fixture(scope="module")
def snapshots():
    yield json.loads(SNAPSHOTS.read_text(encoding="utf-8")) if SNAPSHOTS.exists() else {}
    if UPDATE:
        SNAPSHOTS.write_text(json.dumps(_found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, snapshots):
    with pytest.raises(kt.KinetreeError) as caught:
        REFUSED[name]()
    _found[name] = f"{type(caught.value).__name__}: {caught.value}"
    if not UPDATE:
        assert _found[name] == snapshots.get(name), "the message changed: look at it, then set KINETREE_UPDATE_SNAPSHOTS=1"


def test_no_snapshot_is_left_over(snapshots):
    assert UPDATE or set(snapshots) == set(REFUSED)


def test_messages_are_one_line_of_bounded_length(snapshots):
    assert all("\n" not in text and len(text) < 600 for text in snapshots.values())


def test_numbers_in_an_array_of_objects_are_numbers():
    wanted = ops.phi @ np.full(36, 0.5)
    assert np.array_equal(ops.phi @ np.full(36, Fraction(1, 2), dtype=object), wanted)
    assert np.array_equal(ops.phi @ np.array([0.5] * 36, dtype=object), wanted)


@pytest.mark.parametrize(
    "wrong", [lambda: 1j * ops.phi, lambda: ops.phi / "2", lambda: ops.phi * np.ones(3), lambda: [1] * ops.phi]
)
def test_python_says_what_no_operator_is_multiplied_with(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_numbers_of_any_kind_multiply():
    wanted = (2 * ops.phi) @ np.arange(36.0)
    for two in (2, 2.0, np.float64(2), np.float32(2), np.int8(2), Fraction(2)):
        assert np.array_equal((two * ops.phi) @ np.arange(36.0), wanted)
        assert np.array_equal((ops.phi / (1 / two)) @ np.arange(36.0), wanted)
        assert str(two * ops.phi) == "2 φ"
        assert str(two + ops.phi) == "2 + φ"
