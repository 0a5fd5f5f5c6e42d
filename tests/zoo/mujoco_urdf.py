"""A URDF as MuJoCo compiles it."""

import mujoco
from lxml import etree


def mujoco_spec(path):
    """The URDF with its meshes left out: their inertia is not used, and their files are not here."""
    spec = mujoco.MjSpec.from_string(_without_geometry(path.read_text(encoding="utf-8")))
    spec.compiler.fusestatic = True
    spec.compiler.discardvisual = True
    spec.compiler.balanceinertia = False
    return spec


def _without_geometry(text):
    root = etree.fromstring(text.encode(), etree.XMLParser(remove_comments=True))
    for tag in ("visual", "collision", "transmission", "gazebo"):
        for node in list(root.iter(tag)):
            node.getparent().remove(node)
    return etree.tostring(root, encoding="unicode")
