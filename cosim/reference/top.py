# SPDX-License-Identifier: BSD-2-Clause
"""The golden machine as packed beats: every probe of the top, and its status words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.reference.sampled_top import Harness
from fixfunc.cosim.reference.texture_cache import cache_shape
from fixfunc.models.depth.depth_cache import CacheShape
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.payload import dtype
from fixfunc.models.pixel.pixel_pipe import PixelPipe
from fixfunc.models.raster.edge_evaluator import pack
from fixfunc.models.top.shades import Shades
from fixfunc.models.top.top import Drawn, Machine
from fixfunc.rtl.top import TopParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import colours, quads
from fixfunc.spec.commands import STATUS, CommandError
from fixfunc.spec.state import Kind, Outcome

__all__ = ["Harness"]


def limits_of(params: TopParams) -> CommandLimits:
    """Limits of the command reader."""
    reader = params.reader
    return CommandLimits(
        reader.edge,
        reader.samples,
        reader.pixels,
        reader.conservative,
        reader.stencil,
        reader.formats,
        reader.colour_planes,
        reader.colour_formats,
        reader.second,
        reader.floats,
        reader.resolve_samples,
        reader.ring and (reader.ring.slots, reader.ring.attributes),
        reader.texture_formats,
        reader.texture_extent,
        reader.texture_anisotropy,
        len(reader.texture_surfaces) > 0,
        len(reader.texture_rows) > 0,
        reader.texture_points,
    )


def shape(params: TopParams) -> CacheShape:
    """Shape of all caches: memory does not depend on their sets and ways."""
    depth = params.depth
    return CacheShape(
        depth.sets,
        depth.ways,
        depth.table_lines,
        coding="differences" if params.depth.differences else "anchor",
        colours="differences" if params.colour.differences else "raw",
    )


def machine(params: TopParams, data: np.ndarray, **more: Any) -> Machine:
    """The golden machine of a configuration; ``more`` are its other parameters."""
    more = {"shape": shape(params), "pixels": pipe(params)} | more
    return Machine(data, limits_of(params), coarse=params.raster.grid, **more)


def pipe(params: TopParams) -> PixelPipe | None:
    """What shades where no shader is asked."""
    if params.pixels is None:
        return None
    textures = params.pixels.texture and cache_shape(params.pixels.texture.cache)
    pixels = params.pixels
    return PixelPipe(pixels.triangles, pixels.states, textures, inner=pixels.interpolator.inner)


def pack_colours(shades: Shades, params: TopParams) -> np.ndarray:
    """What a shader makes of tiles as beats."""
    edge = params.raster.edge
    outputs = params.colour.outputs
    table = colours(edge, params.depth.shader_depths, outputs)[2 * outputs * edge**2 :]
    count = shades.colours.shape[-3]
    both = [
        np.broadcast_to(words, (outputs, count, edge, edge))
        for words in (shades.colours, shades.fractions)
    ]
    by_output = np.concatenate(both).reshape(2 * outputs, count, edge**2)
    lanes = by_output.swapaxes(0, 1).reshape(count, 2 * outputs * edge**2).astype("<u4")
    rest = np.zeros(count, dtype(table))
    rest["survivors"] = pack(shades.survivors)
    if params.depth.shader_depths:
        rest["replaces"] = shades.replaces
        for n, depths in enumerate(shades.depths.reshape(count, edge**2).T):
            rest[f"depth{n}"] = depths
    behind = codec.pack(rest, table)
    return np.concatenate([np.ascontiguousarray(lanes).view(np.uint64), behind], 1)


class HizOutcomes:
    """What HiZ decided about each tile, read from the hardware's probe behind it.

    Called with tiles in front of HiZ, it returns their outcomes; a tile that is missing behind HiZ
    was dropped. Outcomes depend on when reports reach HiZ, so the golden machine takes them over.

    Parameters
    ----------
    rows : ndarray of uint64
        Packed beats of ``probe_hiz``.
    edge : int
        Samples along a tile's edge.
    """

    SAME = (
        "slot",
        "x",
        "y",
        "last",
        "back",
        "z0",
        "dx",
        "dy",
    )  # the mask of what was dropped is gone

    def __init__(self, rows: np.ndarray, edge: int) -> None:
        table = payloads.tile(edge)
        tiles = codec.unpack(rows[rows[:, 0] & 3 == Kind.WORK], table, dtype(table))
        self._keys = list(zip(*(tiles[name].tolist() for name in self.SAME), strict=True))
        self._outcome = tiles["outcome"]
        self._at = 0

    def __call__(self, tiles):
        out = np.full(len(tiles), Outcome.DROP, np.uint8)
        for n, key in enumerate(zip(*(tiles[name].tolist() for name in self.SAME), strict=True)):
            if self._at < len(self._keys) and self._keys[self._at] == key:
                out[n] = self._outcome[self._at]
                self._at += 1
        return out


def expected_of(
    drawn: Sequence[Drawn], outputs: dict[str, np.ndarray], params: TopParams
) -> dict[str, np.ndarray]:
    """Packed beats of every probe, in the order of the stages, and of the status words."""
    edge = params.raster.edge
    out = {}
    tables = {
        "commands": payloads.TRIANGLE,
        "setup": payloads.SETUP,
        "raster": payloads.tile(edge),
        "hiz": payloads.tile(edge),
        "depth": payloads.tested(edge),
    }
    for name, work in tables.items():
        bits = max(payloads.width(table) for table in (work, *payloads.CONTROL.values()))
        beats = ((kind, records) for part in drawn for kind, records in part.probes[name])
        out[f"probe_{name}"] = np.concatenate(
            [codec.pack(records, table_of(kind, work), bits) for kind, records in beats]
        )
    for name in ("hiz", "depth"):  # a note is HiZ's own
        take_notes(out[f"probe_{name}"], outputs[f"probe_{name}"], edge)
    table = quads(edge, params.colour.outputs)
    shaded = [codec.pack(records, table) for part in drawn for _, records in part.probes["quads"]]
    out["probe_quads"] = np.concatenate(
        [np.zeros((0, codec.words(payloads.width(table))), np.uint64), *shaded]
    )
    outside = [
        codec.pack(records[records["built_in"] == 0], table)
        for part in drawn
        for _, records in part.probes["quads"]
    ]
    out["quads"] = np.concatenate([out["probe_quads"][:0], *outside])
    return out | {"o": np.concatenate([codec.pack(part.status, STATUS) for part in drawn])}


def table_of(kind: Kind, work: tuple[payloads.Field, ...]) -> tuple[payloads.Field, ...]:
    """Fields of a beat, where those of work are ``work``."""
    return {
        Kind.WORK: work,
        Kind.STATE: payloads.DRAW_STATE,
        Kind.CLEAR: payloads.CLEAR,
        Kind.FENCE: payloads.FENCE,
    }[kind]


def take_notes(rows: np.ndarray, outputs: np.ndarray, edge: int) -> None:
    """Copy HiZ's notes from the hardware's beats into expected ones: no other block reads them."""
    low = 0
    bits = 0
    at = 0
    for field in payloads.tile(edge):
        low, bits = (at, field.bits) if field.name == "note" else (low, bits)
        at += field.bits
    work = np.flatnonzero(rows[:, 0] & 3 == Kind.WORK)
    work = work[work < len(outputs)]
    for word in range(low // 64, (low + bits - 1) // 64 + 1):
        first = max(low - 64 * word, 0)
        last = min(low + bits - 64 * word, 64)
        mask = np.uint64(((1 << last) - 1) & ~((1 << first) - 1))
        rows[work, word] = (rows[work, word] & ~mask) | (outputs[work, word] & mask)


def describe(row: np.ndarray, _params: TopParams) -> str:
    """A status word in words."""
    record = codec.unpack(row[None], STATUS, dtype(STATUS))[0]
    return f"{CommandError(record['error']).name} " + " ".join(
        f"{name}={int(record[name]):#x}" for name in record.dtype.names
    )
