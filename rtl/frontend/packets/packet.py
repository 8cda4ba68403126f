# SPDX-License-Identifier: BSD-2-Clause
"""What every unit that executes a kind of packets has in common."""

from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.command_fetch import FETCHED
from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.payload import beat
from fixfunc.spec import payloads
from fixfunc.spec.commands import CommandError

# Where memory ends, and where the list of packets lies in it, in bytes.
BOUNDS = StructLayout({"limit": 32, "packets_begin": 32, "packets_end": 32})
BEAT = beat(triangle=payloads.TRIANGLE, **payloads.CONTROL)


class PacketUnit(wiring.Signature):
    """Port of a unit that executes packets of one kind, seen from the sequencer.

    A packet is executed in the clocks in which ``active`` is set, from the first one on. In the
    last one the unit sets ``done``.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "active": Out(1),
                "first": Out(TRANSFER),  # first transfer of the packet
                "length": Out(24),  # transfers of the packet
                "i": Out(stream.Signature(FETCHED)),  # its further transfers
                "o": In(stream.Signature(BEAT)),  # beats to draw
                "done": In(1),
                "error": In(CommandError),  # with done: the rule that the packet breaks, or NONE
            }
        )
