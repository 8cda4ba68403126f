# SPDX-License-Identifier: BSD-2-Clause
"""Swap chain: a back buffer that is drawn to, and the display that it is presented to."""

from collections import deque

import numpy as np

from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host.calls import check_held, names_calls
from fixfunc.models.host.packets import Packets
from fixfunc.models.host.resources import Bind, Texture
from fixfunc.models.host.views import texture_view
from fixfunc.models.machine.machine import Machine
from fixfunc.models.output.display.display import FORMATS, Display
from fixfunc.models.payload import integer
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import DISPLAYS, SYNC_INTERVAL, RingOp, Stop

FRAMES = 16  # shown while the host waited, that are kept


@names_calls
class SwapChain:
    """A swap chain of one back buffer, as DXGI's DISCARD and SEQUENTIAL have it.

    What is drawn is brought to a buffer of the display, so that :attr:`buffer` and its views stay
    what they are, and hold the last frame.

    Parameters
    ----------
    memory : ndarray of uint8
    machine : Machine
    packets : Packets
        Of the immediate context: frames are presented behind what it has drawn.
    buffer : Texture
    shown : Texture
        Its layers are the buffers of the display.
    vsync, dither, transaction_elimination : bool
        As :class:`~fixfunc.models.output.display.display.Display` has them.

    Attributes
    ----------
    buffer : Texture
        The back buffer: GetBuffer(0).
    frames : deque of ndarray
        What the display has shown while :meth:`present` waited, oldest first, each from the line
        that was next to the end of a frame. The last 16 are kept until they are taken out.
    released : bool
        Its memory has been given back.
    """

    def __init__(
        self,
        memory: np.ndarray,
        machine: Machine,
        packets: Packets,
        buffer: Texture,
        shown: Texture,
        vsync: bool,
        dither: bool,
        transaction_elimination: bool,
    ) -> None:
        self.heap = buffer.heap
        self.buffer = buffer
        self._shown = shown
        self.frames: deque[np.ndarray] = deque(maxlen=FRAMES)
        self.released = False
        layers = (
            texture_view(shown, Bind.RENDER_TARGET, first_layer=layer, layer_count=1)
            for layer in range(shown.layout.layers)
        )
        views = [piece(view.encode(), VIEW) for view in layers]
        self._display = Display(memory, views, vsync, dither, transaction_elimination)
        self._interval = 1 if vsync else 0
        self._view = texture_view(buffer, Bind.RENDER_TARGET)
        self._packets = packets
        self._displays = machine.displays
        self._number = min(set(range(DISPLAYS)) - set(self._displays))
        self._displays[self._number] = self._display

    @property
    def display(self) -> Display:
        """What is shown: its lines and frames, and how many bytes of frames moved."""
        check_held("swap chain", self, self.heap)
        return self._display

    def present(self, sync_interval: int | None = None) -> None:
        """Show what has been drawn to the back buffer.

        While no buffer of the display is free, the display goes on to the end of its frame: see
        :attr:`frames`.

        Parameters
        ----------
        sync_interval : int, optional
            It is shown behind the end of so many frames, at most 4; 0: at once, and a frame may be
            torn. By default 1 with vsync, else 0.
        """
        check_held("swap chain", self, self.heap)
        check_held("buffer", self.buffer, self.heap)
        interval = self._interval if sync_interval is None else sync_interval
        integer("sync_interval", interval, 0, SYNC_INTERVAL)
        stopped = self._packets.emit(
            RingOp.PRESENT,
            self._view.encode(),
            display=self._number,
            sync_interval=interval,
        )
        for _ in range(SYNC_INTERVAL):  # frames until whatever waits is shown, at most
            if stopped.stop != Stop.WAIT:
                return
            self.frames.append(self._display.frame())
            stopped = self._packets.go_on()

    def disconnect(self) -> list[Texture]:
        """Show nothing any more; returns what of it is to be released."""
        del self._displays[self._number]
        self.released = True
        return [texture for texture in (self.buffer, self._shown) if not texture.released]


def check_chain(machine: Machine, form: Format, buffers: int, bind: Bind) -> None:
    """Raise ``InputError`` for what is no swap chain, or for one too many."""
    integer("buffers", buffers, 1, 3)
    integer("swap chains", len(machine.displays) + 1, 1, DISPLAYS)
    if form not in FORMATS:
        raise InputError("format", f"be one of {', '.join(f.name for f in FORMATS)}", form.name)
    if not bind & Bind.RENDER_TARGET:
        raise InputError("bind", "include RENDER_TARGET", bind)
