# SPDX-License-Identifier: BSD-2-Clause
"""One sample of floats on its way into a target."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.convert import widened
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import ALPHA_GROUP, COLOUR_GROUP, control_layout
from fixfunc.rtl.output.merger.floats.float_channel import FloatChannel
from fixfunc.rtl.output.merger.floats.small_floats import Narrow
from fixfunc.rtl.output.merger.formats import ALPHA, FormatSet, joined


class FloatLane(wiring.Component):
    """Blend a sample of floats, or replace it; one a clock, free-running.

    Parameters
    ----------
    formats : FormatSet
    second : bool
        Second colours are known; else they count as zeros.
    packed : bool
        Colours come in the format of the target, each with an alpha beside it.

    Members
    -------
    i : In(StructLayout({"colours": ..., "texel": ..., "constants": ...}))
        ``colours`` of the shader, two: float32, or ``texel`` and ``alpha``; ``texel`` as stored;
        ``constants``, the blend constant.
    controls : In(ArrayLayout(control_layout(formats).size, self.LATENCY))
        The decoded state, each one clock after the one before; the first, together with ``i``, is
        of no matter.
    o : Out(formats.texel)
        :attr:`LATENCY` clocks after ``i``.
    """

    LOADED = 3
    BLENDED = LOADED + FloatChannel.LATENCY
    LATENCY = BLENDED + Narrow.LATENCY + 1

    def __init__(self, formats: FormatSet, second: bool, packed: bool = False) -> None:
        self._packed = packed
        self._formats = formats
        self._control = control_layout(formats)
        self._second = second
        four = ArrayLayout(32, 4)
        colour = StructLayout({"texel": formats.texel, "alpha": 32}) if packed else four
        super().__init__(
            {
                "i": In(
                    StructLayout(
                        {
                            "colours": ArrayLayout(colour, 2),
                            "constants": four,
                            "texel": formats.texel,
                        }
                    )
                ),
                "controls": In(ArrayLayout(self._control.size, self.LATENCY)),
                "o": Out(formats.texel),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, texel=self.i.texel)
        t.enter(0, **{f"constant_{n}": self.i.constants[n] for n in range(4)})
        clock = self.LOADED
        new = self._colour(m, t, 0, "new")
        old = [self._load(m, t, "texel", FLOAT32.one, n) for n in range(4)]
        second = self._colour(m, t, 1, "second") if self._second else [Const(0, 32)] * 4
        sources = list(zip(new, old, second, strict=True))
        words = []
        control = self._at(clock)
        for n in range(4):
            m.submodules[f"channel_{n}"] = channel = FloatChannel()
            m.submodules[f"narrow_{n}"] = narrow = Narrow()
            m.d.comb += [
                channel.colours.eq(Cat(sources[n])),
                channel.alphas.eq(Cat(sources[ALPHA])),
                channel.constant.eq(t.value(f"constant_{n}", clock)),
                channel.group.eq(control.groups[ALPHA_GROUP if n == ALPHA else COLOUR_GROUP]),
                channel.write.eq(control.write[n]),
                narrow.i.eq(channel.o),
                narrow.width.eq(self._at(self.BLENDED + 1).float_widths[n]),
                narrow.stays.eq(~self._at(self.BLENDED + 1).write[n]),
            ]
            words.append(narrow.o)
        options = [joined(own, words) for own in self._formats.float_layouts]
        m.d.sync += self.o.eq(pick(self._at(self.LATENCY - 1).float_layout, options))
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _colour(self, m, t, number, name):
        """Channels of a shader's colour, when that of the target is loaded."""
        colour = self.i.colours[number]
        if self._packed:
            t.enter(0, **{name: colour.texel, f"{name}_alpha": colour.alpha})
            alpha = t.value(f"{name}_alpha", 2)
            return [self._load(m, t, name, alpha, channel) for channel in range(4)]
        t.enter(0, **{f"{name}_{n}": colour[n] for n in range(4)})
        return [t.value(f"{name}_{n}", self.LOADED) for n in range(4)]

    def _load(self, m, t, name, alpha, channel):
        """A texel's channel as float32; what the format lacks is 0, alpha what is given."""
        texel = t.value(name, 1)
        layouts = self._formats.float_layouts
        lacking = alpha if channel == ALPHA else 0
        options = [
            Const(0) if own[channel] is None else texel[own[channel][0] : sum(own[channel])]
            for own in layouts
        ]
        lacks = pick(self._at(1).float_layout, [own[channel] is None for own in layouts])
        place = f"{name}_{channel}"
        word = register(m, pick(self._at(1).float_layout, options), 32, f"word_{place}")
        is_lacking = register(m, lacks, 1, f"lacks_{place}")
        widened_word = widened(m, word, self._at(2).float_widths[channel], f"wide_{place}")
        out = Signal(32, name=f"loaded_{place}")
        m.d.sync += out.eq(Mux(is_lacking, lacking, widened_word))
        return out
