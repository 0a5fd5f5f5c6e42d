"""`kinetree show --sparsity`: segments, zero blocks, the drawing in text and the picture."""

from __future__ import annotations

import json
import sys

import documents
import numpy as np
import pytest
import zoo

import kinetree as kt
from kinetree.cli import main
from kinetree.model.examples import EXAMPLES

FIGURE_3 = """\
 segment   bodies from   to           length   parent
 ────────────────────────────────────────────────────
 0         0 body 1      2 body 3          3
 ├ 1       3 body 4      4 body 5          2        0
 │ ├ 3     7 body 8      9 body 10         3        1
 │ └ 4     10 body 11    11 body 12        2        1
 └ 2       5 body 6      6 body 7          2        0

mass matrix ℳ: the tree makes 40 of 144 blocks (27.8 %) and 40 of 144 entries (27.8 %) zero at every q

Rows and columns are the 12 bodies.
■ within a segment   □ between related segments   · zero

   E                                  φ                                  ℳ
 0 · ■ · │ · · │ · · │ · · · │ · ·    ■ ■ ■ │ □ □ │ □ □ │ □ □ □ │ □ □    ■ ■ ■ │ □ □ │ □ □ │ □ □ □ │ □ □
 1 · · ■ │ · · │ · · │ · · · │ · ·    · ■ ■ │ □ □ │ □ □ │ □ □ □ │ □ □    ■ ■ ■ │ □ □ │ □ □ │ □ □ □ │ □ □
 2 · · · │ □ · │ □ · │ · · · │ · ·    · · ■ │ □ □ │ □ □ │ □ □ □ │ □ □    ■ ■ ■ │ □ □ │ □ □ │ □ □ □ │ □ □
   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────
 3 · · · │ · ■ │ · · │ · · · │ · ·    · · · │ ■ ■ │ · · │ □ □ □ │ □ □    □ □ □ │ ■ ■ │ · · │ □ □ □ │ □ □
 4 · · · │ · · │ · · │ □ · · │ □ ·    · · · │ · ■ │ · · │ □ □ □ │ □ □    □ □ □ │ ■ ■ │ · · │ □ □ □ │ □ □
   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────
 5 · · · │ · · │ · ■ │ · · · │ · ·    · · · │ · · │ ■ ■ │ · · · │ · ·    □ □ □ │ · · │ ■ ■ │ · · · │ · ·
 6 · · · │ · · │ · · │ · · · │ · ·    · · · │ · · │ · ■ │ · · · │ · ·    □ □ □ │ · · │ ■ ■ │ · · · │ · ·
   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────
 7 · · · │ · · │ · · │ · ■ · │ · ·    · · · │ · · │ · · │ ■ ■ ■ │ · ·    □ □ □ │ □ □ │ · · │ ■ ■ ■ │ · ·
 8 · · · │ · · │ · · │ · · ■ │ · ·    · · · │ · · │ · · │ · ■ ■ │ · ·    □ □ □ │ □ □ │ · · │ ■ ■ ■ │ · ·
 9 · · · │ · · │ · · │ · · · │ · ·    · · · │ · · │ · · │ · · ■ │ · ·    □ □ □ │ □ □ │ · · │ ■ ■ ■ │ · ·
   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────   ──────┼─────┼─────┼───────┼─────
10 · · · │ · · │ · · │ · · · │ · ■    · · · │ · · │ · · │ · · · │ ■ ■    □ □ □ │ □ □ │ · · │ · · · │ ■ ■
11 · · · │ · · │ · · │ · · · │ · ·    · · · │ · · │ · · │ · · · │ · ■    □ □ □ │ □ □ │ · · │ · · · │ ■ ■
"""


def saved(model, folder):
    path = folder / f"{model.name}.json"
    model.save(path)
    return str(path)


def shown(capsys, *words):
    """What is printed, without the blanks that end a line."""
    code = main(["show", *words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return "".join(line.rstrip() + "\n" for line in said.out.splitlines())


def sparsity(capsys, *words):
    return json.loads(shown(capsys, *words, "--sparsity", "--json"))["sparsity"]


def matrix(rows):
    return np.array([[x == "1" for x in row] for row in rows])


def test_figure_3(capsys, tmp_path):
    said = shown(capsys, saved(documents.case("002_fig3_5segment_tree12").model, tmp_path), "--sparsity")
    assert said.endswith(FIGURE_3)


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_has_what_is_drawn(capsys, name):
    data, drawn = sparsity(capsys, name), shown(capsys, name, "--sparsity")
    segments = data["segments"]
    assert [segment["index"] for segment in segments] == list(range(len(segments)))
    order = [k for segment in segments for k in segment["bodies"]]
    rows = [line.split() for line in drawn.splitlines()[-2 * len(order) :] if "─" not in line]
    rows = [["".join(row[1:]).replace("│", "")] for row in rows if row and row[0].isdigit()][-len(order) :]
    expected = [
        "".join(
            "·#"[x == "1"] for what in ("E", "phi", "mass_matrix") for x in map(data[what]["by_body"][k].__getitem__, order)
        )
        for k in order
    ]
    assert [row.replace("■", "#").replace("□", "#") for (row,) in rows] == expected


@pytest.mark.parametrize("name", ["g1", "forest", "weld within", "random 12"])
def test_json_says_which_entries_of_the_mass_matrix_are_zero(capsys, tmp_path, name):
    data = sparsity(capsys, saved(zoo.model(name), tmp_path))
    model = zoo.model(name)
    found = kt.reference(kt.mass_matrix, model, zoo.state(name)[0])
    by_coordinate = matrix(data["mass_matrix"]["by_coordinate"])
    assert not found[~by_coordinate].any()
    blocks = [[found[r, c].any() for c in model.v_slices] for r in model.v_slices]
    assert np.array_equal(matrix(data["mass_matrix"]["by_body"]), blocks)


def test_rows_of_a_drawn_tree_are_in_depth_first_order(capsys):
    said = shown(capsys, "ten-body-tree")
    lines = [line.split("revolute")[0].split()[:1] for line in said.splitlines() if "revolute" in line]
    assert lines == [[str(k)] for k in (0, 1, 2, 3, 6, 7, 4, 5, 8, 9)]
    assert "the 10 bodies, segment by segment." in shown(capsys, "ten-body-tree", "--sparsity")


def test_what_does_not_fit_is_drawn_by_segments(capsys, tmp_path):
    branched = zoo.tree("branched", [*range(-1, 29), 9, *range(30, 59)], ["revolute"] * 60)
    said = shown(capsys, saved(branched, tmp_path), "--sparsity")
    assert said.endswith(
        "Rows and columns are the 3 segments: the 60 bodies do not fit in 120 columns.\n"
        "■ within a segment   □ between related segments   · zero\n\n"
        "  E        φ        ℳ\n0 ■ □ □    ■ □ □    ■ □ □\n1 · ■ ·    · ■ ·    □ ■ ·\n2 · · ■    · · ■    □ · ■\n"
    )
    bush = zoo.tree("bush", [-1] + [0] * 59, ["revolute"] * 60)
    said = " ".join(shown(capsys, saved(bush, tmp_path), "--sparsity").split())
    assert said.endswith("neither the 60 bodies nor the 60 segments fit in 120 columns. --picture FILE.png draws them.")


def test_one_body_is_drawn(capsys, tmp_path):
    said = shown(capsys, saved(zoo.tree("one", [-1], ["weld"]), tmp_path), "--sparsity")
    assert "0 of 0 blocks and 0 of 0 entries" in said
    assert said.endswith(
        "Rows and columns are one body.\n■ within a segment   □ between related segments   · zero\n\n"
        "  E     φ     ℳ\n0 ·     ■     ·\n"
    )


def test_picture(capsys, tmp_path):
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    said = shown(capsys, "satellite", "--picture", str(first))
    assert "mass matrix ℳ: the tree makes" in said and said.endswith(f"\nwrote {first}\n")
    assert json.loads(shown(capsys, "satellite", "--sparsity", "--picture", str(second), "--json"))["picture"] == str(second)
    assert first.read_bytes() == second.read_bytes() and first.read_bytes()[1:4] == b"PNG"


def test_picture_with_names_of_any_script(capsys, tmp_path):
    one = kt.Inertia(1.0, [0, 0, 0], np.eye(3))
    names = "手 $x$ [red]", "_" + "w" * 70
    bodies = [kt.Body(name, on, kt.Spherical(), inertia=one) for name, on in zip(names, (None, names[0]), strict=True)]
    shown(capsys, saved(kt.Model(bodies, name="$odd$"), tmp_path), "--picture", str(tmp_path / "odd.svg"))
    assert "$x$ [red]" in (tmp_path / "odd.svg").read_text(encoding="utf-8")


def test_picture_of_a_large_tree(capsys, tmp_path):
    model = zoo.random_tree(150, 1)
    shown(capsys, saved(model, tmp_path), "--picture", str(tmp_path / "large.png"))
    assert (tmp_path / "large.png").stat().st_size > 10_000


def test_picture_without_matplotlib(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["show", "planar-2r", "--picture", "a.png"]) == 2
    assert capsys.readouterr() == ("", 'kinetree: a picture needs matplotlib: pip install "kinetree[plot]"\n')


MISTAKES = [
    (["--picture", "a.txt"], "kinetree: a.txt: the suffix is '.txt'; allowed: "),
    (["--picture", "no/a.png"], "kinetree: no/a.png: cannot be written: No such file or directory"),
    (["--picture"], "kinetree: "),
    (["--sparsity", "yes"], "kinetree: Unrecognized options: yes"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_mistakes_have_one_message_and_exit_code_2(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["show", "planar-2r", *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(message) and said.err.count("\n") == 1, said.err
