"""What a URDF becomes: bodies, frames, joints, limits."""

import cProfile

import numpy as np
import pytest
from samples import AXIS, END, INERTIAL, ROBOT, chain, joint, link, robot, spoiled

from kinetree.errors import FileError
from kinetree.io import load
from kinetree.model import Free, JointDynamics, Planar, Prismatic, Revolute, Spherical

EPS = np.finfo(float).eps


def test_the_sample(load_text):
    model = load_text(ROBOT)
    assert (model.name, model.nq, model.nv) == ("sample", 2, 2)
    assert model.body_names == ("arm", "hand")
    assert model.joint_names == ("shoulder", "wrist")
    arm, hand = model.bodies
    assert (arm.parent, hand.parent) == (None, "arm")
    assert (arm.joint, hand.joint) == (Revolute([0, 1, 0]), Revolute([1, 0, 0]))
    assert arm.placement.translation.tolist() == [0, 0, 0.2]
    np.testing.assert_allclose(arm.placement.rotation[:2, 0], [np.cos(1.5708), np.sin(1.5708)], atol=EPS)
    assert arm.inertia.mass == 1.5
    assert arm.inertia.com.tolist() == [0, 0, 0.5]
    assert arm.inertia.tensor.tolist() == np.diag([0.1, 0.1, 0.02]).tolist()
    assert [x.item() for x in (arm.limits.lower, arm.limits.upper, arm.limits.velocity, arm.limits.effort)] == [
        -2,
        2,
        3,
        40,
    ]
    assert hand.limits.upper.item() == np.inf
    assert model.frames.keys() == {"base"}
    assert model.frames["base"][0] is None
    assert model.gravity.tolist() == [0, 0, -9.81]


def test_free_base(load_text):
    model = load_text(spoiled('<link name="base"/>', link("base")), base="free", name="renamed")
    assert model.name == "renamed"
    assert model.body_names == ("base", "arm", "hand")
    assert model.joint_names[0] == "root_joint"
    assert isinstance(model.bodies[0].joint, Free)
    assert model.bodies[0].inertia.mass == 1.5
    assert model.frames == {}


def test_free_massless_root_needs_more_than_one_joint(load_text):
    with pytest.raises(FileError, match="link 'base' is moved by the joint 'root_joint'"):
        load_text(ROBOT, base="free")


def test_rotations_at_right_angles_are_exact(load_text):
    half_pi = repr(np.pi / 2)
    model = load_text(spoiled("0 0 1.5708", f"{half_pi} 0 {half_pi}"))
    assert model.bodies[0].placement.rotation.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", Revolute([0, 1, 0])),
        ("continuous", Revolute([0, 1, 0])),
        ("prismatic", Prismatic([0, 1, 0])),
        ("planar", Planar([0, 0, 1], [1, 0, 0])),
        ("spherical", Spherical()),
        ("floating", Free()),
    ],
)
def test_joint_kinds(kind, expected, load_text):
    body = load_text(spoiled('type="revolute"', f'type="{kind}"')).bodies[0]
    assert body.joint == expected
    assert body.limits.upper.shape == (expected.nv,)
    assert (body.limits.velocity == 3).all()


def test_planar_normal_is_the_axis(load_text):
    text = spoiled('type="revolute"', 'type="planar"')
    for axis in ("0 0 1", "0 0 -1", "1 0 0", "0.6 0 -0.8", "0.48 0.6 0.64"):
        found = load_text(text.replace(AXIS, f'xyz="{axis}"')).bodies[0].joint
        np.testing.assert_allclose(found.normal, [float(x) for x in axis.split()], atol=4 * EPS)
    assert load_text(text.replace(AXIS, 'xyz="0 0 1"')).bodies[0].joint == Planar([1, 0, 0], [0, 1, 0])


def test_axis_of_a_fixed_joint_may_be_zero(load_text):
    text = spoiled(END, link("tip", "") + joint("glue", "hand", "tip", kind="fixed").replace("0 0 1", "0 0 0") + END)
    assert load_text(text, strict=True).frames["tip"][0] == "hand"


def test_default_axis_is_x(load_text):
    assert load_text(spoiled(f"<axis {AXIS}/>", "")).bodies[0].joint == Revolute([1, 0, 0])


def test_fixed_links_are_merged(load_text):
    glue = joint("glue", "hand", "tip", f'<origin xyz="1 0 -1" rpy="0 0 {np.pi / 2}"/>', kind="fixed")
    text = spoiled(END, link("tip") + glue + END)
    model = load_text(text)
    assert model.nv == 2
    body, pose = model.frames["tip"]
    assert body == "hand"
    assert pose.translation.tolist() == [1, 0, -1]
    inertia = model.bodies[1].inertia
    assert inertia.mass == 3.0
    np.testing.assert_allclose(inertia.com, [0.5, 0, 0], atol=EPS)
    expected = 2 * np.diag([0.1, 0.1, 0.02]) + 2 * 1.5 * np.array([[0.25, 0, 0.25], [0, 0.5, 0], [0.25, 0, 0.25]])
    np.testing.assert_allclose(inertia.tensor, expected, rtol=8 * EPS, atol=8 * EPS)


def test_massless_moment_is_added(load_text):
    part = INERTIAL.replace("1.5", "0")
    model = load_text(spoiled(END, link("tip", part) + joint("glue", "hand", "tip", kind="fixed") + END))
    assert model.bodies[1].inertia.mass == 1.5
    np.testing.assert_allclose(np.diag(model.bodies[1].inertia.tensor), [0.2, 0.2, 0.04], rtol=4 * EPS)
    assert [note.code for note in model.diagnostics] == ["massless-inertia"]


def test_order_is_depth_first_as_in_the_file(load_text):
    joints = [joint("to_e", "b", "e"), joint("to_b", "a", "b"), joint("to_d", "c", "d"), joint("to_c", "a", "c")]
    model = load_text(robot(*map(link, "abcde"), *joints, joint("to_f", "b", "f"), link("f")))
    assert model.joint_names == ("to_b", "to_e", "to_f", "to_c", "to_d")


@pytest.mark.parametrize("kind", ["revolute", "planar", "floating", "fixed"])
def test_damping_and_friction(kind, load_text):
    text = spoiled('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.25" friction="2"/>')
    model = load_text(text.replace('type="revolute"', f'type="{kind}"'))
    assert not model.diagnostics
    assert model.bodies[-1].dynamics == JointDynamics.none(1)
    if kind != "fixed":
        found = model.bodies[0].dynamics
        assert found.damping.tolist() == [0.25] * model.bodies[0].joint.nv
        assert found.friction.tolist() == [2.0] * model.bodies[0].joint.nv
        assert not found.armature.any()


def test_half_a_limit_is_zero_and_infinite_limits_are_read(load_text):
    assert load_text(spoiled('lower="-2" ', "")).bodies[0].limits.lower.item() == 0.0
    assert load_text(spoiled('upper="2"', 'upper="inf"')).bodies[0].limits.upper.item() == np.inf
    assert load_text(spoiled('lower="-2" upper="2"', "")).bodies[0].limits.lower.item() == -np.inf


def test_names_of_any_language_and_namespace(load_text):
    text = ROBOT.replace("hand", "手").replace("<robot ", '<robot xmlns="http://example.org/urdf" xmlns:x="urn:x" ')
    assert load_text(text.replace(END, '<x:link name="arm"/>' + END)).body_names == ("arm", "手")
    latin = ROBOT.replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace("hand", "händ")
    assert load_text(latin.encode("latin-1")).body_names == ("arm", "händ")
    assert load_text(b"\xef\xbb\xbf" + ROBOT.encode(), suffix=".XML").nv == 2


def test_comments_are_no_doctype(load_text):
    assert load_text(ROBOT.replace("<robot ", "<!-- <!DOCTYPE x> --><?a <!DOCTYPE?><robot ")).nv == 2


def test_mesh_paths_that_stay_inside(tmp_path, load_text):
    (tmp_path / "near_package").mkdir()
    for inside in ("arm.stl", "../meshes/arm.stl", "package://near_package/arm.stl", f"file://{tmp_path}/arm.stl"):
        assert load_text(spoiled("arm.stl", inside)).diagnostics == ()
    roots = tmp_path / "elsewhere"
    roots.mkdir()
    outside = spoiled("arm.stl", "/opt/models/arm.stl")
    assert load_text(outside, roots=["/opt/models"]).diagnostics == ()
    assert load_text(outside, roots="/opt").diagnostics == ()
    assert [note.code for note in load_text(outside).diagnostics] == ["mesh-outside"]


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
def test_long_chains_take_steps_in_proportion(kind, tmp_path):
    def steps(links: int) -> int:
        """Function calls that loading a chain takes: what a clock would tell, without its noise."""
        path = tmp_path / f"chain{links}.urdf"
        path.write_text(chain(links, kind))
        profile = cProfile.Profile(builtins=False)
        model = profile.runcall(load, path, base="free")
        assert len(model.bodies) == (links if kind == "revolute" else 1)
        return sum(entry.callcount for entry in profile.getstats())

    short, long = steps(200), steps(2000)
    assert long < 10.5 * short
