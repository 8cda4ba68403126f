# SPDX-License-Identifier: BSD-2-Clause
"""Texels taken apart, and put together."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import control_layout
from fixfunc.rtl.output.merger.formats import ALPHA, FormatSet, Place, joined
from fixfunc.rtl.texture.linear import LINEAR


class Unpacker(wiring.Component):
    """Channels of a texel; free-running.

    Parameters
    ----------
    formats : FormatSet
    arrangements : sequence of tuple, optional
        Where channels lie, for each of ``formats.layouts``; by default as these say.

    Members
    -------
    i : In(formats.texel)
    controls : In(ArrayLayout(control_layout(formats).size, 4))
        The state, one clock after the one before; the first, together with ``i``, is of no matter.
    words : Out(ArrayLayout(formats.word, 4))
        Bits as they are, :attr:`latency` clocks after ``i``.
    values : Out(ArrayLayout(formats.value_shape, 4))
        Normalised ones as they are blended: sRGB linear, what the format lacks 0, alpha 1; together
        with ``words``.
    """

    def __init__(
        self,
        formats: FormatSet,
        arrangements: Sequence[tuple[Place | None, ...]] | None = None,
    ) -> None:
        self._formats = formats
        self._arrangements = formats.layouts if arrangements is None else arrangements
        self._control = control_layout(formats)
        super().__init__(
            {
                "i": In(formats.texel),
                "controls": In(ArrayLayout(control_layout(formats).size, 4)),
                "words": Out(ArrayLayout(formats.word, 4)),
                "values": Out(ArrayLayout(formats.value_shape, 4)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks: places, signs, sRGB to linear."""
        return 4 if self._formats.has_srgb else 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, texel=self.i)
        texel = t[1].texel
        for channel in range(4):
            word = Signal(self._formats.word, name=f"word_{channel}")
            lacks = Signal(name=f"lacks_{channel}")
            layouts = self._arrangements
            options = [
                Const(0) if own[channel] is None else texel[own[channel][0] : sum(own[channel])]
                for own in layouts
            ]
            lacking = [own[channel] is None for own in layouts]
            m.d.sync += [
                word.eq(pick(self._at(1).layout, options)),
                lacks.eq(pick(self._at(1).layout, lacking)),
            ]
            t.enter(2, **{f"word_{channel}": word})
            value = self._value(m, word, lacks, channel)
            if self._formats.has_srgb:
                value = self._linear(m, word, value, channel)
            m.d.comb += [
                self.words[channel].eq(t.value(f"word_{channel}", self.latency)),
                self.values[channel].eq(value),
            ]
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _value(self, m, word, lacks, channel):
        """Signed if the format is; the least number counts as -1.0, as does the one above it."""
        control = self._at(2)
        widths = self._formats.widths
        value = word[: self._formats.value]
        if self._formats.has_sign:
            signs = pick(control.widths[channel], [word[n] for n in widths])
            value = Cat(value, Const(0))
            negative = control.is_signed & signs
            options = [Cat(word[:n] | ~word[:n].any(), Const(1)).as_signed() for n in widths]
            below = pick(control.widths[channel], options)
            value = Mux(negative, below, value)
        if channel == ALPHA:
            value = Mux(lacks, pick(control.widths[ALPHA], [(1 << n) - 1 for n in widths]), value)
        out = Signal(self._formats.value_shape, name=f"value_{channel}")
        m.d.sync += out.eq(value)
        return out

    def _linear(self, m, word, value, channel):
        """16 bits of sRGB; alpha is linear already."""
        byte = word[:8]
        converted = Signal(16, name=f"linear_{channel}")
        if channel == ALPHA:
            m.d.sync += converted.eq(Cat(byte, byte))
        else:
            m.submodules[f"table_{channel}"] = table = Memory(
                shape=16, depth=len(LINEAR), init=LINEAR, attrs=NO_COLLISION
            )
            read = table.read_port()
            m.d.comb += [
                read.addr.eq(byte),
                converted.eq(read.data),
            ]
        out = Signal(self._formats.value_shape, name=f"blended_{channel}")
        m.d.sync += out.eq(Mux(self._at(3).is_srgb, converted, value))
        return out


class Packer(wiring.Component):
    """The texel of four channels, one clock later; what no channel lies in is 0.

    Parameters
    ----------
    formats : FormatSet

    Members
    -------
    words : In(ArrayLayout(formats.word, 4))
    layout : In(len(formats.layouts))
        Which of ``formats.layouts`` the format has.
    o : Out(formats.texel)
    """

    LATENCY = 1

    def __init__(self, formats: FormatSet) -> None:
        self._formats = formats
        super().__init__(
            {
                "words": In(ArrayLayout(formats.word, 4)),
                "layout": In(len(formats.layouts)),
                "o": Out(formats.texel),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = list(self.words)
        options = [joined(own, words) for own in self._formats.layouts]
        m.d.sync += self.o.eq(pick(self.layout, options))
        return m
