# SPDX-License-Identifier: BSD-2-Clause
"""The demo: a frame of the golden pipeline, drawn by the hardware, and compared.

Every stage and every byte of it is compared.
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from fixfunc.cosim import files
from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame.result import Result
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.report import overlays, page
from fixfunc.cosim.report.capture import Capture, check_pixels
from fixfunc.cosim.report.history import depth_values
from fixfunc.cosim.time.outputs import NONE, Outputs
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene, check_memory
from fixfunc.models.scene.shading import BACKGROUND
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat

CULLS = (
    "rejected",
    "clipped",
    "not_a_number",
    "index_out_of_range",
    "zero_area",
    "facing",
    "no_sample",
)


def run(
    scene: Scene,
    folder: Path,
    console: Console | None = None,
    title: str = "a frame",
    golden: bool = False,
    resolve: bool = False,
    memory: str = "near",
    pixels: Sequence[tuple[int, int]] = (),
    outputs: Outputs = NONE,
) -> Result:
    """Render a scene, draw it with the RTL, compare, write pictures and report, print the figures.

    Parameters
    ----------
    scene : fixfunc.models.scene.scene.Scene
    folder : Path
        Where ``frame.png``, ``tiles.png``, ``hiz.png``, ``modes.png``, ``frame.json`` and
        ``frame.html`` go, and before the hardware is built ``golden.png``. Triangles per tile are
        the golden pipeline's; colours, HiZ outcomes and tile modes are the hardware's. The folder
        is opened before anything is drawn.
    console : rich.console.Console, optional
    title : str
    golden : bool
        No hardware: nothing is built, nothing compared; ``modes.png`` is left out.
    resolve : bool
        The hardware makes pixels of the samples; ``frame.png`` has them. Else it is averaged from
        what the hardware has drawn.
    memory : str
        What lies behind the hardware: a name of
        :data:`~fixfunc.cosim.simulation.volume.MEMORIES`, or several with commas between them. The
        first is that of all figures; with each other one the frame is drawn and compared again.
    pixels : sequence of (int, int)
        Whose history the report has, whatever there is.
    outputs : Outputs
        Files of the hardware over time.

    Returns
    -------
    Result
        ``failures`` is empty if the hardware drew what the golden pipeline did.

    Raises
    ------
    InputError
        The hardware cannot draw the scene: nothing has been built; or the folder cannot be written.
        A resolve without hardware, or more samples than this machine's memory holds. No folder has
        been made.
    """
    console = console or Console()
    if golden and resolve:
        raise InputError("resolve", "be of a frame that the hardware draws", "a golden one")
    if not golden:
        from fixfunc.cosim.frame import hardware  # a golden frame does without its packages

        hardware.check(scene)
        hardware.named(memory)
    check_memory(scene)
    check_pixels(pixels, scene.width, scene.height)
    outputs.check()
    files.open_folder(folder)
    capture = Capture(scene.width, scene.height, scene.samples, pixels=pixels)
    capture.fill(BACKGROUND)
    with Steps() as step, capture.draw(title, "triangle list"):
        probe = capture if golden else None
        frame = render(scene, lambda name: step(f"golden: {name}") if name else None, probe)
        figures = {
            "title": title,
            "width": scene.width,
            "height": scene.height,
            "samples": scene.samples,
            "counters": frame.counters,
            "seconds": dict(frame.seconds),
            "rtl": {},
            "mismatches": 0,
        }
        result = Result(frame, figures, capture)
        if not golden:
            _picture(folder / "golden.png", frame.colour)
            step(f"wrote {folder / 'golden.png'}, by the golden models; now the hardware")
            hardware.compare_blocks(scene, figures, step)
            hardware.draw(scene, result, step, resolve, memory, outputs)
            result.failures += hardware.failures(figures)
    _write(result, folder)
    if result.timeline:
        outputs.write(result.timeline)
    _print(result, console, folder)
    return result


def _write(result: Result, folder: Path) -> None:
    """Pictures, figures, report; each whole or not at all."""
    frame = result.frame
    figures = result.figures
    size = figures["width"], figures["height"]
    counted = overlays.of_maps(result.capture.maps)
    more = {"depth": overlays.depths(depth_values(frame.depth[:, :, 0], DepthFormat.D24))}
    pictures = {"tiles.png": counted["triangles"], "hiz.png": counted["hiz"]}
    if result.modes is not None:
        tile = result.capture.maps.tile
        coded = result.modes.reshape(-(-size[1] // tile[1]), -1)
        more["modes"] = pictures["modes.png"] = overlays.modes(coded, tile)
    if frame.levels is not None:
        more["levels"] = overlays.levels(frame.levels)
    _picture(folder / "frame.png", frame.colour)
    for name, overlay in pictures.items():
        _picture(folder / name, overlay.spread(*size))
    files.write(
        folder / "frame.json", json.dumps(figures | {"failures": result.failures}, indent=2) + "\n"
    )
    title = f"{figures['title']}, {size[0]}x{size[1]}, {figures['samples']}x"
    report = page.Report(title, figures, frame.colour, result.capture, more)
    report.timeline = result.timeline
    page.write(folder / "frame.html", report)


def _picture(path: Path, image: np.ndarray) -> None:
    data = io.BytesIO()
    Image.fromarray(image).save(data, "png")
    files.write(path, data.getvalue())


def _print(result: Result, console: Console, folder: Path) -> None:
    """The figures in words."""
    figures = result.figures
    table = Table(
        title=f"{figures['width']}x{figures['height']}, {figures['samples']}x", show_header=False
    )
    rows = _golden_rows(figures["counters"]) | (_hardware_rows(figures) if figures["rtl"] else {})
    rows |= {name: f"{seconds:.2f} s" for name, seconds in figures["seconds"].items()}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    said = bound.sentence(
        figures.get("clocks"), bound.of_figures(figures), figures.get("stalls", {})
    )
    console.print(said, markup=False, highlight=False)
    if "moved" in figures:
        console.print(_traffic_table(figures))
    for probe in figures["rtl"].values():
        if "first" in probe:
            console.print(probe["first"], style="red", markup=False)
            break
    for failure in result.failures:
        console.print(f"failed: {failure}", style="red", markup=False)
    if not figures["rtl"]:
        console.print("golden only: no hardware was built, and nothing compared")
    written = [
        "frame.json",
        "frame.png",
        "tiles.png",
        "hiz.png",
        "frame.html",
        *(["modes.png"] if result.modes is not None else []),
        *(["golden.png"] if figures["rtl"] else []),
    ]
    console.print(f"wrote {folder}: {', '.join(written)}", markup=False)


def _golden_rows(counters: dict) -> dict[str, str]:
    """What the golden pipeline counted."""
    rows = {
        "triangles": f"{counters['triangles']} of {counters['faces']} faces",
        "culled or clipped": ", ".join(
            f"{name} {counters[name]}" for name in CULLS if counters[name]
        )
        or "none",
        "set up": f"{counters['set_up']}, {counters['steep']} of them steep",
        "tiles": f"{counters['tiles']}, {counters['full_tiles']} of them full",
        "HiZ, golden": ", ".join(
            f"{name} {counters[f'hiz_{name}']}" for name in ("drop", "accept", "test")
        ),
        "samples": f"{counters['samples_passed']} of {counters['samples_covered']} passed",
    }
    if "domain_points" in counters:
        rows["domain points"] = (
            f"{counters['domain_points']}, {counters['shaded_points']} of them shaded in "
            f"{counters['waves']} waves"
        )
    return rows


def _hardware_rows(figures: dict) -> dict[str, str]:
    """What the hardware counted, and how it compares."""
    counted = figures["hardware"]
    rtl = figures["rtl"]
    dropped = counted["tiles"] - counted["tiles_accepted"] - counted["tiles_tested"]
    return {
        "HiZ, hardware": f"drop {dropped}, accept {counted['tiles_accepted']}, test "
        f"{counted['tiles_tested']}",
        "beats compared": f"{sum(probe['beats'] for probe in rtl.values())} on {len(rtl)} streams, "
        f"memory among them",
        "mismatches": str(figures["mismatches"]),
        "memory": figures["memory"],
        "clocks": f"{figures['clocks']}: {figures['clocks_of_bound']:.3f} of the largest "
        "of triangles, tiles and transfers",
        **{
            f"clocks, {name}": f"{clocks}: {share:.3f}"
            for name, (clocks, share) in figures["other_memories"].items()
        },
        "stalls": ", ".join(
            f"{name} {share:.0%}" for name, share in figures["stalls"].items() if share >= 0.005
        )
        or "none",
        "clocks per second": f"{figures['clocks_per_second']:,.0f} simulated",
    }


def _traffic_table(figures: dict) -> Table:
    """Table of what went to memory and came from there."""
    table = Table(
        "client",
        "cause",
        "mode",
        title=f"memory; depth: {figures['depth_of_plain']:.1%} of plain depth",
    )
    for name in ("moved", "bytes"):
        table.add_column(name, justify="right")
    for client, cause, mode, count, size in figures["moved"]:
        table.add_row(client, cause, mode, f"{count:,}", f"{size:,}")
    return table
