# SPDX-License-Identifier: BSD-2-Clause
"""Slot window: which slots hold a vertex."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.spec.commands import SLOT_BITS


class SlotWindow(wiring.Component):
    """Counts slots twice: as the order of packets has it, and as they really are free.

    A RELEASE frees slots in the order of packets at once, which decides what is an error; they are
    overwritten when it has come back.

    Parameters
    ----------
    slots : int
        A power of two.

    Members
    -------
    restart : In(1)
        No slot is held, and none was ever written.
    write : In(1)
        A vertex takes the slot :attr:`following`.
    release : In(range(slots + 1))
        So many slots are released, by a packet.
    released : In(range(slots + 1))
        So many are free: their RELEASE has left the pixel stage.
    slots : In(ArrayLayout(SLOT_BITS, 3))
        Slots that are asked for.
    used, held : Out(3)
        Of each: it was written at some time; if it was, it holds a vertex.
    count : Out(range(slots + 1))
        Slots that are held.
    following : Out(range(slots))
        The next slot that is written.
    has_room : Out(1)
        It is free.
    """

    def __init__(self, slots: int) -> None:
        self._size = slots
        super().__init__(
            {
                "restart": In(1),
                "write": In(1),
                "release": In(range(slots + 1)),
                "released": In(range(slots + 1)),
                "slots": In(ArrayLayout(SLOT_BITS, 3)),
                "used": Out(3),
                "held": Out(3),
                "count": Out(range(slots + 1)),
                "following": Out(range(slots)),
                "has_room": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        first = Signal(range(self._size))  # that is held
        used = Signal(range(self._size + 1))  # slots that were ever written
        occupied = Signal(range(self._size + 1))  # that are not free
        m.d.sync += [
            first.eq(first + self.release),
            self.count.eq(self.count + self.write - self.release),
            self.following.eq(self.following + self.write),
            used.eq(Mux(used == self._size, used, used + self.write)),
            occupied.eq(occupied + self.write - self.released),
        ]
        with m.If(self.restart):
            m.d.sync += (
                count.eq(0) for count in (first, self.count, self.following, used, occupied)
            )
        m.d.comb += self.has_room.eq(occupied != self._size)
        is_used = []
        is_held = []
        for n in range(3):
            slot = self.slots[n]
            age = named(m, (slot - first)[: len(first)], f"age_{n}")
            is_used.append(slot < used)
            is_held.append(age < self.count)
        m.d.comb += [
            self.used.eq(Cat(is_used)),
            self.held.eq(Cat(is_held)),
        ]
        return m
