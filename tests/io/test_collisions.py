"""What <collision> elements become: shapes on bodies, moved with links that are fixed; notes for what cannot be read."""

import numpy as np
import pytest
from samples import INERTIAL, joint, link, robot

from kinetree.errors import FileError
from kinetree.io import load
from kinetree.model import Box, Capsule, Cylinder, Mesh, Sphere

EPS = np.finfo(float).eps
BALL = '<sphere radius="0.1"/>'


def collision(geometry, origin="", name=""):
    return f"<collision {name}>{origin}<geometry>{geometry}</geometry></collision>"


def of_arm(*collisions):
    """A link on a hinge, and one that is fixed to it 1 m along x."""
    arm, tool = link("arm", INERTIAL + "".join(collisions)), link("tool", collision(BALL, '<origin xyz="0 2 0"/>'))
    at = '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
    return robot(link("base", ""), arm, tool, joint("a", "base", "arm"), joint("b", "arm", "tool", at, "fixed"))


def test_every_kind(load_text, tmp_path):
    text = of_arm(
        collision('<box size="1 2 3"/>', '<origin xyz="0 0 1"/>', 'name="a box"'),
        collision('<sphere radius="0.5"/>'),
        collision('<cylinder radius="0.5" length="2"/>'),
        collision('<capsule radius="0.5" length="2"/>'),
        collision('<mesh filename="arm.stl" scale="1 1 -1"/>'),
        collision('<mesh filename="package://nowhere/arm.stl"/>'),
    )
    model = load_text(text)
    found = [shape.geometry for _, shape in model.shapes]
    assert found == [
        Box([1, 2, 3]),
        Sphere(0.5),
        Cylinder(0.5, 2),
        Capsule(0.5, 2),
        Mesh(str(tmp_path / "arm.stl"), [1, 1, -1]),
        Mesh("package://nowhere/arm.stl"),
        Sphere(0.1),
    ]
    box, tool = model.shapes[0][1], model.shapes[-1][1]
    assert (box.name, box.placement.translation.tolist()) == ("a box", [0, 0, 1])
    np.testing.assert_allclose(tool.placement.translation, [-1, 0, 0], atol=4 * EPS)
    assert [note.code for note in model.diagnostics] == ["mesh-package"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (collision('<sphere radius="-1"/>'), "link 'arm': the radius of a sphere must be positive, found -1 m.; left out"),
        (collision('<sphere radius="r"/>'), "link 'arm' <collision> <sphere> attribute \"radius\" holds 'r'"),
        (collision('<box size="1 2"/>'), "3 finite numbers"),
        (collision("<cone/>"), "<geometry> holds 0 of box, capsule"),
        (collision('<sphere radius="1"/><sphere radius="2"/>'), "second <sphere>"),
        (collision("<mesh/>"), 'no attribute "filename"'),
        ("<collision/>", "has no <geometry>"),
    ],
)
def test_what_cannot_be_read_is_left_out(text, message, load_text):
    model = load_text(of_arm(text))
    (note,) = model.diagnostics
    assert note.code == "collision"
    assert message in note.message
    assert note.line
    assert len(model.shapes) == 1
    with pytest.raises(FileError, match="strict=True"):
        load_text(of_arm(text), strict=True)


def test_meshes_out_of_place_are_no_shapes(load_text):
    model = load_text(of_arm(collision('<mesh filename="/etc/passwd"/>')))
    assert [note.code for note in model.diagnostics] == ["mesh-outside"]
    assert len(model.shapes) == 1


def test_feet_of_g1(robots):
    """Four spheres on each, and meshes that are there."""
    model = load(robots / "g1_description/urdf/g1_29dof_rev_1_0.urdf", base="free")
    feet = [shape.geometry for k, shape in model.shapes if model.body_names[k] == "left_ankle_roll_link"]
    assert feet == [Sphere(0.005)] * 4
    assert len(model.shapes) > 20
