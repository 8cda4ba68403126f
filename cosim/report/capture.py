# SPDX-License-Identifier: BSD-2-Clause
"""Listens to the golden machine as it draws a picture: what its report is made of."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from fixfunc.cosim.report import words
from fixfunc.cosim.report.history import History
from fixfunc.cosim.report.maps import Maps
from fixfunc.models.back_half.back_half import Coloured, Found
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.depth.depth_test import Tested
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.front_half import Part
from fixfunc.models.output.formats import SRGB, colour_format, load
from fixfunc.models.output.output_merger import Numbers
from fixfunc.models.pixel import quads
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, DepthFormat, Outcome

MOST_PICTURED = 24  # draws
MOST_EDGES = 1 << 16  # triangles whose edges are kept
THUMBNAIL = 320, 240  # pixels, at most


@dataclass
class CapturedDraw:
    """A draw call; pictures are by their numbers, None where none was taken."""

    number: int
    what: str
    state: dict[str, str] = field(default_factory=dict)  # by subject; empty: it covers nothing
    counters: Counter = field(default_factory=Counter)
    before: int | None = None
    after: int | None = None


def check_pixels(pixels: Sequence[tuple[int, int]], width: int, height: int) -> None:
    """Raise ``InputError`` for a pixel beyond the picture."""
    for x, y in pixels:
        if not (0 <= x < width and 0 <= y < height):
            raise InputError("pixel", f"lie within {width}x{height}", f"{x},{y}")


class Capture:
    """A probe of the machine, :class:`fixfunc.models.machine.draws.DrawProbe`, for one picture.

    Parameters
    ----------
    width, height, samples : int
        Of the picture.
    pixels : sequence of (int, int)
        Whose history is kept whatever there is, as the picture shows them.
    turned : bool
        The target's rows are bottom up.

    Attributes
    ----------
    draws : list of CapturedDraw
    pictures : list of ndarray of uint8
        Small ones, of draws.
    every : int
        Of as many draws pictures of one are taken.
    covering : int
        Triangles that cover something; edges are kept of the first.
    maps : Maps
    history : History
    levels : ndarray of float32, shape (height, width)
        Of the texture that was read last at each pixel; NaN where none was.
    """

    def __init__(
        self,
        width: int,
        height: int,
        samples: int,
        pixels: Sequence[tuple[int, int]] = (),
        turned: bool = False,
    ) -> None:
        check_pixels(pixels, width, height)
        self.size = width, height
        self.turned = turned
        self.pixels = list(pixels)
        self.draws: list[CapturedDraw] = []
        self.pictures: list[np.ndarray] = []
        self.every = 1
        self.maps = Maps(width, height, samples)
        log2 = SAMPLE_COUNTS.index(samples)
        mine = [(x, height - 1 - y if turned else y) for x, y in pixels]
        self.history = History(width, height, log2, mine)
        rows, columns = (-(-side // 8) * 8 for side in (height, width))
        self._shown = np.zeros((rows, columns, samples, 3), np.uint8)
        self._is_pictured = False  # as the last of the pictures shows
        self._edges: list[np.ndarray] = []
        self.levels = np.full((height, width), np.nan, np.float32)
        self.covering = 0

    def expect(self, draws: int) -> None:
        """So many draws will follow: if these are many, pictures are taken of some."""
        self.every = max(-(-draws // MOST_PICTURED), 1)

    # What is drawn on.

    def fill(self, picture: np.ndarray | tuple[int, int, int]) -> None:
        """The target holds something else: a colour, or uint8 of shape (height, width, 3)."""
        width, height = self.size
        self._shown[:height, :width] = np.expand_dims(np.asarray(picture), -2)
        self._is_pictured = False

    def picture(self) -> np.ndarray:
        """What has been drawn so far, as it is shown: uint8, shape (height, width, 3)."""
        width, height = self.size
        samples = self._shown.shape[2]
        total = self._shown[:height, :width].sum(2, dtype=np.uint16)
        shown = ((total + samples // 2) // samples).astype(np.uint8)
        return shown[::-1] if self.turned else shown

    @contextmanager
    def draw(self, what: str, topology: str, shown: bool = True) -> Iterator[None]:
        """A draw call; ``shown``: on the picture."""
        draw = CapturedDraw(len(self.draws), what)
        self._topology = topology
        self._is_shown = shown
        is_pictured = shown and draw.number % self.every == 0
        if is_pictured:
            draw.before = self._take()
        self.draws.append(draw)
        yield
        if is_pictured:
            draw.after = self._take()

    def _take(self):
        """Number of a small picture."""
        if not self._is_pictured:
            image = Image.fromarray(self.picture())
            image.thumbnail(THUMBNAIL, Image.Resampling.BOX)
            self.pictures.append(np.asarray(image))
            self._is_pictured = True
        return len(self.pictures) - 1

    # What the machine tells.

    def list(self, part: Part, run: np.ndarray, state: BackState | None) -> None:
        """Triangles are drawn at once; without a state they replace colours."""
        self._part = part
        self._run = run
        self._state = state
        self.draws[-1].counters["triangles"] += len(run)

    def begin(self, found: Found, fields: np.void) -> None:
        """Tiles have been found."""
        self._found = found
        self._fields = fields
        self._merged = []
        draw = self.draws[-1]
        if not draw.state:
            colours = self._state and self._state.colours
            is_blended = bool(colours) and colours[0] is not None
            blend = self._state.blends[0] if is_blended else None
            draw.state = words.state(fields, blend, self._topology)
        self._keeps = self._is_shown and self._fits(fields)
        if self._keeps:
            self.history.begin(found, not fields["early_write"])

    def _fits(self, fields):
        """Whether a draw state is of a target like the picture."""
        sides = int(fields["target_width"]), int(fields["target_height"])
        return sides == self.size and 1 << int(fields["samples"]) == self._shown.shape[2]

    def tested(self, numbers: np.ndarray, left: np.ndarray, found: Tested) -> None:
        """Depths and stencil values have been tested."""
        if self._keeps:
            form = DepthFormat(int(self._fields["depth_format"]))
            self.history.tested(numbers, left, found, form)

    def merged(self, numbers: np.ndarray, j: np.ndarray, i: np.ndarray, texels: np.ndarray) -> None:
        """Lanes hold texels now."""
        if self._keeps:
            form = Format(int(self._state.colours[0]["form"]))
            self._merged.append((numbers, j, i, displayed(texels, form)))

    def end(self, tested: TestedTiles, made: Coloured) -> None:
        """The list is drawn."""
        found = self._found
        numbers = np.flatnonzero(tested.shaded.any((1, 2)))
        has_shader = self._state is None or self._state.shader is not None
        places = found.tiles["x"], found.tiles["y"]
        asked = tested.shaded & has_shader
        shaded = quads.split(*places, asked, int(self._fields["samples"]))
        self._count(found, tested, shaded)
        if not self._keeps:
            return
        self.maps.add(found, tested, shaded)
        self._keep_edges(found)
        source = _source(made)
        if self._state is None:
            tile, j, i = np.nonzero(made.written)
            self._merged = [
                (tile, j, i, source.view(np.uint8).reshape(*source.shape, 4)[tile, j, i])
            ]
        written, target = self._merge(numbers)
        if source is not None:
            wide = np.zeros(written.shape, np.uint32)
            wide[numbers] = source
            source = wide
        visits = self.history.end(tested, written, source, target if self._state else None)
        triangle = self._run[found.triangle[self.history.tiles]]
        visits["draw"] = len(self.draws) - 1
        visits["triangle"] = self._part.primitive[triangle]
        visits["instance"] = self._part.instance[triangle]

    def _merge(self, numbers):
        """Samples of the list that were written, and what they hold: RGBA8."""
        tiles = self._found.tiles
        log2 = int(self._fields["samples"])
        written = np.zeros((len(tiles), 8, 8), bool)
        target = np.zeros((len(tiles), 8, 8), np.uint32)
        for chosen, j, i, colours in self._merged:
            tile = numbers[chosen]
            written[tile, j, i] = True
            target[tile, j, i] = colours.view("<u4")[:, 0]
            x, y = quads.lane_pixels(tiles[tile], j, i, log2)
            self._shown[y, x, quads.sample_numbers(log2)[j, i]] = colours[:, :3]
            self._is_pictured &= not len(tile)
        return written, target

    def _count(self, found, tested, shaded):
        """Numbers of the draw."""
        pixels = shaded.covered.any(3)
        self.draws[-1].counters.update(
            tiles=len(found.tiles),
            samples_covered=int(np.bitwise_count(found.tiles["mask"]).sum()),
            samples_passed=int(tested.passed[tested.outcome != Outcome.DROP].sum()),
            pixels_shaded=int(pixels.sum()),
            quads=len(pixels),
            helpers=int((~pixels).sum()),
            **{f"hiz_{it.name.lower()}": int((tested.outcome == it).sum()) for it in Outcome},
        )

    def _keep_edges(self, found):
        """Corners of triangles that cover something: 1/256 pixel."""
        every = np.unique(found.triangle)
        chosen = every[: max(MOST_EDGES - self.covering, 0)]
        self.covering += len(every)
        triangles = self._part.triangles[self._run[chosen]]
        corners = [triangles[f"{axis}{k}"] for k in range(3) for axis in "xy"]
        self._edges.append(np.stack(corners, -1).astype(np.int32))

    @property
    def edges(self) -> np.ndarray:
        """x and y of three corners of triangles, 1/256 pixel as shown: int32, shape (n, 6)."""
        every = np.concatenate([np.zeros((0, 6), np.int32), *self._edges])
        if self.turned:
            every[:, 1::2] = 256 * self.size[1] - every[:, 1::2]
        return every

    @property
    def counters(self) -> dict[str, int]:
        """Of all draws, by the names of :mod:`fixfunc.cosim.figures.counters`."""
        total = sum((draw.counters for draw in self.draws), Counter())
        return {name: total[name] for name in ("triangles", *DRAW_COUNTERS)}


DRAW_COUNTERS = (
    "tiles",
    "hiz_drop",
    "hiz_accept",
    "hiz_test",
    "samples_covered",
    "samples_passed",
    "pixels_shaded",
    "quads",
    "helpers",
)


def displayed(texels: np.ndarray, form: Format) -> np.ndarray:
    """Texels to look at, as they are stored: uint8 (n, bytes) to RGBA8, (n, 4)."""
    layout = colour_format(SRGB.get(form, form))
    values = load(texels, layout)
    if layout.kind != "FLOAT":
        values = values / layout.most
    return np.rint(np.clip(np.nan_to_num(values), 0, 1) * 255).astype(np.uint8)


def _source(made):
    """RGBA8 of a shader's first colours: uint32, shape (n, 8, 8); None without a shader."""
    colours = made.colours
    if isinstance(colours, Numbers):
        colours = colours.packed
    if isinstance(colours, np.ndarray):
        every = colours[0] if colours.ndim == 4 else colours
        return np.ascontiguousarray(every, "<u4")
    if not colours:
        return None
    bytes_of = np.rint(np.clip(np.nan_to_num(colours[0]), 0, 1) * 255).astype(np.uint8)
    return bytes_of.view("<u4")[..., 0]
