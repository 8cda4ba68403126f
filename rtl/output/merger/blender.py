# SPDX-License-Identifier: BSD-2-Clause
"""A sample's channels as integers, blended with what is stored, or put in its place."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.channel import BlendChannel
from fixfunc.rtl.output.merger.control import (
    ALPHA_GROUP,
    COLOUR_GROUP,
    NEW,
    OLD,
    constant_shape,
    control_layout,
)
from fixfunc.rtl.output.merger.formats import ALPHA, FormatSet
from fixfunc.spec.state import LogicOp


class Blender(wiring.Component):
    """Blend a sample of integers, or replace it; one a clock, free-running.

    Parameters
    ----------
    formats : FormatSet
    constant : bool
        The blend constant is known.
    logic : bool
        There are logic operations.

    Members
    -------
    sources : In(ArrayLayout(ArrayLayout(formats.value_shape, 4), 3))
        Channels of the shader, of the target, and the shader's second ones.
    new_words, old_words : In(ArrayLayout(formats.word, 4))
        What a channel becomes unless it is blended, and what it keeps where it is not written.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        The decoded state, the first together with ``sources``, each one clock after the one before.
    constants : In(ArrayLayout(constant_shape(formats), 4))
        The blend constant, one clock after ``sources``.
    o : Out(ArrayLayout(formats.word, 4))
        :attr:`latency` clocks after ``sources``.
    """

    def __init__(self, formats: FormatSet, constant: bool, logic: bool) -> None:
        self._formats = formats
        self._logic = logic
        self._control = control_layout(formats)
        self._channels = [BlendChannel(formats, channel, constant) for channel in range(4)]
        words = ArrayLayout(formats.word, 4)
        super().__init__(
            {
                "sources": In(ArrayLayout(ArrayLayout(formats.value_shape, 4), 3)),
                "new_words": In(words),
                "old_words": In(words),
                "controls": In(ArrayLayout(control_layout(formats).size, self.latency)),
                "constants": In(ArrayLayout(constant_shape(formats), 4)),
                "o": Out(words),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from channels to what is stored."""
        return self._channels[0].latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        for channel, blend in enumerate(self._channels):
            m.submodules[f"channel_{channel}"] = blend
            m.d.comb += [
                blend.colours.eq(Cat(self.sources[n][channel] for n in range(3))),
                blend.alphas.eq(Cat(self.sources[n][ALPHA] for n in range(3))),
                blend.constant.eq(self.constants[channel]),
                *(blend.controls[n].eq(self.controls[n]) for n in range(blend.latency)),
            ]
            t.enter(1, **{f"word_{channel}": self._replace(m, channel)})
            control = self._at(blend.latency)
            blends = control.write[channel] & self._group(control, channel).blends & ~control.logic
            word = t.value(f"word_{channel}", blend.latency)
            m.d.sync += self.o[channel].eq(Mux(blends, blend.o, word))
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _group(self, control, channel):
        return control.groups[ALPHA_GROUP if channel == ALPHA else COLOUR_GROUP]

    def _replace(self, m, channel):
        """What a channel becomes unless products are summed."""
        control = self._at(0)
        group = self._group(control, channel)
        less = named(m, self.sources[NEW][channel] < self.sources[OLD][channel], f"less_{channel}")
        source = named(m, self.new_words[channel], f"source_{channel}")
        target = named(m, self.old_words[channel], f"target_{channel}")
        result = replaced(control, group, less, source, target, self._logic)
        word = Signal(self._formats.word, name=f"word_{channel}")
        m.d.sync += word.eq(Mux(control.write[channel], result, target))
        return word


def replaced(
    control: View, group: View, less: Value, source: Value, target: Value, logic: bool = True
) -> Value:
    """What a channel becomes unless products are summed: the shader's, or by MIN, MAX or logic.

    Parameters
    ----------
    control, group : View
        Of :func:`~fixfunc.rtl.output.merger.control.control_layout`, and its group of the channel.
    less : Value
        The shader's channel is less than the target's.
    source, target : Value
        Their bits.
    logic : bool
        There are logic operations.
    """
    takes_old = (group.least & ~less) | (group.greatest & less)
    result = Mux(takes_old, target, source)
    if not logic:
        return result
    table = Array(_logic(LogicOp(n), source, target) for n in range(16))
    return Mux(control.logic, table[control.logic_op], result)


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
