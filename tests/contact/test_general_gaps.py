"""Cylinders and hulls of meshes: by coal, and on planes against dense points of their surfaces."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.contact import Box, Capsule, Cylinder, Mesh, Plane, Points, Scene, Shape, Sphere, candidates
from kinetree.errors import InputError, MissingExtraError

UNIT = kt.Inertia(1.0, tensor=np.eye(3))
CYLINDER = Cylinder(0.3, 0.8)
OTHERS = {"sphere": Sphere(0.2), "capsule": Capsule(0.2, 0.5), "box": Box((0.4, 0.5, 0.6)), "cylinder": Cylinder(0.2, 0.7)}
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float) - 0.5
FACES = [
    (0, 1, 3),
    (0, 3, 2),
    (4, 6, 7),
    (4, 7, 5),
    (0, 4, 5),
    (0, 5, 1),
    (2, 3, 7),
    (2, 7, 6),
    (0, 2, 6),
    (0, 6, 4),
    (1, 5, 7),
    (1, 7, 3),
]


def bodies(*shapes):
    return kt.Model([kt.Body(f"b{k}", None, kt.Free(), inertia=UNIT, shapes=x) for k, x in enumerate(shapes)])


@pytest.fixture
def cube(tmp_path):
    """A cube of edges 1 in a mesh file."""
    corners = [f"v {x} {y} {z}" for x, y, z in CUBE]
    path = tmp_path / "cube.obj"
    path.write_text("\n".join([*corners, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES)]) + "\n")
    return Mesh(str(path), (1.0, 2.0, 0.5))


def test_cylinder_on_a_plane():
    """The lowest of many points of the rims; the gap changes as the points move."""
    model = bodies(CYLINDER)
    found, turn = candidates(model, Scene()), np.linspace(0, 2 * np.pi, 4001)
    rims = np.array([[0.3 * np.cos(a), 0.3 * np.sin(a), z] for z in (-0.4, 0.4) for a in turn])
    rng = np.random.default_rng(0)
    for q in model.random(rng, 20):
        R, p = kt.forward_kinematics(model, q)
        at = found.at(q)
        assert abs(at.gap.min() - (rims @ R[0].T + p[0])[:, 2].min()) < 1e-6
        v, h = rng.normal(size=6), 1e-6
        rate = (found.at(kt.integrate(model, q, h * v)).gap - found.at(kt.integrate(model, q, -h * v)).gap) / (2 * h)
        expected = [(kt.jacobian(model, q, 0, point=x)[3:] @ v)[2] for x in at.points]
        assert np.abs(rate - expected).max() < 1e-6
    standing = found.at(np.array([1.0, 0, 0, 0, 0, 0, 0.4]))
    assert (np.abs(standing.gap) < 1e-15).sum() == 5


@pytest.mark.parametrize("kind", OTHERS)
def test_cylinders_and_others(kind):
    """One candidate changes as its point moves, none is nearer than that; exchanged, the gap is the same."""
    model, exchanged = bodies(CYLINDER, OTHERS[kind]), bodies(OTHERS[kind], CYLINDER)
    found, back = candidates(model, Scene(ground=())), candidates(exchanged, Scene(ground=()))
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = model.random(rng)
        q[4:7], q[11:] = 0.0, q[11:] * 0.6 / np.linalg.norm(q[11:])
        at = found.at(q)
        assert at.gap.argmin() == 0 or at.gap.min() > at.gap[0] - 1e-5
        assert abs(back.at(np.concatenate([q[7:], q[:7]])).gap[0] - at.gap[0]) < 1e-5
        v, h = rng.normal(size=12), 1e-3
        rate = (found.at(kt.integrate(model, q, h * v)).gap - found.at(kt.integrate(model, q, -h * v)).gap)[0] / (2 * h)
        (own, other), (R, p) = found.bodies[0], kt.forward_kinematics(model, q)
        x = p[own] + R[own] @ at.points[0]
        ends = [kt.jacobian(model, q, k, point=R[k].T @ (x - p[k]))[3:] @ v for k in (own, other)]
        assert at.gap[0] < -0.02 or abs(rate - at.normals[0] @ (ends[0] - ends[1])) < 1e-2


def test_cylinder_stands_on_a_box():
    """Five points that hold it up, of which four lie on its rim."""
    model = bodies(Box((2.0, 2.0, 0.2)), CYLINDER)
    q = model.neutral()
    q[[11, 13]] = 0.1, 0.5
    at = candidates(model, Scene(ground=())).at(q)
    assert np.abs(at.gap).max() < 1e-6
    points = at.points[:, :2] if candidates(model, Scene(ground=())).bodies[0][0] == 1 else at.points[:, :2] - [0.1, 0.0]
    assert np.ptp(points, axis=0).min() > 0.5


def test_far_shapes_pass_to_near_ones_continuously(cube):
    model = bodies(cube, CYLINDER)
    found = candidates(model, Scene(ground=()))
    q = np.tile(model.neutral(), (2001, 1))
    q[:, :4] = [0.5, 0.5, 0.5, 0.5]
    q[:, 11] = np.linspace(0.5, 5.0, 2001)
    gap = found.at(q).gap
    assert np.abs(np.diff(gap, axis=0)).max() < 0.02  # steps of 0.00225


def test_gaps_are_those_of_each_pair_or_less(cube):
    """Near, what coal finds of the pair alone, to the bit; further away no more than that, and more than nothing."""
    model = bodies(cube, CYLINDER, [Shape(OTHERS["box"], kt.Pose(translation=[0.2, 0.0, 0.0])), OTHERS["capsule"]])
    found = candidates(model, Scene(ground=()))
    q = model.random(0, 60)
    q[:40, [4, 5, 6, 11, 12, 13, 18, 19, 20]] *= 0.4
    R, p = kt.forward_kinematics(model, q)
    gap, points, normals = found.at(q)
    bounds, _ = found.general.bounds(R, p)
    size = np.array([pair.first.radius + pair.second.radius for pair in found.general.pairs])
    starts = np.cumsum([0, *(pair.count for pair in found.general.pairs)])
    near = 0
    for n, (turns, places) in enumerate(zip(R, p, strict=True)):
        for k, pair in enumerate(found.general.pairs):
            sides = ((x, turns[x.body], places[x.body]) for x in (pair.first, pair.second))
            placed = [y for x, A, a in sides for y in (A @ x.placement.rotation, A @ x.placement.translation + a)]
            alone, where, normal = pair.at(*placed)
            part = slice(starts[k], starts[k + 1])
            assert (gap[n, part] <= alone + 1e-6).all() and bounds[n, k] <= alone[0] + 1e-6
            if bounds[n, k] >= 0.125 * size[k]:
                assert gap[n, part].min() > 0.0
                continue
            near += 1
            body = pair.first.body
            assert np.abs(gap[n, part] - alone).max() < 1e-5
            assert np.abs(places[body] + points[n, part] @ turns[body].T - where)[0].max() < 1e-5
            assert np.abs(normals[n, part] - normal).max() < 1e-5
    assert 20 < near < len(q) * len(size) - 20


@pytest.mark.parametrize("height", [0.4, 1.0])
def test_what_stands_above_a_box_comes_down_on_it_continuously(height):
    """All five gaps are its height, to what a tilt is, where they begin to differ and where they do so in full."""
    found = candidates(bodies(Box((2.0, 2.0, 0.2)), Cylinder(0.3, height)), Scene(ground=()))
    q = np.tile(found.model.neutral(), (2001, 1))
    q[:, 11] = 0.1
    q[:, 13] = 0.1 + height / 2 + np.linspace(0.0, 0.2, 2001)
    gap = found.at(q).gap
    assert np.abs(np.diff(gap, axis=0) - 1e-4).max() < 5e-6
    assert np.abs(gap - np.linspace(0.0, 0.2, 2001)[:, None]).max() < 1e-6


def test_hulls_of_meshes(cube):
    """A cube from a file is the box of its size, on a plane, on a sphere and on points."""
    box = Box((1.0, 2.0, 0.5))
    wall = Shape(Plane((1.0, 0.0, 1.0), -1.0), kt.Pose(translation=[0.0, 0.0, -0.5]))
    for other, ground in ((Sphere(0.3), ()), ((), (wall,)), (Points([[0.0, 0.2, 0.1], [0.2, 0.0, 0.0]]), ())):
        as_mesh, as_box = bodies(cube, other), bodies(box, other)
        found, exact = (candidates(model, Scene(ground)) for model in (as_mesh, as_box))
        for seed in range(10):
            q = as_mesh.random(seed)
            q[4:7], q[11:] = q[4:7] * 0.1, q[11:] * 0.5 / np.linalg.norm(q[11:])
            assert abs(found.at(q).gap.min() - exact.at(q).gap.min()) < 1e-6


def test_a_hull_on_a_plane_is_exact_and_stands_on_its_corners(cube):
    """Its lowest corner, to rounding, however deep; of a face that lies on the plane, four different ones."""
    wall = Shape(Plane((1.0, 0.0, 1.0), -1.0), kt.Pose(translation=[0.0, 0.0, -0.5]))
    found, exact = (candidates(bodies(shape), Scene(wall)) for shape in (cube, Box((1.0, 2.0, 0.5))))
    q = found.model.random(3, 20)
    ours, box = found.at(q).gap.min(axis=1), exact.at(q).gap.min(axis=1)
    near = box < 0.1
    assert np.abs(ours - box)[near].max() < 1e-13 and near.sum() > 5
    standing = candidates(bodies(cube), Scene()).at([1.0, 0, 0, 0, 0, 0, 0.25])
    assert np.abs(standing.gap).max() < 1e-15 and len(np.unique(standing.points[1:], axis=0)) == 4
    moving = bodies(cube, Plane())
    q = moving.random(1)
    R, p = kt.forward_kinematics(moving, q)
    corners = (CUBE * [1.0, 2.0, 0.5]) @ R[0].T + p[0] - p[1]
    q[4:7] -= ((corners @ R[1])[:, 2].min() + 0.1) * R[1][:, 2]
    assert abs(candidates(moving, Scene(ground=())).at(q).gap.min() + 0.1) < 1e-13


def test_batches_are_states_one_by_one(cube):
    model = bodies(cube, CYLINDER, Box((1.0, 0.2, 0.2)))
    found, q = candidates(model, Scene()), model.random(0, (2, 3))
    together = found.at(q)
    for n in np.ndindex(2, 3):
        for a, b in zip(found.at(q[n]), together, strict=True):
            assert np.array_equal(a, b[n])


def test_what_is_missing(tmp_path, monkeypatch):
    spoiled = tmp_path / "spoiled.stl"
    spoiled.write_text("nothing")
    for path, message in (
        ("nowhere.stl", "body 'b0': the mesh 'nowhere.stl' is not found; check its path"),
        ("package://robot/a.stl", "with the package's folder in roots"),
        (str(spoiled), "cannot be read as one with a convex hull"),
    ):
        with pytest.raises(InputError, match=message):
            candidates(bodies(Mesh(path)), Scene())
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(MissingExtraError, match=r"kinetree\[collision\]"):
        candidates(bodies(Cylinder(0.1, 0.123), Sphere(0.123)), Scene())
