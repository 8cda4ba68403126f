# SPDX-License-Identifier: BSD-2-Clause
"""Counters of a frame, read by address."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.spec.counters import COUNTERS, EVENTS, PIXELS, RESOLVES
from fixfunc.spec.state import Kind, Outcome

BITS = 64


def ones(m, value, name):
    """How many bits are set, two clocks later."""
    groups = [Signal(range(9), name=f"{name}_{n}") for n in range(-(-len(value) // 8))]
    total = Signal(range(len(value) + 1), name=name)
    m.d.sync += [
        *(group.eq(sum(value[8 * n : 8 * n + 8])) for n, group in enumerate(groups)),
        total.eq(sum(groups)),
    ]
    return total


class Counters(wiring.Component):
    """Counters of the events of a top.

    Parameters
    ----------
    tables : mapping
        By memory client, of :data:`fixfunc.spec.counters.CLIENTS`, what is counted: from
        :func:`fixfunc.spec.memory.caching.counted`. Counters of a client that is not named stay
        zero.
        Colour planes share the counters of colours.
    resolves : bool
        Transfers of resolves are counted; else their counter stays zero.
    pixels : bool
        So is what the pixel pipe does.

    Members
    -------
    <event> : In
        Increment of the event's counter in this clock.
    <client>_counted : In(stream.Signature(layout(table)))
    counter_address : In(stream.Signature(8))
        An address, as in :data:`fixfunc.spec.counters.COUNTERS`; any other reads as zero.
    counter_value : Out(stream.Signature(64))
    """

    def __init__(self, tables, resolves=True, pixels=True):
        self._tables = tables
        self._events = EVENTS + (RESOLVES if resolves else ()) + (PIXELS if pixels else ())
        super().__init__(
            {event: In(_bits(event)) for event in self._events}
            | {
                f"{client}_counted": In(stream.Signature(layout(table)))
                for client, table in self._tables.items()
            }
            | {
                "counter_address": In(stream.Signature(8)),
                "counter_value": Out(stream.Signature(BITS)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        totals = {}
        for event in self._events:
            totals[event] = Signal(BITS, name=f"total_{event}")
            m.d.sync += totals[event].eq(totals[event] + getattr(self, event))
        for client, table in self._tables.items():
            moved = getattr(self, f"{client}_counted")
            last = Signal(layout(table), name=f"last_{client}")
            m.d.comb += moved.ready.eq(1)
            with m.If(moved.valid):
                m.d.sync += last.eq(moved.payload)
            for field in table:
                name = f"{'colour' if client.startswith('colour') else client}_{field.name}"
                others = totals.get(name)
                totals[name] = last[field.name] if others is None else others + last[field.name]
        with m.If(~self.counter_value.valid | self.counter_value.ready):
            values = Array(totals.get(name, 0) for name in COUNTERS)
            m.d.sync += [
                self.counter_value.valid.eq(self.counter_address.valid),
                self.counter_value.payload.eq(
                    values[self.counter_address.payload[: (len(COUNTERS) - 1).bit_length()]]
                ),
            ]
            with m.If(self.counter_address.payload >= len(COUNTERS)):
                m.d.sync += self.counter_value.payload.eq(0)
        m.d.comb += self.counter_address.ready.eq(
            ~self.counter_value.valid | self.counter_value.ready
        )
        return m


def _bits(event):
    """Of the most that is counted of an event in a clock."""
    if event in RESOLVES:
        return 2  # one is read, one is written
    if event == "pipe_helpers":
        return 3
    if event.startswith("texture"):
        return 10  # of a quad
    return 7 if event.startswith("samples") else 1


def moving(stream):
    """A beat moves; and one waits."""
    return stream.valid & stream.ready, stream.valid & ~stream.ready


def watch(m, counters, probes, depth, commands, busy):
    """What the counters of a top hear of; of streams a clock later, so that nothing waits for it.

    Parameters
    ----------
    m : Module
    counters : Counters
    probes : mapping of str to stream
        By :data:`fixfunc.spec.counters.PROBES`.
    depth : fixfunc.rtl.depth.cached_depth.CachedDepth
    commands : Axi
        Where packets are read.
    busy : Value
        A START is being obeyed.
    """

    def observe(name, value):
        m.d.sync += getattr(counters, name).eq(value)

    for name, watched in probes.items():
        observe(f"stall_{name}", watched.valid & ~watched.ready & busy)
    tile_beats = {
        name: watched.valid & watched.ready & (watched.payload.kind == Kind.WORK)
        for name, watched in probes.items()
        if name != "colours"
    }
    hiz_tiles = depth.probe_hiz
    tested = hiz_tiles.valid & (hiz_tiles.payload.kind == Kind.WORK)
    outcome = hiz_tiles.payload.tile.outcome
    for name, probe in (
        ("triangles", "commands"),
        ("set_up", "setup"),
        ("tiles", "raster"),
        ("tiles_shaded", "quads"),
    ):
        observe(name, tile_beats[probe])
    observe("tiles_accepted", tested & (outcome == Outcome.ACCEPT))
    observe("tiles_tested", tested & (outcome == Outcome.TEST))
    masks = {
        "samples_covered": (tile_beats["raster"], probes["raster"].payload.tile.mask),
        "samples_passed": (1, depth.passed),
        "samples_tested": (tested & (outcome != Outcome.DROP), hiz_tiles.payload.tile.mask),
    }
    for name, (counts, mask) in masks.items():
        counted_mask = Signal(len(mask), name=f"{name}_mask")
        m.d.sync += counted_mask.eq(Mux(counts, mask, 0))
        m.d.comb += getattr(counters, name).eq(ones(m, counted_mask, f"{name}_count"))
    observe("command_transfers", commands.rvalid & commands.rready)
