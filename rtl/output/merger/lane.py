# SPDX-License-Identifier: BSD-2-Clause
"""One sample on its way into a target."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.channel import BlendChannel
from fixfunc.rtl.output.merger.control import (
    ALPHA_GROUP,
    COLOUR_GROUP,
    CONSTANT,
    NEW,
    OLD,
    SECOND,
    control_layout,
)
from fixfunc.rtl.output.merger.formats import ALPHA, FormatSet, pick
from fixfunc.rtl.output.merger.quantiser import HALF, Quantiser
from fixfunc.rtl.output.merger.srgb import SrgbEncoder, alpha_byte
from fixfunc.rtl.output.merger.texels import Packer, Unpacker
from fixfunc.spec.colours import THRESHOLD
from fixfunc.spec.state import LogicOp


class Lane(wiring.Component):
    """Blend a sample of UNORM or SNORM, or replace it; one a clock, free-running.

    Parameters
    ----------
    formats : FormatSet
    second, constant, logic, dithers : bool
        See :class:`~fixfunc.rtl.output.merger.output_merger.OutputMergerParams`.

    Members
    -------
    i : In(self.i_layout)
        ``colours`` of the shader, two, float32 or integers; ``texel`` as stored; ``threshold`` of
        dithering.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        The decoded state, each one clock after the one before; the first, together with ``i``, is
        of no matter.
    constants : In(ArrayLayout(CONSTANT, 4))
        The blend factor, :attr:`constants_clock` clocks after ``i``.
    o : Out(formats.texel)
        :attr:`latency` clocks after ``i``.
    """

    def __init__(
        self, formats: FormatSet, second: bool, constant: bool, logic: bool, dithers: bool
    ) -> None:
        self._formats = formats
        self._control = control_layout(formats)
        self._second = second
        self._logic = logic
        self._dithers = dithers
        self._unpacker = Unpacker(formats)
        self._channels = [BlendChannel(formats, channel, constant) for channel in range(4)]
        super().__init__(
            {
                "i": In(
                    StructLayout(
                        {
                            "colours": ArrayLayout(ArrayLayout(32, 4), 2),
                            "texel": formats.texel,
                            "threshold": THRESHOLD,
                        }
                    )
                ),
                "controls": In(ArrayLayout(control_layout(formats).size, self.latency)),
                "constants": In(ArrayLayout(CONSTANT, 4)),
                "o": Out(formats.texel),
            }
        )

    @property
    def _loaded(self):
        """Clocks until source and target are integers."""
        return max(Quantiser.LATENCY, self._unpacker.latency)

    @property
    def _blended(self):
        """Clocks until channels are what they will be, sRGB apart."""
        return self._loaded + self._channels[0].latency + 1

    @property
    def constants_clock(self) -> int:
        """Clocks after which the blend factor is read."""
        return self._loaded + 1

    @property
    def latency(self) -> int:
        """Clocks from a sample to its texel."""
        encoding = SrgbEncoder.LATENCY if self._formats.has_srgb else 0
        return self._blended + encoding + Packer.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, threshold=self.i.threshold)
        m.submodules.unpacker = unpacker = self._unpacker
        m.d.comb += [
            unpacker.i.eq(self.i.texel),
            *(unpacker.controls[n].eq(self.controls[n]) for n in range(1, 4)),
        ]
        shape = ArrayLayout(self._formats.value_shape, 4)
        sources = Signal(ArrayLayout(shape, 3))
        m.d.comb += sources[OLD].eq(unpacker.values)
        self._quantise(m, t, sources[NEW], self.i.colours[0], "new")
        if self._second:
            self._quantise(m, t, sources[SECOND], self.i.colours[1], "second")
        words = self._replace(m, t, sources)
        results = []
        for channel in range(4):
            blend = self._channels[channel]
            m.submodules[f"channel_{channel}"] = blend
            m.d.comb += [
                blend.colours.eq(Cat(sources[n][channel] for n in range(3))),
                blend.alphas.eq(Cat(sources[n][ALPHA] for n in range(3))),
                blend.constant.eq(self.constants[channel]),
                *(
                    blend.controls[n].eq(self.controls[self._loaded + n])
                    for n in range(blend.latency)
                ),
            ]
            clock = self._blended - 1
            control = self._at(clock)
            takes = control.write[channel] & self._group(control, channel).blends & ~control.logic
            result = Signal(self._formats.word, name=f"result_{channel}")
            m.d.sync += result.eq(Mux(takes, blend.o, t.value(words[channel], clock)))
            results.append(result)
        if self._formats.has_srgb:
            results = self._encode(m, t, results)
        m.submodules.packer = packer = Packer(self._formats)
        last = self._at(self.latency - 1)
        m.d.comb += [
            packer.words.eq(Cat(results)),
            packer.layout.eq(last.layout),
            self.o.eq(packer.o),
        ]
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _group(self, control, channel):
        return control.groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _quantise(self, m, t, values, colours, name):
        """A shader's colour as integers, in the clock in which the target's are there."""
        for channel in range(4):
            m.submodules[f"{name}_{channel}"] = unit = Quantiser(self._formats, self._dithers)
            control = self._at(2)
            rounding = HALF
            if self._dithers and name == "new":
                rounding = Mux(control.dithers[channel], t[2].threshold, HALF)
            m.d.comb += [
                unit.i.eq(colours[channel]),
                unit.widths.eq(self._at(1).widths[channel]),
                unit.is_signed.eq(control.is_signed),
                unit.rounding.eq(rounding),
            ]
            t.enter(unit.LATENCY, **{f"{name}_{channel}": unit.o})
            m.d.comb += values[channel].eq(t.value(f"{name}_{channel}", self._loaded))

    def _replace(self, m, t, sources):
        """What a channel becomes unless products are summed; names of values in the timeline."""
        names = []
        words = self._unpacker.words
        for channel in range(4):
            control = self._at(self._loaded)
            group = self._group(control, channel)
            new, old = (sources[n][channel] for n in (NEW, OLD))
            less = named(m, new < old, f"less_{channel}")
            shape = self._formats.word
            source = Signal(shape, name=f"source_{channel}")
            target = Signal(shape, name=f"target_{channel}")
            m.d.comb += [
                source.eq(new),
                target.eq(old),
            ]
            if self._formats.cuts:
                t.enter(2, **{f"cut_{channel}": self._cut(m, t, channel)})
                with_cut = t.value(f"cut_{channel}", self._loaded)
                m.d.comb += [
                    source.eq(Mux(control.is_integer, with_cut, new)),
                    target.eq(Mux(control.is_integer, words[channel], old)),
                ]
            takes_old = (group.least & ~less) | (group.greatest & less)
            result = Mux(takes_old, target, source)
            if self._logic:
                table = Array(_logic(LogicOp(n), source, target) for n in range(16))
                result = Mux(control.logic, table[control.logic_op], result)
            word = Signal(shape, name=f"word_{channel}")
            m.d.sync += word.eq(Mux(control.write[channel], result, target))
            t.enter(self._loaded + 1, **{f"word_{channel}": word})
            names.append(f"word_{channel}")
        return names

    def _cut(self, m, t, channel):
        """An integer in the format's range: the nearest."""
        name = f"integer_{channel}"
        t.enter(0, **{name: self.i.colours[0][channel]})
        value = t.value(name, 1)
        control = self._at(1)
        sign = named(m, control.is_signed & value[31], f"sign_{channel}")
        magnitude = named(m, value ^ sign.replicate(32), f"magnitude_{channel}")
        cuts = self._formats.cuts
        over = pick(control.cuts[channel], [magnitude[n:].any() for n in cuts])
        most = pick(control.cuts[channel], [(1 << n) - 1 for n in cuts])
        out = Signal(self._formats.word, name=f"cut_{channel}")
        m.d.sync += out.eq(Mux(over, most, magnitude) ^ sign.replicate(32))
        return out

    def _encode(self, m, t, results):
        """sRGB from linear light; all else passes."""
        out = []
        for channel, result in enumerate(results):
            name = f"result_{channel}"
            t.enter(self._blended, **{name: result})
            if channel == ALPHA:
                byte = alpha_byte(result[:16])
                t.enter(self._blended, alpha_byte=byte)
                byte = t.value("alpha_byte", self.latency - 1)
            else:
                m.submodules[f"encoder_{channel}"] = encoder = SrgbEncoder()
                m.d.comb += encoder.i.eq(result[:16])
                byte = encoder.o
            word = Signal(self._formats.word, name=f"packed_{channel}")
            is_srgb = self._at(self.latency - 1).is_srgb
            m.d.comb += word.eq(Mux(is_srgb, byte, t.value(name, self.latency - 1)))
            out.append(word)
        return out


def _logic(op, source, target):
    """A logic operation on bits."""
    return {
        LogicOp.CLEAR: Const(0),
        LogicOp.SET: ~Const(0, len(source)),
        LogicOp.COPY: source,
        LogicOp.COPY_INVERTED: ~source,
        LogicOp.NOOP: target,
        LogicOp.INVERT: ~target,
        LogicOp.AND: source & target,
        LogicOp.NAND: ~(source & target),
        LogicOp.OR: source | target,
        LogicOp.NOR: ~(source | target),
        LogicOp.XOR: source ^ target,
        LogicOp.EQUIV: ~(source ^ target),
        LogicOp.AND_REVERSE: source & ~target,
        LogicOp.AND_INVERTED: ~source & target,
        LogicOp.OR_REVERSE: source | ~target,
        LogicOp.OR_INVERTED: ~source | target,
    }[op]
