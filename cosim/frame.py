# SPDX-License-Identifier: BSD-2-Clause
"""The demo: a frame of the golden pipeline, drawn by the hardware, every stage and every byte of it compared."""

import io
import json
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from fixfunc.cosim import catalogue, codec, files, maps, report
from fixfunc.cosim.progress import Steps
from fixfunc.cosim.volume import LATENCIES, Memory, Volume
from fixfunc.models.pipeline import Frame, Scene
from fixfunc.spec import points
from fixfunc.spec.commands import CommandError
from fixfunc.spec.counters import SEAMS
from fixfunc.spec.errors import InputError

MEMORY = LATENCIES[1]  # clocks to an answer
CULLS = "rejected", "clipped", "not_a_number", "index_out_of_range", "zero_area", "facing", "no_sample"


@dataclass
class Result:
    """A frame that has been drawn."""

    frame: Frame  # golden; with hardware, colours and HiZ's outcomes are those of the hardware
    figures: dict[str, Any]  # as in frame.json
    modes: np.ndarray | None = None  # of tiles of depths in memory, row by row; without hardware None
    failures: list[str] = field(default_factory=list)  # why the frame cannot be believed, in words


def run(scene: Scene, folder: Path, console: Console | None = None, title: str = "a frame", golden: bool = False) -> Result:
    """Render a scene, draw it with the RTL, compare, write pictures and report, print the figures.

    Parameters
    ----------
    scene : fixfunc.models.pipeline.Scene
    folder : Path
        Where ``frame.png``, ``tiles.png``, ``hiz.png``, ``modes.png``, ``frame.json`` and ``frame.html`` go: all but the
        triangles a tile as the hardware gave it. It is opened before anything is drawn.
    console : rich.console.Console, optional
    title : str
    golden : bool
        No hardware: nothing is built, nothing compared; ``frame.html`` and ``modes.png`` are left out.

    Returns
    -------
    Result
        ``failures`` is empty if the hardware drew what the golden pipeline did.

    Raises
    ------
    InputError
        The hardware cannot draw the scene: nothing has been built; or the folder cannot be written.
    """
    console = console or Console()
    if not golden:
        check(scene)
    files.open_folder(folder)
    with Steps() as step:
        frame = catalogue.golden().render(scene, lambda name: step(f"golden: {name}") if name else None)
        figures = {"title": title, "width": scene.width, "height": scene.height, "samples": scene.samples,
                   "counters": frame.counters, "seconds": dict(frame.seconds), "rtl": {}, "mismatches": 0}
        result = Result(frame, figures)
        if not golden:
            _beside(scene, figures, step)
            _draw(scene, result, step)
            result.failures += _verdict(figures)
    _write(result, folder)
    _print(result, console, folder)
    return result


def largest() -> int:
    """Largest width and height that the top can draw, pixels."""
    return catalogue.block("top").parameters().reader.pixels


def check(scene: Scene) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a scene that the top cannot draw."""
    for name in ("width", "height"):
        if getattr(scene, name) > largest():
            raise InputError(name, f"be at most {largest()}, the largest target of the top", getattr(scene, name))


@cache
def _volume(name: str) -> Volume:
    return catalogue.block(name).volume()


def _build(name: str, figures: dict, step: Steps) -> Volume:
    """A block, Verilated, with what its bench puts around it."""
    step(f"building {name}")
    begun = time.perf_counter()
    volume = _volume(name)
    figures["seconds"][f"build {name}"] = time.perf_counter() - begun
    return volume


def _beside(scene: Scene, figures: dict, step: Steps) -> None:
    """Blocks beside the top that have a part in the scene, held to their golden models."""
    work = {}
    if scene.tessellated:
        work["domain_matching"] = codec.pack(scene.tessellated.points, points.DOMAIN_POINT)
    decoder = catalogue.block("block_decode").bench
    if scene.texture and scene.texture.format in decoder.SUPPORTED:
        work["block_decode"] = decoder.of_texture(scene.texture)
    for name, rows in work.items():
        volume = _build(name, figures, step)
        step(f"rtl: {name}")
        drawn, expected, mismatches, first = catalogue.block(name).compare(volume, rows)
        figures["seconds"][f"rtl {name}"] = drawn.seconds
        figures["rtl"][name] = {"beats": len(expected["o"]), "mismatches": mismatches} | ({"first": first} if first else {})


def _draw(scene: Scene, result: Result, step: Steps) -> None:
    """Draw the frame by the hardware, and compare."""
    block, frames, figures = catalogue.block("top"), catalogue.frames(), result.figures

    def timed(name, work):
        step(name)
        begun = time.perf_counter()
        out = work()
        figures["seconds"][name] = time.perf_counter() - begun
        return out

    job = frames.FrameJob(scene, result.frame, block.parameters())
    volume = _build("top", figures, step)
    inputs = timed("golden: colours", job.inputs)
    memory = Memory(job.data.copy(), MEMORY)
    drawn = timed("rtl: top", lambda: volume.run(inputs, job.room, memory=memory))
    drawn.outputs["memory"] = memory.data.view(np.uint64).reshape(-1, 4)
    expected, outcome = timed("golden: memory", lambda: job.expected(drawn.outputs))
    for name, wanted in expected.items():  # in the order of stages: what differs first is to blame
        count, first = block.differences(drawn.outputs, {name: wanted})
        figures["rtl"][name] = {"beats": len(wanted), "mismatches": count} | ({"first": first} if first else {})
    counted = frames.counters(drawn.outputs["told"])
    clocks, bound = counted["clocks"], max(counted["triangles"], counted["tiles"])
    figures |= {
        "hardware": counted, "clocks": clocks, "clocks_of_bound": clocks / max(bound, 1), "clocks_per_second": drawn.simulated / drawn.seconds,
        "stalls": {name: counted[f"stall_{name}"] / max(clocks, 1) for name in SEAMS}, "moved": frames.traffic(counted),
        "status": frames.status(drawn.outputs["o"]),
    }
    plain = 4 * (result.frame.counters["samples_covered"] + result.frame.counters["samples_passed"])
    figures["depth_of_plain"] = sum(size for client, *_, size in figures["moved"] if client == "depth") / max(plain, 1)
    if not _errors(figures["status"]):
        result.frame = replace(result.frame, colour=job.picture(memory.data), outcome=outcome)
        result.modes = job.modes(memory.data)


def _errors(status: list[dict[str, int]]) -> list[str]:
    """What the status words of the hardware complain of."""
    out = [f"the reader reports {CommandError(one['error']).name} at transfer {one['at']}" for one in status if one["last"] and one["error"]]
    out += [f"the hardware reports failure {one['failed']} at fence {one['sequence']}" for one in status if one["failed"]]
    return out if any(one["last"] for one in status) else [*out, "the hardware did not come to the end of the commands"]


def _verdict(figures: dict) -> list[str]:
    """Why a frame is not what the golden pipeline drew: differences, errors that the hardware reports, nothing compared."""
    figures["mismatches"] = sum(seam["mismatches"] for seam in figures["rtl"].values())
    out = _errors(figures["status"])
    if figures["mismatches"]:
        out.append(f"{figures['mismatches']} beats or transfers differ")
    if not all(figures["rtl"].get(name, {"beats": 0})["beats"] for name in ("seam_commands", "memory", "o")):
        out.append("nothing was compared")
    return out


def _write(result: Result, folder: Path) -> None:
    """Pictures, figures, report; each whole or not at all."""
    frame, figures = result.frame, result.figures
    pictures = {"frame.png": frame.colour, "tiles.png": maps.triangles(frame), "hiz.png": maps.outcomes(frame)}
    if result.modes is not None:
        pictures["modes.png"] = maps.modes(frame, result.modes)
    for name, image in pictures.items():
        data = io.BytesIO()
        Image.fromarray(image).save(data, "png")
        files.write(folder / name, data.getvalue())
    files.write(folder / "frame.json", json.dumps(figures | {"failures": result.failures}, indent=2) + "\n")
    if result.modes is not None:
        report.write(folder / "frame.html", f"{figures['title']}, {figures['width']}x{figures['height']}, {figures['samples']}x",
                     frame, result.modes, figures)


def _print(result: Result, console: Console, folder: Path) -> None:
    """The figures in words."""
    figures = result.figures
    table = Table(title=f"{figures['width']}x{figures['height']}, {figures['samples']}x", show_header=False)
    rows = _golden_rows(figures["counters"]) | (_hardware_rows(figures) if figures["rtl"] else {})
    rows |= {name: f"{seconds:.2f} s" for name, seconds in figures["seconds"].items()}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    if "moved" in figures:
        console.print(_moved(figures))
    for seam in figures["rtl"].values():
        if "first" in seam:
            console.print(seam["first"], style="red", markup=False)
            break
    for failure in result.failures:
        console.print(f"failed: {failure}", style="red", markup=False)
    if not figures["rtl"]:
        console.print("golden only: no hardware was built, and nothing compared")
    written = ["frame.json", "frame.png", "tiles.png", "hiz.png", *(["frame.html", "modes.png"] if result.modes is not None else [])]
    console.print(f"wrote {folder}: {', '.join(written)}", markup=False)


def _golden_rows(counters: dict) -> dict[str, str]:
    """What the golden pipeline counted."""
    rows = {
        "triangles": f"{counters['triangles']} of {counters['faces']} faces",
        "culled or clipped": ", ".join(f"{name} {counters[name]}" for name in CULLS if counters[name]) or "none",
        "set up": f"{counters['set_up']}, {counters['steep']} of them steep",
        "tiles": f"{counters['tiles']}, {counters['full_tiles']} of them full",
        "HiZ, golden": ", ".join(f"{name} {counters[f'hiz_{name}']}" for name in ("drop", "accept", "test")),
        "samples": f"{counters['samples_passed']} of {counters['samples_covered']} passed",
    }
    if "domain_points" in counters:
        rows["domain points"] = f"{counters['domain_points']}, {counters['shaded_points']} of them shaded in {counters['waves']} waves"
    return rows


def _hardware_rows(figures: dict) -> dict[str, str]:
    """What the hardware counted, and how it compares."""
    counted, rtl = figures["hardware"], figures["rtl"]
    dropped = counted["tiles"] - counted["tiles_accepted"] - counted["tiles_tested"]
    return {
        "HiZ, hardware": f"drop {dropped}, accept {counted['tiles_accepted']}, test {counted['tiles_tested']}",
        "beats compared": f"{sum(seam['beats'] for seam in rtl.values())} on {len(rtl)} streams, memory among them",
        "mismatches": str(figures["mismatches"]),
        "clocks": f"{figures['clocks']}: {figures['clocks_of_bound']:.3f} of max(triangles, tiles)",
        "stalls": ", ".join(f"{name} {share:.0%}" for name, share in figures["stalls"].items() if share >= 0.005) or "none",
        "clocks per second": f"{figures['clocks_per_second']:,.0f} simulated",
    }


def _moved(figures: dict) -> Table:
    """Table of what went to memory and came from there."""
    table = Table("client", "cause", "mode", title=f"memory; depth: {figures['depth_of_plain']:.1%} of plain depth")
    for name in ("moved", "bytes"):
        table.add_column(name, justify="right")
    for client, cause, mode, count, size in figures["moved"]:
        table.add_row(client, cause, mode, f"{count:,}", f"{size:,}")
    return table
