# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of credits and FIFOs, clock by clock."""

from collections import deque


class CreditCounter:
    """Places downstream of a pipeline: what enters consumes one, what leaves releases it."""

    def __init__(self, places: int, lookahead: int = 1) -> None:
        self.free = places
        self.available = 1
        self._places = places
        self._lookahead = lookahead

    @property
    def idle(self) -> int:
        """Every place is free."""
        return int(self.free == self._places)

    def step(self, consume: int, release: int, cancel: int) -> dict[str, int]:
        """One clock: ``available``, a clock late; ``idle``."""
        outputs = {"available": self.available, "idle": self.idle}
        self.available = int(self.free > self._lookahead)
        self.free += release + cancel - consume
        return outputs


class StreamFIFO:
    """FIFO between two streams: block RAM, its output, and a register, each a clock apart.

    Parameters
    ----------
    depth : int
        Beats of block RAM and its output, which holds one.
    """

    LATENCY = 3  # clocks from a beat that enters to the same beat at the output

    def __init__(self, depth: int) -> None:
        self._places = depth - 1
        self._rows = deque()
        self._read = deque()
        self._output = deque()

    @property
    def ready(self) -> int:
        """A beat can enter."""
        return int(len(self._rows) < self._places)

    @property
    def level(self) -> int:
        """Beats held."""
        return len(self._rows) + len(self._read) + len(self._output)

    def step(self, i_valid: int, i_payload: int, o_ready: int) -> dict[str, int]:
        """One clock: ``ready``, ``valid``, ``payload`` if it is valid, ``occupied``."""
        ready = self.ready
        outputs = {
            "ready": ready,
            "valid": len(self._output),
            "occupied": int(self.level > 0),
        }
        if self._output:
            outputs["payload"] = self._output[0]
            if o_ready:
                self._output.popleft()
        for source, sink in ((self._read, self._output), (self._rows, self._read)):
            if source and not sink:
                sink.append(source.popleft())
        if i_valid and ready:
            self._rows.append(i_payload)
        return outputs


class CreditedFIFO:
    """Credits for the places of a FIFO: a beat that moves at its output releases one."""

    def __init__(self, depth: int, lookahead: int = 1) -> None:
        self.credit = CreditCounter(depth, lookahead)
        self.fifo = StreamFIFO(depth)

    def step(self, consume: int, cancel: int, push: int, i: int, ready: int) -> dict[str, int]:
        """One clock: ``available``, ``idle``, ``valid``, and the ``payload`` if it is valid."""
        outputs = self.fifo.step(push, i, ready)
        del outputs["occupied"]
        has_room = outputs.pop("ready")
        assert has_room or not push, "a beat was pushed without a credit"
        return outputs | self.credit.step(consume, int(outputs["valid"] and ready), cancel)
