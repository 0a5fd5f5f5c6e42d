"""URDF text: one valid robot, and every way in which the tests spoil it."""

INERTIAL = """<inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="1.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.02"/>
    </inertial>"""

ROBOT = f"""<?xml version="1.0"?>
<robot name="sample">
  <link name="base"/>
  <link name="arm">
    {INERTIAL}
    <visual><geometry><mesh filename="arm.stl"/></geometry></visual>
  </link>
  <link name="hand">
    {INERTIAL}
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 0.2" rpy="0 0 1.5708"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="40"/>
  </joint>
  <joint name="wrist" type="continuous">
    <parent link="arm"/>
    <child link="hand"/>
    <origin xyz="0 0 1"/>
    <axis xyz="1 0 0"/>
  </joint>
</robot>
"""


def spoiled(old: str, new: str, count: int = 1) -> str:
    """The robot with one thing replaced; the thing must be there."""
    assert old in ROBOT, old
    return ROBOT.replace(old, new, count)


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    return f'  <joint name="{name}" type="{kind}">{ends}<axis xyz="0 0 1"/>{limit}{inside}</joint>\n'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'  <link name="{name}">{inside}</link>\n'


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "".join(parts) + "</robot>\n"


def chain(n: int, kind: str = "revolute") -> str:
    """A serial chain of n links."""
    links = "".join(link(f"l{i}") for i in range(n))
    return robot(links, *(joint(f"j{i}", f"l{i}", f"l{i + 1}", kind=kind) for i in range(n - 1)))


END = "</robot>"
MASS, IXX, IZZ = 'value="1.5"', 'ixx="0.1"', 'izz="0.02"'
AXIS, XYZ, LIMIT = 'xyz="0 1 0"', 'xyz="0 0 0.2"', 'lower="-2" upper="2"'
BOMB = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
LOOP = robot(link("a"), link("b"), link("c"), joint("x", "a", "b"), joint("y", "b", "c"))


def mimic(name: str) -> str:
    return f'<mimic joint="{name}"/>'


ERRORS: dict[str, str | bytes] = {
    "empty file": "",
    "white space only": " \n\n ",
    "truncated": ROBOT[: len(ROBOT) // 2],
    "not xml": "hello",
    "wrong root": "<sdf version='1.6'></sdf>",
    "mjcf": "<mujoco/>",
    "no links": '<robot name="r"/>',
    "duplicate link": spoiled(END, '<link name="arm"/></robot>'),
    "duplicate joint": spoiled('name="wrist"', 'name="shoulder"'),
    "link without name": spoiled('<link name="base"/>', "<link/>"),
    "link with empty name": spoiled('<link name="base"/>', '<link name=""/>'),
    "link with blank name": spoiled('<link name="base"/>', '<link name="  "/>'),
    "joint without name": spoiled('name="wrist" ', ""),
    "joint with empty name": spoiled('name="wrist"', 'name=""'),
    "missing parent": spoiled('<parent link="arm"/>', ""),
    "missing child": spoiled('<child link="hand"/>', ""),
    "parent without link": spoiled('<parent link="arm"/>', "<parent/>"),
    "empty child": spoiled('<child link="hand"/>', '<child link=""/>'),
    "two parents elements": spoiled('<parent link="arm"/>', '<parent link="arm"/><parent link="base"/>'),
    "unknown parent": spoiled('<parent link="arm"/>', '<parent link="Arm"/>'),
    "unknown child": spoiled('<child link="hand"/>', '<child link="foot"/>'),
    "self parent": spoiled('<parent link="arm"/>', '<parent link="hand"/>'),
    "cycle without root": LOOP.replace(END, joint("z", "c", "a") + END),
    "cycle beside the tree": LOOP.replace(END, link("p") + link("q") + joint("v", "p", "q") + joint("w", "q", "p") + END),
    "two roots": spoiled(END, '<link name="other"/></robot>'),
    "link with two parents": spoiled(END, joint("second", "base", "hand") + END),
    "joint without type": spoiled(' type="continuous"', ""),
    "unknown joint type": spoiled('type="continuous"', 'type="hinge"'),
    "zero axis": spoiled(AXIS, 'xyz="0 0 0"'),
    "nan axis": spoiled(AXIS, 'xyz="nan 0 1"'),
    "axis without xyz": spoiled(AXIS, ""),
    "nan mass": spoiled(MASS, 'value="nan"'),
    "infinite mass": spoiled(MASS, 'value="inf"'),
    "negative mass": spoiled(MASS, 'value="-1.5"'),
    "textual mass": spoiled(MASS, 'value="abc"'),
    "comma mass": spoiled(MASS, 'value="1,5"'),
    "underscore mass": spoiled(MASS, 'value="1_5"'),
    "xacro mass": spoiled(MASS, 'value="${mass}"'),
    "overflowing mass": spoiled(MASS, 'value="1e400"'),
    "huge mass": spoiled(MASS, 'value="1e300"'),
    "tiny mass": spoiled(MASS, 'value="1e-300"'),
    "mass without value": spoiled(MASS, ""),
    "mass missing": spoiled('<mass value="1.5"/>', ""),
    "inertia missing": spoiled('<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.02"/>', ""),
    "moment missing": spoiled(IZZ, ""),
    "negative moment": spoiled(IXX, 'ixx="-0.1"'),
    "negative principal moment": spoiled('ixy="0"', 'ixy="0.2"'),
    "huge moment": spoiled(IXX, 'ixx="1e300"'),
    "second inertial": spoiled(INERTIAL, INERTIAL + INERTIAL),
    "moving massless leaf": spoiled(INERTIAL, "", 2),
    "last link without inertial": robot(link("a"), link("b", ""), joint("j", "a", "b")),
    "last link of zero mass": spoiled(MASS, 'value="0"', 2).replace('type="continuous"', 'type="prismatic"'),
    "point mass on its axis": robot(
        link("a"),
        link("b", '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'),
        joint("j", "a", "b"),
    ),
    "thin rod about its axis": robot(link("a"), link("b", INERTIAL.replace('izz="0.02"', 'izz="0"')), joint("j", "a", "b")),
    "vector of two": spoiled(XYZ, 'xyz="0 0"'),
    "vector of four": spoiled(XYZ, 'xyz="0 0 0 1"'),
    "empty vector": spoiled(XYZ, 'xyz=""'),
    "nan origin": spoiled(XYZ, 'xyz="nan 0 0"'),
    "nan angle": spoiled("0 0 1.5708", "0 0 nan"),
    "overflowing origin": spoiled(XYZ, 'xyz="1e400 0 0"'),
    "distant origin": spoiled(XYZ, 'xyz="1e200 0 0"'),
    "long number": spoiled(MASS, f'value="{"1" * 5000}"'),
    "reversed limits": spoiled(LIMIT, 'lower="2" upper="-2"'),
    "nan limit": spoiled('lower="-2"', 'lower="nan"'),
    "negative velocity limit": spoiled('velocity="3"', 'velocity="-3"'),
    "negative damping": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="-0.1"/>'),
    "negative friction": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="0.1" friction="-1"/>'),
    "infinite damping": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="inf"/>'),
    "huge friction": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics friction="1e99"/>'),
    "second dynamics": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="1"/><dynamics damping="1"/>'),
    "mimic of a missing joint": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/>' + mimic("elbow")),
    "mimic without joint": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic/>'),
    "mimic of itself": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/>' + mimic("wrist")),
    "mimic in a circle": robot(*map(link, "abc"), joint("x", "a", "b", mimic("y")), joint("y", "b", "c", mimic("x"))),
    "mimic multiplier": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="x"/>'),
    "entity bomb": f'<!DOCTYPE robot [<!ENTITY a0 "ha">{BOMB}]><robot name="&a9;"/>',
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>',
    "external dtd": '<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE robot SYSTEM "http://localhost/x.dtd"><robot/>',
    "undefined entity": spoiled('name="sample"', 'name="&sample;"'),
    "nested tags": "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
    "unclosed nested tags": "<robot>" + "<a>" * 100_000,
    "xacro": spoiled("<link ", "<xacro:macro/><link "),
    "nothing moves": robot(link("a"), link("b"), joint("j", "a", "b", kind="fixed")),
    "random bytes": bytes(range(255, 0, -1)),
    "nul bytes": b"\0" * 100,
    "utf-16": ROBOT.encode("utf-16"),
    "invalid utf-8": ROBOT.replace("sample", "s\xe4mple").encode("latin-1"),
    "utf-7": ROBOT.replace('version="1.0"', 'version="1.0" encoding="utf-7"'),
    "unknown encoding": ROBOT.replace('version="1.0"', 'version="1.0" encoding="klingon"'),
}

REPAIRS: dict[str, str] = {
    "non-unit axis": spoiled(AXIS, 'xyz="0 2 0"'),
    "triangle-breaking inertia": spoiled(IZZ, 'izz="0.5"'),
    "negative moment of a small part": spoiled(
        END,
        link("tag", INERTIAL.replace("0.1", "-1e-6").replace("0.02", "1e-6"))
        + joint("glue", "hand", "tag", kind="fixed")
        + END,
    ),
    "rounding for an inertia": spoiled(IXX, 'ixx="-1e-19"').replace('iyy="0.1"', 'iyy="0"', 1).replace(IZZ, 'izz="0"', 1),
    "moment without mass": spoiled(
        END, link("tag", INERTIAL.replace("1.5", "0")) + joint("glue", "hand", "tag", kind="fixed") + END
    ),
    "moving link with no inertial": spoiled(INERTIAL, ""),
    "dynamics of a simulator": spoiled(
        '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="1" D="1" mu_viscous="16"/>'
    ),
    "mimic": spoiled('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="-1"/>'),
    "limit missing": spoiled('<limit lower="-2" upper="2" velocity="3" effort="40"/>', ""),
    "mesh climbs out": spoiled('"arm.stl"', '"../../../../../etc/passwd"'),
    "mesh absolute": spoiled('"arm.stl"', '"/etc/passwd"'),
    "mesh file": spoiled('"arm.stl"', '"file:///etc/passwd"'),
    "mesh on a drive": spoiled('"arm.stl"', r'"C:\meshes\arm.stl"'),
    "mesh from the network": spoiled('"arm.stl"', '"http://localhost/arm.stl"'),
    "mesh out of its package": spoiled('"arm.stl"', '"package://sample/../../../etc/passwd"'),
    "unknown package": spoiled('"arm.stl"', '"package://no_such_package/arm.stl"'),
}
