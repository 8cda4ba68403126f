# SPDX-License-Identifier: BSD-2-Clause
"""The back half: snapped triangles become depths, stencil values and colours of targets."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from fixfunc.models.depth.depth_test import depth_bias, with_bias
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.formats import encode
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.front_half import Part
from fixfunc.models.machine.targets import (
    ColourTiles,
    HeldDepths,
    Target,
    at_layer,
    restore,
    words,
)
from fixfunc.models.machine.tile_shading import TileShading
from fixfunc.models.machine.undo import UndoLog
from fixfunc.models.memory.copies import DEPTHS
from fixfunc.models.output import output_merger
from fixfunc.models.output.formats import thresholds
from fixfunc.models.pixel import quads
from fixfunc.models.raster import forced_samples, tile_rasterizer
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.models.state import draw_state
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT, DepthFormat, Outcome

PLANES = "depth", "stencil"


class BackHalf:
    """Draws into targets in memory.

    Depths are kept behind HiZ from draw to draw, and colours that are coded in memory;
    :meth:`write_back` brings them there.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    counters : Counter
        ``colour_bytes_read`` and ``colour_bytes_written`` of coded targets are added to it, and the
        same of ``depth`` and ``stencil``.
    undo : UndoLog
        Is told what a draw changes.
    """

    def __init__(self, memory: np.ndarray, counters: Counter, undo: UndoLog) -> None:
        self._memory = memory
        self._undo = undo
        self._depths: dict[tuple, HeldDepths] = {}
        self._colours: dict[tuple, ColourTiles] = {}
        self._counters = counters

    def write_back(self) -> None:
        """Bring all depths and colours to memory, and forget them."""
        for held in self._depths.values():
            self._write_depths(held)
        self._depths.clear()
        for held in self._colours.values():
            self._write_coded("colour", held.coded, held.tiles, held.changed)
        self._colours.clear()

    def _write_depths(self, held):
        """Bring depths and stencil values to memory: of coded tiles those that have changed."""
        coded = held.target.coded(self._memory)
        for n, (stored, plane) in enumerate(zip(held.stored, held.planes(), strict=True)):
            if not coded:
                stored[:] = plane
                continue
            changed = (plane != stored).any((2, 3, 4))
            self._write_coded(PLANES[n], coded[n], plane, changed, None if n else held.drawn)

    def _write_coded(self, name, coded, tiles, changed, planes=None):
        """Code tiles, and count their bytes."""
        coded.write(tiles, changed, planes)
        self._counters[f"{name}_bytes_written"] += int(coded.sizes[changed].sum())

    def _read_coded(self, name, coded):
        """Decode tiles, and count their bytes."""
        self._counters[f"{name}_bytes_read"] += int(coded.sizes.sum())
        return coded.read()

    def holds(self, address: int) -> bool:
        """Whether depths or colours of a texture are kept that memory does not have."""
        return any(key[0] == address for key in (*self._depths, *self._colours))

    def draw(self, part: Part, state: BackState) -> Counter:
        """Draw triangles in order.

        Returns
        -------
        Counter
            ``samples_passed`` and ``ps_invocations``; quads that were shaded, the helpers in them,
            and those that could share one; and tiles by what HiZ found.
        """
        counters = Counter()
        for run in part_runs(part, state):
            counters += self._run(part, run, state)
        return counters

    def _run(self, part, run, state):
        """Triangles of a viewport and a layer."""
        counters = Counter()
        number = int(part.viewport[run[0]])
        layer = int(part.layer[run[0]])
        targets = [at_layer(view, layer) for view in state.colours]
        depth = at_layer(state.depth, layer)
        fields, samples = draw_fields(state, number, targets, depth)
        held = self._held_depths(depth, fields)
        if held:
            held.unit.state = fields
        faces = None if part.faces is None else part.faces[run]
        tiles, index, pattern = _rasterized(part.triangles[run], fields, state, faces)
        tiles, live = _masked(tiles, state.target_mask, samples)
        if not len(tiles):
            return counters
        index = index[live]
        pattern = None if pattern is None else pattern[live]
        if faces is not None:
            face = faces[index]
            tiles = with_bias(tiles, np.where(face["biased"], depth_bias(face, fields), 0))
        shading = TileShading(part, state, tiles, run[index], fields, pattern)
        late = shading.late if state.shader and not fields["early_write"] else None
        passed, outcome = held.unit.test(tiles, late) if held else _untested(tiles, late)
        if held:
            held.follow(tiles, passed, bool(late) and state.shader.depth is not None)
        counters["samples_passed"] = (
            int(passed.sum())
            if pattern is None
            else forced_samples.passed_count(passed, pattern, samples)
        )
        counters.update({f"hiz_{o.name.lower()}": int((outcome == o).sum()) for o in Outcome})
        if state.shader and fields["early_write"]:
            # What passed is counted, but not drawn if it is discarded [fs 16.12.1].
            passed = passed & shading.kept(np.arange(len(tiles)), passed)[0]
        counters += shading.counters
        if state.shader:
            written = passed & shading.coverage(np.arange(len(tiles)))
            self._write(tiles, written, shading.colours, targets, state)
        return counters

    def _held_depths(self, target, fields):
        """What is held of a target, its depths read from memory; None, if there is no target."""
        if target is None:
            return None
        key = target.key
        if self._undo.is_first(key):
            before = self._depths.get(key)
            self._undo.add(partial(_put_back, self._depths, key, before and before.copy()))
        if key not in self._depths:
            unit = DepthUnit(fields)
            coded = target.coded(self._memory)
            planes = [self._read_coded(PLANES[n], plane) for n, plane in enumerate(coded)]
            planes = planes or target.tiles(self._memory)
            unit.buffer.depth[:] = words(planes[0])
            if len(planes) > 1:
                unit.buffer.stencil[:] = planes[1][..., 0]
            restore(unit)
            drawn = coded[0].planes() if coded else None
            self._depths[key] = HeldDepths(target, unit, planes, drawn)
        return self._depths[key]

    def _held(self, target):
        """A target's colours: those in memory, or decoded ones."""
        key = target.key
        held = self._colours.get(key)
        if self._undo.is_first(key):
            before = held and ColourTiles(held.tiles.copy(), held.changed.copy(), held.coded)
            self._undo.add(partial(_put_back, self._colours, key, before))
        if held:
            return held
        planes = target.coded(self._memory)
        if not planes:
            (plane,) = target.tiles(self._memory)
            self._undo.keep(plane)
            return ColourTiles(plane, np.zeros(plane.shape[:2], bool), None)
        (coded,) = planes
        plane = self._read_coded("colour", coded)
        self._colours[key] = ColourTiles(plane, np.zeros(plane.shape[:2], bool), coded)
        return self._colours[key]

    def _write(self, tiles, passed, colours, targets, state):
        """Blend tiles into targets: the k-th tile of every place at once."""
        for target, colour in zip(targets, colours, strict=False):
            if target is not None:
                output_merger.check_kind(colour.dtype, Format(int(target.view["form"])))
        for n, target in enumerate(targets):
            if target is None or n >= len(colours):
                continue
            held = self._held(target)
            plane = held.tiles
            second = colours[1] if len(colours) > 1 else None
            form = Format(int(target.view["form"]))
            live = np.flatnonzero(passed.any((1, 2)))
            place = tiles["y"].astype(np.int64) * plane.shape[1] + tiles["x"]
            for batch in rounds(place[live]):
                chosen = live[batch]
                held.changed[tiles["y"][chosen], tiles["x"][chosen]] = True
                tile, j, i = np.nonzero(passed[chosen])
                at = tiles["y"][chosen[tile]], tiles["x"][chosen[tile]], j, i
                lane = chosen[tile], j, i
                threshold = None
                if state.blends[n].dither:
                    samples = int(target.view["samples"])
                    threshold = thresholds(*quads.lane_pixels(tiles[chosen[tile]], j, i, samples))
                plane[at] = output_merger.merge(
                    colours[n][lane],
                    plane[at],
                    form,
                    state.blends[n],
                    state.factor,
                    None if second is None else second[lane],
                    threshold,
                )


def part_runs(part: Part, state: BackState) -> list[np.ndarray]:
    """Triangles that are drawn at once: those of one viewport and one layer in a row.

    Returns ndarrays of intp, indices of them; none, if nothing could have an effect.
    """
    if not len(part.triangles) or state.is_off:
        return []
    changes = (np.diff(part.viewport) != 0) | (np.diff(part.layer) != 0)
    return np.split(np.arange(len(part.triangles)), np.flatnonzero(changes) + 1)


def _put_back(held, key, before):
    """Hold again what was held of a target, or nothing of it."""
    held.pop(key, None)
    if before is not None:
        held[key] = before


def draw_fields(
    state: BackState, number: int, targets: Sequence[Target | None], depth: Target | None
) -> tuple[np.void, int]:
    """The draw state of a viewport's triangles, colours apart, and log2 of the samples."""
    first = depth or next((target for target in targets if target), None)
    samples = int(first.view["samples"]) if first else 0  # without any, one [fs 16.11]
    width, height = first.size if first else (TARGET_LIMIT, TARGET_LIMIT)
    viewport, scissor = state.rectangles[number]
    fields = dict(state.draw)
    if depth is None:
        fields |= {"depth_test": 0, "depth_write": 0, "stencil_test": 0}
        form = DepthFormat.D24
    else:
        stored = Format(int(depth.view["form"]))
        form = DEPTHS[stored]
        if not DEPTH_FORMATS[stored]:
            fields["stencil_test"] = 0
        if depth.view["read_only_depth"]:
            fields["depth_write"] = 0
        if depth.view["read_only_stencil"]:
            fields["stencil_write"] = 0
    low, high = (int(encode(np.float32(v), form)) for v in state.depth_ranges[number])
    x0, y0, x1, y1 = scissor
    return draw_state(
        width,
        height,
        SAMPLE_COUNTS[samples],
        viewport,
        (x0, y0, max(x0, x1), max(y0, y1)),
        does=state.does,
        depth_format=form,
        depth_min=low,
        depth_max=high,
        **fields,
    ), samples


def _untested(tiles, late):
    """What is left of tiles without a target of depths: all but what the shader drops."""
    passed = unpack(tiles["mask"])
    if late:
        passed = passed & late(tiles, np.arange(len(tiles))).mask
    return passed, np.full(len(tiles), Outcome.TEST, np.uint8)


def _rasterized(triangles, fields, state, faces):
    """Tiles, their triangles, and the samples that these cover of a forced pattern, if any."""
    how = {"conservative": state.conservative, "faces": faces}
    if state.forced_samples:
        return forced_samples.rasterize(triangles, fields, state.forced_samples, **how)
    setup = triangle_setup.setup(triangles, fields, **how)
    tiles, owner = tile_rasterizer.rasterize(setup.records)
    return tiles, setup.index[owner], None


def _masked(tiles, sample_mask, samples):
    """Tiles without the samples that the sample mask leaves out, and which of them are left."""
    count = 1 << samples
    if sample_mask & (1 << count) - 1 == (1 << count) - 1:
        return tiles, np.arange(len(tiles))
    lanes = sample_mask >> quads.sample_numbers(samples) & 1
    tiles = tiles.copy()
    tiles["mask"] &= pack(lanes[None].astype(bool))[0]
    tiles["full"] = 0
    live = np.flatnonzero(tiles["mask"])
    return tiles[live], live
