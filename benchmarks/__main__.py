"""kinetree against every peer that is installed: robots, humanoids and chains, one core, interleaved, every result checked.

    python -m benchmarks [--quick] [--models NAME ...] [--peers NAME ...]
        [--again FILE.json] [--json FILE] [--markdown FILE] [--picture FILE.png] [--readme FILE]

from the folder of the repository, with kinetree[bench] installed, or as much of it as there is. Prints the page as Markdown.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.models import Missing, all_cases, chosen
from benchmarks.peers import LIBRARIES, OURS
from benchmarks.race import Plan
from benchmarks.report import markdown, with_summary
from benchmarks.suite import Report, run

PEERS = [key for key in LIBRARIES if key != OURS]
FULL, QUICK = Plan(), Plan(repeats=3, sample=5e-4, batch=64, quick=True)
QUICK_MODELS = ["panda", "chain-7"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    names = ", ".join(["robots", "humanoids", "chains", *(case.name for case in all_cases())])
    parser.add_argument("--models", nargs="+", metavar="NAME", help=f"all if not given: {names}, any chain-N")
    parser.add_argument("--peers", nargs="*", metavar="NAME", choices=PEERS, default=PEERS, help=f"of {', '.join(PEERS)}")
    parser.add_argument("--quick", action="store_true", help="two small models, small batches, few samples")
    parser.add_argument("--limit", type=float, help="seconds a peer may take to compile, or for a call")
    parser.add_argument(
        "--again", type=Path, metavar="FILE.json", help="an earlier run, of which only these are measured again"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page there instead of printing it")
    parser.add_argument("--readme", type=Path, metavar="FILE", help="put the table of robots between the marks in that page")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="draw it (kinetree[plot])")
    options = parser.parse_args()
    try:
        cases = chosen(options.models or (QUICK_MODELS if options.quick else [case.name for case in all_cases()]))
    except Missing as missing:
        parser.error(str(missing))
    plan = QUICK if options.quick else FULL
    if options.limit:
        plan = Plan(plan.repeats, plan.sample, plan.batch, options.limit, plan.quick)
    started = time.monotonic()
    report = run(
        cases, options.peers, plan, lambda what: print(f"{time.monotonic() - started:5.0f} s  {what}", file=sys.stderr)
    )
    if options.again:
        report = Report.from_json(json.loads(options.again.read_text(encoding="utf-8"))).taken_up(report)
    if options.json:
        options.json.write_text(json.dumps(report.json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.picture:
        from benchmarks.picture import draw

        draw(report, options.picture)
    if options.readme:
        options.readme.write_text(with_summary(options.readme.read_text(encoding="utf-8"), report), encoding="utf-8")
    beside = options.picture and options.markdown and options.picture.parent == options.markdown.parent
    page = markdown(report, options.picture.name if beside else None)
    if options.markdown:
        options.markdown.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
