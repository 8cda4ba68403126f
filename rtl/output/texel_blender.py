# SPDX-License-Identifier: BSD-2-Clause
"""Texel blender: a sample of a colour plane that may have one of several formats."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.output.merger.blender import Blender
from fixfunc.rtl.output.merger.control import ALPHA_GROUP, COLOUR_GROUP, NEW, OLD, control_layout
from fixfunc.rtl.output.merger.formats import (
    ALPHA,
    FLOATS,
    FormatSet,
    Place,
    places,
    with_shader_alpha,
)
from fixfunc.rtl.output.merger.srgb import SrgbEncoder
from fixfunc.rtl.output.merger.texels import Packer, Unpacker
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR


@dataclass(frozen=True)
class PlaneFormats(FormatSet):
    """What the formats of colour planes ask of the hardware.

    Those of floats are not blended: bits of their channels are replaced, or stay.

    Parameters
    ----------
    formats : tuple of Format
        Those that the merger's decoder is asked about: integers, normalised ones.
    stored : tuple of Format
        All of them.
    """

    stored: tuple[Format, ...] = ()

    @classmethod
    def of(cls, formats: Sequence[Format]) -> "PlaneFormats":
        """The set of all formats of a plane."""
        return cls(tuple(form for form in formats if form not in FLOATS), tuple(formats))

    @property
    def layouts(self) -> tuple[tuple[Place | None, ...], ...]:
        """Every arrangement of channels, once."""
        return tuple(dict.fromkeys(places(form) for form in self.stored))

    @property
    def word(self) -> int:
        """Bits of the widest channel, of any kind."""
        widest = max(place[1] for form in self.stored for place in places(form) if place)
        return max(super().word, widest)

    def layout_of(self, form: Value) -> Value:
        """Which of :attr:`layouts` a format has: one bit, or none of a format that is not here."""
        return Cat(
            Cat(form == known for known in self.stored if places(known) == arrangement).any()
            for arrangement in self.layouts
        )


class TexelBlender(wiring.Component):
    """Blend a sample, or replace it; one a clock, free-running.

    All of D3D11's blending but the blend constant and second colours; sRGB as linear colours. Where
    a format lacks alpha, that of the shader lies behind the other channels, as
    :func:`~fixfunc.rtl.output.merger.formats.with_shader_alpha` says, and that of the target is 1.
    Channels that are not written keep their bits, and bits that belong to no channel become 0.

    Parameters
    ----------
    formats : PlaneFormats

    Members
    -------
    source, dest : In(COLOUR)
        What the shader gives, and what is stored, in the format of the plane.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        The decoded state, each one clock after the one before; the first, together with ``source``,
        is of no matter.
    o : Out(COLOUR)
        :attr:`latency` clocks after ``source``.
    """

    def __init__(self, formats: PlaneFormats) -> None:
        self._formats = formats
        self._control = control_layout(formats)
        shader_layouts = [with_shader_alpha(arrangement) for arrangement in formats.layouts]
        self._unpackers = [Unpacker(formats, shader_layouts), Unpacker(formats)]
        self._blender = Blender(formats, constant=False, logic=True)
        super().__init__(
            {
                "source": In(COLOUR),
                "dest": In(COLOUR),
                "controls": In(ArrayLayout(control_layout(formats).size, self.latency)),
                "o": Out(COLOUR),
            }
        )

    @property
    def _unpacked(self):
        """Clocks until a texel is channels."""
        return self._unpackers[NEW].latency

    @property
    def latency(self) -> int:
        """Clocks from a sample to what is stored."""
        encoding = SrgbEncoder.LATENCY if self._formats.has_srgb else 0
        return self._unpacked + self._blender.latency + encoding + Packer.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, unit in zip(("source", "dest"), self._unpackers, strict=True):
            m.submodules[f"unpack_{name}"] = unit
            m.d.comb += [
                unit.i.eq(getattr(self, name)),
                *(unit.controls[n].eq(self.controls[n]) for n in range(1, self._unpacked)),
            ]
        m.submodules.blender = blender = self._blender
        new, old = self._unpackers
        m.d.comb += [
            blender.sources[NEW].eq(new.values),
            blender.sources[OLD].eq(old.values),
            *(
                blender.controls[n].eq(self.controls[self._unpacked + n])
                for n in range(blender.latency)
            ),
        ]
        for channel in range(4):
            m.d.comb += [
                blender.new_words[channel].eq(self._taken(new, channel)),
                blender.old_words[channel].eq(self._taken(old, channel)),
            ]
        results = self._encode(m, blender.o) if self._formats.has_srgb else blender.o
        m.submodules.packer = packer = Packer(self._formats)
        m.d.comb += [
            packer.words.eq(results),
            packer.layout.eq(self._at(self.latency - 1).layout),
            self.o.eq(packer.o),
        ]
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _group(self, control, channel):
        """How a channel is blended."""
        return control.groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _taken(self, unpacker, channel):
        """What a channel becomes unless it is a sum of products: its bits.

        MIN and MAX choose between numbers. Of SNORM two have other bits, and count as -1.0.
        """
        word = unpacker.words[channel]
        if not self._formats.has_sign:
            return word
        control = self._at(self._unpacked)
        group = self._group(control, channel)
        chooses = control.is_signed & control.write[channel] & (group.least | group.greatest)
        return Mux(chooses, unpacker.values[channel], word)

    def _encode(self, m, words):
        """Sums of linear colours as sRGB; MIN and MAX have chosen bytes."""
        m.submodules.encoder = encoder = SrgbEncoder(self._formats)
        control = self._at(self.latency - Packer.LATENCY)
        m.d.comb += encoder.words.eq(words)
        for channel in range(4):
            sums = control.write[channel] & self._group(control, channel).blends
            m.d.comb += encoder.is_linear[channel].eq(control.is_srgb & sums)
        return encoder.o
