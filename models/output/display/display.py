# SPDX-License-Identifier: BSD-2-Clause
"""Display: frames come to buffers, which take turns and become the lines of a screen."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.memory.layout import target_place, texture_at
from fixfunc.models.output.display.turns import Turns
from fixfunc.models.output.formats import thresholds
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
