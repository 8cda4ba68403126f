# SPDX-License-Identifier: BSD-2-Clause
"""Attributes of the vertex ring, by slot."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE, attribute_write
from fixfunc.rtl.lib.delay import NO_COLLISION


class AttributeMemory(wiring.Component):
    """Two banks, of even and of odd attributes: a transfer writes one of each.

    Parameters
    ----------
    slots, attributes : int
        Powers of two; attributes above 1.

    Members
    -------
    write : In(attribute_write(slots))
    slot, attribute : In
        One that is asked for.
    o : Out(ATTRIBUTE)
        It, one clock later.
    """

    def __init__(self, slots: int, attributes: int) -> None:
        self._slots = slots
        self._rows = attributes // 2
        super().__init__(
            {
                "write": In(attribute_write(slots)),
                "slot": In(range(slots)),
                "attribute": In(range(attributes)),
                "o": Out(ATTRIBUTE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        write = self.write
        bits = (self._rows - 1).bit_length()
        rows = {"even": write.row, "odd": (write.row - 1)[: len(write.row)]}
        found = {}
        for name, row in rows.items():
            memory = Memory(
                shape=ATTRIBUTE, depth=self._slots * self._rows, init=[], attrs=NO_COLLISION
            )
            m.submodules[name] = memory
            port = memory.write_port()
            read = memory.read_port()
            m.d.comb += [
                port.en.eq(write[f"{name}_enable"]),
                port.addr.eq(Cat(row[:bits], write.slot)),
                port.data.eq(write[name]),
                read.addr.eq(Cat(self.attribute[1:], self.slot)),
            ]
            found[name] = read.data.as_value()
        is_odd = Signal()
        m.d.sync += is_odd.eq(self.attribute[0])
        m.d.comb += self.o.eq(Mux(is_odd, found["odd"], found["even"]))
        return m
