# SPDX-License-Identifier: BSD-2-Clause
"""Counters in words: what each counts, in which unit, and why one looks at it."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.memory.counters import by_name
from fixfunc.models.top.top import Drawn, Machine
from fixfunc.spec.counters import CLIENTS, MOVED, PIXELS
from fixfunc.spec.memory.caching import counted
from fixfunc.spec.state import Kind, Outcome, TileMode


class Words(NamedTuple):
    """A counter for readers."""

    group: str
    words: str
    unit: str
    explanation: str  # a sentence that reads alone


# Before and behind which stage the beats of a stream wait: by probe.
STREAMS = {
    "commands": ("command reader", "triangle setup"),
    "setup": ("triangle setup", "tile rasterizer"),
    "raster": ("tile rasterizer", "HiZ"),
    "hiz": ("HiZ", "depth test"),
    "depth": ("depth test", "colour write"),
    "quads": ("colour write", "shader"),
    "colours": ("shader", "colour write"),
}

_GROUPS = {
    "Time": {
        "clocks": ("clocks of the frame", "clocks", "Clocks from a START to its last status."),
    },
    "Geometry": {
        "faces": ("faces of the mesh", "faces", "Faces that the draw call names."),
        "domain_points": ("domain points", "points", "Points that the tessellator made."),
        "shaded_points": (
            "domain points shaded",
            "points",
            "Domain points left once those that patches share have been matched.",
        ),
        "waves": ("waves of domain points", "waves", "Waves that the domain shader ran."),
        "index_out_of_range": (
            "faces with an index out of range",
            "faces",
            "An index beyond the vertices reads a vertex of zeros.",
        ),
        "rejected": (
            "faces outside the view",
            "faces",
            "All corners lie beyond one plane of the view volume, so that nothing is drawn.",
        ),
        "clipped": (
            "faces clipped",
            "faces",
            "The face crosses the near or the far plane, or leaves the guard band, and is cut.",
        ),
        "not_a_number": (
            "faces with a corner that is no number",
            "faces",
            "A position that is NaN draws nothing.",
        ),
        "command_transfers": (
            "commands read",
            "transfers",
            "The command reader fetches one transfer of 32 bytes a clock at most.",
        ),
        "triangles": (
            "triangles into setup",
            "triangles",
            "The command reader hands at most one triangle a clock to triangle setup.",
        ),
        "zero_area": (
            "triangles of no area",
            "triangles",
            "Triangle setup culls triangles whose corners lie on a line once they are snapped.",
        ),
        "facing": (
            "triangles culled by facing",
            "triangles",
            "Triangle setup culls the side that the rasterizer state names.",
        ),
        "no_sample": (
            "triangles without a sample",
            "triangles",
            "Triangle setup culls triangles whose bounds hold no sample.",
        ),
        "steep": (
            "steep triangles",
            "triangles",
            "A slope of depth does not fit: HiZ looks at corners alone, and no plane codes a tile.",
        ),
        "set_up": (
            "triangles set up",
            "triangles",
            "Triangles that were not culled; each goes on to the tile rasterizer.",
        ),
    },
    "Tiles": {
        "tiles": (
            "tiles rasterized",
            "tiles",
            "The tile rasterizer gives one tile of a triangle a clock, at most.",
        ),
        "full_tiles": (
            "tiles covered whole",
            "tiles",
            "All samples of the tile lie in the triangle.",
        ),
        "tiles_accepted": (
            "tiles accepted by HiZ",
            "tiles",
            "Every covered sample passes, so that depths need not be read; the count depends on "
            "when depths come back to HiZ.",
        ),
        "tiles_tested": (
            "tiles tested sample by sample",
            "tiles",
            "HiZ could not decide; the depth test reads the depths of the tile.",
        ),
        "hiz_accept": (
            "tiles accepted by a HiZ that hears at once",
            "tiles",
            "The golden HiZ hears of every write at once, which hardware cannot.",
        ),
        "hiz_test": (
            "tiles tested behind a HiZ that hears at once",
            "tiles",
            "Tiles that the golden HiZ, which hears of every write at once, cannot decide.",
        ),
        "hiz_drop": (
            "tiles dropped by a HiZ that hears at once",
            "tiles",
            "Tiles of which no sample can pass: the most that HiZ can save.",
        ),
        "tiles_shaded": (
            "tiles shaded",
            "tiles",
            "At least one sample of the tile goes to the shader.",
        ),
    },
    "Samples": {
        "samples_covered": (
            "samples covered",
            "samples",
            "Samples that lie in triangles, before any test.",
        ),
        "samples_tested": (
            "samples behind HiZ",
            "samples",
            "Covered samples of the tiles that HiZ did not drop.",
        ),
        "samples_passed": (
            "samples passed",
            "samples",
            "Samples that passed the depth and stencil tests.",
        ),
        "pixels_shaded": (
            "pixels shaded",
            "pixels",
            "Pixels of triangles that the shader was asked for: above the picture's, overdraw.",
        ),
        "quads": (
            "quads shaded",
            "quads",
            "Pixels are shaded two by two, so that textures know how fast coordinates change.",
        ),
        "helpers": (
            "helper pixels",
            "pixels",
            "Pixels of quads that are shaded for their neighbours alone, and thrown away.",
        ),
        "pipe_quads": (
            "quads of the pixel pipe",
            "quads",
            "Quads that the hardware shades by itself, one a clock at most.",
        ),
        "pipe_helpers": (
            "helper pixels of the pixel pipe",
            "pixels",
            "Pixels of its quads that are shaded for their neighbours alone.",
        ),
        "pipe_attributes": (
            "attributes of quads",
            "attributes",
            "The pixel pipe interpolates an attribute of a quad a clock.",
        ),
        "texture_lookups": (
            "blocks of texels looked up",
            "blocks",
            "Blocks of 4x4 texels that quads ask the texture cache for, up to four a clock.",
        ),
        "texture_misses": (
            "blocks of texels decoded",
            "blocks",
            "Those that were not on chip, and were decoded from their line, one a clock.",
        ),
        "texture_lines": (
            "lines of textures read",
            "lines",
            "Lines of 64 bytes that memory gave for them, a line every other clock.",
        ),
    },
    "Waiting": {
        f"stall_{name}": (
            f"a beat waited before {consumer}" + (", from the shader" if name == "colours" else ""),
            "clocks",
            f"Clocks in which {producer} offered a beat that {consumer} did not take."
            + (
                " The shader of a frame answers ahead, so that its colours wait without harm."
                if name == "colours"
                else ""
            ),
        )
        for name, (producer, consumer) in STREAMS.items()
    },
}
_TABLE = {
    "table_fill": ("mode table read", "Transfers of the table that tells how tiles are coded."),
    "table_write_back": (
        "mode table written",
        "Transfers of the table that tells how tiles are coded, evicted or flushed.",
    ),
    "table_clear": (
        "mode table cleared",
        "A clear writes the mode table alone, 64 tiles a transfer, and no tile.",
    ),
}
_MODES = {
    "CLEARED": "The tile had been cleared and moved no byte.",
    "PLANES": "Depths lie as planes of triangles, and which of them each sample belongs to.",
    "PALETTE": "Colours lie as a palette of at most four, and which of them each sample has.",
    "ANCHOR": "Depths lie as one depth and differences from it.",
    "RAW": "The tile could not be coded and lies as it is.",
    "DIFFERENCES": "The tile lies as differences of neighbours, of so many transfers.",
}


def table() -> dict[str, Words]:
    """Every counter of hardware and golden frames by name, in the order of the pipeline."""
    out = {
        name: Words(group, *entry)
        for group, rows in _GROUPS.items()
        for name, entry in rows.items()
    }
    for client in CLIENTS:
        for field in counted(differences=client != "stencil"):
            group = f"Memory: {client}"
            out[f"{client}_{field.name}"] = Words(group, *_moved(client, field.name))
    out["resolve_transfers"] = Words(
        "Memory: resolve",
        "resolve, read and written",
        "transfers",
        "Transfers of 32 bytes that the resolve unit read and wrote.",
    )
    return out


def _moved(client, name):
    """Words, unit and explanation of a counter of a cache."""
    if name in _TABLE:
        words, explanation = _TABLE[name]
        return words, "transfers", explanation
    cause, number = name.rsplit("_", 1)
    mode = mode_name(client, int(number))
    verb = {"fill": "filled", "write_back": "written back"}[cause]
    family = mode.rstrip("_1234567")
    return f"tiles {verb}, {mode}", "tiles", _MODES[family]


def mode_name(client: str, mode: int) -> str:
    """How a client's tile of a :class:`~fixfunc.spec.state.TileMode` is called."""
    palette = client == "colour" and mode == TileMode.PALETTE
    return "PALETTE" if palette else TileMode(mode).name


def replayed(machine: Machine, drawn: Drawn) -> dict[str, int]:
    """Golden values of the hardware's counters, of one command stream on a new machine.

    Those of clocks are left out, since golden models have none, and transfers of commands and
    resolves.
    """
    beats = {
        name: [records for kind, records in drawn.probes[name] if kind == Kind.WORK]
        for name in ("commands", "setup", "raster", "hiz")
    }
    outcome = np.concatenate([np.zeros(0, np.uint8), *(draw.outcome for draw in drawn.draws)])
    out = {
        "triangles": sum(map(len, beats["commands"])),
        "set_up": sum(map(len, beats["setup"])),
        "tiles": sum(map(len, beats["raster"])),
        "tiles_accepted": int((outcome == Outcome.ACCEPT).sum()),
        "tiles_tested": int((outcome == Outcome.TEST).sum()),
        "samples_covered": _samples(beats["raster"]),
        "samples_tested": _samples(beats["hiz"]),
        "samples_passed": sum(int(draw.passed.sum()) for draw in drawn.draws),
        "tiles_shaded": sum(len(records) for _, records in drawn.probes["quads"]),
    }
    moved = by_name(machine.traffic)
    pixels = {name: drawn.pixels[name] for name in PIXELS}
    return out | {name: moved[name] for name in MOVED} | pixels


def _samples(parts):
    """Bits of the coverage masks."""
    return sum(int(np.bitwise_count(tiles["mask"]).sum()) for tiles in parts)


def rows(figures: dict) -> list[dict]:
    """Counters of ``frame.json`` for a page, grouped: those that either side has.

    ``hardware`` and ``golden`` are None where that side does not count. ``differs`` where both
    count and do not agree.
    """
    hardware = figures.get("hardware", {})
    golden = figures["counters"] | figures.get("golden", {})
    out = []
    for name, entry in table().items():
        values = hardware.get(name), golden.get(name)
        if values == (None, None):
            continue
        row = entry._asdict() | {"name": name, "hardware": values[0], "golden": values[1]}
        row["differs"] = None not in values and values[0] != values[1]
        out.append(row)
    return out
