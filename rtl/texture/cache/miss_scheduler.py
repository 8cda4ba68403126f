# SPDX-License-Identifier: BSD-2-Clause
"""Miss scheduler: blocks that are not on chip, one by one, through the tags of the second level."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, choose, gated, lowest, named, number
from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import CreditedFIFO, StreamFIFO
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.cache.layouts import QUARTERS, TextureCacheParams
from fixfunc.rtl.texture.cache.tags import Tags
from fixfunc.spec.textures.cache import LINE_NUMBER, PITCH


class MissScheduler(wiring.Component):
    """Look up the lines of blocks: one a clock, the quarters of a round in turn.

    A block of two lines takes two clocks, and two fills: of its upper half, then of its lower one.
    One of rows of texels takes four, a row each.

    A miss of a line that has been asked for, and is not there yet, is a hit of its tag: it waits in
    the order of fills, behind the miss that asked. So misses of a line are merged.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(params.missed))
    order : Out(stream.Signature(params.ordered))
        A fill a line of a block, in order.
    read : Out(stream.Signature(params.read))
        Numbers of ``line`` to be read, each with the ``id`` of its read: the place in the ring of
        reads, in order.
    taken : In(1)
        A line that was read has been taken: its place is free.
    forget : In(1)
        Nothing is on chip; while no miss is under way.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(params.missed)),
                "order": Out(stream.Signature(params.ordered)),
                "read": Out(stream.Signature(params.read)),
                "taken": In(1),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        params = self._params
        set_bits = (params.line_sets - 1).bit_length()
        key = LINE_NUMBER - set_bits + bool(params.coded)
        m.submodules.tags = tags = Tags(params.line_sets, params.line_ways, key)
        m.d.comb += tags.forget.eq(self.forget)
        m.submodules.order = order = CreditedFIFO(params.ordered, params.queue)
        m.submodules.places = places = CreditCounter(params.in_flight)
        # As many reads as there are places: there is always room.
        m.submodules.reads = reads = StreamFIFO(params.read, params.in_flight)
        wiring.connect(m, order.o, wiring.flipped(self.order))
        wiring.connect(m, reads.o, wiring.flipped(self.read))

        done = Signal(QUARTERS)
        missing = named(m, self.i.payload.missing & ~done, "missing")
        chosen = named(m, lowest(missing), "chosen")
        quarter = number(chosen)
        block = Signal(params.missed["blocks"].shape.elem_shape)
        enters = named(m, self.i.valid & order.available & places.available & tags.ready, "enters")
        later = Signal(params.ordered)
        beyond, is_last = self._part(m, enters, later)
        own_line = named(m, (block.line + beyond)[:LINE_NUMBER], "own_line")
        m.d.comb += [
            later.target.quarter.eq(quarter),
            later.target.slot.eq(block.slot),
            later.offset.eq(block.offset),
            later.format.eq(self.i.payload.format),
        ]
        valid = delay(m, enters, Tags.LATENCY, "valid")
        line = delay(m, own_line, Tags.LATENCY, "line")
        ordered = delay(m, later, Tags.LATENCY, "ordered")
        m.d.comb += [
            block.eq(choose(quarter, [self.i.payload.blocks[n].as_value() for n in range(4)])),
            self.i.ready.eq(enters & is_last & (missing == chosen)),
            order.consume.eq(enters),
            places.consume.eq(enters),
            places.release.eq(self.taken),
            places.cancel.eq(valid & tags.hit),
            tags.lookup.eq(enters),
            tags.set.eq(own_line[:set_bits]),
            tags.key.eq(
                Cat(own_line[set_bits:], self.i.payload.surface.coded if params.coded else [])
            ),
        ]
        with m.If(enters):
            m.d.sync += done.eq(done | gated(chosen, is_last))
            with m.If(self.i.ready):
                m.d.sync += done.eq(0)

        place = Signal(range(params.in_flight))  # of the next read
        fetched = named(m, valid & ~tags.hit, "fetched")
        m.d.comb += [
            order.push.eq(valid),
            order.i.eq(ordered),
            order.i.fetched.eq(fetched),
            order.i.index.eq(Cat(line[:set_bits], tags.way)),
            reads.i.valid.eq(fetched),
            reads.i.payload.line.eq(line),
            reads.i.payload.id.eq(place),
        ]
        if params.coded:
            surface = delay(m, self.i.payload.surface, Tags.LATENCY, "surface")
            own_tile = line >> LINE_NUMBER - len(surface.first)
            m.d.comb += [
                *carried(reads.i.payload, surface),
                reads.i.payload.tile.eq(own_tile - surface.first),
            ]
        with m.If(fetched):
            m.d.sync += place.eq(place + 1)
        return m

    def _part(self, m, enters, later):
        """Lines from a block's first to the one that enters, and whether that is its last one."""
        is_wide = named(m, among(self.i.payload.format, self._params.wide), "is_wide")
        if self._params.linear:
            return self._part_of_rows(m, enters, later, is_wide)
        is_second = Signal()
        is_last = named(m, ~is_wide | is_second, "is_last")
        with m.If(enters):
            m.d.sync += is_second.eq(~is_last)
        if self._params.wide:
            m.d.comb += later.target.halves.eq(Mux(is_wide, Cat(~is_second, is_second), -1))
        return is_second, is_last

    def _part_of_rows(self, m, enters, later, is_wide):
        """As :meth:`_part`, where textures may lie as rows of texels."""
        pitch, is_row = self.i.payload.pitch, self.i.payload.linear
        part = Signal(2)
        beyond = Signal(PITCH + len(part))
        is_last = named(m, part == Mux(is_row, 3, is_wide), "is_last")
        with m.If(enters):
            m.d.sync += [part.eq(part + 1), beyond.eq(beyond + Mux(is_row, pitch, 1))]
            with m.If(is_last):
                m.d.sync += [part.eq(0), beyond.eq(0)]
        lower = part[0].replicate(2)
        m.d.comb += [
            later.linear.eq(is_row),
            later.target.rows.eq(Mux(is_row, 1 << part, Mux(is_wide, Cat(~lower, lower), -1))),
        ]
        return beyond, is_last
