"""The demo: a frame of the golden pipeline, drawn by the hardware, every stage and every byte of it compared."""

import json
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from cosim import catalogue, codec, maps, report
from cosim.volume import LATENCIES, THREADS, Memory, Volume
from spec import points
from spec.counters import SEAMS

MEMORY = LATENCIES[1]  # clocks to an answer


def run(scene, folder, console=None, title="a frame"):
    """Render a scene, draw it with the RTL, compare, write pictures and report, print the figures.

    Parameters
    ----------
    scene : models.pipeline.Scene
    folder : Path
        Where ``frame.png``, ``tiles.png``, ``hiz.png``, ``modes.png``, ``frame.json`` and ``frame.html`` go: all but the
        triangles a tile as the hardware gave it.
    console : rich.console.Console, optional
    title : str

    Returns
    -------
    dict
        The figures, as in ``frame.json``; ``mismatches`` is the number of beats and transfers that differ.
    """
    console = console or Console()
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("")

        def stage(name):
            progress.update(task, description=name or "")

        frame = catalogue.golden().render(scene, lambda name: stage(f"golden: {name}" if name else None))
        figures = {"title": title, "counters": frame.counters, "seconds": dict(frame.seconds), "rtl": {}}
        if scene.tessellated:
            figures["rtl"]["domain_matching"] = _block("domain_matching", codec.pack(scene.tessellated.points, points.DOMAIN_POINT), figures, stage)
        if scene.texture and scene.texture.format in (decoder := catalogue.block("block_decode").bench).SUPPORTED:
            figures["rtl"]["block_decode"] = _block("block_decode", decoder.of_texture(scene.texture), figures, stage)
        frame, coded = _top(scene, frame, figures, stage)
    figures["mismatches"] = sum(seam["mismatches"] for seam in figures["rtl"].values())
    figures |= {"width": scene.width, "height": scene.height, "samples": scene.samples}
    _write(frame, coded, figures, Path(folder))
    _print(figures, console, folder)
    return figures


@cache
def _volume(name):
    return Volume(catalogue.block(name).simulated(), name, THREADS if name == "top" else 1)


def _build(name, figures, stage):
    """A block, Verilated, with what its bench puts around it."""
    stage(f"building {name}")
    begun = time.perf_counter()
    volume = _volume(name)
    figures["seconds"][f"build {name}"] = time.perf_counter() - begun
    stage(f"rtl: {name}")
    return volume


def _block(name, rows, figures, stage):
    """A block beside the top, held to its golden model."""
    volume = _build(name, figures, stage)
    run, expected, mismatches, first = catalogue.block(name).compare(volume, rows)
    figures["seconds"][f"rtl {name}"] = run.seconds
    return {"beats": len(expected["o"]), "mismatches": mismatches} | ({"first": first} if first else {})


def _top(scene, frame, figures, stage):
    """Draw the frame; returns it as the hardware gave it, and every tile's mode in memory."""
    block, frames, seconds = catalogue.block("top"), catalogue.frames(), figures["seconds"]
    volume = _build("top", figures, stage)

    def timed(name, work):
        stage(name)
        begun = time.perf_counter()
        out = work()
        seconds[name] = time.perf_counter() - begun
        return out

    job = frames.FrameJob(scene, frame, block.parameters("default"))
    inputs = timed("golden: colours", job.inputs)
    memory = Memory(job.data.copy(), MEMORY)
    run = timed("rtl: top", lambda: volume.run(inputs, job.room, memory=memory))
    run.outputs["memory"] = memory.data.view(np.uint64).reshape(-1, 4)
    expected, outcome = timed("golden: memory", lambda: job.expected(run.outputs))
    first = None
    for name, wanted in expected.items():  # in the order of stages: what differs first is to blame
        count, found = block.differences(run.outputs, {name: wanted})
        figures["rtl"][name] = {"beats": len(wanted), "mismatches": count} | ({"first": found} if found else {})
        first = first or found
    counted = frames.counters(run.outputs["told"])
    clocks, bound = counted["clocks"], max(counted["triangles"], counted["tiles"])
    figures |= {
        "hardware": counted, "clocks": clocks, "clocks_of_bound": clocks / max(bound, 1), "clocks_per_second": run.simulated / run.seconds,
        "stalls": {name: counted[f"stall_{name}"] / max(clocks, 1) for name in SEAMS}, "moved": frames.traffic(counted),
    }
    plain = 4 * (frame.counters["samples_covered"] + frame.counters["samples_passed"])
    figures["depth_of_plain"] = sum(size for client, *_, size in figures["moved"] if client == "depth") / max(plain, 1)
    return replace(frame, colour=job.picture(memory.data), outcome=outcome), job.modes(memory.data)


def _write(frame, coded, figures, folder):
    """Pictures, figures, report; nothing is left half-written."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"frame.png": frame.colour, "tiles.png": maps.triangles(frame), "hiz.png": maps.outcomes(frame), "modes.png": maps.modes(frame, coded)}
    for name, image in pictures.items():
        temporary = folder / f".{name}"
        Image.fromarray(image).save(temporary, "png")
        temporary.replace(folder / name)
    (folder / ".frame.json").write_text(json.dumps(figures, indent=2) + "\n")
    (folder / ".frame.json").replace(folder / "frame.json")
    report.write(folder / "frame.html", f"{figures['title']}, {figures['width']}x{figures['height']}, {figures['samples']}x", frame, coded, figures)


def _moved(figures):
    """Table of what went to memory and came from there."""
    table = Table("client", "cause", "mode", title=f"memory; depth: {figures['depth_of_plain']:.1%} of plain depth")
    for name in ("moved", "bytes"):
        table.add_column(name, justify="right")
    for client, cause, mode, count, size in figures["moved"]:
        table.add_row(client, cause, mode, f"{count:,}", f"{size:,}")
    return table


def _print(figures, console, folder):
    table = Table(title=f"{figures['width']}x{figures['height']}, {figures['samples']}x", show_header=False)
    counters, counted, rtl = figures["counters"], figures["hardware"], figures["rtl"]
    dropped = counted["tiles"] - counted["tiles_accepted"] - counted["tiles_tested"]
    rows = {
        "triangles": f"{counted['triangles']} of {counters['faces']} faces",
        "culled or clipped": ", ".join(f"{n} {counters[n]}" for n in (
            "rejected", "clipped", "not_a_number", "index_out_of_range", "zero_area", "facing", "no_sample") if counters[n]) or "none",
        "set up": f"{counted['set_up']}, {counters['steep']} of them steep",
        "tiles": f"{counted['tiles']}, {counters['full_tiles']} of them full",
        "HiZ": f"{dropped} tiles dropped, {counted['tiles_accepted']} accepted unread, {counted['tiles_tested']} tested",
        "samples": f"{counted['samples_passed']} of {counted['samples_covered']} passed",
        "beats compared": f"{sum(seam['beats'] for seam in rtl.values())} on {len(rtl)} streams, memory among them",
        "mismatches": str(figures["mismatches"]),
        "clocks": f"{figures['clocks']}: {figures['clocks_of_bound']:.3f} of max(triangles, tiles)",
        "stalls": ", ".join(f"{name} {share:.0%}" for name, share in figures["stalls"].items() if share >= 0.005) or "none",
        "clocks per second": f"{figures['clocks_per_second']:,.0f} simulated",
    }
    if "domain_points" in counters:
        rows["domain points"] = f"{counters['domain_points']}, {counters['shaded_points']} of them shaded in {counters['waves']} waves"
    rows |= {name: f"{seconds:.2f} s" for name, seconds in figures["seconds"].items()}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    console.print(_moved(figures))
    for seam in rtl.values():
        if "first" in seam:
            console.print(seam["first"], style="red", markup=False)
            break
    console.print(f"wrote {folder}/frame.html, frame.json, frame.png, tiles.png, hiz.png, modes.png")
