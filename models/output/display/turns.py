# SPDX-License-Identifier: BSD-2-Clause
"""Whose turn it is: buffers that are shown, drawn to, or wait."""

from typing import NamedTuple, Self

from fixfunc.spec.errors import Stalled


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
    due : int
        Ends of frames until then.
    """

    count: int
    vsync: bool
    front: int
    drawn_to: int
    ready: int | None = None
    due: int = 1

    @classmethod
    def begun(cls, count: int, vsync: bool) -> Self:
        """The first buffer is shown, and the next one is drawn to."""
        return cls(count, vsync, 0, 1 % max(count, 1))

    @property
    def waits(self) -> bool:
        """No buffer may be drawn to: of two one is shown, and the other waits to be."""
        return self.count == 2 and self.ready is not None

    @property
    def back(self) -> int:
        """The buffer to draw to: with one buffer the one that is shown.

        Raises
        ------
        Stalled
            With two buffers and vsync: the last one drawn waits to be shown.
        """
        if self.waits:
            raise Stalled("the buffer waits for the next frame")
        return self.drawn_to

    def present(self, sync_interval: int | None = None) -> Self:
        """Show what has been drawn, as soon as it may be; with three buffers the newest wins.

        Parameters
        ----------
        sync_interval : int, optional
            Behind the end of so many frames; 0: at once. By default 1 with vsync, else 0.
        """
        interval = int(self.vsync) if sync_interval is None else sync_interval
        if self.count < 2:
            return self
        drawn = self.back
        # What waited to be shown never will be: it is drawn to next.
        back = 3 - self.front - drawn if self.count == 3 else drawn
        after = self._replace(ready=drawn, drawn_to=back, due=max(interval, 1))
        return after if interval else after.frame_ended()

    def frame_ended(self) -> Self:
        """Behind a frame buffers change, if it is time."""
        if self.ready is None:
            return self
        if self.due > 1:
            return self._replace(due=self.due - 1)
        back = self.front if self.count == 2 else self.drawn_to
        return self._replace(front=self.ready, drawn_to=back, ready=None)
