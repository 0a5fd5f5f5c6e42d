"""Robots as they are in the wild, against Pinocchio: the same joints, placements, masses and inertias."""

import numpy as np
import pinocchio
import pytest
from robots_table import PAGE, page

import kinetree as kt
from kinetree.errors import FileError
from kinetree.io import load
from kinetree.model.saving import save

DOZEN = [
    "a1_description/urdf/a1.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "baxter_description/urdf/baxter.urdf",
    "bolt_description/robots/bolt.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "human_description/robots/human.urdf",
    "icub_description/robots/icub.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_description/robots/tiago.urdf",
    "ur_description/urdf/ur5_robot.urdf",
]


def test_table_is_current(robots):
    assert PAGE.read_text(encoding="utf-8") == page(robots), f"run {page.__module__}.py to write {PAGE.name} anew"


def test_there_are_69(robots):
    assert len(list(robots.rglob("*.urdf"))) == 69


@pytest.mark.parametrize("file", DOZEN)
def test_same_bodies_as_pinocchio(file, robots):
    ours = load(robots / file, base="free")
    theirs = pinocchio.buildModelFromUrdf(str(robots / file), pinocchio.JointModelFreeFlyer())
    assert ours.nv == theirs.nv
    assert ours.joint_names[0] == theirs.names[1]
    assert sorted(ours.joint_names) == sorted(theirs.names[1:])
    for i, (name, body) in enumerate(zip(ours.joint_names, ours.bodies, strict=True)):
        j = theirs.getJointId(name)
        parent = ours.joint_names[ours.parents[i]] if ours.parents[i] >= 0 else "universe"
        assert parent == theirs.names[theirs.parents[j]]
        placement, inertia = theirs.jointPlacements[j], theirs.inertias[j]
        same(body.placement.rotation, placement.rotation, 1.0)
        same(body.placement.translation, placement.translation, 1.0)
        same(body.inertia.mass, inertia.mass, max(1.0, inertia.mass))
        # What stands in the matrix is the first and the second moment of mass: 1 m of lever sets the scale.
        found = body.inertia.tensor + body.inertia.mass * lever(body.inertia.com)
        expected = inertia.inertia + inertia.mass * lever(inertia.lever)
        same(body.inertia.mass * body.inertia.com, inertia.mass * inertia.lever, max(1.0, inertia.mass))
        same(found, expected, max(1.0, inertia.mass))


def lever(r):
    return r @ r * np.eye(3) - np.outer(r, r)


def same(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=64 * np.finfo(float).eps * scale)


@pytest.mark.parametrize("file", DOZEN[::4])
def test_saved_and_loaded(file, robots, tmp_path):
    model = load(robots / file)
    save(model, tmp_path / "robot.json")
    again = load(tmp_path / "robot.json")
    assert again.bodies == model.bodies
    assert again.diagnostics == model.diagnostics
    assert again.digest == model.digest


def test_children_are_in_file_order(robots):
    model = load(robots / "panda_description/urdf/panda.urdf")
    assert model.joint_names == (
        *(f"panda_joint{i}" for i in range(1, 8)),
        "panda_finger_joint1",
        "panda_finger_joint2",
    )


def test_every_robot_that_loads_accelerates(robots):
    """At a random state under random forces; a robot that does not load is refused with a typed message."""
    loaded = 0
    for file in sorted(robots.rglob("*.urdf")):
        for base in ("fixed", "free"):
            try:
                model = load(file, base=base)
            except FileError:
                continue
            rng = np.random.default_rng(0)
            v, tau = rng.normal(size=(2, model.nv))
            assert np.isfinite(kt.reference(kt.forward_dynamics, model, model.random(rng), v, tau)).all(), file
            loaded += base == "free"
    assert loaded == 65
