"""The demo: a frame of the golden pipeline, every triangle and tile of it held to the RTL."""

import json
import time
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from cosim import catalogue, codec, maps
from cosim.volume import Volume
from spec import payloads, points
from spec.state import Kind

REGION = 64  # tiles along a side of what the depth unit keeps on chip


def run(scene, folder, console=None):
    """Render a scene, run its triangles through the RTL, compare, write the pictures, print the figures.

    Parameters
    ----------
    scene : models.pipeline.Scene
    folder : Path
        Where ``frame.png``, ``tiles.png``, ``hiz.png``, ``modes.png`` and ``frame.json`` go.
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
            block, volume = _build(name, figures, stage)
            begun = time.perf_counter()
            out = volume.run({"i": rows}, 2 * len(expected) + 65536)
            figures["seconds"][f"rtl {name}"] = time.perf_counter() - begun
            mismatches, first = block.differences(out.outputs, {"o": expected})
            figures["rtl"][name] = {"beats": len(expected), "mismatches": mismatches, "clocks": out.clocks} | ({"first": first} if first else {})
        if scene.tessellated:
            figures["rtl"] = {"domain_matching": _domain(scene, figures, stage), **figures["rtl"]}
        if scene.texture and scene.texture.format in catalogue.block("block_decode").bench.SUPPORTED:
            figures["rtl"]["block_decode"] = _texture(scene, figures, stage)
        figures["rtl"]["depth_unit"] = _depth(frame, figures, stage)
        figures["rtl"]["depth_cache"], coded = _memory(frame, figures, stage)
    figures["mismatches"] = sum(seam["mismatches"] for seam in figures["rtl"].values())
    top = figures["rtl"]["top"]
    pixels = frame.counters["samples_covered"] / scene.samples
    figures |= {"width": scene.width, "height": scene.height, "samples": scene.samples,
                "pixels_per_clock": pixels / top["clocks"], "tiles_per_clock": len(frame.tiles) / top["clocks"],
                "tiles_per_second": len(frame.tiles) / figures["seconds"]["rtl top"]}
    _write(frame, coded, figures, Path(folder))
    _print(frame, figures, console, folder)
    return figures


def _build(name, figures, stage, config="default"):
    """A block, Verilated, with what its bench puts around it."""
    stage(f"building {name}")
    block, begun = catalogue.block(name), time.perf_counter()
    volume = _volume(name, config)
    figures["seconds"][f"build {name}"] = time.perf_counter() - begun
    stage(f"rtl: {name}")
    return block, volume


@cache
def _volume(name, config):
    return Volume(catalogue.block(name).simulated(config), name)


def _domain(scene, figures, stage):
    """The patches' domain points through domain matching and wave constructor, with users that hold every vertex for a while."""
    block, volume = _build("domain_matching", figures, stage)
    run, expected, mismatches, first = block.compare(volume, codec.pack(scene.tessellated.points, points.DOMAIN_POINT))
    figures["seconds"]["rtl domain_matching"] = run.seconds
    return {"beats": len(expected["o"]), "mismatches": mismatches, "clocks": run.clocks} | ({"first": first} if first else {})


def _texture(scene, figures, stage):
    """Every block of the scene's texture through the decoder."""
    block, volume = _build("block_decode", figures, stage)
    run, expected, mismatches, first = block.compare(volume, block.bench.of_texture(scene.texture))
    figures["seconds"]["rtl block_decode"] = run.seconds
    return {"beats": len(expected["o"]), "mismatches": mismatches, "clocks": run.clocks} | ({"first": first} if first else {})


def _depth(frame, figures, stage):
    """The frame's tiles through HiZ and depth test, region by region: the hardware has no memory but its own yet."""
    block, volume = _build("depth_unit", figures, stage, "frame")
    run, expected, mismatches, first = block.compare(volume, regions(frame), "frame")
    figures["seconds"]["rtl depth_unit"] = run.seconds
    beats = run.outputs["o"]
    fences = codec.unpack(beats[beats[:, 0] & 3 == Kind.FENCE], payloads.FENCE, codec.wide(payloads.FENCE))
    passed = int(fences["passed"][-1]) if len(fences) else 0
    if passed != frame.counters["samples_passed"]:
        mismatches, first = mismatches + 1, first or f"{passed} samples passed, expected {frame.counters['samples_passed']}"
    return {"beats": len(expected["o"]), "mismatches": mismatches, "clocks": run.clocks} | ({"first": first} if first else {})


def _memory(frame, figures, stage):
    """The frame's depths through cache and memory, compared to the byte; returns the seam and every tile's mode."""
    block, volume = _build("depth_cache", figures, stage)
    run, expected, mismatches, first = block.compare(volume, block.bench.of_frame(frame))
    figures["seconds"]["rtl depth_cache"] = run.seconds
    memory, counters = run.outputs["memory"], frame.counters
    figures["moved"] = block.bench.traffic(run.outputs["counted"][-1])
    figures["moved_of_plain_depth"] = sum(moved[-1] for moved in figures["moved"]) / (4 * (counters["samples_covered"] + counters["samples_passed"]))
    wide, high = maps.tile_size(frame)
    height, width = frame.colour.shape[:2]
    seam = {"beats": len(expected["o"]), "mismatches": mismatches, "clocks": run.clocks} | ({"first": first} if first else {})
    return seam, block.bench.modes(memory, -(-height // high) * -(-width // wide))


def regions(frame):
    """The frame's tiles, packed, as so many small targets, each behind its state and a clear; then a fence."""
    bits, out = payloads.width(payloads.DRAW_STATE), []
    wide, high = maps.tile_size(frame)
    state, clear, fence = (np.zeros(1, codec.wide(table)) for table in (payloads.DRAW_STATE, payloads.CLEAR, payloads.FENCE))
    clear["kind"], clear["depth"], clear["stencil"], clear["depth_value"], fence["kind"] = Kind.CLEAR, 1, 1, frame.state["depth_max"], Kind.FENCE
    width, height = int(frame.state["target_width"]), int(frame.state["target_height"])
    for top in range(0, height, REGION * high):
        for left in range(0, width, REGION * wide):
            inside = (frame.tiles["x"] // REGION == left // (REGION * wide)) & (frame.tiles["y"] // REGION == top // (REGION * high))
            tiles = frame.tiles[inside].copy()
            tiles["x"] %= REGION
            tiles["y"] %= REGION
            for name in frame.state.dtype.names:
                state[name] = frame.state[name]
            state["target_width"], state["target_height"] = min(REGION * wide, width - left), min(REGION * high, height - top)
            clear["x1"], clear["y1"] = state["target_width"], state["target_height"]
            out += [codec.pack(records, table, bits) for records, table in (
                (state, payloads.DRAW_STATE), (clear, payloads.CLEAR), (tiles, payloads.TILE))]
    return np.concatenate([*out, codec.pack(fence, payloads.FENCE, bits)])


def _write(frame, coded, figures, folder):
    """Pictures and figures; nothing is left half-written."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"frame.png": frame.colour, "tiles.png": maps.triangles(frame), "hiz.png": maps.outcomes(frame), "modes.png": maps.modes(frame, coded)}
    for name, image in pictures.items():
        temporary = folder / f".{name}"
        Image.fromarray(image).save(temporary, "png")
        temporary.replace(folder / name)
    (folder / ".frame.json").write_text(json.dumps(figures, indent=2) + "\n")
    (folder / ".frame.json").replace(folder / "frame.json")


def _moved(figures):
    """Table of what went to memory and came from there."""
    share = f"{figures['moved_of_plain_depth']:.1%} of plain depth"
    table = Table("cause", "mode", title=f"depth in memory: {share}")
    for name in ("moved", "bytes"):
        table.add_column(name, justify="right")
    for cause, mode, count, size in figures["moved"]:
        table.add_row(cause, mode, f"{count:,}", f"{size:,}")
    return table


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
        "HiZ": f"{counters['hiz_drop']} tiles dropped, {counters['hiz_accept']} accepted unread, {counters['hiz_test']} tested",
        "samples": f"{counters['samples_passed']} of {counters['samples_covered']} passed",
        "tiles": f"{counters['tiles']}, {counters['full_tiles']} of them full; {figures['tiles_per_clock']:.3f} a clock",
        "tiles per second": f"{figures['tiles_per_second']:,.0f} simulated",
    }
    if "domain_points" in counters:
        rows["domain points"] = f"{counters['domain_points']}, {counters['shaded_points']} of them shaded in {counters['waves']} waves"
    rows |= {name: f"{seconds:.2f} s" for name, seconds in figures["seconds"].items()}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    console.print(_moved(figures))
    for seam in figures["rtl"].values():
        if "first" in seam:
            console.print(seam["first"], style="red", markup=False)
            break  # what differs first is to blame
    console.print(f"wrote {folder}/frame.png, {folder}/tiles.png, {folder}/hiz.png, {folder}/modes.png, {folder}/frame.json")
