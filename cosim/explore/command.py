# SPDX-License-Identifier: BSD-2-Clause
"""The command line: ``fixfunc explore``."""

import argparse
from collections.abc import Callable
from pathlib import Path

from fixfunc.cosim import command_line
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TOP_LIMIT

SIZE = "320x180"


def add_command(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add it by a function of :func:`fixfunc.cosim.command_line.adder`."""
    sub = command("explore", run, "what if: a scene on machines of any shape, as a table and page")
    sub.add_argument(
        "scene",
        nargs="?",
        default="teapot",
        help="as of 'frame', 'teapot' by default; or 'bandwidth', what frame buffers ask of memory",
    )
    sub.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="CONFIGURATION",
        help="a name, or a file .json of parameters; several may be given, all named ones by "
        "default",
    )
    sub.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="NAME=VALUE,VALUE",
        help="a parameter and its values, the others as they are; several may be given",
    )
    sub.add_argument("--size", help=f"width x height, pixels; {SIZE} by default")
    sub.add_argument("--samples", type=command_line.integer, help="4 by default")
    sub.add_argument("--divisions", type=command_line.integer, help="of the teapot; 4 by default")
    sub.add_argument("--parameters", action="store_true", help="list parameters, and end")
    sub.add_argument("-o", dest="output", default="explore.html", help="file")


def run(options: argparse.Namespace) -> int:
    """A table on standard output, and a page."""
    from fixfunc.cosim import files, parameters
    from fixfunc.cosim.explore import bandwidth, explore, machines, page
    from fixfunc.cosim.progress import Steps

    over = explore.parsed(options.over)
    is_table = options.scene == bandwidth.NAME
    for name in ("size", "samples", "divisions"):
        given = getattr(options, name)
        if given is not None and (is_table or options.scene.endswith(".npz")):
            raise InputError(name, f"be that of {options.scene}", given)
    if options.divisions is not None and options.scene != "teapot":
        raise InputError("divisions", "be those of the teapot alone", options.divisions)
    if options.parameters:
        named = bandwidth.CONFIGURATIONS if is_table else machines.MACHINES
        first = next(iter(named.values()))
        takes = parameters.takes(first)
        for name, value in parameters.settable(first).items():
            print(f"{name}={str(value).lower()}: {takes[name]}")
        return 0
    output = files.open_file(Path(options.output))
    if is_table:
        subject = bandwidth.subject()
    else:
        from fixfunc.cosim.explore import frame

        with Steps() as step:
            step(f"drawing {options.scene}")
            subject = frame.subject(options.scene, *_target(options))
    found = explore.run(subject, options.on, over)
    _print(subject, found, page)
    files.write(output, page.page(subject, found))
    print(f"wrote {output}")
    return 0


def _target(options):
    """Size, samples, divisions."""
    width, height = command_line.sides(options.size or SIZE)
    for name, side in (("width", width), ("height", height)):
        if side > TOP_LIMIT:
            raise InputError(name, f"be at most {TOP_LIMIT}, the largest target of the top", side)
    samples = 4 if options.samples is None else options.samples
    if samples not in SAMPLE_COUNTS:
        raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
    return (width, height), samples, 4 if options.divisions is None else options.divisions


def _print(subject, found, page):
    """Configurations, then what each parameter changes."""
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    names = [row.configuration for row in found.rows]
    table = Table(subject.title)
    for name in names:
        table.add_column(name, justify="right")
    for words, *cells in zip(subject.columns.values(), *map(page.cells, found.rows), strict=True):
        table.add_row(words, *cells)
    console.print(table)
    table = Table(Column(f"{subject.measure}, what if", no_wrap=True))
    for name in names:
        table.add_column(name, justify="right")
    for n in range(0, len(found.changed), len(names)):
        own = found.changed[n : n + len(names)]
        cells = [
            f"{row.numbers.values[subject.measure]:,} {page.share(subject, row, found.rows)}"
            for row in own
        ]
        table.add_row(f"{own[0].parameter}={own[0].value}", *cells)
    console.print(table)
