# SPDX-License-Identifier: BSD-2-Clause
"""Texel blender: a sample of a colour plane that may have one of several formats."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.blender import Blender
from fixfunc.rtl.output.merger.control import (
    ALPHA_GROUP,
    COLOUR_GROUP,
    NEW,
    OLD,
    SECOND,
    constant_shape,
    control_layout,
)
from fixfunc.rtl.output.merger.floats.float_lane import FloatLane
from fixfunc.rtl.output.merger.formats import ALPHA, RED, with_shader_alpha
from fixfunc.rtl.output.merger.srgb import SrgbEncoder
from fixfunc.rtl.output.merger.texels import Packer, Unpacker
from fixfunc.rtl.output.plane_formats import PlaneFormats, Refiner
from fixfunc.spec.payloads import COLOUR


class TexelBlender(wiring.Component):
    """Blend a sample, or replace it; one a clock, free-running.

    All of D3D11's blending; sRGB as linear colours. Where a format lacks alpha, that of the shader
    lies behind the other channels, as
    :func:`~fixfunc.rtl.output.merger.formats.with_shader_alpha` says, and that of the target is 1.
    Channels that are not written keep their bits, and bits that belong to no channel become 0.
    Floats that are blended go through a lane of their own; the shader's alpha is their fraction.

    Parameters
    ----------
    formats : PlaneFormats
    second : bool
        The shader gives two colours.

    Members
    -------
    source, fraction : In(COLOUR)
        What the shader gives, in the format of the plane, and what that was rounded by.
    second, second_fraction : In(COLOUR)
        Its second colour, together with ``source``. Absent without ``second``.
    constants : In(ArrayLayout(constant_shape(formats), 4))
        The blend constant, :attr:`constants_clock` clocks after ``source``.
    float_constants : In(ArrayLayout(32, 4))
        The same as float32, which holds. Absent where floats are not blended.
    dest : In(COLOUR)
        What is stored, :attr:`ahead` clocks after ``source``.
    controls : In(ArrayLayout(control_layout(formats).size, self.ahead + self.latency))
        The decoded state, each one clock after the one before; the first, together with ``source``,
        is of no matter.
    o : Out(COLOUR)
        :attr:`latency` clocks after ``dest``.
    """

    ahead = Refiner.LATENCY

    def __init__(self, formats: PlaneFormats, second: bool = False) -> None:
        self._formats = formats
        self._control = control_layout(formats)
        shader_layouts = [with_shader_alpha(arrangement) for arrangement in formats.layouts]
        self._inputs = {"source": (NEW, Unpacker(formats, shader_layouts), "fraction")}
        if second:
            unit = Unpacker(formats, shader_layouts)
            self._inputs["second"] = SECOND, unit, "second_fraction"
        self._old = Unpacker(formats)
        self._blender = Blender(formats, constant=True, logic=True)
        self._floats = FloatLane(formats, second, packed=True) if formats.float_layouts else None
        self._controls = ArrayLayout(control_layout(formats).size, self.ahead + self.latency)
        super().__init__(
            {
                "constants": In(ArrayLayout(constant_shape(formats), 4)),
                "dest": In(COLOUR),
                "controls": In(self._controls),
                "o": Out(COLOUR),
            }
            | {port: In(COLOUR) for name, its in self._inputs.items() for port in (name, its[-1])}
            | ({"float_constants": In(ArrayLayout(32, 4))} if self._floats else {})
        )

    @property
    def _unpacked(self):
        """Clocks until a stored texel is channels."""
        return self._old.latency

    @property
    def constants_clock(self) -> int:
        """Clocks after which the blend constant is read."""
        return self.ahead + self._unpacked + 1

    @property
    def latency(self) -> int:
        """Clocks from what is stored to what will be."""
        return max(self._merged, self._floats.LATENCY if self._floats else 0)

    @property
    def _merged(self):
        """The same of all but floats."""
        encoding = SrgbEncoder.LATENCY if self._formats.has_srgb else 0
        return self._unpacked + self._blender.latency + encoding + Packer.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.blender = blender = self._blender
        old = self._unpack(m, "dest", self._old, self.ahead)
        t = Timeline(m)
        for name, (source, unit, fraction) in self._inputs.items():
            self._unpack(m, name, unit, 0)
            t.enter(0, **{fraction: getattr(self, fraction)})
            m.submodules[f"refine_{name}"] = refiner = Refiner(self._formats)
            m.d.comb += [
                refiner.values.eq(unit.values),
                refiner.fraction.eq(t.value(fraction, unit.latency)),
                refiner.control.eq(self.controls[unit.latency]),
                blender.sources[source].eq(refiner.o),
            ]
        _, new, _ = self._inputs["source"]
        t.enter(new.latency, words=new.words, values=new.values)
        m.d.comb += [
            blender.constants.eq(self.constants),
            *(
                blender.controls[n].eq(self.controls[self.ahead + self._unpacked + n])
                for n in range(blender.latency)
            ),
        ]
        at_blender = self._at(self._unpacked)
        given = t[new.latency + self.ahead]
        for channel in range(4):
            stored = [old.values[channel] << fraction for _, fraction in self._formats.units]
            m.d.comb += [
                blender.sources[OLD][channel].eq(pick(at_blender.widths[channel], stored)),
                blender.new_words[channel].eq(
                    self._taken(given.words[channel], given.values[channel], channel)
                ),
                blender.old_words[channel].eq(
                    self._taken(old.words[channel], old.values[channel], channel)
                ),
            ]
        results = self._encode(m, blender.o) if self._formats.has_srgb else blender.o
        m.submodules.packer = packer = Packer(self._formats)
        m.d.comb += [
            packer.words.eq(results),
            packer.layout.eq(self._at(self._merged - 1).layout),
        ]
        m.d.comb += self.o.eq(self._blend_floats(m, t, packer.o) if self._floats else packer.o)
        return m

    def _blend_floats(self, m, t, merged):
        """What becomes of a sample, of floats that are blended too."""
        m.submodules.floats = lane = self._floats
        names = [(name, fraction) for name, (_, _, fraction) in self._inputs.items()]
        t.enter(0, **{f"packed_{name}": getattr(self, name) for name, _ in names})
        m.d.comb += [
            lane.i.texel.eq(self.dest),
            lane.i.constants.eq(self.float_constants),
            *(lane.controls[n].eq(self.controls[self.ahead + n]) for n in range(1, lane.LATENCY)),
        ]
        for n, (name, fraction) in enumerate(names):
            m.d.comb += [
                lane.i.colours[n].texel.eq(t.value(f"packed_{name}", self.ahead)),
                lane.i.colours[n].alpha.eq(t.value(fraction, self.ahead)),
            ]
        control = self._control(self.controls[1])
        group = self._group(control, RED)
        is_blended = group.blends | group.least | group.greatest
        t.enter(1, is_float=control.float_layout.any() & is_blended)
        end = self.ahead + self.latency
        t.enter(self.ahead + self._merged, merged=merged)
        t.enter(self.ahead + lane.LATENCY, floats=lane.o)
        return Mux(t[end].is_float, t[end].floats, t[end].merged)

    def _unpack(self, m, name, unit, first):
        """Take a texel apart that comes together with ``controls[first]``."""
        m.submodules[f"unpack_{name}"] = unit
        m.d.comb += [
            unit.i.eq(getattr(self, name)),
            *(unit.controls[n].eq(self.controls[first + n]) for n in range(1, unit.latency)),
        ]
        return unit

    def _at(self, clock):
        """The state so many clocks after that of ``dest``."""
        return self._control(self.controls[self.ahead + clock])

    def _group(self, control, channel):
        """How a channel is blended."""
        return control.groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _taken(self, word, value, channel):
        """What a channel becomes unless it is a sum of products: its bits.

        MIN and MAX choose between numbers. Of SNORM two have other bits, and count as -1.0. The
        nearest to a source are its bits, so its fraction decides nothing.
        """
        if not self._formats.has_sign:
            return word
        control = self._at(self._unpacked)
        group = self._group(control, channel)
        chooses = control.is_signed & control.write[channel] & (group.least | group.greatest)
        return Mux(chooses, value, word)

    def _encode(self, m, words):
        """Sums of linear colours as sRGB; MIN and MAX have chosen bytes."""
        m.submodules.encoder = encoder = SrgbEncoder(self._formats)
        control = self._at(self._merged - Packer.LATENCY)
        m.d.comb += encoder.words.eq(words)
        for channel in range(4):
            sums = control.write[channel] & self._group(control, channel).blends
            m.d.comb += encoder.is_linear[channel].eq(control.is_srgb & sums)
        return encoder.o
