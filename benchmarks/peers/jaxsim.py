"""JaxSim: aba and rnea of a model given as SDF."""

import jax.numpy as jnp
import jaxsim.api as js
from jaxsim import VelRepr
from lxml import etree

import kinetree as kt
from benchmarks.coordinates import Coordinates
from benchmarks.models import Case
from benchmarks.peers.jax_peer import JaxPeer
from benchmarks.peers.peer import FORWARD, Array, Unfit
from benchmarks.urdf import rpy

GROUND = "ground_link"


class JaxSim(JaxPeer):
    """From SDF written from our bodies, since it reads URDF only through Gazebo's converter."""

    name = "JaxSim"
    computes = """
    `forward_dynamics_aba` and `inverse_dynamics`, and its data object made from q and v before, which finds the pose and the
    velocity of every link: more than ours.
    """

    def __init__(self, case: Case, threads: int) -> None:
        model = case.model
        if any(body.parent is None for body in model.bodies[1:]) or any(body.inertia.mass == 0 for body in model.bodies):
            raise Unfit("one base, and no body without mass")
        self.case, self.free = case, case.base == "free"
        self.there = js.model.JaxSimModel.build_from_model_description(sdf_text(model, self.free), gravity=9.81)
        self.joints = list(self.there.joint_names())

    def coordinates(self, q: Array, v: Array) -> Coordinates:
        q0, v0 = (7, 6) if self.free else (0, 0)

        def places(name: str) -> tuple[int, int]:
            return (self.joints.index(name) + q0, self.joints.index(name) + v0) if name in self.joints else (0, 0)

        return Coordinates(self.case.model, q, v, places, world=False)

    def function(self, quantity):
        model = self.there

        def forward(q, v, tau):
            data = self._data(q, v)
            if not self.free:
                return js.model.forward_dynamics_aba(model, data, joint_forces=tau)[1]
            return jnp.concatenate(js.model.forward_dynamics_aba(model, data, joint_forces=tau[6:]))  # none on the base here

        def inverse(q, v, a):
            data = self._data(q, v)
            if not self.free:
                return js.model.inverse_dynamics(model, data, joint_accelerations=a)[1]
            return jnp.concatenate(js.model.inverse_dynamics(model, data, joint_accelerations=a[6:], base_acceleration=a[:6]))

        return forward if quantity == FORWARD else inverse

    def _data(self, q, v):
        build = js.data.JaxSimModelData.build
        if not self.free:
            return build(self.there, joint_positions=q, joint_velocities=v, velocity_representation=VelRepr.Body)
        return build(
            self.there,
            base_position=q[:3],
            base_quaternion=q[3:7],
            joint_positions=q[7:],
            base_linear_velocity=v[:3],
            base_angular_velocity=v[3:6],
            joint_velocities=v[6:],
            velocity_representation=VelRepr.Body,
        )


def sdf_text(model: kt.Model, free: bool) -> str:
    """A link and a joint per body, in URDF's manner; a link on the ground, held by a fixed joint, where the base is fixed."""
    sdf = etree.Element("sdf", version="1.7")
    robot = etree.SubElement(sdf, "model", name="robot")
    if not free:
        _link(robot, GROUND, None, kt.Inertia(1.0, tensor=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
        held = etree.SubElement(robot, "joint", name="held", type="fixed")
        etree.SubElement(held, "parent").text = "world"
        etree.SubElement(held, "child").text = GROUND
    for body in model.bodies:
        root = free and body.parent is None
        _link(robot, body.name, None if root else body.joint_name, body.inertia)
        if root:
            continue
        joint = etree.SubElement(robot, "joint", name=body.joint_name, type=body.joint.kind)
        parent = body.parent or GROUND
        pose = (*body.placement.translation, *rpy(body.placement.rotation))
        etree.SubElement(joint, "pose", relative_to=parent).text = _numbers(pose)
        etree.SubElement(joint, "parent").text = parent
        etree.SubElement(joint, "child").text = body.name
        axis = etree.SubElement(joint, "axis")
        etree.SubElement(axis, "xyz").text = _numbers(body.joint.axis)
        limit = etree.SubElement(axis, "limit")
        etree.SubElement(limit, "lower").text, etree.SubElement(limit, "upper").text = "-1e3", "1e3"
    return etree.tostring(sdf, encoding="unicode")


def _link(robot, name: str, joint: str | None, inertia: kt.Inertia) -> None:
    link = etree.SubElement(robot, "link", name=name)
    if joint:
        etree.SubElement(link, "pose", relative_to=joint).text = _numbers([0] * 6)
    inertial = etree.SubElement(link, "inertial")
    etree.SubElement(inertial, "pose").text = _numbers([*inertia.com, 0, 0, 0])
    etree.SubElement(inertial, "mass").text = repr(inertia.mass)
    tensor = etree.SubElement(inertial, "inertia")
    for i in range(3):
        for j in range(i, 3):
            etree.SubElement(tensor, f"i{'xyz'[i]}{'xyz'[j]}").text = repr(float(inertia.tensor[i, j]))


def _numbers(values) -> str:
    return " ".join(repr(float(x)) for x in values)
