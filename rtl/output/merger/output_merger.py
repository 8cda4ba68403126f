# SPDX-License-Identifier: BSD-2-Clause
"""Output merger: a shader's colours meet what a target holds."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.merger.formats import CHANNELS, INTEGERS, NORMALISED, FormatSet
from fixfunc.rtl.output.merger.lane import Lane
from fixfunc.rtl.output.merger.quantiser import ConstantFactor
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import MERGE_STATE, merged, merging
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

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
        Of targets, at most 64 bits a texel; at least one is normalised. All others are errors.
    second : bool
        A shader may put out two colours for the one target; else its second one counts as zeros.
    constant : bool
        The blend factor may be any; else it counts as ones.
    logic : bool
        There are logic operations; else they are errors.
    dithers : bool
        Samples have thresholds of dithering.
    """

    lanes: int = 4
    formats: tuple[Format, ...] = (*NORMALISED, *INTEGERS)
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
    "tiny": OutputMergerParams(
        1,
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
        ),
    ),
}
PURPOSE = {  # of each configuration
    "default": "every normalised format and every one of integers, 4 samples a clock",
    "lean": "RGBA8 alone, a tile of 64 samples a clock",
    "tiny": "for benches: formats of every kind, a sample a clock",
}


class MergePipeline(wiring.Component):
    """Lanes side by side, and one decoder of their state; free-running.

    Parameters
    ----------
    params : OutputMergerParams

    Members
    -------
    i : In(layout(params.merging))
    o : Out(layout(params.merged))
        :attr:`latency` clocks later.
    """

    def __init__(self, params: OutputMergerParams) -> None:
        self._params = params
        flags = params.second, params.constant, params.logic, params.dithers
        self._lanes = [Lane(params.set, *flags) for _ in range(params.lanes)]
        super().__init__({"i": In(layout(params.merging)), "o": Out(layout(params.merged))})

    @property
    def latency(self) -> int:
        """Clocks from colours to texels."""
        return self._lanes[0].latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        t = Timeline(m)
        m.submodules.decoder = decoder = StateDecoder(p.set, p.second, p.constant, p.logic)
        m.d.comb += [decoder.i[field.name].eq(self.i[field.name]) for field in MERGE_STATE]
        t.enter(decoder.LATENCY, control=decoder.control.as_value())
        controls = [t[n].control for n in range(1, self.latency)]
        t.enter(decoder.LATENCY, error=decoder.control.error)
        m.d.comb += self.o.error.eq(t[self.latency].error)
        for channel, colour in enumerate(COLOURS):
            if p.constant:
                m.submodules[f"factor_{colour}"] = factor = ConstantFactor()
                m.d.comb += [
                    factor.i.eq(self.i[f"factor_{colour}"]),
                    factor.is_signed.eq(decoder.control.is_signed),
                ]
                t.enter(factor.LATENCY, **{f"constant_{channel}": factor.o})
        for n, lane in enumerate(self._lanes):
            m.submodules[f"lane_{n}"] = lane
            names = ["", "second_"] if p.second else [""]
            for k, name in enumerate(names):
                m.d.comb += lane.i.colours[k].eq(Cat(self.i[f"{name}{c}{n}"] for c in COLOURS))
            if p.dithers:
                m.d.comb += lane.i.threshold.eq(self.i[f"threshold{n}"])
            if p.constant:
                clock = lane.constants_clock
                constants = [t.value(f"constant_{channel}", clock) for channel in range(4)]
                m.d.comb += lane.constants.eq(Cat(constants))
            m.d.comb += [
                lane.i.texel.eq(self.i[f"texel{n}"]),
                *(lane.controls[k].eq(control) for k, control in enumerate(controls, 1)),
                self.o[f"texel{n}"].eq(lane.o),
            ]
        return m


class OutputMerger(wiring.Component):
    """Merge a shader's colours with the texels of a target, as its state says.

    One beat of ``params.lanes`` samples a clock, in order, whatever the format and the state, which
    may change from beat to beat. The whole pipeline moves or stalls together.

    Parameters
    ----------
    params : OutputMergerParams

    Members
    -------
    i : In(stream.Signature(layout(params.merging)))
        A target's state, and samples: the shader's colours, and the texels that are stored.
    o : Out(stream.Signature(layout(params.merged)))
        The same samples as they are to be stored, :attr:`latency` clocks later at the earliest.
        ``error``: the state is none, or none of these formats; all texels are zero.
    """

    def __init__(self, params: OutputMergerParams = CONFIGS["default"]) -> None:
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
        m.submodules.pipeline = way = StallablePipeline(self._pipeline, self._pipeline.latency)
        wiring.connect(m, wiring.flipped(self.i), way.i)
        wiring.connect(m, way.o, wiring.flipped(self.o))
        return m
