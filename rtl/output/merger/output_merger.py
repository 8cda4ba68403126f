# SPDX-License-Identifier: BSD-2-Clause
"""Output merger: a shader's colours meet what a target holds."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, EnableInserter, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.skid_buffer import SkidBuffer, StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.merger.floats.float_lane import FloatLane
from fixfunc.rtl.output.merger.formats import (
    CHANNELS,
    FLOATS,
    INTEGERS,
    NORMALISED,
    FormatSet,
    texel_bits,
)
from fixfunc.rtl.output.merger.lane import Lane
from fixfunc.rtl.output.merger.quantiser import ConstantFactor
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import MERGE_STATE, merged, merging
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

EVERY = *NORMALISED, *INTEGERS, *FLOATS
WORD = 64  # bits of a texel that one field holds
COLOURS = "red", "green", "blue", "alpha"
assert len(COLOURS) == len(CHANNELS)


@dataclass(frozen=True)
class OutputMergerParams:
    """Shape of an :class:`OutputMerger`.

    Parameters
    ----------
    lanes : int
        Samples a beat.
    formats : tuple of Format
        Of targets; at least one is normalised. All others are errors.
    second : bool
        A shader may put out two colours for the one target; else its second one counts as zeros.
    constant : bool
        The blend constant may be any; else it counts as ones.
    logic : bool
        There are logic operations; else they are errors.
    dithers : bool
        Samples have thresholds of dithering.
    """

    lanes: int = 4
    formats: tuple[Format, ...] = tuple(form for form in EVERY if texel_bits(form) <= WORD)
    second: bool = True
    constant: bool = True
    logic: bool = True
    dithers: bool = True

    def __post_init__(self):
        if not 1 <= self.lanes <= 64:
            raise InputError("lanes", "be 1 to 64", self.lanes)
        self.set  # noqa: B018 - its rules hold here

    @property
    def set(self) -> FormatSet:
        """What the formats ask of the hardware."""
        return FormatSet(self.formats)

    @property
    def floats(self) -> tuple[Format, ...]:
        """Formats of floats, whose samples take turns."""
        return self.set.among(FLOATS)

    @property
    def merging(self) -> tuple:
        """Field table of a beat in."""
        return merging(self.lanes, self.set.texel, self.second, self.dithers)

    @property
    def merged(self) -> tuple:
        """Field table of a beat out."""
        return merged(self.lanes, self.set.texel)


CONFIGS = {
    "default": OutputMergerParams(),
    "lean": OutputMergerParams(
        64, (Format.R8G8B8A8_UNORM,), second=False, constant=False, logic=False, dithers=False
    ),
    "wide": OutputMergerParams(2, EVERY),
    "small": OutputMergerParams(
        8, (Format.B5G6R5_UNORM, Format.B5G5R5A1_UNORM, Format.B4G4R4A4_UNORM), second=False
    ),
    "tiny": OutputMergerParams(
        2,
        (
            Format.R8G8B8A8_UNORM,
            Format.B8G8R8A8_UNORM_SRGB,
            Format.R10G10B10A2_UNORM,
            Format.B5G6R5_UNORM,
            Format.B5G5R5A1_UNORM,
            Format.R16G16_SNORM,
            Format.R8_SNORM,
            Format.R32_UINT,
            Format.R16G16_SINT,
            Format.R16G16_FLOAT,
            Format.R11G11B10_FLOAT,
            Format.R32_FLOAT,
        ),
    ),
}
PURPOSE = {  # of each configuration
    "default": "every format of at most 64 bits, 4 samples a clock, of floats one",
    "lean": "RGBA8 alone, a tile of 64 samples a clock",
    "wide": "every format, 2 samples a clock, of floats one",
    "small": "formats of 16 bits a texel, dithered, 8 samples a clock",
    "tiny": "for benches: formats of every kind, 2 samples a clock, of floats one",
}


class MergePipeline(wiring.Component):
    """Lanes side by side, one of floats that they share, one decoder of states; free-running.

    Parameters
    ----------
    params : OutputMergerParams

    Members
    -------
    i : In(StructLayout({"beat": layout(params.merging), "step": range(params.lanes)}))
        Samples, and which of them the lane of floats takes: all in turn.
    o : Out(layout(params.merged))
        :attr:`latency` clocks later; of floats, with the last step.
    """

    def __init__(self, params: OutputMergerParams) -> None:
        self._params = params
        flags = params.second, params.constant, params.logic, params.dithers
        self._lanes = [Lane(params.set, *flags) for _ in range(params.lanes)]
        self._floats = FloatLane(params.set, params.second) if params.floats else None
        beat = layout(params.merging)
        super().__init__(
            {
                "i": In(StructLayout({"beat": beat, "step": range(max(params.lanes, 2))})),
                "o": Out(layout(params.merged)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from colours to texels."""
        return max(self._lanes[0].latency, FloatLane.LATENCY if self._floats else 0)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        t = Timeline(m)
        beat = self.i.beat
        m.submodules.decoder = decoder = StateDecoder(p.set, p.second, p.constant, p.logic)
        m.d.comb += [decoder.i[field.name].eq(beat[field.name]) for field in MERGE_STATE]
        t.enter(decoder.LATENCY, control=decoder.control.as_value(), error=decoder.control.error)
        self._convert_factors(m, t, decoder.control.is_signed)
        for n, lane in enumerate(self._lanes):
            m.submodules[f"lane_{n}"] = lane
            for k, colours in enumerate(self._colours(n)):
                m.d.comb += lane.i.colours[k].eq(colours)
            if p.dithers:
                m.d.comb += lane.i.threshold.eq(beat[f"threshold{n}"])
            if p.constant:
                clock = lane.constants_clock
                constants = [t.value(f"constant_{channel}", clock) for channel in range(4)]
                m.d.comb += lane.constants.eq(Cat(constants))
            m.d.comb += [
                lane.i.texel.eq(_texel(beat, n)),
                *(lane.controls[k].eq(t[k].control) for k in range(1, lane.latency)),
            ]
            t.enter(lane.latency, **{f"texel_{n}": lane.o})
        texels = [t.value(f"texel_{n}", self.latency) for n in range(p.lanes)]
        if self._floats:
            is_float = decoder.control.float_layout.any()
            t.enter(decoder.LATENCY, is_float=is_float)
            texels = [
                Mux(t[self.latency].is_float, *both)
                for both in zip(self._merge_floats(m, t), texels, strict=True)
            ]
        m.d.comb += self.o.error.eq(t[self.latency].error)
        m.d.comb += [_texel(self.o, n).eq(texel) for n, texel in enumerate(texels)]
        return m

    def _colours(self, n):
        """The shader's colours of a sample, one or two."""
        names = ["", "second_"] if self._params.second else [""]
        return [Cat(self.i.beat[f"{name}{c}{n}"] for c in COLOURS) for name in names]

    def _convert_factors(self, m, t, is_signed):
        """The blend constant as integers."""
        if self._params.constant:
            for channel, colour in enumerate(COLOURS):
                m.submodules[f"factor_{colour}"] = factor = ConstantFactor()
                m.d.comb += [
                    factor.i.eq(self.i.beat[f"factor_{colour}"]),
                    factor.is_signed.eq(is_signed),
                ]
                t.enter(factor.LATENCY, **{f"constant_{channel}": factor.o})

    def _merge_floats(self, m, t):
        """Texels of floats: the last one, and those before it, which wait for it."""
        lanes = self._params.lanes
        m.submodules.floats = floats = self._floats
        texels = [_texel(self.i.beat, n) for n in range(lanes)]
        both = [Cat(self._colours(n)) for n in range(lanes)]
        constants = Cat(self.i.beat[f"factor_{colour}"] for colour in COLOURS)
        m.d.comb += [
            floats.i.colours.eq(choose(self.i.step, both)),
            floats.i.texel.eq(choose(self.i.step, texels)),
            floats.i.constants.eq(constants),
            *(floats.controls[k].eq(t[k].control) for k in range(1, floats.LATENCY)),
        ]
        t.enter(floats.LATENCY, floats=floats.o)
        return [t.value("floats", self.latency + lanes - 1 - n) for n in range(lanes)]


def _texel(beat, n):
    """A texel of a beat, of one field or of two."""
    return Cat(beat[name] for name in (f"texel{n}", f"high{n}") if name in beat.shape().members)


class OutputMerger(wiring.Component):
    """Merge a shader's colours with the texels of a target, as its state says.

    One beat of ``params.lanes`` samples a clock, in order, whatever the state, which may change
    from beat to beat; of floats one sample a clock, so that a beat takes ``params.lanes`` clocks.
    The whole pipeline moves or stalls together.

    Parameters
    ----------
    params : OutputMergerParams

    Members
    -------
    i : In(stream.Signature(layout(params.merging)))
        A target's state, and samples: the shader's colours, and the texels that are stored.
    o : Out(stream.Signature(layout(params.merged)))
        The same samples as they are to be stored, :attr:`latency` clocks later at the earliest;
        of floats, after as many clocks more as the beat takes but one. ``error``: the state is
        none, or none of these formats; all texels are zero.
    """

    def __init__(self, params: OutputMergerParams = CONFIGS["default"]) -> None:
        self._params = params
        self._pipeline = MergePipeline(params)
        super().__init__(
            {
                "i": In(stream.Signature(layout(params.merging))),
                "o": Out(stream.Signature(layout(params.merged))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from colours to texels."""
        return self._pipeline.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        unit = self._pipeline
        is_float = Cat(self.i.payload.format == form for form in p.floats).any()
        step = Signal(range(max(p.lanes, 2)))
        last = Signal()
        m.d.comb += last.eq(
            ~(self.i.valid & is_float) | (step == p.lanes - 1) if p.floats else Const(1)
        )
        # As a StallablePipeline, but that a beat stays at the input until its last step enters.
        m.submodules.skid = skid = SkidBuffer(unit.o.shape())
        inner = Module()
        inner.submodules.unit = unit
        inner.d.sync += [
            unit.i.beat.eq(self.i.payload),
            unit.i.step.eq(step),
        ]
        enters = self.i.valid & last
        inner.d.comb += skid.push.eq(delay(inner, enters, 1 + unit.latency, "valid"))
        m.submodules.inner = EnableInserter(skid.enable)(inner)
        m.d.comb += [
            self.i.ready.eq(skid.enable & last),
            skid.i.eq(unit.o),
        ]
        with m.If(self.i.valid & skid.enable):
            m.d.sync += step.eq(Mux(last, 0, step + 1))
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        return m
