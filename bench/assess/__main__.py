# SPDX-License-Identifier: BSD-2-Clause
"""Measure what is out of date: ``python -m bench.assess [block] [--measure NAME] [--list]``.

A row of a page holds as long as the hash of the sources that it depends on is the one that it was
measured with. Nothing is built or elaborated to find that out. Each row that is measured is kept as
it comes, with commit and day, and its page is written anew; a run that is ended goes on where it
was.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from bench.assess.measures import MEASURES, UP_TO_DATE, Command, Row
from fixfunc.cosim import catalogue, command_line
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.toolchain import BUILD, ROOT
from fixfunc.spec.errors import InputError
from fixfunc.tb import stamp

LOG = BUILD / "assess.log"  # of the last command
MOST = 40  # lines of it, where the command fails
HEADINGS = ("measure", "block", "configuration", "state", "commit, day")
NO_LIBRARY = "area: skipped: no standard-cell library: set LIBERTY=file.lib[.gz]"


def main(arguments: list[str] | None = None) -> int:
    """Measure what is out of date; bad input is one line, and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.assess", description="Measure what is out of date on the pages."
    )
    parser.add_argument("block", nargs="?", help="all of them by default")
    parser.add_argument("--measure", help=f"{', '.join(MEASURES)}; all of them by default")
    parser.add_argument("--liberty", type=Path, help="standard-cell library, for area")
    parser.add_argument("--list", action="store_true", help="tell what is out of date, no more")
    parser.set_defaults(run=_assess)
    return command_line.run(parser, arguments)


def _assess(options: argparse.Namespace) -> int:
    if options.block:
        catalogue.block(options.block)
    if options.measure and options.measure not in MEASURES:
        raise InputError("measure", f"be one of {', '.join(MEASURES)}", options.measure)
    library = options.liberty.resolve() if options.liberty and options.liberty.is_file() else None
    chosen = [options.measure] if options.measure else [*MEASURES]
    rows = {
        name: [
            row for row in MEASURES[name].rows(library) if options.block in (None, "", row.block)
        ]
        for name in chosen
    }
    if options.list:
        print("\n".join(listed(rows)))
        return 0
    return _measure(rows, library)


def listed(rows: dict[str, list[Row]]) -> list[str]:
    """The rows of every measure as a table, and how many of them are up to date."""
    cells = [
        (name, row.block, row.config, row.state, stamp.said(row.known or {}))
        for name, some in rows.items()
        for row in some
    ]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (HEADINGS, *cells)
    ]
    current = sum(state == UP_TO_DATE for _, _, _, state, _ in cells)
    return [*lines, f"{current} of {len(cells)} rows are up to date"]


def _measure(rows: dict[str, list[Row]], library: Path | None) -> int:
    """Run the commands of what is out of date; 1 if one of them fails."""
    stale = {name: [row for row in some if row.state != UP_TO_DATE] for name, some in rows.items()}
    stale = {name: some for name, some in stale.items() if some}
    if "area" in stale and not library:
        print(NO_LIBRARY)
        del stale["area"]
    commands = [
        command
        for name, some in stale.items()
        for command in MEASURES[name].commands(some, library)
    ]
    # To be terminated is to be interrupted: the command is ended, too.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    failed = []
    with Steps() as step:
        for n, command in enumerate(commands, 1):
            step(f"{n} of {len(commands)}: {command.title}", _last_line)
            if _run(command):
                print(_tail())
                failed.append(command.title)
    print(
        f"{sum(map(len, rows.values()))} rows, {sum(map(len, stale.values()))} of them measured"
        + (f"; not good: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


def _run(command: Command) -> int:
    """Run a command, whose words go into the log; its exit code."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with (
        LOG.open("w") as log,
        subprocess.Popen(
            [sys.executable, *command.arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as child,
    ):
        try:
            return child.wait()
        except BaseException:
            child.terminate()
            raise


def _last_line() -> str:
    """What the command says that is under way."""
    lines = LOG.read_text(errors="replace").split("\n") if LOG.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _tail() -> str:
    return "\n".join(LOG.read_text(errors="replace").splitlines()[-MOST:])


if __name__ == "__main__":
    sys.exit(main())
