# SPDX-License-Identifier: BSD-2-Clause
"""Scan-out as the hardware does it: tiles in memory become the beats of a screen."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from fixfunc.models.memory.coded_tiles import HEAD
from fixfunc.models.memory.layout import target_at, target_place
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.output.colour_compression import DEPTHS, size
from fixfunc.models.output.colour_decoder import decode
from fixfunc.models.output.display.display import FORMATS, Display, dithered
from fixfunc.models.payload import dtype
from fixfunc.spec.colours import SCAN_SETUP, scanned
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import DIFFERENCES, TOP_LIMIT, TileMode

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
