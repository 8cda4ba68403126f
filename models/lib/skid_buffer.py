# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of the skid buffer, and of a pipeline that one enable stops."""

from collections import deque
from collections.abc import Callable


class SkidBuffer:
    """Two places, or one; ``enable`` falls one clock after the last is taken.

    Parameters
    ----------
    places : int
        Of one, a beat leaves in the clock of its push, and ``enable`` is low only for a push.
    """

    def __init__(self, places: int = 2) -> None:
        self.enable = 1
        self._places = places
        self._beats = deque()

    @property
    def level(self) -> int:
        """Beats held."""
        return len(self._beats)

    def step(self, push: int, i: int, ready: int) -> dict[str, int]:
        """One clock: ``enable``, ``valid``, and the ``payload`` if it is valid."""
        if self._places == 1:
            self.enable = int(not (push and self.level))
        pushed = push and self.enable
        if pushed and self._places == 1:
            self._beats.append(i)
        outputs = {"enable": self.enable, "valid": int(self.level > 0)}
        if self._beats:
            outputs["payload"] = self._beats[0]
            if ready:
                self._beats.popleft()
        if pushed and self._places == 2:
            self._beats.append(i)
        if self._places == 2:
            self.enable = int(self.level < 2)
        return outputs


class StallablePipeline:
    """A unit between two streams: ``function`` of each beat, in order.

    Parameters
    ----------
    function : callable
        What the unit computes.
    latency : int
        Clocks of the unit; a register lies before it.
    places : int
        Of the skid buffer.
    """

    def __init__(self, function: Callable[[int], int], latency: int, places: int = 2) -> None:
        self._function = function
        self._skid = SkidBuffer(places)
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
