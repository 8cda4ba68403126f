# SPDX-License-Identifier: BSD-2-Clause
"""Display: frames come to buffers, which take turns and become the lines of a screen."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.memory.layout import target_at, target_place, texture_at
from fixfunc.models.output.display.turns import Turns
from fixfunc.models.output.formats import thresholds
from fixfunc.models.output.transaction_elimination import TransactionElimination
from fixfunc.models.payload import integer
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

FORMATS = {  # that are scanned out -> where red, green and blue lie
    Format.R8G8B8A8_UNORM: (0, 1, 2),
    Format.R8G8B8A8_UNORM_SRGB: (0, 1, 2),
    Format.B8G8R8A8_UNORM: (2, 1, 0),
    Format.B8G8R8A8_UNORM_SRGB: (2, 1, 0),
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
    transaction_elimination : bool
        Tiles of a frame that are in its buffer already do not move.

    Attributes
    ----------
    buffers
        As they were given: :func:`fixfunc.models.output.scan_out.setup_of` takes them.

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
        transaction_elimination: bool = False,
    ) -> None:
        integer("buffers", len(buffers), 1, 3)
        self._memory = memory
        self.buffers = buffers
        self._dither = dither
        self._transaction_elimination = transaction_elimination
        self._writers: dict[int, TransactionElimination] = {}
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

    @property
    def waits(self) -> bool:
        """See :attr:`Turns.waits`."""
        return self._turns.waits

    @property
    def moved(self) -> int:
        """Bytes of frames that have come to buffers."""
        return sum(writer.moved for writer in self._writers.values())

    @property
    def kept(self) -> int:
        """Bytes of frames that were in their buffers already."""
        return sum(writer.kept for writer in self._writers.values())

    def take(self, view: np.void) -> None:
        """Bring a frame to the buffer that is drawn to.

        Parameters
        ----------
        view : numpy.void
            :data:`fixfunc.spec.descriptors.VIEW`, tiled, of the size and the format of buffers,
            which are tiled, too.

        Raises
        ------
        InputError
            A view of something else, or coded tiles that cannot be decoded. Nothing has changed.
        Stalled
            See :attr:`Turns.back`.
        """
        back = self.back
        buffer = self.buffers[back]
        layout, data = target_at(self._memory, view)
        place = target_place(view, 0)
        size = layout.size_of(place[0])[:2]
        if view["form"] != buffer["form"] or layout.samples > 1:
            rule = f"be of one sample, and of {Format(int(buffer['form'])).name}"
            raise InputError("frame", rule, (int(view["form"]), layout.samples))
        if size != (self._width, self._height):
            raise InputError("frame", f"be of {self._width} by {self._height}", size)
        if layout.coded:
            tiles = layout.coded_tiles(data, *place).read()
        else:
            tiles = layout.tiles(data, *place)[0]
        if back not in self._writers:
            self._writers[back] = TransactionElimination(self._memory, buffer)
        writer = self._writers[back]
        if not self._transaction_elimination:
            writer.forget()
        writer.write(tiles)

    def present(self, sync_interval: int | None = None) -> None:
        """See :meth:`Turns.present`."""
        self._turns = self._turns.present(sync_interval)

    def line(self) -> np.ndarray:
        """The next line of the buffer that is shown; behind the last one buffers change.

        Returns
        -------
        ndarray of uint8, shape (width, 3), or of uint16, shape (width,), where it is dithered
        """
        view = self.buffers[self.front]
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
