# SPDX-License-Identifier: BSD-2-Clause
"""Measure, and write ``docs/bench.md``: all parts, or those that are named.

``python -m bench [speed] [hiz] [memory] [tessellation] [texture] [frames] [fpga]``.

Figures are kept in ``docs/bench.json``, so that one part can be measured again without the others.
Area and timing in standard cells: ``python -m bench.area``.
"""

import argparse
import datetime
import json
import platform

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import depth, frames, memory, page, speed, synthesis, tessellation, texture
from bench.page import PARTS, STORE
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.pipeline import Scene, render

FPGA = [
    ("edge_evaluator", "default"),
    ("edge_evaluator", "shared"),
    ("tile_rasterizer", "default"),
    ("tile_rasterizer", "shared"),
    ("tile_rasterizer", "single"),
    ("triangle_setup", "default"),
]


def main(parts):
    found = page.load(STORE)
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
            found["traffic"] = depth.traffic()
            found["depth_clocks"] = depth.clocks()
        if "memory" in parts:
            progress.update(task, description="bytes of depth between cache and memory")
            found["memory"] = memory.rows()
            found["memory_clocks"] = memory.clocks()
        if "tessellation" in parts:
            progress.update(task, description="what domain matching saves")
            found["tessellation"] = tessellation.draws()
            found["tessellation_clocks"] = tessellation.clocks()
        if "texture" in parts:
            progress.update(task, description="textures")
            found["texture_clocks"] = texture.clocks()
            found["texture_speed"] = texture.speed()
            found["texture_cache"] = texture.cached()
        if "frames" in parts:
            found["frames"] = []
            for row in frames.rows(
                lambda name: progress.update(task, description=name)
            ):  # each takes minutes: kept as it comes
                found["frames"].append(row)
                STORE.write_text(json.dumps(found, indent=2) + "\n")
        if "fpga" in parts:
            found["depth"] = {kind: synthesis.depth(kind) for kind in ("chained", "carry_save")}
            found["fpga"] = {}
            for stem, config in FPGA:
                progress.update(task, description=f"{stem} ({config}) on an FPGA")
                found["fpga"][f"{stem} ({config})"] = synthesis.area(stem, config)
    found["when"] = (
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}, 2 cores"
    )
    STORE.write_text(json.dumps(found, indent=2) + "\n")
    print(f"wrote {page.write().relative_to(ROOT)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure, and write docs/bench.md."
    )
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all of them by default"
    )
    parts = parser.parse_args().parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"part must be one of {', '.join(PARTS)}, not {min(unknown)!r}")
    main(parts)
