# SPDX-License-Identifier: BSD-2-Clause
"""``docs/bench.md``, of the figures in ``docs/bench.json`` and ``docs/area.json``."""

import itertools
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import frames, synthesis, texture
from bench.area import table
from bench.golden import colours, front, recorded
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.depth.compression.codes import CODES

STORE = ROOT / "docs" / "bench.json"
AREA = ROOT / "docs" / "area.json"
PAGE = ROOT / "docs" / "bench.md"
COLUMNS = 120
WRAPPING = {"break_long_words": False, "break_on_hyphens": False}
PARTS = (
    *("speed", "hiz", "memory", "tessellation", "texture", "front", "colours", "frames"),
    *("recorded", "fpga"),
)
TARGETS = {
    "right triangle 512 px": ("1.05", "1.02", "5.5 / 65 / 450"),
    "sliver 512x16": ("1.5", "1.3", "6.0 / 73"),
    "diagonal sliver across 4096x4096": ("5", "2", "-"),
    "1000 triangles of 4x4 px": ("1.2", "1.1", "16 / 65 / 504 a triangle"),
}


def write() -> Path:
    """Write the page of what is known; its path."""
    PAGE.write_text(page(load(STORE), load(AREA)))
    return PAGE


def load(path: Path) -> dict[str, Any]:
    """Figures of a file, none if there is no such file."""
    return json.loads(path.read_text()) if path.exists() else {}


def page(figures: dict[str, Any], area: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "# Bench",
        "",
        f"{figures['machine']}, by `make bench`, or `python -m bench PART`: "
        + ", ".join(
            f"{part} {figures['dates'][part]}" for part in PARTS if part in figures["dates"]
        )
        + ".",
        "Peers are the best open rasterizers measured on the same work; they exclude setup, "
        "these figures include it.",
        "",
    ]
    sections = {
        "clocks": _clocks,
        "hiz": _hiz,
        "memory": _memory,
        "tessellation": _tessellation,
        "texture_clocks": lambda figures: ["", *texture.lines(figures)],
        "front_hits": lambda figures: ["", *front.lines(figures)],
        "colours": lambda figures: ["", *colours.lines(figures)],
        "frames": lambda figures: ["", *frames.lines(figures["frames"])],
        "recorded": lambda figures: ["", *recorded.lines(figures["recorded"])],
    }
    for key, section in sections.items():
        if key in figures:
            lines += section(figures)
    if area:
        lines += ["", *table.lines(area)]
    if "fpga" in figures:
        lines += _fpga(figures)
    return "\n".join([*_wrapped([*lines, *figures.get("remarks", [])]), ""])


def _wrapped(lines: list[str]) -> Iterator[str]:
    """Lines with the paragraphs among them filled to :data:`COLUMNS`; tables and heads stay."""
    for is_prose, group in itertools.groupby(lines, lambda line: line[:1] not in ("", "#", "|")):
        kept = list(group)
        yield from textwrap.wrap(" ".join(kept), COLUMNS, **WRAPPING) if is_prose else kept


def _clocks(figures: dict[str, Any]) -> list[str]:
    """Clocks of the rasterizer, and speed of the software."""
    lines = [
        "## Clocks",
        "",
        "Triangle setup and tile rasterizer in a row (default), always-ready sink, from the "
        "first beat in to the last",
        "beat out, 64 copies in a row (the last: 1000 different triangles, by max(triangles, "
        "tiles)).",
        "The last column is one triangle alone in an empty pipeline: latency counts in full.",
        "",
        "| work | triangles | touched tiles | clocks | clocks a tile | accept | excellent | "
        "peers | one alone |",
        "|---|" + "---|" * 8,
    ]
    lines += [
        f"| {name} | {count} | {tiles} | {clocks} | {ratio:.3f} | "
        f"{' | '.join(TARGETS[name])} | {alone} |"
        for name, count, tiles, clocks, ratio, alone in figures["clocks"]
    ]
    tier, bare, ratio = figures["volume"]
    faces, seconds, memory = figures["golden"]
    lines += [
        "",
        "## Software",
        "",
        "| what | measured | accept | excellent |",
        "|---|---|---|---|",
        f"| volume tier against a bare Verilator loop | {ratio:.2f} ({tier / 1e3:.0f} k to "
        f"{bare / 1e3:.0f} k clocks/s) | 0.9 | 1.0 |",
        f"| golden frame, 1280x720, 4x, {faces} triangles | {seconds:.1f} s, {memory:.2f} GB "
        f"| 20 s, 1 GB | 10 s |",
    ]
    return lines


def _hiz(figures: dict[str, Any]) -> list[str]:
    """What HiZ decides, and what that spares."""
    lines = [
        "",
        "## HiZ",
        "",
        "Golden depth unit, 1280x720: the demo's teapot at 4x; four layers of the screen's "
        "size, a little tilted, at 1x.",
        "",
        "| scene | HiZ | tiles dropped | accepted unread | tested | samples tested | samples "
        "passed |",
        "|---|" + "---|" * 6,
    ]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in figures["hiz"]]
    lines += [
        "",
        "Depth and stencil test of full 4-layer stacks in every order, at 1920x1080, 60 Hz "
        "and 32 bits a sample. Expected: overdraw",
        "1 + 1/2 + 1/3 + 1/4 = 2.083; without HiZ 16 Gb/s of depth read, 8 of depth written, "
        "8 of colour written.",
        "",
        "| HiZ | depth read Gb/s | depth written | colour written | overdraw |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {hiz} | {read:.2f} | {write:.2f} | {colour:.2f} | {over:.4f} |"
        for hiz, read, write, colour, over in figures["traffic"]
    ]
    lines += [
        "",
        "Hardware, HiZ and depth test in a row (`depth_unit`, frame), always-ready sink:",
        "",
        "| tiles | count | clocks a tile |",
        "|---|---|---|",
    ]
    lines += [
        f"| {name} | {count} | {ratio:.3f} |" for name, count, ratio in figures["depth_clocks"]
    ]
    return lines


def _memory(figures: dict[str, Any]) -> list[str]:
    """Bytes of depth between cache and memory."""
    lines = []
    traffic, modes, sizes, taken = figures["memory"]
    codes = CODES["differences"]
    lines += [
        "",
        "## Depth in memory",
        "",
        "Golden depth unit, cache of 256 tiles (64 sets, 4 ways) and 256 transfers of the "
        "mode table,",
        "a frame from clear to write-back. Plain depth reads 4 bytes for every covered "
        "sample and writes 4 for every one that passes.",
        "Accept under 30 % for the demo frame at 1x, excellent under 20 %. Coding is that by "
        "planes and differences.",
        "",
        "| scene | features | bytes read | written | share of plain depth |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {scene} | {name} | {read} | {written} | {share:.1%} |"
        for scene, name, read, written, share in traffic
    ]
    lines += [
        "",
        "Tiles written back, by mode:",
        "",
        "| scene | " + " | ".join(code.name.lower().replace("_", " ") for code in codes) + " |",
        "|---|" + "---|" * len(codes),
    ]
    lines += [
        f"| {scene} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"
        for scene, *shares in modes
    ]
    lines += [
        "",
        "Caches of other sizes, everything on:",
        "",
        "| scene | way that goes | tiles | hit rate | share of plain depth |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {scene} | {way} | {size} | {hits:.1%} | {share:.1%} |"
        for scene, way, size, hits, share in sizes
    ]
    lines += [
        "",
        "Blocks of 4 by 4, of tiles that are not cleared, that each of the documents' coders takes",
        "(anchor: 119 bits; planes: 106 to 322):",
        "",
        "| scene | anchor | planes, 24 bits a field | planes, 28 for the start |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {scene} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"
        for scene, *shares in taken
    ]
    lines += [
        "",
        "Hardware, always-ready sink (`depth_compression` and `tile_cache`, default):",
        "",
        "| work | clocks a tile |",
        "|---|---|",
    ]
    lines += [f"| {name} | {ratio:.3f} |" for name, ratio in figures["memory_clocks"]]
    return lines


def _tessellation(figures: dict[str, Any]) -> list[str]:
    """What domain matching spares."""
    lines = [
        "",
        "## Tessellation",
        "",
        "Points of draws, and those that the domain stage shades behind the domain-matching "
        "unit (2 by 32).",
        "The documents' applications spare 38 to 55 % a draw.",
        "[Figures by factor, partitioning and size](tessellation/domain_matching.md).",
        "",
        "| draw | patches | points | shaded | spared | waves |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {patches} | {points} | {shaded} | {spared:.1%} | {waves} |"
        for name, patches, points, shaded, spared, waves in figures["tessellation"]
    ]
    lines += [
        "",
        f"Hardware (`domain_matching`), users 100 clocks late: "
        f"{figures['tessellation_clocks']:.3f} clocks a point of the teapot.",
    ]
    return lines


def _fpga(figures: dict[str, Any]) -> list[str]:
    """Cells of the rasterizer on an FPGA, and the depth of a sum in gates."""
    lines = [
        "",
        "## On an FPGA",
        "",
        "The rasterizer in cells of an ECP5, where peers are known, and its use of block RAM and "
        "multipliers:",
        "`synth_ecp5 -noiopad`. Cells = LUT4 + 2 CCU2C + 4 DPR16X4; pixels: 64 a clock at 1x.",
        "",
        "| block | LUT4 | CCU2C | DPR16X4 | FF | BRAM | DSP | cells | pixels a clock a 1000 "
        "cells |",
        "|---|" + "---|" * 8,
    ]
    for name, cells in figures["fpga"].items():
        total = synthesis.score(cells)
        rate = f"{64000 / total:.2f}" if "rasterizer" in name else "-"
        counts = " | ".join(str(cells[kind]) for kind in synthesis.CELLS)
        lines.append(f"| {name} | {counts} | {total} | {rate} |")
    return [
        *lines,
        "",
        "Pixels a clock a 1000 cells: accept 1.6 carry-save, 2.4 shared; excellent 2, 3; "
        "peers 1.39 / 0.57 / 0.01.",
        "",
        "Gates on the longest path of a sum of three 32-bit numbers (prefix adder, `ltp -noff`): "
        f"{figures['depth']['carry_save']} carry-save, {figures['depth']['chained']} chained.",
    ]


if __name__ == "__main__":
    write()
