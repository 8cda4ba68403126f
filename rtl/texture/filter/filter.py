# SPDX-License-Identifier: BSD-2-Clause
"""Filter: grids of texels of quads become filtered texels."""

from dataclasses import dataclass

from amaranth.hdl import Cat, EnableInserter, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, choose, lowest, named, number
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.filter.channel_sum import Widths
from fixfunc.rtl.texture.filter.count_divider import CountDivider
from fixfunc.rtl.texture.filter.half_filter import HalfFilter
from fixfunc.rtl.texture.filter.nearest import Nearest
from fixfunc.rtl.texture.filter.pixel_sums import PixelSums, sum_layout, texels_of
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.filter import (
    CHANNELS,
    FILTER_STATE,
    FILTER_TAPS,
    FILTERED_QUAD,
    FilterKind,
    FilterOp,
    Unit,
)

OPERATION = "op", "component", "compares", "function", "floats"
BEATS = UnionLayout({"kind": 1, "state": layout(FILTER_STATE), "taps": layout(FILTER_TAPS)})


@dataclass(frozen=True)
class FilterParams:
    """Shape of a :class:`Filter`.

    Parameters
    ----------
    packed : bool
        Formats with channels of 5, 6 or 10 bits: units of 10 and 12 bits.
    signed : bool
        SNORM formats.
    footprints : bool
        Any number of samples a pixel; else one, of one level or between two.
    floats : bool
        float32 may be compared.
    halves : bool
        Texels may be halves.
    corners : bool
        Of a grid of halves a corner may be missing; else none is.
    words : bool
        Texels may be float32, which are not filtered; with halves.
    """

    packed: bool = True
    signed: bool = True
    footprints: bool = True
    floats: bool = True
    halves: bool = False
    corners: bool = False
    words: bool = False

    def __post_init__(self):
        if self.words and not self.halves:
            raise InputError("words", "be False without halves", self.words)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Units of the formats that there are."""
        packed = (Unit.UNORM12, Unit.UNORM10) if self.packed else ()
        signs = (Unit.SNORM15, Unit.SNORM14) if self.signed else ()
        floats = (Unit.HALF,) if self.halves else ()
        return (Unit.UNORM16, *packed, *signs, *floats, *((Unit.WORD,) if self.words else ()))


CONFIGS = {
    "default": FilterParams(),
    "bytes": FilterParams(packed=False, signed=False, footprints=False, floats=False),
    "tiny": FilterParams(halves=True, corners=True, words=True),
}
PURPOSE = {  # of each configuration
    "default": "every normalised format of up to 16 bits, any number of samples",
    "bytes": "UNORM of 8 and 16 bits, sRGB, blocks; one sample a pixel: less area",
    "tiny": "for benches: the default, halves, and float32",
}


class Filter(wiring.Component):
    """Grids of four texels a pixel become filtered texels: a quad a clock.

    A pixel of several samples, or levels, has a grid a beat. Where the number of samples of a pixel
    of a quad is no power of two, a quad takes 13 clocks at least; the beats of the next one enter
    meanwhile. Quads of halves, or words, take four clocks a grid, by a
    :class:`~fixfunc.rtl.texture.filter.half_filter.HalfFilter`, and others wait until it is empty.

    Parameters
    ----------
    params : FilterParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, between quads, or TAPS: :class:`fixfunc.spec.textures.filter.FilterKind`.
    o : Out(stream.Signature(layout(FILTERED_QUAD)))
        One a quad, in order: :attr:`latency` clocks behind its end at the earliest.
    """

    latency = PixelSums.LATENCY + Nearest.LATENCY + 1

    def __init__(self, params: FilterParams = CONFIGS["default"]) -> None:
        self._params = params
        self._widths = Widths(params.footprints)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(FILTERED_QUAD))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(layout(FILTERED_QUAD), places=1)
        steps = Signal(range(CountDivider.STEPS + 1))
        busy = named(m, steps.any(), "busy")
        front = Module()
        sums_valid = Signal()
        sums, ended, control = self._front(front, sums_valid)
        back = Module()
        # A quad that is being divided stops the next one at its place, not before.
        enable = named(m, skid.enable & ~(busy & ended), "enable")
        valid = Signal()
        with back.If(busy):
            back.d.sync += steps.eq(steps - 1)
        with back.Else():
            back.d.sync += [
                valid.eq(ended),
                steps.eq(Mux(ended & control["divides"], CountDivider.STEPS, 0)),
            ]
        self._back(back, sums, control, busy, skid.i)
        back.d.comb += skid.push.eq(delay(back, valid & ~busy, Nearest.LATENCY, "valid"))
        m.submodules.front = EnableInserter(enable)(front)
        m.submodules.back = EnableInserter(skid.enable)(back)
        if self._params.halves:
            self._select_path(m, sums_valid, enable, skid.o)
        else:
            m.d.comb += [sums_valid.eq(self.i.valid), self.i.ready.eq(enable)]
            wiring.connect(m, skid.o, wiring.flipped(self.o))
        return m

    def _select_path(self, m, sums_valid, enable, sums):
        """Quads of halves take a path of their own; the path changes when no quad is in flight."""
        p = self._params
        m.submodules.halves = halves = HalfFilter(BEATS, p.corners, p.words)
        beat = self.i.payload
        is_half = Signal()
        in_flight = Signal(7)  # quads on the path that is selected: 25 at most
        is_state = named(m, beat.kind == FilterKind.STATE, "is_state")
        floats = [unit for unit in (Unit.HALF, Unit.WORD) if unit in p.units]
        own = among(beat.state.unit_r, floats) & ~beat.state.compares
        to_half = named(m, Mux(is_state, own, is_half), "to_half")
        path_ready = named(m, (to_half == is_half) | ~in_flight.any(), "path_ready")
        accept = named(m, path_ready & Mux(to_half, halves.i.ready, enable), "accept")
        push = self.i.valid & accept & ~is_state & beat.taps.end
        m.d.comb += [
            sums_valid.eq(self.i.valid & path_ready & ~to_half),
            halves.i.valid.eq(self.i.valid & path_ready & to_half),
            halves.i.payload.eq(beat),
            self.i.ready.eq(accept),
            self.o.valid.eq(Mux(is_half, halves.o.valid, sums.valid)),
            self.o.payload.eq(Mux(is_half, halves.o.payload.as_value(), sums.payload.as_value())),
            halves.o.ready.eq(self.o.ready & is_half),
            sums.ready.eq(self.o.ready & ~is_half),
        ]
        m.d.sync += in_flight.eq(in_flight + push - (self.o.valid & self.o.ready))
        with m.If(self.i.valid & accept & is_state):
            m.d.sync += is_half.eq(own)

    def _front(self, m, sums_valid):
        """Sums of quads, whether one has ended, and what the rest needs of it."""
        state = Signal(layout(FILTER_STATE))
        first = Signal(init=1)
        is_taps = self.i.payload.kind == FilterKind.TAPS
        valid = named(m, sums_valid & is_taps, "valid")
        taps = self.i.payload.taps
        with m.If(valid):
            m.d.sync += first.eq(taps.end)
        with m.If(sums_valid & ~is_taps):
            m.d.sync += state.eq(self.i.payload.state)
        sums = []
        for pixel in range(4):
            m.submodules[f"pixel_{pixel}"] = unit = PixelSums(
                self._widths, self._params.signed, self._params.floats
            )
            m.d.comb += [
                *(unit.i[n].eq(taps[f"{n}{pixel}"]) for n in ("u", "v", "weight", "reference")),
                *(unit.i[n].eq(state[n]) for n in OPERATION),
                unit.i.texels.eq(texels_of(taps, pixel)),
                *(unit.i.units[n].eq(state[f"unit_{name}"]) for n, name in enumerate(CHANNELS)),
                unit.i.valid.eq(valid),
                unit.i.first.eq(first),
            ]
            sums.append(unit.o)
        ended = delay(m, valid & taps.end, PixelSums.LATENCY, "ended")
        return sums, ended, self._control(m, taps, state)

    def _control(self, m, taps, state):
        """Numbers of samples, and units, as late as the sums."""
        is_extreme = (state.op == FilterOp.MINIMUM) | (state.op == FilterOp.MAXIMUM)
        divisors = Signal(ArrayLayout(6, 4))
        halvings = Signal(ArrayLayout(3, 4))
        for pixel in range(4):
            count = named(m, Mux(is_extreme, 1, taps[f"count{pixel}"]), f"count_{pixel}")
            places = number(lowest(count)) if self._widths.several else 0
            m.d.sync += halvings[pixel].eq(places)
            m.d.sync += divisors[pixel].eq(count >> places)
        component = choose(state.component, [state[f"unit_{name}"] for name in CHANNELS])
        gathers = state.op == FilterOp.GATHER
        units = Signal(ArrayLayout(3, len(CHANNELS)))
        for n, name in enumerate(CHANNELS):
            own = Mux(gathers, component, state[f"unit_{name}"])
            m.d.sync += units[n].eq(Mux(state.compares, Unit.UNORM16, own))
        rest = PixelSums.LATENCY - 1
        several = Cat(divisor != 1 for divisor in divisors).any() & self._params.footprints
        return {
            "divisors": delay(m, divisors, rest, "divisors"),
            "halvings": delay(m, halvings, rest, "halvings"),
            "units": delay(m, units, rest, "units"),
            "divides": delay(m, several, rest, "divides"),
        }

    def _back(self, m, sums, control, busy, out):
        """Sums by their numbers of samples, and units: the nearest float32."""
        load = ~busy
        for pixel in range(4):
            divisor = Signal(6, name=f"divisor_{pixel}")
            halvings = Signal(3, name=f"halvings_{pixel}")
            with m.If(load):
                m.d.sync += divisor.eq(control["divisors"][pixel])
                m.d.sync += halvings.eq(control["halvings"][pixel])
            for n in range(len(CHANNELS)):
                held = Signal(sum_layout(self._widths), name=f"sum_{pixel}_{n}")
                unit = Signal(3, name=f"unit_{pixel}_{n}")
                with m.If(load):
                    m.d.sync += held.eq(sums[pixel][n])
                    m.d.sync += unit.eq(control["units"][n])
                divider = CountDivider(self._widths)
                nearest = Nearest(self._widths, self._params.units)
                m.submodules[f"divider_{pixel}_{n}"] = divider
                m.submodules[f"nearest_{pixel}_{n}"] = nearest
                m.d.comb += [
                    divider.load.eq(load),
                    divider.i.eq(sums[pixel][n].magnitude),
                    divider.divisor.eq(divisor),
                    nearest.i.quotient.eq(divider.o),
                    nearest.i.inexact.eq(divider.inexact),
                    nearest.i.negative.eq(held.negative),
                    nearest.i.zeros.eq(held.zeros),
                    nearest.i.halvings.eq(halvings),
                    nearest.i.unit.eq(unit),
                    out[f"c{pixel}_{n}"].eq(nearest.o),
                ]
        return m
