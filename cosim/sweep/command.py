# SPDX-License-Identifier: BSD-2-Clause
"""The command line of sweeps: ``fixfunc sweep``."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from fixfunc.cosim import command_line


def add_command(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add it by a function of :func:`fixfunc.cosim.command_line.adder`."""
    sub = command("sweep", run, "frames over parameters of the machine, as a table and charts")
    sub.add_argument(
        "scenes",
        nargs="*",
        metavar="scene",
        help="as of 'frame': 'teapot' (by default), files, folders",
    )
    sub.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="NAME=VALUE,VALUE",
        help="a parameter and its values; several may be given, and one value sets it",
    )
    sub.add_argument("--parameters", action="store_true", help="list parameters, and end")
    sub.add_argument("--golden", action="store_true", help="the golden machine: nothing is built")
    sub.add_argument(
        "--jobs",
        type=command_line.positive,
        default=os.cpu_count(),
        help="processes; one a core by default",
    )
    sub.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster, whose workers draw the points"
    )
    sub.add_argument("-o", dest="output", default="sweep", help="folder; points in it stay")


def run(options: argparse.Namespace) -> int:
    """Points that the folder lacks are drawn; it fails where hardware and models differ."""
    from fixfunc.cosim.sweep import parameters

    if options.parameters:
        for one in parameters.PARAMETERS:
            has = f"{', '.join(one.kinds)}; {', '.join(one.machines)}"
            print(f"{one.name}={str(one.default).lower()}: {one.words} ({has})")
        return 0
    points = parameters.points(options.scenes or ["teapot"], options.over, options.golden)
    from fixfunc.cosim.sweep import sweep

    names = [text.partition("=")[0] for text in options.over]
    swept = [name for name in names if len({one.values[name] for one in points}) > 1]
    rows = sweep.run(points, swept, Path(options.output), options.jobs, options.scheduler)
    return 1 if any(row["failures"] for row in rows) else 0
