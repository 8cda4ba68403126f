# SPDX-License-Identifier: BSD-2-Clause
"""Grids of halves become filtered texels: four clocks a grid, a channel each."""

from amaranth.hdl import Cat, EnableInserter, Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.filter.half_pixel import SAMPLES, HalfPixel
from fixfunc.rtl.texture.filter.pixel_sums import texels_of
from fixfunc.spec.textures.filter import (
    CHANNELS,
    FILTER_STATE,
    FILTER_TAPS,
    FILTERED_QUAD,
    FilterKind,
    Unit,
)

PIXELS = 4
LAST = len(CHANNELS) - 1


class HalfFilter(wiring.Component):
    """Filter quads whose texels are halves; those of float32 pass.

    A grid takes four clocks; one that completes another sample of a pixel waits until
    :attr:`HalfPixel.SPACING` clocks have passed since the sample before.

    Parameters
    ----------
    beats : ShapeLike
        Of the filter.
    corners : bool
        Corners may be missing.
    words : bool
        Texels may be float32.

    Members
    -------
    i : In(stream.Signature(beats))
        As of :class:`~fixfunc.rtl.texture.filter.filter.Filter`.
    o : Out(stream.Signature(layout(FILTERED_QUAD)))
        One a quad, in order.
    """

    def __init__(self, beats: ShapeLike, corners: bool, words: bool = False) -> None:
        self._corners = corners
        self._words = words
        super().__init__(
            {
                "i": In(stream.Signature(beats)),
                "o": Out(stream.Signature(layout(FILTERED_QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(layout(FILTERED_QUAD))
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        inner = Module()
        ready = self._inner(inner, skid)
        m.submodules.inner = EnableInserter(skid.enable)(inner)
        m.d.comb += self.i.ready.eq(skid.enable & ready)
        return m

    def _inner(self, m, skid):
        """Channels of grids, one by one; returns whether a beat may enter."""
        state = Signal(layout(FILTER_STATE))
        taps = Signal(layout(FILTER_TAPS))
        valid = Signal()
        channel = Signal(range(len(CHANNELS)))
        samples = [self._samples(m, taps, pixel) for pixel in range(PIXELS)]
        spacing = Signal(range(HalfPixel.SPACING))  # clocks until another sample may follow
        later = named(m, Cat(sample["later"] for sample in samples).any(), "later_sample")
        stall = named(m, later & spacing.any() & (channel == 0), "stall")
        issue = named(m, valid & ~stall, "issue")
        completed = named(m, Cat(sample["completed"] for sample in samples).any(), "completed")
        grid_end = named(m, issue & (channel == LAST), "grid_end")
        ready = named(m, ~valid | grid_end, "ready")
        m.d.sync += channel.eq(channel + issue)
        with m.If(issue & (channel == 0) & completed):
            m.d.sync += spacing.eq(HalfPixel.SPACING - 1)
        with m.Elif(spacing.any()):
            m.d.sync += spacing.eq(spacing - 1)
        with m.If(ready):
            is_taps = self.i.payload.kind == FilterKind.TAPS
            m.d.sync += [
                valid.eq(self.i.valid & is_taps),
                taps.eq(self.i.payload.taps),
            ]
            with m.If(self.i.valid & ~is_taps):
                m.d.sync += state.eq(self.i.payload.state)
        for sample in samples:
            with m.If(grid_end):
                m.d.sync += [
                    sample["number"].eq(gated(sample["next_number"], ~taps.end)),
                    sample["level_pending"].eq(sample["next_level_pending"] & ~taps.end),
                ]
        self._pixels(m, state, taps, channel, issue, samples, skid)
        return ready

    def _samples(self, m, taps, pixel):
        """What the grid is to a pixel: a sample, or the first or second of two levels."""
        number = Signal(range(SAMPLES), name=f"number_{pixel}")
        level_pending = Signal(name=f"level_pending_{pixel}")
        weight = taps[f"weight{pixel}"]
        is_level = named(m, weight[:-1].any() & ~weight[-1], f"is_level_{pixel}")
        second = named(m, is_level & level_pending, f"is_second_{pixel}")
        completed = named(m, weight[-1] | second, f"completed_{pixel}")
        return {
            "number": number,
            "level_pending": level_pending,
            "first_level": is_level & ~level_pending,
            "share": gated(-weight[:-1], second)[: len(weight) - 1],
            "completed": completed,
            "later": completed & number.any(),
            "next_number": number + completed,
            "next_level_pending": level_pending ^ is_level,
        }

    def _pixels(self, m, state, taps, channel, issue, samples, skid):
        """The pixels of a channel; four of them are a quad."""
        found = Signal(ArrayLayout(ArrayLayout(32, PIXELS), len(CHANNELS)))
        units = [HalfPixel(self._corners, self._words) for _ in samples]
        words = [unit == Unit.WORD for unit in (state.unit_r, state.unit_g)]
        place = delay(m, channel, units[0].latency, "place")
        last = named(m, issue & (channel == LAST) & taps.end, "last")
        m.d.comb += skid.push.eq(delay(m, last, units[0].latency + 1, "last"))
        for pixel, (unit, sample) in enumerate(zip(units, samples, strict=True)):
            m.submodules[f"pixel_{pixel}"] = unit
            values = {
                "channel": channel,
                "u": taps[f"u{pixel}"],
                "v": taps[f"v{pixel}"],
                "op": state.op,
                "component": state.component,
                "missing": taps[f"missing{pixel}"],
                "first_level": issue & sample["first_level"],
                "share": sample["share"],
                "completed": issue & sample["completed"],
                "number": sample["number"],
                "words": Cat(words) if self._words else 0,
            }
            m.d.comb += [
                *(unit.i[name].eq(value) for name, value in values.items()),
                unit.i.texels.eq(texels_of(taps, pixel)),
            ]
            m.d.sync += found[place][pixel].eq(unit.o)
            m.d.comb += [skid.i[f"c{pixel}_{n}"].eq(found[n][pixel]) for n in range(len(CHANNELS))]
