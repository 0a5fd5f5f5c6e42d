"""The command line: `kinetree show | eval | simulate | bench FILE`, `kinetree cache`.

Exit codes: 0 done, 2 the user's mistake, told in one message on stderr, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    from kinetree.cli.parse import UsageError, parse
    from kinetree.errors import KinetreeError

    try:
        command = parse(sys.argv[1:] if argv is None else argv)
        if command is None:
            return 0
        report = command.report()
        report.print(as_json=command.json)
        sys.stdout.flush()
    except (KinetreeError, UsageError) as failure:
        print(f"kinetree: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kinetree: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return report.code
