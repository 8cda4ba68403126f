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
