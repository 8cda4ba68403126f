# SPDX-License-Identifier: BSD-2-Clause
"""Display: buffers take turns, are scanned out line by line, and move only tiles that changed."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.memory.layout import target_at, target_place, texture_at
from fixfunc.models.output.formats import thresholds
from fixfunc.models.payload import integer
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, Stalled

FORMATS = {  # that are scanned out -> where red, green and blue lie
    Format.R8G8B8A8_UNORM: (0, 1, 2),
    Format.R8G8B8A8_UNORM_SRGB: (0, 1, 2),
    Format.B8G8R8A8_UNORM: (2, 1, 0),
    Format.B8G8R8A8_UNORM_SRGB: (2, 1, 0),
}
POLYNOMIAL = 0xC96C5795D7870F42  # of CRC-64, reflected


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

    Attributes
    ----------
    front : int
        The buffer that is shown.

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
        self._vsync = vsync
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
        self._ready: int | None = None  # shown next
        self.front = 0
        self._back = 1 % len(buffers)

    @property
    def back(self) -> int:
        """The buffer to draw to: with one buffer the one that is shown.

        Raises
        ------
        Stalled
            With two buffers and vsync: the last one drawn waits to be shown.
        """
        if len(self._buffers) == 2 and self._ready is not None:
            raise Stalled("the buffer waits for the next frame")
        return self._back

    def present(self) -> None:
        """Show what has been drawn, as soon as it may be; with three buffers the newest wins."""
        if len(self._buffers) == 1:
            return
        drawn = self.back
        free = set(range(len(self._buffers))) - {self.front, drawn}
        if len(self._buffers) == 3:
            # What waited to be shown never will be: it is drawn to next.
            self._back = free.pop()
        self._ready = drawn
        if not self._vsync:
            self._flip()

    def _flip(self):
        if self._ready is None:
            return
        if len(self._buffers) == 2:
            self._back = self.front
        self.front = self._ready
        self._ready = None

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
            self._flip()
        return out[0]

    def frame(self) -> np.ndarray:
        """All lines up to the end of a frame."""
        lines = [self.line()]
        while self._line:
            lines.append(self.line())
        return np.stack(lines)


def signatures(tiles: np.ndarray) -> np.ndarray:
    """CRC-64 of tiles: uint64, shape (n,), of uint8 of shape (n, bytes)."""
    value = np.full(len(tiles), ~np.uint64(0))
    for octet in tiles.T:
        value = _TABLE[(value ^ octet) & np.uint64(255)] ^ value >> np.uint64(8)
    return ~value


def _table():
    value = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        value = np.where(value & 1, value >> np.uint64(1) ^ np.uint64(POLYNOMIAL), value >> 1)
    return value


_TABLE = _table()


class TransactionElimination:
    """Writes tiles to a surface unless they are there already, as their signatures tell.

    Parameters
    ----------
    memory : ndarray of uint8
        Read and written in place.
    view : numpy.void
        The surface, tiled: it is what its signatures say as long as nobody else writes it.

    Attributes
    ----------
    moved, kept : int
        Bytes that were written, and bytes that were not.

    Two tiles of one signature are taken for equal: of different ones one pair in 2^64 is.
    """

    def __init__(self, memory: np.ndarray, view: np.void) -> None:
        self._layout, self._data = target_at(memory, view)
        self._place = target_place(view, 0)
        rows, columns = self._layout.tiles_of(self._place[0])
        self._known = np.zeros((rows, columns), bool)
        self._signatures = np.zeros((rows, columns), np.uint64)
        self.moved = 0
        self.kept = 0

    def write(self, tiles: np.ndarray) -> np.ndarray:
        """Write a frame's tiles.

        Parameters
        ----------
        tiles : ndarray of uint8, shape (rows, columns, 8, 8, bytes)

        Returns
        -------
        ndarray of bool, shape (rows, columns)
            Tiles that were moved.
        """
        rows, columns = self._known.shape
        shape = (rows, columns, 8, 8, self._layout.texel)
        if tiles.shape != shape or tiles.dtype != np.uint8:
            raise InputError("tiles", f"be uint8 of shape {shape}", tiles.shape)
        found = signatures(tiles.reshape(rows * columns, -1)).reshape(rows, columns)
        changed = ~self._known | (found != self._signatures)
        if self._layout.coded:
            coded = self._layout.coded_tiles(self._data, *self._place)
            coded.write(tiles, changed)
            sizes = coded.sizes
        else:
            self._layout.tiles(self._data, *self._place)[0][changed] = tiles[changed]
            sizes = np.full(changed.shape, tiles[0, 0].size)
        self._signatures = found
        self._known[:] = True
        self.moved += int(sizes[changed].sum())
        self.kept += int(sizes[~changed].sum())
        return changed
