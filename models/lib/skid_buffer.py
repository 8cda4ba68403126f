# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of the skid buffer, and of a pipeline that one enable stops."""

from collections import deque
from collections.abc import Callable


class SkidBuffer:
    """Two places; ``enable`` falls one clock after the second is taken."""

    PLACES = 2

    def __init__(self) -> None:
        self.enable = 1
        self._beats = deque()

    @property
    def level(self) -> int:
        """Beats held."""
        return len(self._beats)

    def step(self, push: int, i: int, ready: int) -> dict[str, int]:
        """One clock: ``enable``, ``valid``, and the ``payload`` if it is valid."""
        outputs = {"enable": self.enable, "valid": int(self.level > 0)}
        if self._beats:
            outputs["payload"] = self._beats[0]
            if ready:
                self._beats.popleft()
        if push and self.enable:
            self._beats.append(i)
        self.enable = int(self.level < self.PLACES)
        return outputs


class StallablePipeline:
    """A unit between two streams: ``function`` of each beat, in order.

    Parameters
    ----------
    function : callable
        What the unit computes.
    latency : int
        Clocks of the unit; a register lies before it.
    """

    def __init__(self, function: Callable[[int], int], latency: int) -> None:
        self._function = function
        self._skid = SkidBuffer()
        self._stages = deque([None] * (latency + 1))

    @property
    def enable(self) -> int:
        """The pipeline moves, and takes a beat."""
        return self._skid.enable

    def step(self, i_valid: int, i_payload: int, o_ready: int) -> dict[str, int]:
        """One clock: ``ready``, ``valid``, and the ``payload`` if it is valid."""
        beat = self._stages[-1]
        outputs = self._skid.step(int(beat is not None), beat, o_ready)
        ready = outputs.pop("enable")
        if ready:
            self._stages.pop()
            self._stages.appendleft(self._function(i_payload) if i_valid else None)
        return outputs | {"ready": ready}
