# SPDX-License-Identifier: BSD-2-Clause
"""Traffic of a tile cache, counted by cause and mode."""

from amaranth.hdl import Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching

TABLE_EVENTS = "table_fill", "table_write_back", "table_clear"


class Traffic(wiring.Component):
    """Count tiles by their mode in memory, and transfers of the mode table.

    Events come late in their clock: a register holds them, and ``sample`` beside them.

    Parameters
    ----------
    surface : Surface
        Whose modes there are.

    Members
    -------
    fill, fill_mode : In(1), In(surface.mode_bits)
        A tile is filled.
    write_back, write_back_mode, dirty : In(1), In(surface.mode_bits), In(1)
        A tile has been evicted. It counts if it is dirty.
    table_fill, table_write_back, table_clear : In(1)
        A transfer of the table is read; written; written for a new target.
    sample : In(1)
        The counts without events of this clock are put out. Only while ``available``.
    available : Out(1)
    o : Out(stream.Signature(layout(caching.counted(surface.differences))))
    """

    def __init__(self, surface: Surface) -> None:
        self._counted = caching.counted(surface.differences)
        super().__init__(
            {
                "fill": In(1),
                "fill_mode": In(surface.mode_bits),
                "write_back": In(1),
                "write_back_mode": In(surface.mode_bits),
                "dirty": In(1),
                "table_fill": In(1),
                "table_write_back": In(1),
                "table_clear": In(1),
                "sample": In(1),
                "available": Out(1),
                "o": Out(stream.Signature(layout(self._counted))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.samples = samples = fifo.SyncFIFO(width=payloads.width(self._counted), depth=4)
        events = {name: getattr(self, name) for name in TABLE_EVENTS}
        causes = {
            "fill": (self.fill, self.fill_mode),
            "write_back": (self.write_back & self.dirty, self.write_back_mode),
        }
        for field in self._counted:
            cause, _, mode = field.name.rpartition("_")
            if cause in causes:
                event, of = causes[cause]
                events[field.name] = event & (of == int(mode))
        t = Timeline(m)
        t.enter(0, sample=self.sample, **events)
        counts = layout(self._counted)(samples.w_data)
        for field in self._counted:
            total = Signal(field.bits, name=field.name)
            m.d.sync += total.eq(total + getattr(t[1], field.name))
            m.d.comb += counts[field.name].eq(total)
        m.d.comb += [
            samples.w_en.eq(t[1].sample),
            self.available.eq(samples.level < 2),  # two more may be on their way
        ]
        wiring.connect(m, samples.r_stream, wiring.flipped(self.o))
        return m
