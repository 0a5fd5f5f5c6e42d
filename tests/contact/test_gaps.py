"""Gaps against a collision library, against the velocities of what touches, and against themselves turned round."""

import coal
import numpy as np
import pytest
import scipy.optimize
import scipy.spatial
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.contact import Box, Capsule, Plane, Points, Scene, Shape, Sphere, candidates
from kinetree.contact.distances import contact
from kinetree.errors import InputError, ModelError
from kinetree.spatial.rotations import quaternion_product, rotation_about

UNIT = kt.Inertia(1.0, tensor=np.eye(3))
ROUND = {"sphere": Sphere(0.3), "capsule": Capsule(0.2, 0.9)}
SOLIDS = {**ROUND, "box": Box((0.5, 0.8, 1.1))}
PAIRS = [(a, b) for n, a in enumerate(SOLIDS) for b in list(SOLIDS)[: n + 1]]
LIMIT = 1e-9
"""Coal iterates to about 1e-10; and lengths here are about 1."""
SEEDS = st.integers(0, 2**32 - 1)

ARM = ("a", None), ("b", "a"), ("c", "b")


def two(first, second):
    """Two free bodies that may touch each other."""
    return kt.Model([kt.Body(name, None, kt.Free(), inertia=UNIT, shapes=x) for name, x in (("a", first), ("b", second))])


def placed(seed, far=1.2):
    """Poses of two bodies, about as far from each other as they are large."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, 7))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    q[:, 4:] *= far / np.linalg.norm(q[:, 4:], axis=1, keepdims=True) * rng.uniform(0.1, 0.7)
    return q.ravel()


def of_coal(geometry):
    if isinstance(geometry, Sphere):
        return coal.Sphere(geometry.radius)
    if isinstance(geometry, Capsule):
        return coal.Capsule(geometry.radius, geometry.length)
    return coal.Box(*geometry.size)


def coal_distance(model, q):
    """Signed distance of the shapes of two bodies, and the normal from the second to the first."""
    R, p = kt.forward_kinematics(model, q)
    poses = [coal.Transform3s(R[k], p[k]) for k in range(2)]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-12
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    first, second = (of_coal(body.shapes[0].geometry) for body in model.bodies)
    found = coal.distance(first, poses[0], second, poses[1], request, result)
    return found, -result.normal


MODELS = {(a, b): two(SOLIDS[a], SOLIDS[b]) for a, b in PAIRS}
EACH = {names: candidates(model, Scene(ground=())) for names, model in MODELS.items()}


@pytest.mark.parametrize("names", [pair for pair in PAIRS if pair != ("box", "box")])
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_distances_are_those_of_coal(names, seed):
    """Apart, and where no more than the radius of the rounder shape is inside."""
    model, q = MODELS[names], placed(seed)
    found, (distance, normal) = EACH[names].at(q), coal_distance(model, q)
    k = int(np.argmin(found.gap))
    radius = min(x.geometry.radius for _, x in model.shapes if not isinstance(x.geometry, Box))
    if distance > -radius or "box" not in names:
        assert abs(found.gap[k] - distance) < LIMIT
        sign = 1.0 if EACH[names].bodies[k] == (0, 1) else -1.0
        if distance > -0.9 * radius:
            assert np.abs(sign * found.normals[k] - normal).max() < 1e-5
    else:
        assert found.gap[k] < 0.0


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS)
def test_boxes_are_apart_where_they_are(seed):
    """The nearest gap is the distance of two boxes that are apart, but for their seams; one is negative where they are not."""
    model, q = MODELS["box", "box"], placed(seed)
    found, (distance, _) = EACH["box", "box"].at(q), coal_distance(model, q)
    if distance > LIMIT:
        assert distance - 1e-4 < found.gap.min() < distance + LIMIT
    elif distance < -LIMIT:
        assert found.gap.min() < 0.0


@pytest.mark.parametrize("names", PAIRS)
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_gaps_change_as_points_move(names, seed):
    """d gap = normal · (velocity of the first body − of the second) at the point: kt.Contact's own first row."""
    model, found, q = MODELS[names], EACH[names], placed(seed)
    v = np.random.default_rng(seed).normal(size=model.nv)
    at = found.at(q)
    h = 1e-6
    q1, q0 = kt.integrate(model, q, h * v), kt.integrate(model, q, -h * v)
    rate = (found.at(q1).gap - found.at(q0).gap) / (2 * h)
    smooth = np.abs(found.at(q1).normals - found.at(q0).normals).max(axis=1) < 1e-4
    expected = [normal_velocity(model, q, v, *c) for c in zip(found.bodies, at.points, at.normals, strict=True)]
    solids = [model.bodies[own].shapes[0].geometry for own, _ in found.bodies]
    radius = [x.radius if isinstance(x, Capsule) else 0.0 for x in solids]
    lines = np.array([("half" in name or "edge" in name) and "box" in name for name in found.names])
    depth = np.where(lines, np.maximum(-at.gap - radius, 0.0), 0.0)  # of lines within boxes it is so near the surface
    seams = 1e-4 * np.abs(v).sum()  # of boxes that reach past each other
    assert (np.abs(rate - expected) < 1e-4 + seams + 10.0 * depth)[smooth & (depth < 0.1)].all()


def normal_velocity(model, q, v, bodies, point, normal):
    (own, other), (R, p) = bodies, kt.forward_kinematics(model, q)
    rate = normal @ kt.jacobian(model, q, own, point=point)[3:] @ v
    if other < 0:
        return rate
    x = R[other].T @ (p[own] + R[own] @ point - p[other])
    return rate - normal @ kt.jacobian(model, q, other, point=x)[3:] @ v


@pytest.mark.parametrize("names", PAIRS)
@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_only_relative_poses_count(names, seed):
    """Everything moved as one: the same gaps and points, normals turned. Exchanged: the same gaps, maybe in another order."""
    q, at = placed(seed), EACH[names].at(placed(seed))
    moved, turn = q.copy(), rotation_about(np.array([0.6, 0.0, 0.8]), 2.0)
    for k in (0, 7):
        moved[k : k + 4] = quaternion_product(np.array([np.cos(1.0), *(np.sin(1.0) * np.array([0.6, 0.0, 0.8]))]), q[k : k + 4])
        moved[k + 4 : k + 7] = turn @ q[k + 4 : k + 7] + [1.0, -2.0, 3.0]
    there = EACH[names].at(moved)
    assert np.abs(there.gap - at.gap).max() < 1e-12
    shallow = at.gap > -0.2
    assert np.abs(there.points - at.points)[shallow].max(initial=0.0) < 1e-6
    assert np.abs(there.normals - at.normals @ turn.T)[shallow].max(initial=0.0) < 1e-9
    back = candidates(two(SOLIDS[names[1]], SOLIDS[names[0]]), Scene(ground=())).at(np.concatenate([q[7:], q[:7]]))
    same = np.sort(back.gap) - np.sort(at.gap) if names != ("capsule", "capsule") else back.gap.min() - at.gap.min()
    assert np.abs(same).max() < 1e-12


@pytest.mark.parametrize("names", PAIRS)
def test_normals_have_a_direction_everywhere(names):
    """Of shapes in the same place, on each other's axes, faces and corners; and their gaps are numbers."""
    model, found = MODELS[names], EACH[names]
    places = [
        (0, 0, 0),
        (0, 0, 0.45),
        (0.25, 0, 0),
        (0.25, 0.4, 0.55),
        (0, 0.4, 0.55),
        (0.5, 0, 0),
        (0.5, 0.8, 1.1),
        (0, 0, 1e-200),
    ]
    q = np.tile(model.neutral(), (len(places), 1))
    q[:, 11:] = places
    at = found.at(q)
    assert np.isfinite(at.gap).all()
    assert np.isfinite(at.points).all()
    assert np.abs(np.linalg.norm(at.normals, axis=-1) - 1.0).max() < 1e-12


@pytest.mark.parametrize("names", PAIRS)
def test_the_nearest_gap_is_continuous(names):
    """Along paths through touching, in and out, steps of the nearest gap are no longer than those of the shapes."""
    for seed in range(5):
        q0, rng = placed(seed), np.random.default_rng(seed)
        v = rng.normal(size=12) / 4
        ts = np.linspace(-1.0, 1.0, 4001)
        gap = EACH[names].at(kt.integrate(MODELS[names], q0, ts[:, None] * v)).gap.min(axis=1)
        fastest = (np.abs(v).reshape(4, 3).sum(axis=1) * [1.5, 1.0, 1.5, 1.0]).sum()
        steps = np.abs(np.diff(gap))[gap[1:] > -0.05]
        assert steps.max(initial=0.0) < fastest * (ts[1] - ts[0])


SLAB, BAR = Box((1.0, 1.0, 0.2)), Box((1.0, 0.2, 0.2))
LOG = Shape(Capsule(0.1, 1.0), kt.Pose(rotation_about(np.array([0.0, 1.0, 0.0]), np.pi / 2)))
RESTING = {
    "aligned": (SLAB, SLAB, 0.0, (0.0, 0.0)),
    "at a corner": (SLAB, SLAB, 0.0, (0.4, 0.45)),
    "turned": (SLAB, SLAB, np.pi / 4, (0.3, 0.2)),
    "turned a little": (SLAB, SLAB, 0.1, (0.45, 0.45)),
    "crossed": (BAR, BAR, np.pi / 2, (0.09, 0.09)),
    "crossed aslant": (BAR, BAR, np.pi / 6, (0.03, 0.03)),
    "log on a slab": (LOG, SLAB, 0.3, (0.1, 0.0)),
    "log over a bar": (LOG, BAR, np.pi / 2, (0.05, 0.05)),
}


def test_pairs_are_all_but_neighbours_or_the_ground_alone_or_those_named():
    arm = [kt.Body(name, parent, kt.Revolute([0, 1, 0]), inertia=UNIT, shapes=Sphere(0.1)) for name, parent in ARM]
    model = kt.Model(arm)
    found = {pairs: candidates(model, Scene(pairs=pairs)).bodies for pairs in (None, "ground", (("c", "a"), ("b", None)))}
    ground = {(0, -1), (1, -1), (2, -1)}
    assert {pairs: set(x) for pairs, x in found.items()} == {
        None: {*ground, (2, 0)},
        "ground": ground,
        (("c", "a"), ("b", None)): {(2, 0), (1, -1)},
    }


@pytest.mark.parametrize("seed", range(6))
def test_two_boxes_touch_on_all_that_their_faces_share(seed):
    rng = np.random.default_rng(seed)
    sizes, yaw, at = rng.uniform(0.1, 0.4, (2, 2)), rng.uniform(0, np.pi), rng.uniform(-0.05, 0.05, 2)
    model = two(*(Box([*size, 0.2]) for size in sizes))
    q = model.neutral()
    q[7:11], q[11:] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)], [*at, 0.2]
    found = candidates(model, Scene(ground=()))
    touching, (R, p) = found.at(q), kt.forward_kinematics(model, q)
    closed = np.flatnonzero(np.abs(touching.gap) < 1e-12)
    own = np.array(found.bodies)[closed, 0]
    points = p[own] + (R[own] @ touching.points[closed][:, :, None])[:, :, 0]
    faces = []
    for size, axes, centre in ((sizes[0], np.eye(2), np.zeros(2)), (sizes[1], R[1][:2, :2].T, at)):
        faces += [[*n, -n @ centre - half] for a, half in zip(axes, size / 2, strict=True) for n in (a, -a)]
    shared = scipy.spatial.HalfspaceIntersection(np.array(faces), 0.5 * at).intersections
    area = scipy.spatial.ConvexHull(shared).volume
    assert abs(scipy.spatial.ConvexHull(points[:, :2]).volume - area) < 1e-3 * area  # seams are 1e-5 of the size


@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-10, 1e-7])
@pytest.mark.parametrize("how", RESTING)
def test_what_rests_is_carried(how, off):
    """Where nothing is further than a micrometre, forces along the normals hold up the weight; off the pose by a little too."""
    top, bottom, yaw, at = RESTING[how]
    model = two(bottom, top)
    q = model.neutral()
    q[7:11] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
    q[11:] = [*at, 0.2]
    q = kt.integrate(model, q, off * np.random.default_rng(0).normal(size=model.nv))
    found = candidates(model, Scene(ground=()))
    touching, (R, p) = found.at(q), kt.forward_kinematics(model, q)
    wrenches = []
    for k in np.flatnonzero(touching.gap < 1e-6):
        own, other = found.bodies[k]
        n = touching.normals[k] * (own - other)
        x = p[own] + R[own] @ touching.points[k] - p[1]
        wrenches.append([*np.cross(x, n), *n])
    W = np.array(wrenches).T
    cost = np.concatenate([np.zeros(W.shape[1]), np.ones(12)])
    weight = np.array([0, 0, 0, 0, 0, 1.0])
    left = scipy.optimize.linprog(cost, A_eq=np.hstack([W, np.eye(6), -np.eye(6)]), b_eq=weight).fun
    assert left < 10 * off + 1e-12


def test_ground():
    """A ball, points and a box over planes: what is stated of each, and of the coefficients of their pairs."""
    box = Shape(Box((0.2, 0.4, 0.6)), kt.Pose(translation=[0.1, 0.0, 0.0]))
    model = two([Sphere(0.1), Points([[0, 0, -0.2], [0, 0, 0.3]])], box)
    wall = Plane((-2.0, 0.0, 0.0), -4.0)  # x ≥ 2 is solid
    scene = Scene((Plane(), wall), [("a", None), (None, "b")], {("a", None): 0.5}, {(None, "b"): 0.25})
    found = candidates(model, scene)
    q = model.neutral()
    q[[4, 6, 11, 13]] = 1.5, 0.3, 1.0, 1.0
    at = found.at(q)
    assert found.bodies == ((0, -1),) * 6 + ((1, -1),) * 16
    assert found.friction.tolist() == [0.5] * 6 + [0.0] * 16
    assert found.restitution.tolist() == [0.0] * 6 + [0.25] * 16
    assert np.abs(at.gap[:6] - [0.2, 0.4, 0.1, 0.5, 0.6, 0.5]).max() < 1e-15
    assert np.abs(np.sort(at.gap[6::2]) - ([0.7] * 4 + [1.3] * 4)).max() < 1e-15
    assert np.abs(at.points[:2] - [[0, 0, -0.1], [0.1, 0, 0]]).max() < 1e-15
    assert np.array_equal(at.normals[:2], [[0, 0, 1], [-1, 0, 0]])


def test_batches_are_states_one_by_one():
    q = np.stack([placed(seed) for seed in range(6)]).reshape(2, 3, -1)
    together = EACH["box", "capsule"].at(q)
    for n in np.ndindex(2, 3):
        for a, b in zip(EACH["box", "capsule"].at(q[n]), together, strict=True):
            assert np.array_equal(a, b[n])


@pytest.mark.parametrize("names", PAIRS)
def test_kernels_are_the_functions_they_come_from(names):
    model, found = MODELS[names], EACH[names]
    for seed in range(20):
        q = placed(seed)
        R, p = kt.forward_kinematics(model, q)
        at = found.at(q)
        for n, (kind, a, b, swapped, x) in enumerate(found.features):
            gap, point, normal = contact(kind, swapped, (R[a], p[a]), (R[b], p[b]), np.array(x))
            assert abs(gap - at.gap[n]) < 1e-12
            assert np.abs(point - at.points[n]).max() < 1e-6
            if gap > -0.2:  # deeper, an edge may stab through the middle of a box, and either face is as near
                assert np.abs(normal - at.normals[n]).max() < 1e-9


WRONG = {
    "radius": (lambda: Sphere(-0.1), "the radius of a sphere must be positive, found -0.1 m"),
    "length": (lambda: Capsule(0.1, -1.0), "the length of a capsule must not be negative, found -1 m"),
    "size": (lambda: Box((1.0, 0.0, 1.0)), "three positive lengths"),
    "no points": (lambda: Points([]), "at least one point"),
    "flat points": (lambda: Points([0.0, 0.0, 1.0]), r"array \(n, 3\) of at least one point, found shape \(3,\)"),
    "NaN": (lambda: Points([[0.0, 0.0, np.nan]]), "points must be finite"),
    "normal": (lambda: Plane((0.0, 0.0, 0.0)), "the normal of a plane must not be zero"),
    "placement": (lambda: Shape(Sphere(0.1), [0, 0, 1]), "placement of a shape must be a kinetree Pose"),
    "geometry": (lambda: two(3.0, ()), "body 'a': shapes must be geometries"),
    "ground": (lambda: Scene("floor"), "the ground of a scene: shapes must be geometries"),
    "friction": (lambda: Scene(friction=-0.1), "friction of a scene must be a number of at least 0, .* found -0.1"),
    "restitution": (lambda: Scene(restitution={("a", None): 2}), r"restitution of \('a', None\) of a scene must be .* 0 to 1"),
    "limits": (lambda: Scene(limits="no"), "limits of a scene must be True or False"),
    "law": (lambda: Scene(law="Newton"), "law must be one of 'newton'"),
    "pairs": (lambda: Scene(pairs=["a", "b"]), "pairs of a scene must be a list of"),
    "unknown": (lambda: candidates(MODELS["box", "box"], Scene(pairs=[("a", "c")])), "no body named 'c'"),
    "unknown friction": (lambda: candidates(MODELS["box", "box"], Scene(friction={("c", None): 1})), "no body named 'c'"),
    "itself": (lambda: candidates(MODELS["box", "box"], Scene(pairs=[("a", "a")])), "names the same twice"),
    "bare": (lambda: candidates(two(Sphere(1.0), ()), Scene(pairs=[("b", None)])), "body 'b' of 'model' has no shapes"),
    "no ground": (lambda: candidates(MODELS["box", "box"], Scene((), [("a", None)])), "ground=.. holds no shape"),
    "planes": (lambda: candidates(two(Plane(), ()), Scene(pairs=[("a", None)])), "nothing that could touch"),
    "with_shapes": (lambda: MODELS["box", "box"].with_shapes([Sphere(1.0)]), "with_shapes takes {body: shapes}"),
    "q": (lambda: EACH["box", "box"].at([0.0]), "q must have shape"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input(what):
    call, message = WRONG[what]
    with pytest.raises((InputError, ModelError), match=message):
        call()
