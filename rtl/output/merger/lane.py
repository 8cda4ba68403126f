# SPDX-License-Identifier: BSD-2-Clause
"""One sample on its way into a target."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.blender import Blender
from fixfunc.rtl.output.merger.control import NEW, OLD, SECOND, constant_shape, control_layout
from fixfunc.rtl.output.merger.formats import FormatSet
from fixfunc.rtl.output.merger.quantiser import HALF, Quantiser, nearest_integer
from fixfunc.rtl.output.merger.srgb import SrgbEncoder
from fixfunc.rtl.output.merger.texels import Packer, Unpacker
from fixfunc.spec.colours import THRESHOLD


class Lane(wiring.Component):
    """Blend a sample of a normalised format, or replace it, or one of integers; free-running.

    Parameters
    ----------
    formats : FormatSet
    second, constant, logic, dithers : bool
        See :class:`~fixfunc.rtl.output.merger.output_merger.OutputMergerParams`.

    Members
    -------
    i : In(StructLayout)
        ``colours`` of the shader, two, float32 or integers; ``texel`` as stored; ``threshold`` of
        dithering.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        The decoded state, each one clock after the one before; the first, together with ``i``, is
        of no matter.
    constants : In(ArrayLayout(constant_shape(formats), 4))
        The blend constant, :attr:`constants_clock` clocks after ``i``.
    o : Out(formats.texel)
        :attr:`latency` clocks after ``i``.
    """

    def __init__(
        self, formats: FormatSet, second: bool, constant: bool, logic: bool, dithers: bool
    ) -> None:
        self._formats = formats
        self._control = control_layout(formats)
        self._second = second
        self._dithers = dithers
        self._unpacker = Unpacker(formats)
        self._blender = Blender(formats, constant, logic)
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
                "constants": In(ArrayLayout(constant_shape(formats), 4)),
                "o": Out(formats.texel),
            }
        )

    @property
    def _loaded(self):
        """Clocks until source and target are integers."""
        return max(Quantiser.LATENCY, self._unpacker.latency)

    @property
    def constants_clock(self) -> int:
        """Clocks after which the blend constant is read."""
        return self._loaded + 1

    @property
    def latency(self) -> int:
        """Clocks from a sample to its texel."""
        encoding = SrgbEncoder.LATENCY if self._formats.has_srgb else 0
        return self._loaded + self._blender.latency + encoding + Packer.LATENCY

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
        m.submodules.blender = blender = self._blender
        m.d.comb += [
            blender.sources.eq(sources),
            blender.constants.eq(self.constants),
            *(
                blender.controls[n].eq(self.controls[self._loaded + n])
                for n in range(blender.latency)
            ),
        ]
        self._replace(m, t, sources, blender)
        last = self._at(self.latency - 1)
        results = blender.o
        if self._formats.has_srgb:
            m.submodules.encoder = encoder = SrgbEncoder(self._formats)
            m.d.comb += [
                encoder.words.eq(blender.o),
                encoder.is_linear.eq(last.is_srgb.replicate(4)),
            ]
            results = encoder.o
        m.submodules.packer = packer = Packer(self._formats)
        m.d.comb += [
            packer.words.eq(results),
            packer.layout.eq(last.layout),
            self.o.eq(packer.o),
        ]
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

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

    def _replace(self, m, t, sources, blender):
        """What a channel becomes unless it is blended, and what stays: integers as they are."""
        words = self._unpacker.words
        for channel in range(4):
            control = self._at(self._loaded)
            new, old = (sources[n][channel] for n in (NEW, OLD))
            # A channel that stays does so bit for bit: SNORM has two numbers that are -1.0.
            stays = control.is_signed & ~control.write[channel]
            if self._formats.cuts:
                t.enter(2, **{f"cut_{channel}": self._cut(m, t, channel)})
                new = Mux(control.is_integer, t.value(f"cut_{channel}", self._loaded), new)
                stays |= control.is_integer
            old = Mux(stays, words[channel], old)
            m.d.comb += [
                blender.new_words[channel].eq(new),
                blender.old_words[channel].eq(old),
            ]

    def _cut(self, m, t, channel):
        """An integer in the format's range: the nearest."""
        name = f"integer_{channel}"
        t.enter(0, **{name: self.i.colours[0][channel]})
        value = t.value(name, 1)
        control = self._at(1)
        whole = nearest_integer(
            m,
            value,
            control.is_signed,
            control.cuts[channel],
            self._formats.cuts,
            f"integer_{channel}",
        )
        out = Signal(self._formats.word, name=f"cut_{channel}")
        m.d.sync += out.eq(whole)
        return out
