# SPDX-License-Identifier: BSD-2-Clause
"""Measure, and write ``docs/bench.md``: all parts, or those that are named.

``python -m bench [speed] [hiz] [memory] [tessellation] [texture] [front] [colours]
[frames] [recorded] [fpga]``.

Figures are kept in ``docs/bench.json``, so that one part can be measured again without the others.
Area and timing in standard cells: ``python -m bench.area``.
"""

import argparse
import datetime
import json
import platform

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import depth, frames, memory, page, speed, synthesis, tessellation, texture
from bench.golden import colours, front, recorded
from bench.page import PARTS, STORE
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene

FPGA = [
    ("edge_evaluator", "default"),
    ("edge_evaluator", "shared"),
    ("tile_rasterizer", "default"),
    ("tile_rasterizer", "shared"),
    ("tile_rasterizer", "single"),
    ("triangle_setup", "default"),
]


def main(parts):
    figures = page.load(STORE)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("")
        if "speed" in parts:
            progress.update(task, description="clocks on chosen work")
            figures["clocks"] = speed.clocks()
            progress.update(task, description="volume tier against a bare loop")
            figures["volume"] = speed.volume_ratio()
            progress.update(task, description="golden frame")
            figures["golden"] = speed.golden_frame()
        if "hiz" in parts:
            progress.update(task, description="what HiZ decides")
            figures["hiz"] = depth.rows(render(Scene(*mesh.teapot(8))))
            figures["traffic"] = depth.traffic()
            figures["depth_clocks"] = depth.clocks()
        if "memory" in parts:
            progress.update(task, description="bytes of depth between cache and memory")
            figures["memory"] = memory.rows()
            figures["memory_clocks"] = memory.clocks()
        if "tessellation" in parts:
            progress.update(task, description="what domain matching saves")
            figures["tessellation"] = tessellation.draws()
            figures["tessellation_clocks"] = tessellation.clocks()
        if "texture" in parts:
            progress.update(task, description="textures")
            figures["texture_clocks"] = texture.clocks()
            figures["texture_speed"] = texture.speed()
            figures["texture_cache"] = texture.cached()
        if "front" in parts:
            progress.update(task, description="front half")
            figures["front_hits"] = front.hits()
            figures["front_speed"] = front.speed()
            figures["front_flushes"] = front.flushes()
        if "colours" in parts:
            progress.update(task, description="colours, and whole frames of the machine")
            figures["colours"] = colours.rows()
            figures["machine_frames"] = colours.frames()
        if "frames" in parts:
            figures["frames"] = []
            for row in frames.rows(
                lambda name: progress.update(task, description=name)
            ):  # each takes minutes: kept as it comes
                figures["frames"].append(row)
                STORE.write_text(json.dumps(figures, indent=2) + "\n")
        if "recorded" in parts:
            figures["recorded"] = list(
                recorded.rows(lambda name: progress.update(task, description=name))
            )
        if "fpga" in parts:
            figures["depth"] = {kind: synthesis.depth(kind) for kind in ("chained", "carry_save")}
            figures["fpga"] = {}
            for stem, config in FPGA:
                progress.update(task, description=f"{stem} ({config}) on an FPGA")
                figures["fpga"][f"{stem} ({config})"] = synthesis.area(stem, config)
    figures["machine"] = (
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, 2 cores"
    )
    figures.setdefault("dates", {}).update(dict.fromkeys(parts, str(datetime.date.today())))
    STORE.write_text(json.dumps(figures, indent=2) + "\n")
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
