# SPDX-License-Identifier: BSD-2-Clause
"""Traffic of a tile cache, counted by cause and mode."""

from amaranth.hdl import Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.tile_cache.layouts import MODE
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import TileMode

TABLE_EVENTS = "table_fill", "table_write_back", "table_clear"


class Traffic(wiring.Component):
    """Count tiles by their mode in memory, and transfers of the mode table.

    Events come late in their clock: a register holds them, and ``sample`` beside them.

    Members
    -------
    fill, fill_mode : In(1), In(MODE)
        A tile is filled.
    write_back, write_back_mode, dirty : In(1), In(MODE), In(1)
        A tile has been evicted. It counts if it is dirty.
    table_fill, table_write_back, table_clear : In(1)
        A transfer of the table is read; written; written for a new target.
    sample : In(1)
        The counts without events of this clock are put out. Only while ``available``.
    available : Out(1)
    o : Out(stream.Signature(layout(payloads.COUNTED)))
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "fill": In(1),
                "fill_mode": In(MODE),
                "write_back": In(1),
                "write_back_mode": In(MODE),
                "dirty": In(1),
                "table_fill": In(1),
                "table_write_back": In(1),
                "table_clear": In(1),
                "sample": In(1),
                "available": Out(1),
                "o": Out(stream.Signature(layout(payloads.COUNTED))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.samples = samples = fifo.SyncFIFO(
            width=payloads.width(payloads.COUNTED), depth=4
        )
        events = {name: getattr(self, name) for name in TABLE_EVENTS}
        for mode in TileMode:
            events[f"fill_{mode:d}"] = self.fill & (self.fill_mode == mode)
            events[f"write_back_{mode:d}"] = (
                self.write_back & self.dirty & (self.write_back_mode == mode)
            )
        t = Timeline(m)
        t.enter(0, sample=self.sample, **events)
        counts = layout(payloads.COUNTED)(samples.w_data)
        for field in payloads.COUNTED:
            total = Signal(field.bits, name=field.name)
            m.d.sync += total.eq(total + getattr(t[1], field.name))
            m.d.comb += counts[field.name].eq(total)
        m.d.comb += [
            samples.w_en.eq(t[1].sample),
            self.available.eq(samples.level < 2),  # two more may be on their way
        ]
        wiring.connect(m, samples.r_stream, wiring.flipped(self.o))
        return m
