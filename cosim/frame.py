"""The demo: a frame of the golden pipeline, every triangle and tile of it held to the RTL."""

import json
import time
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from cosim import catalogue, codec
from cosim.volume import Volume
from spec import payloads


def run(scene, folder, console=None):
    """Render a scene, run its triangles through the RTL, compare, write the pictures, print the figures.

    Parameters
    ----------
    scene : models.pipeline.Scene
    folder : Path
        Where ``frame.png``, ``tiles.png`` and ``frame.json`` go.
    console : rich.console.Console, optional

    Returns
    -------
    dict
        The figures, as in ``frame.json``; ``mismatches`` is the number of beats that differ.
    """
    console = console or Console()
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("")

        def stage(name):
            progress.update(task, description=name or "")

        frame = catalogue.golden().render(scene, lambda name: stage(f"golden: {name}" if name else None))
        figures = {"counters": frame.counters, "seconds": dict(frame.seconds), "rtl": {}}
        state = codec.pack(np.atleast_1d(frame.state), payloads.DRAW_STATE)
        bits = payloads.width(payloads.DRAW_STATE)
        rows = np.concatenate([state, codec.pack(frame.triangles, payloads.TRIANGLE, bits)])
        seams = {  # what each seam of the hardware must give
            "triangle_setup": np.concatenate([codec.pack(np.atleast_1d(frame.state), payloads.DRAW_STATE, payloads.width(payloads.SETUP)),
                                              codec.pack(frame.setup.records, payloads.SETUP)]),
            "top": np.concatenate([state, codec.pack(frame.tiles, payloads.TILE, bits)]),
        }
        for name, expected in seams.items():
            stage(f"building {name}")
            block = catalogue.block(name)
            begun = time.perf_counter()
            volume = Volume(block.create(), name)
            figures["seconds"][f"build {name}"] = time.perf_counter() - begun
            stage(f"rtl: {name}")
            begun = time.perf_counter()
            out = volume.run({"i": rows}, 2 * len(expected) + 65536)
            figures["seconds"][f"rtl {name}"] = time.perf_counter() - begun
            mismatches, first = block.differences(out.outputs, {"o": expected})
            figures["rtl"][name] = {"beats": len(expected), "mismatches": mismatches, "clocks": out.clocks} | ({"first": first} if first else {})
    figures["mismatches"] = sum(seam["mismatches"] for seam in figures["rtl"].values())
    top = figures["rtl"]["top"]
    pixels = frame.counters["samples_covered"] / scene.samples
    figures |= {"width": scene.width, "height": scene.height, "samples": scene.samples,
                "pixels_per_clock": pixels / top["clocks"], "tiles_per_clock": len(frame.tiles) / top["clocks"],
                "tiles_per_second": len(frame.tiles) / figures["seconds"]["rtl top"]}
    _write(frame, figures, Path(folder))
    _print(frame, figures, console, folder)
    return figures


def _write(frame, figures, folder):
    """Pictures and figures; nothing is left half-written."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, image in (("frame.png", frame.colour), ("tiles.png", heat_map(frame))):
        temporary = folder / f".{name}"
        Image.fromarray(image).save(temporary, "png")
        temporary.replace(folder / name)
    (folder / ".frame.json").write_text(json.dumps(figures, indent=2) + "\n")
    (folder / ".frame.json").replace(folder / "frame.json")


def heat_map(frame):
    """Triangles per tile as colours, dark to bright on a logarithmic scale: uint8, shape (height, width, 3)."""
    height, width = frame.colour.shape[:2]
    shift = frame.depth.shape[2].bit_length() - 1
    wide, high = (8 >> s for s in ((0, 0), (0, 1), (1, 1), (1, 2))[shift])
    count = np.zeros((-(-height // high), -(-width // wide)), np.int64)
    np.add.at(count, (frame.tiles["y"], frame.tiles["x"]), 1)
    heat = np.log1p(count) / np.log1p(max(count.max(), 1))
    ramp = np.array([(12, 10, 30), (92, 22, 110), (214, 70, 66), (250, 180, 60), (252, 252, 220)], float)
    place = heat * (len(ramp) - 1)
    low = np.minimum(place.astype(int), len(ramp) - 2)
    colour = ramp[low] + (place - low)[..., None] * (ramp[low + 1] - ramp[low])
    return np.repeat(np.repeat(colour.astype(np.uint8), high, 0), wide, 1)[:height, :width]


def _print(frame, figures, console, folder):
    table = Table(title=f"{figures['width']}x{figures['height']}, {figures['samples']}x", show_header=False)
    counters, top = figures["counters"], figures["rtl"]["top"]
    rows = {
        "triangles": f"{len(frame.triangles)} of {counters['faces']} faces",
        "culled or clipped": ", ".join(f"{n} {counters[n]}" for n in (
            "rejected", "clipped", "not_a_number", "index_out_of_range", "zero_area", "facing", "no_sample") if counters[n]) or "none",
        "set up": f"{counters['set_up']}, {counters['steep']} of them steep",
        "masks compared": f"{counters['tiles']}",
        "set-up triangles compared": f"{counters['set_up']}",
        "mismatches": str(figures["mismatches"]),
        "clocks": f"{top['clocks']}, setup included",
        "pixels per clock": f"{figures['pixels_per_clock']:.2f} covered",
        "tiles": f"{counters['tiles']}, {counters['full_tiles']} of them full; {figures['tiles_per_clock']:.3f} a clock",
        "tiles per second": f"{figures['tiles_per_second']:,.0f} simulated",
    }
    rows |= {name: f"{seconds:.2f} s" for name, seconds in figures["seconds"].items()}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    for seam in figures["rtl"].values():
        if "first" in seam:
            console.print(seam["first"], style="red", markup=False)
            break  # what differs first is to blame
    console.print(f"wrote {folder}/frame.png, {folder}/tiles.png, {folder}/frame.json")
