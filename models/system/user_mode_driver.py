# SPDX-License-Identifier: BSD-2-Clause
"""The user-mode driver: state that is set for nothing is filtered, draws fill command buffers."""

from dataclasses import dataclass

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class SetState:
    """A piece of state gets a value: two words."""

    slot: int
    value: object


@dataclass(frozen=True)
class DrawCall:
    """A draw with the state that is in force: two words."""

    call: object


WORDS = 2  # of a command
Command = SetState | DrawCall


class UserModeDriver:
    """Records calls of one process, and puts draws and changed state into command buffers.

    State goes with the draw that needs it, and only where the card does not have it: a value that
    is set again, or replaced before any draw, costs nothing [trip 1].

    Parameters
    ----------
    slots : int
        Pieces of state.
    words : int
        Of a command buffer. A draw and its state lie in one.

    Attributes
    ----------
    buffers : list of list of Command
        Full ones, in order; whoever submits them takes them out.
    filtered : int
        Calls that set state and have come to nothing.
    """

    def __init__(self, slots: int, words: int) -> None:
        self._slots = integer("slots", slots, 1, 1 << 16)
        self._words = integer("words", words, WORDS, 1 << 24)
        self._wanted: dict[int, object] = {}
        self._known: dict[int, object] = {}  # what the card has
        self._buffer: list[Command] = []
        self.buffers: list[list[Command]] = []
        self.filtered = 0
        self._calls = 0
        self._sent = 0

    def set_state(self, slot: int, value: object) -> None:
        """Give a piece of state a value for all draws from now on."""
        integer("slot", slot, 0, self._slots - 1)
        self._wanted[slot] = value
        self._calls += 1

    def draw(self, call: object) -> None:
        """Record a draw; a command buffer that has no room for it is full.

        Raises
        ------
        InputError
            A draw whose state does not fit a whole command buffer.
        """
        changed = [
            SetState(slot, value)
            for slot, value in sorted(self._wanted.items())
            if slot not in self._known or self._known[slot] != value
        ]
        words = WORDS * (len(changed) + 1)
        if words > self._words:
            raise InputError("words", f"be at least {words}, of a draw and its state", self._words)
        if WORDS * len(self._buffer) + words > self._words:
            self.flush()
        self._buffer += [*changed, DrawCall(call)]
        self._known |= {it.slot: it.value for it in changed}
        self._sent += len(changed)
        self.filtered = self._calls - self._sent

    def flush(self) -> None:
        """End the command buffer, however little is in it; nothing of an empty one."""
        if self._buffer:
            self.buffers.append(self._buffer)
            self._buffer = []

    def forget(self) -> None:
        """The card has lost this process' state: the next draw sends all of it again.

        What has been recorded relies on the old state, and is full.
        """
        self.flush()
        self._known = {}
