# SPDX-License-Identifier: BSD-2-Clause
"""Blend factors of normalised colours."""

from amaranth.hdl import Cat, Module, Mux, Shape, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.output.merger.control import FRACTION, NEW, OLD, SIDE, constant_shape
from fixfunc.rtl.output.merger.formats import ALPHA, NORMALISED, FormatSet
from fixfunc.spec.dxgi import Format


class Factor(wiring.Component):
    """What a channel of a side is multiplied by, as an integer of the side's unit; free-running.

    Parameters
    ----------
    formats : FormatSet
    channel : int
        Red, green, blue, alpha: 0 to 3.
    constant : bool
        The blend constant is known.

    Members
    -------
    colours, alphas : In(ArrayLayout(formats.value_shape, 3))
        The channel, and alpha: the shader's, the target's, the shader's second.
    side : In(ArrayLayout(SIDE, 2))
        The side, together with ``colours``, and one clock later.
    widths, alpha_widths : In(len(formats.widths))
        Of the channel, and of alpha; one clock later than ``colours``.
    first_alpha_widths : In(len(formats.widths))
        Of alpha, together with ``colours``.
    spreads : In(1)
        One clock after ``colours``: the channel's one is a multiple of alpha's.
    constant : In(constant_shape(formats))
        One clock after ``colours``.
    o : Out(shape)
        :attr:`LATENCY` clocks after ``colours``.
    """

    LATENCY = 2

    def __init__(self, formats: FormatSet, channel: int, constant: bool) -> None:
        self._formats = formats
        self._channel = channel
        self._constant = constant
        colours = ArrayLayout(formats.value_shape, 3)
        super().__init__(
            {
                "colours": In(colours),
                "alphas": In(colours),
                "side": In(ArrayLayout(SIDE, 2)),
                "first_alpha_widths": In(len(formats.widths)),
                "widths": In(len(formats.widths)),
                "alpha_widths": In(len(formats.widths)),
                "spreads": In(1),
                "constant": In(constant_shape(formats)),
                "o": Out(self.shape(formats, constant)),
            }
        )

    @staticmethod
    def shape(formats: FormatSet, constant: bool) -> Shape:
        """Factors: less than minus two to more than two times the greatest unit."""
        scaled = constant and not formats.constant_in_steps
        return signed(max(formats.value, FRACTION + 1 if scaled else 0) + 2)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        colour = Signal(self._formats.value_shape)
        alpha = Signal(self._formats.value_shape)
        m.d.sync += [
            colour.eq(pick(self.side[0].picked, list(self.colours))),
            alpha.eq(Mux(self.side[0].saturates, self._saturated(m), self._alpha())),
        ]
        side = self.side[1]
        base = Mux(side.alpha | side.saturates, self._spread(alpha), colour)
        unit = self._one(self.widths)
        if self._formats.has_units_apart and self._channel != ALPHA:
            unit = Mux(side.unit_alpha, self._one(self.alpha_widths), unit)
        if self._constant:
            base = Mux(side.constant, self.constant, base)
            if not self._formats.constant_in_steps:
                unit = Mux(side.unit_constant, 1 << FRACTION, unit)
        # Where one less the factor is subtracted the factor is added.
        addend = Mux(side.inverse, Mux(side.negative, -unit, unit), 0)
        m.d.sync += self.o.eq(addend + Mux(side.inverse ^ side.negative, -base, base))
        return m

    def _one(self, widths):
        return pick(widths, self._formats.ones)

    def _alpha(self):
        return pick(self.side[0].picked, list(self.alphas))

    def _saturated(self, m):
        """min(source alpha, 1 - target alpha)"""
        room = Signal(signed(self._formats.value + 3))
        m.d.comb += room.eq(self._one(self.first_alpha_widths) - self.alphas[OLD])
        return Mux(self.alphas[NEW] < room, self.alphas[NEW], room)

    def _spread(self, alpha):
        """Alpha in the channel's unit, of which its own is a part: cut to the channel's steps."""
        pairs = set()
        for form in self._formats.among(NORMALISED):
            own, of_alpha = (self._formats.unit(form, c) for c in (self._channel, ALPHA))
            if own != of_alpha and form != Format.B5G6R5_UNORM:
                pairs.add((own, of_alpha))
        if not pairs:
            return alpha
        bits = []
        options = []
        for own, of_alpha in sorted(pairs):
            bits.append(self.alpha_widths[self._formats.units.index(of_alpha)])
            options.append(_multiple(alpha[: sum(of_alpha)], own, of_alpha))
        return Mux(self.spreads, pick(Cat(bits), options), alpha)


def _multiple(alpha, own, of_alpha):
    """Alpha, not below 0, in another unit's steps."""
    (magnitude, fraction), (part, finer) = own, of_alpha
    if not finer:
        return alpha.replicate(magnitude // part)  # its bits, repeated
    shifted = sum(alpha << low for low in range(0, magnitude, part))
    return shifted >> finer - fraction
