"""`kinetree eval` of quantities of several bodies."""

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import main


def run(capsys, *arguments):
    return main(list(arguments)), capsys.readouterr()


@pytest.mark.parametrize("quantity", ["compliance", "operational_space_inertia", "logdet_mass_matrix"])
def test_json_is_the_function(capsys, quantity):
    model = kt.load("ur5_robot")
    q = [0.1, -0.7, 0.9, 0.3, 0.5, 0.2]
    bodies = () if quantity == "logdet_mass_matrix" else ("--bodies", "wrist_3_link")
    options = {"bodies": ["wrist_3_link"]} if bodies else {}
    code, printed = run(capsys, "eval", "ur5_robot", quantity, "--q", *map(str, q), *bodies, "--json")
    assert code == 0
    assert np.array_equal(json.loads(printed.out)["result"], getattr(kt, quantity)(model, q, **options))
    code, printed = run(capsys, "eval", "ur5_robot", quantity, "--q", *map(str, q), *bodies)
    assert code == 0 and "ur5" in printed.out


def test_two_bodies_are_labelled(capsys):
    _, printed = run(
        capsys,
        "eval",
        "three-link-arm",
        "compliance",
        "--bodies",
        "column",
        "forearm",
        "--frame",
        "world",
        "--q",
        "0",
        "1",
        "2",
    )
    assert "fz forearm" in printed.out and "column, forearm, world axes" in printed.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compliance", "--bodies", "hand"), "no body named 'hand'"),
        (("operational_space_inertia",), "rank 3 of 6"),
        (("mass_matrix", "--bodies", "column"), "has no effect"),
        (("compliance", "--body", "column"), "has no effect"),
    ],
)
def test_refused(capsys, arguments, message):
    code, printed = run(capsys, "eval", "three-link-arm", *arguments)
    assert code == 2 and message in printed.err
