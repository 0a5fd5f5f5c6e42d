"""What is wrong with contacts is told in one sentence each: kept in bad_contacts.json."""

from pathlib import Path

import numpy as np
import pytest
import zoo
from snapshots import Snapshots

import kinetree as kt

UP = [0.0, 0.0, 1.0]
BAD = {
    "model none": {"model": None},
    "contacts none": {"contacts": None},
    "contacts a number": {"contacts": 3},
    "contacts empty": {"contacts": []},
    "contact none": {"contacts": [None]},
    "contact on ground": {"contacts": kt.Contact(None, [0, 0, 0], UP)},
    "contact with itself": {"contacts": kt.Contact(3, [0, 0, 0], UP, other=3)},
    "body unknown": {"contacts": kt.Contact("hand", [0, 0, 0], UP)},
    "body beyond": {"contacts": kt.Contact(99, [0, 0, 0], UP)},
    "other unknown": {"contacts": kt.Contact(3, [0, 0, 0], UP, other="nobody")},
    "point NaN": {"contacts": kt.Contact(3, [0, np.nan, 0], UP)},
    "point of two": {"contacts": kt.Contact(3, [0, 0], UP)},
    "point a word": {"contacts": kt.Contact(3, "tip", UP)},
    "normal zero": {"contacts": kt.Contact(3, [0, 0, 0], [0, 0, 0])},
    "normal tiny": {"contacts": kt.Contact(3, [0, 0, 0], [1e-200, 0, 0])},
    "normal infinite": {"contacts": kt.Contact(3, [0, 0, 0], [np.inf, 0, 0])},
    "normal none": {"contacts": kt.Contact(3, [0, 0, 0], None)},
    "restitution above": {"restitution": 1.5},
    "restitution below": {"restitution": -0.1},
    "restitution NaN": {"restitution": np.nan},
    "restitution of two": {"restitution": [0.1, 0.2]},
    "friction negative": {"friction": -1.0},
    "friction infinite": {"friction": np.inf},
    "friction NaN": {"friction": np.nan},
    "restitution just above": {"restitution": 1.0 + 1e-12},
    "restitution complex": {"restitution": np.array([1j])},
    "restitution a time": {"restitution": np.array([1], dtype="m8[s]")},
    "friction none": {"friction": None},
    "friction a word": {"friction": "high"},
    "law unknown": {"law": "hertz"},
    "law an array": {"law": np.array(["newton"])},
    "v beyond": {"v": np.full(9, 1e200)},
    "point beyond": {"contacts": kt.Contact(3, [1e200, 0, 0], UP)},
    "v NaN": {"v": np.full(9, np.nan)},
    "v none": {"v": None},
    "q of four": {"q": np.zeros(4)},
    "batches": {"q": np.zeros((2, 9)), "v": np.zeros((3, 9))},
    "batches of points": {"contacts": [kt.Contact(3, np.zeros((2, 3)), UP), kt.Contact(3, np.zeros((3, 3)), UP)]},
    "batch of friction": {"q": np.zeros((3, 9)), "friction": [[0.1], [0.2]]},
}


@pytest.fixture(scope="module")
def snapshots():
    found = Snapshots(Path(__file__).with_name("bad_contacts.json"))
    yield found
    found.save()


@pytest.mark.parametrize("name", BAD)
def test_wrong_impacts(name, snapshots):
    model = zoo.model("panda")
    given = {"model": model, "q": model.neutral(), "v": np.zeros(9), "contacts": kt.Contact(3, [0, 0, 0], UP), **BAD[name]}
    snapshots.check(name, lambda: kt.impact(**given))


def test_all_are_kept_and_short(snapshots):
    snapshots.check_names(BAD)
    snapshots.check_lengths()


def test_normals_have_any_length():
    model = zoo.model("panda")
    q, v = model.random(0), np.ones(9)
    hits = [kt.impact(model, q, v, kt.Contact(3, [0, 0, 0.1], np.multiply(s, [1.0, 2.0, -1.0]))) for s in (1.0, 1e-140, 1e300)]
    for hit in hits[1:]:
        np.testing.assert_allclose(hit.v, hits[0].v, rtol=0, atol=1e-12)
