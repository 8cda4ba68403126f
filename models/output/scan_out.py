# SPDX-License-Identifier: BSD-2-Clause
"""Scan-out: buffers take turns, and their tiles in memory become the lines of a screen."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Self

import numpy as np

from fixfunc.models.memory.coded_tiles import HEAD
from fixfunc.models.memory.layout import target_at, target_place, texture_at
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.output.colour_compression import DEPTHS, size
from fixfunc.models.output.colour_decoder import decode
from fixfunc.models.output.formats import thresholds
from fixfunc.models.payload import dtype, integer
from fixfunc.spec.colours import SCAN_SETUP, scanned
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.state import DIFFERENCES, TOP_LIMIT, TileMode

FORMATS = {  # that are scanned out -> where red, green and blue lie
    Format.R8G8B8A8_UNORM: (0, 1, 2),
    Format.R8G8B8A8_UNORM_SRGB: (0, 1, 2),
    Format.B8G8R8A8_UNORM: (2, 1, 0),
    Format.B8G8R8A8_UNORM_SRGB: (2, 1, 0),
}
TILE = EDGE**2 * 4  # bytes of a raw tile, and of the room of a coded one
TRANSFER = 32  # bytes
_RGBA = np.dtype(np.uint8)
_SIZES = {  # bytes of a tile, by its code: of one that there is not nothing is read
    code: size(code, DEPTHS[_RGBA])
    for code in (
        TileMode.CLEARED,
        TileMode.PALETTE,
        TileMode.RAW,
        *range(DIFFERENCES + 1, DIFFERENCES + DEPTHS[_RGBA].most + 1),
    )
}


def dithered(colours: np.ndarray, y: int = 0) -> np.ndarray:
    """Colours of 8 bits as 5, 6 and 5 bits: their mean over four by four pixels is kept.

    Parameters
    ----------
    colours : ndarray of uint8, shape (rows, columns, 3)
    y : int
        Number of the first row.

    Returns
    -------
    ndarray of uint16, shape (rows, columns)
        Red highest. Of a channel v with m levels above 0: floor(v m / 255 + (2 t + 1) / 32), t the
        pixel's threshold. 0 and 255 stay what they are.
    """
    rows, columns, _ = colours.shape
    j, i = np.mgrid[y : y + rows, :columns]
    share = thresholds(i, j)[..., None] * 255
    most = np.array([31, 63, 31])
    red, green, blue = np.moveaxis(
        (32 * colours.astype(np.int64) * most + share) // (32 * 255), -1, 0
    )
    return (red << 11 | green << 5 | blue).astype(np.uint16)


class Turns(NamedTuple):
    """Whose turn it is: one, two or three buffers, by their numbers.

    Parameters
    ----------
    count : int
    vsync : bool
        Buffers change between two frames; else at once, and a frame may be torn.
    front : int
        The buffer that is shown.
    drawn_to : int
    ready : int, optional
        Shown next.
    """

    count: int
    vsync: bool
    front: int
    drawn_to: int
    ready: int | None = None

    @classmethod
    def begun(cls, count: int, vsync: bool) -> Self:
        """The first buffer is shown, and the next one is drawn to."""
        return cls(count, vsync, 0, 1 % max(count, 1))

    @property
    def back(self) -> int:
        """The buffer to draw to: with one buffer the one that is shown.

        Raises
        ------
        Stalled
            With two buffers and vsync: the last one drawn waits to be shown.
        """
        if self.count == 2 and self.ready is not None:
            raise Stalled("the buffer waits for the next frame")
        return self.drawn_to

    def present(self) -> Self:
        """Show what has been drawn, as soon as it may be; with three buffers the newest wins."""
        if self.count < 2:
            return self
        drawn = self.back
        # What waited to be shown never will be: it is drawn to next.
        back = 3 - self.front - drawn if self.count == 3 else drawn
        after = self._replace(ready=drawn, drawn_to=back)
        return after if self.vsync else after.frame_ended()

    def frame_ended(self) -> Self:
        """Behind a frame buffers change."""
        if self.ready is None:
            return self
        back = self.front if self.count == 2 else self.drawn_to
        return self._replace(front=self.ready, drawn_to=back, ready=None)


class Display:
    """A display and the buffers that it shows.

    Parameters
    ----------
    memory : ndarray of uint8
    buffers : sequence of numpy.void
        One, two or three :data:`fixfunc.spec.descriptors.VIEW` of one size, of 8-bit formats.
    vsync : bool
        Buffers change between two frames; else at once, and a frame may be torn.
    dither : bool
        Pixels are 5, 6 and 5 bits, dithered.

    Raises
    ------
    InputError
        Another number of buffers, or formats or sizes that do not fit.
    """

    def __init__(
        self,
        memory: np.ndarray,
        buffers: Sequence[np.void],
        vsync: bool = True,
        dither: bool = False,
    ) -> None:
        integer("buffers", len(buffers), 1, 3)
        self._memory = memory
        self._buffers = buffers
        self._dither = dither
        sizes = set()
        for view in buffers:
            layout, _ = texture_at(memory, view)
            if view["form"] not in FORMATS or layout.samples > 1:
                names = ", ".join(form.name for form in FORMATS)
                raise InputError("buffer", f"be of one sample, and of {names}", int(view["form"]))
            sizes.add(layout.size_of(int(view["first_level"]))[:2])
        if len(sizes) > 1:
            raise InputError("buffers", "be of one size", sorted(sizes))
        self._width, self._height = sizes.pop()
        self._line = 0
        self._turns = Turns.begun(len(buffers), vsync)

    @property
    def front(self) -> int:
        """The buffer that is shown."""
        return self._turns.front

    @property
    def back(self) -> int:
        """See :attr:`Turns.back`."""
        return self._turns.back

    def present(self) -> None:
        """See :meth:`Turns.present`."""
        self._turns = self._turns.present()

    def line(self) -> np.ndarray:
        """The next line of the buffer that is shown; behind the last one buffers change.

        Returns
        -------
        ndarray of uint8, shape (width, 3), or of uint16, shape (width,), where it is dithered
        """
        view = self._buffers[self.front]
        layout, data = texture_at(self._memory, view)
        texels = layout.read_line(data, target_place(view, 0), self._line)[None, :, 0]
        colours = texels[..., FORMATS[Format(int(view["form"]))]]
        out = dithered(colours, self._line) if self._dither else colours
        self._line = (self._line + 1) % self._height
        if not self._line:
            self._turns = self._turns.frame_ended()
        return out[0]

    def frame(self) -> np.ndarray:
        """All lines up to the end of a frame."""
        lines = [self.line()]
        while self._line:
            lines.append(self.line())
        return np.stack(lines)


def setup_of(
    memory: np.ndarray, buffers: Sequence[np.void], vsync: bool = True, dither: bool = False
) -> np.void:
    """What tells the hardware of a display's buffers: :data:`fixfunc.spec.colours.SCAN_SETUP`.

    Parameters are those of :class:`Display`.

    Raises
    ------
    InputError
        Buffers that :class:`Display` refuses; or one that is not tiled.
    """
    Display(memory, buffers)
    setup = np.zeros(1, dtype(SCAN_SETUP))[0]
    setup["buffers"] = len(buffers)
    setup["vsync"] = vsync
    setup["dither"] = dither
    for n, view in enumerate(buffers):
        layout, _ = target_at(memory, view)
        place = target_place(view, 0)
        setup["width"], setup["height"], _ = layout.size_of(place[0])
        setup["blue_first"] = FORMATS[Format(int(view["form"]))] == (2, 1, 0)
        setup["coded"] = layout.coded
        begin = int(view["address"]) + layout.offset_of(*place)
        rows, columns = layout.tiles_of(place[0])
        behind = begin + rows * columns * TILE
        setup[f"base{n}"] = begin
        if layout.coded:
            setup[f"table{n}"] = behind + HEAD
            setup[f"cleared{n}"] = memory[behind : behind + 4].view("<u4")[0]
    return setup


class Scan:
    """What the hardware scans out: tiles that it cannot have are black, and frames say so.

    Parameters
    ----------
    memory : ndarray of uint8
    setup : numpy.void
        :data:`fixfunc.spec.colours.SCAN_SETUP`.
    side : int
        Greatest width and height that are scanned out.
    unreadable : int, optional
        A byte that cannot be read, nor can the transfer that holds it.

    Attributes
    ----------
    refused : bool
        No buffer, or a size out of range: frames are one black beat, with an error.
    rows : int
        Of tiles; 1 if it is refused.
    """

    def __init__(
        self,
        memory: np.ndarray,
        setup: np.void,
        side: int = TOP_LIMIT,
        unreadable: int | None = None,
    ) -> None:
        self._memory = memory
        self._setup = setup
        self._unreadable = -1 if unreadable is None else unreadable
        self._width = int(setup["width"])
        self._height = int(setup["height"])
        sides = self._width, self._height
        self.refused = not setup["buffers"] or min(sides) < 1 or max(sides) > side
        self.rows = 1 if self.refused else -(-self._height // EDGE)
        self._columns = -(-self._width // EDGE)
        self.picture = cache(self._picture)

    def _codes(self, buffer):
        """Codes of all tiles; of those whose line of the table cannot be read, one too great."""
        count = self.rows * self._columns
        if not self._setup["coded"]:
            return np.full(count, TileMode.RAW, np.uint8)
        begin = int(self._setup[f"table{buffer}"]) // TRANSFER * TRANSFER
        table = self._memory[begin : begin + -(-count // 2)]
        codes = np.stack([table & 15, table >> 4], -1).reshape(-1)[:count]
        line = (self._unreadable - begin) // TRANSFER
        codes[np.arange(count) // (2 * TRANSFER) == line] = 16
        return codes

    def _picture(self, buffer: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels of a buffer: uint8, shape (height, width, 3); rows of tiles with one that is
        wrong: bool, shape (rows,).
        """
        codes = self._codes(buffer)
        begin = int(self._setup[f"base{buffer}"]) // TILE * TILE
        places = self._memory[begin : begin + len(codes) * TILE].reshape(-1, TILE)
        number, at = divmod(self._unreadable - begin, TILE)
        if 0 <= number < len(codes) and at < _SIZES.get(int(codes[number]), 0):
            codes[number] = 16
        cleared = np.array([self._setup[f"cleared{buffer}"]], "<u4").view(np.uint8)
        found = decode(codes, places, 0, cleared)
        rows = found.tiles.reshape(self.rows, self._columns, EDGE, EDGE, 4).swapaxes(1, 2)
        whole = rows.reshape(self.rows * EDGE, self._columns * EDGE, 4)
        colours = whole[: self._height, : self._width, :3]
        if self._setup["blue_first"]:
            colours = colours[..., ::-1]
        return colours, found.wrong.reshape(self.rows, -1).any(1)

    def frame(self, fronts: Sequence[int], pixels: int) -> np.ndarray:
        """Beats of a frame: records of :func:`fixfunc.spec.colours.scanned`.

        Parameters
        ----------
        fronts : sequence of int
            The buffer of each row of tiles: one alone, unless the frame is torn.
        pixels : int
            Of a beat.
        """
        fields = dtype(scanned(pixels))
        if self.refused:
            black = np.zeros(1, fields)
            for name in ("line_end", "frame_end", "error"):
                black[name] = 1
            return black
        lines = np.repeat(fronts, EDGE)[: self._height]
        pictures = {front: self.picture(front) for front in set(fronts)}
        colours = np.stack([pictures[front][0][y] for y, front in enumerate(lines)])
        if self._setup["dither"]:
            values = dithered(colours).astype(np.uint32)
        else:
            values = (colours.astype(np.uint32) << np.uint32([0, 8, 16])).sum(-1, dtype=np.uint32)
        beats = -(-self._width // pixels)
        padded = np.zeros((self._height, beats * pixels), np.uint32)
        padded[:, : self._width] = values
        out = np.zeros((self._height, beats), fields)
        for n in range(pixels):
            out[f"pixel{n}"] = padded[:, n::pixels]
        out["buffer"] = lines[:, None]
        out["line_end"][:, -1] = 1
        out["frame_end"][-1, -1] = 1
        out["error"][-1, -1] = any(pictures[front][1][row] for row, front in enumerate(fronts))
        return out.reshape(-1)
