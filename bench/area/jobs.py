# SPDX-License-Identifier: BSD-2-Clause
"""What is measured: every block in every configuration, and the parts of the top."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from fixfunc.cosim import catalogue
from fixfunc.cosim.verilog import hierarchy, sources
from fixfunc.spec.errors import InputError

PARTS = (
    "reader",
    "setup",
    "raster",
    "depth.hiz",
    "depth.requests",
    "depth.test",
    "depth.depth_cache",
    "depth.stencil_cache",
    "colour",
    "resolve",
)
# What joins blocks that have rows of their own, or parts that are the top's: whole, each takes the
# better part of an hour.
BY_PARTS = (
    "depth_unit (default)",
    "depth_unit (frame)",
    "cached_depth (default)",
    "cached_depth (depth)",
    "colour_write (planes)",
)
HEAD = re.compile(r"(?s)module .*?\);\n")
PORTS = re.compile(r"(?m)^  (?:input|output|inout) .*;\n")


RECIPE = ("bench.area.netlist", "bench.area.timing")


class Job(NamedTuple):
    """A module to measure: the name of its row, its name in Verilog, and what writes the latter.

    It is one of a block's, or of one of its parts.
    """

    name: str
    module: str
    verilog: Callable[[], str]

    @property
    def block(self) -> str:
        """Stem of the block."""
        return self.module.split(".")[0]

    @property
    def config(self) -> str:
        """The block's configuration."""
        return self.name.partition("(")[2].rstrip(")")

    def digest(self) -> str:
        """Hash of all that decides the figures but the library; nothing is elaborated."""
        return sources.behind(RECIPE, catalogue.block(self.block).digest(self.config))


def all_jobs() -> list[Job]:
    """All jobs, in the order of the table.

    The top is measured part by part: whole, it takes hours. So is what only joins blocks.
    """
    blocks = [
        Job(f"{stem} ({config})", stem, partial(_verilog, stem, config))
        for stem, block in catalogue.blocks().items()
        if stem != "top"
        for config in block.configurations
        if f"{stem} ({config})" not in BY_PARTS
    ]
    parts = [
        Job(f"top.{part} (default)", f"top.{part}", partial(_part, f"top.{part}")) for part in PARTS
    ]
    return [*blocks, *parts, Job("top, what joins them (default)", "top", _joints)]


def chosen(names: list[str]) -> list[Job]:
    """The jobs of blocks, parts or rows by their names, such as ``hiz`` or ``hiz (small)``.

    No names: all. An unknown one raises :class:`~fixfunc.spec.errors.InputError`.
    """
    jobs = all_jobs()
    known = {name for job in jobs for name in (job.name, job.module)}
    for name in names:
        if name not in known:
            raise InputError("block", f"be one of {', '.join(catalogue.blocks())}", name)
    return [job for job in jobs if not names or job.name in names or job.module in names]


def part(text: str, place: str) -> str:
    """Verilog of an instance and of all below it, as a module of the name of its place."""
    module = hierarchy.paths(text, place.split(".")[0])[place]
    named = re.compile(rf"(?m)^module \\?{re.escape(module)} ?\(")
    return named.sub(lambda _: f"module \\{place} (", hierarchy.part(text, module))


def outside(text: str, places: list[str]) -> str:
    """Verilog in which the modules of some instances have their ports alone, as black boxes."""
    top = places[0].split(".")[0]
    paths = hierarchy.paths(text, top)
    black = {paths[place] for place in places}
    within = tuple(f"{place}." for place in places)
    whole = {module for path, module in paths.items() if not path.startswith(within)} - black
    kept = []
    for name, module in hierarchy.modules(text).items():
        if name in black:
            head = HEAD.match(module)[0]  # of several lines, if ports are many
            ports = "".join(PORTS.findall(module))
            kept.append(f"(* blackbox *)\n{head}{ports}endmodule\n")
        elif name in whole:
            kept.append(module)
    return "".join(kept)


def _verilog(stem: str, config: str) -> str:
    return catalogue.block(stem).verilog(config).read_text()


def _part(module: str) -> str:
    return part(_verilog("top", "default"), module)


def _joints() -> str:
    return outside(_verilog("top", "default"), [f"top.{name}" for name in PARTS])
