"""kinetree's own JSON: what is saved comes back bit for bit, what is not a model is refused."""

import json

import numpy as np
import pytest
from samples import REPAIRS, ROBOT

from kinetree.errors import FileError, InputError
from kinetree.io import load
from kinetree.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Cylindrical,
    Free,
    Inertia,
    JointDynamics,
    Limits,
    Mesh,
    Model,
    Planar,
    Plane,
    Points,
    Pose,
    Prismatic,
    Revolute,
    Screw,
    Shape,
    Sphere,
    Spherical,
    Universal,
    Weld,
)
from kinetree.model.saving import save
from kinetree.spatial.rotations import rotation_about


def every_kind() -> Model:
    rng = np.random.default_rng(0)

    def unit():
        x = rng.normal(size=3)
        return x / np.linalg.norm(x)

    axis = unit()
    across = np.cross(axis, unit())
    across /= np.linalg.norm(across)
    joints = [
        Free(),
        Revolute(unit()),
        Prismatic(unit()),
        Screw(unit(), 0.1),
        Cylindrical(unit()),
        Universal(unit(), unit()),
    ]
    bodies, parent = [], None
    for joint in [*joints, Spherical(), Planar(axis, across), Weld()]:
        half = rng.normal(size=(3, 3))
        tensor = half @ half.T
        placement = Pose(rotation_about(unit(), rng.normal()), rng.normal(size=3))
        limits = Limits(*(rng.choice([-1, 1, 1, 1][i : i + 1]) * rng.uniform(1, 2, joint.nv) for i in range(4)))
        inertia = Inertia(rng.uniform(1, 2), rng.normal(size=3), 0.5 * (tensor + tensor.T))
        damping, friction, stiffness, rest, armature, stop_time = rng.uniform(1, 2, (6, joint.nv))
        if joint.quaternion is not None:
            stiffness = armature = np.zeros(joint.nv)
        dynamics = JointDynamics(damping, friction, stiffness, -rest, armature, stop_time)
        shapes = [
            Sphere(rng.uniform()),
            Capsule(*rng.uniform(size=2)),
            Cylinder(*rng.uniform(size=2)),
            Shape(Box(rng.uniform(size=3)), placement, "a box"),
            Points(rng.normal(size=(4, 3))),
            Plane(rng.normal(size=3), rng.normal()),
            Mesh("meshes/a.stl", rng.normal(size=3)),
        ]
        bodies.append(Body(f"b {joint.kind}", parent, joint, placement, inertia, f"j {joint.kind}", limits, dynamics, shapes))
        parent = bodies[-1].name
    return Model(tuple(bodies), (0.1, -0.2, 0.3), "каждый", frames={"tool": ("b free", Pose()), "world": (None, Pose())})


def assert_same(a: Model, b: Model) -> None:
    assert a.bodies == b.bodies
    assert a.gravity.tolist() == b.gravity.tolist()
    assert (a.name, a.diagnostics, a.frames, a.digest) == (b.name, b.diagnostics, b.frames, b.digest)


def test_round_trip(tmp_path):
    model = every_kind()
    save(model, tmp_path / "model.json")
    assert_same(model, load(tmp_path / "model.json"))
    save(load(tmp_path / "model.json"), tmp_path / "again.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert load(tmp_path / "model.json", name="other").name == "other"


def test_files_of_the_first_version(load_text, tmp_path):
    """Their joints do nothing by themselves."""
    model = load_text(ROBOT)
    save(model, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["version"] = 1
    with pytest.raises(FileError, match="unknown key 'dynamics'"):
        load_text(json.dumps(document), suffix=".json")
    for body in document["bodies"]:
        del body["dynamics"], body["shapes"]
    assert_same(model, load_text(json.dumps(document), suffix=".json"))


@pytest.mark.parametrize("text", [ROBOT, *REPAIRS.values()], ids=["sample", *REPAIRS])
def test_round_trip_of_urdf(text, load_text, tmp_path):
    model = load_text(text)
    save(model, tmp_path / "model.json")
    assert_same(model, load(tmp_path / "model.json"))


def test_saving_leaves_no_other_file(tmp_path):
    save(every_kind(), tmp_path / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(InputError, match=r"saved as \.json"):
        save(every_kind(), tmp_path / "model.urdf")
    with pytest.raises(FileError, match="cannot be written"):
        save(every_kind(), tmp_path / "no such folder" / "model.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        save(every_kind(), tmp_path / "folder.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.json", "model.json"]


SPHERE = {"kind": "sphere", "name": None, "placement": {"rotation": np.eye(3).tolist(), "translation": [0, 0, 0]}}


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["format"], "urdf", '"format" is'),
        (["version"], 4, "a newer file needs a newer kinetree"),
        (["version"], True, '"version" is True'),
        (["gravity"], [0, 0], r"lists of shape \(3,\)"),
        (["gravity"], [0, 0, True], '"gravity" is'),
        (["gravity"], [0, 0, 10**400], '"gravity" is'),
        (["name"], "", "text that is not empty"),
        (["bodies"], {}, "allowed: a list"),
        (["bodies"], [], "at least one body"),
        (["bodies", 0, "name"], None, "null or missing"),
        (["bodies", 0, "parent"], "nobody", "unknown parent 'nobody'"),
        (["bodies", 0, "surprise"], 1, "unknown key 'surprise'"),
        (["bodies", 0, "joint", "kind"], "hinge", "allowed: revolute, prismatic"),
        (["bodies", 0, "joint", "axis"], [0, 2, 0], "length 1"),
        (["bodies", 0, "inertia", "mass"], -1, "must not be negative"),
        (["bodies", 0, "inertia", "mass"], "1", "allowed: a finite number"),
        (["bodies", 0, "inertia", "tensor", 0, 0], -1, "no negative principal moment"),
        (["bodies", 0, "placement", "rotation", 0, 0], 3, "must be a rotation"),
        (["bodies", 0, "limits", "upper"], ["Infinity"], '"inf" or "-inf"'),
        (["bodies", 0, "limits", "upper"], [[1]], '"inf" or "-inf"'),
        (["bodies", 0, "dynamics", "damping"], [-1], "damping must not be negative"),
        (["bodies", 0, "dynamics", "armature"], [1, 2], r"lists of shape \(1,\)"),
        (["bodies", 0, "dynamics", "rest"], ["inf"], "allowed: finite numbers"),
        (["bodies", 0, "dynamics"], {}, "lacks 'damping', 'friction'"),
        (["bodies", 0, "shapes"], [{"kind": "ball"}], "allowed: sphere, capsule"),
        (["bodies", 0, "shapes"], [{"kind": "sphere", "radius": 1}], "lacks 'name', 'placement'"),
        (["bodies", 0, "shapes"], [{**SPHERE, "radius": -1}], "radius of a sphere must be positive"),
        (["bodies", 0, "shapes"], [{**SPHERE, "radius": "r"}], "radius of a sphere must be a real number"),
        (["version"], [2], '"version" is'),
        (["frames", "base", "body"], "nobody", "allowed: null or a body of the model"),
        (["diagnostics"], [{"code": "a", "message": "b", "file": None, "line": 1.5}], "whole number"),
    ],
)
def test_spoiled(where, value, message, load_text, tmp_path):
    save(load_text(ROBOT), tmp_path / "model.json")
    document = entry = json.loads((tmp_path / "model.json").read_text())
    for key in where[:-1]:
        entry = entry[key]
    entry[where[-1]] = value
    with pytest.raises(FileError, match=message) as caught:
        load_text(json.dumps(document), suffix=".json")
    assert str(caught.value).startswith(f"{tmp_path}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: not JSON"),
        ("[]", "allowed: an object"),
        ("{}", '"format" is null or missing'),
        ('{\n"format": }', ":2: not JSON"),
        ('{"format": NaN}', "NaN is not a JSON number"),
        ('{"format": 1, "format": 1}', "stands twice"),
        ('{"format": "kinetree-model", "version": 1}', "lacks 'name', 'gravity'"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' + "1" * 10_000 + "}", "not a model file"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_not_a_model(text, message, load_text):
    with pytest.raises(FileError, match=message):
        load_text(text, suffix=".json")


def test_base_is_not_for_json(tmp_path):
    with pytest.raises(InputError, match="is for URDF"):
        load(tmp_path / "model.json", base="free")
