"""Words of the command line → one command, by tyro; what tyro says about a mistake becomes one plain message."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence
from typing import Annotated, Any

import tyro

from kinetree.cli.bench import Bench
from kinetree.cli.cache import Cache
from kinetree.cli.evaluate import Evaluate
from kinetree.cli.show import Show
from kinetree.cli.simulate import Simulate

_NAMES = {"show": Show, "eval": Evaluate, "simulate": Simulate, "bench": Bench, "cache": Cache}
_DESCRIPTION = """Dynamics of tree-structured multibody systems.

FILE is a URDF, a kinetree .json, or the name of an example such as double-pendulum.

Example: kinetree simulate double-pendulum --q0 0.5 0.2 --duration 5"""


class UsageError(Exception):
    """The words on the command line make no command."""


def parse(argv: Sequence[str]) -> Any | None:
    """The command, or None when help was asked for (and printed)."""
    commands: Any = None
    for name, kind in _NAMES.items():
        one = Annotated[kind, tyro.conf.subcommand(name=name, description=_unwrapped(kind))]
        commands = one if commands is None else commands | one
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(
                commands,
                prog="kinetree",
                description=_DESCRIPTION,
                args=list(argv) or ["--help"],
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as exit:
        if exit.code:
            raise UsageError(_message(said.getvalue())) from None
        return None


def _unwrapped(kind: type) -> str:
    return "\n".join(line.strip() for line in (kind.__doc__ or "").splitlines())


def _message(said: str) -> str:
    """tyro's boxed text as one paragraph."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    lines = [line.strip(" │╭╰╮╯─|+-\t") for line in plain.splitlines()]
    words = " ".join(
        line for line in lines if line and not re.fullmatch(r"(Parsing|Required|Unrecognized).*(error|options)", line)
    )
    words = re.sub(r"\s+", " ", words).replace("Invalid choice invalid choice", "Invalid choice")
    return re.sub(r"Expected one of \(([^)]*)\)", _allowed, words) or "the command line is not understood; see kinetree --help"


def _allowed(choices: re.Match[str]) -> str:
    return "Expected one of " + ", ".join(sorted(set(re.findall("'([^']*)'", choices[1])) - {"None"}))
