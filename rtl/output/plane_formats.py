# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colour planes, and a shader's colours in them as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named, pick
from fixfunc.rtl.output.merger.control import COLOUR_GROUP, control_layout
from fixfunc.rtl.output.merger.formats import (
    ALPHA,
    FLOATS,
    LINEAR_BITS,
    NORMALISED,
    RED,
    SRGB,
    FormatSet,
    Place,
    places,
)
from fixfunc.rtl.texture.linear import LINEAR
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR

# Where a shader's fractions of red, green, blue and alpha lie: lowest bit and bits.
EVEN = tuple((8 * channel, 8) for channel in range(4))
BESIDE_ALPHA = (0, 6), (6, 6), (12, 6), (18, 14)
OF_16_BITS = tuple((6 * channel, 6) for channel in range(4))
WIDEST = 16  # bits of a channel
STEEP = 2  # bits by which a fraction counts for more where a byte of sRGB has its highest bit


def by_bytes(formats: Sequence[Format], second: bool) -> bool:
    """Each channel has a write enable: of R8G8B8A8_UNORM alone, without second colours."""
    return tuple(formats) == BASE_FORMATS and not second


@dataclass(frozen=True)
class PlaneFormats(FormatSet):
    """What the formats of colour planes ask of the hardware.

    Where those of floats are not blended, bits of their channels are replaced, or stay.

    Parameters
    ----------
    formats : tuple of Format
        Those that the merger's decoder knows: integers, normalised ones, floats that are blended.
    stored : tuple of Format
        All of them.
    """

    stored: tuple[Format, ...] = ()

    def fraction(self, form: Format, channel: int) -> int:
        """Bits of a shader's channel that lie below the format's unit.

        Linear channels of sRGB are as fine as they are.
        """
        return 0 if form in SRGB else self.fraction_places(form)[channel][1]

    def fraction_places(self, form: Format) -> tuple[Place, ...]:
        """Where fractions of red, green, blue and alpha lie, by the bits of channels."""
        if max(bits for _, bits in filter(None, places(form))) == WIDEST:
            return OF_16_BITS
        few_alpha = self.magnitude(form, ALPHA) < self.magnitude(form, RED)
        return BESIDE_ALPHA if few_alpha else EVEN

    @property
    def constant_in_steps(self) -> bool:
        """It is cut as a shader's channels are."""
        return True

    @classmethod
    def of(cls, formats: Sequence[Format], floats: bool = False) -> "PlaneFormats":
        """The set of all formats of a plane; ``floats`` are blended."""
        merged = tuple(form for form in formats if floats or form not in FLOATS)
        return cls(merged, tuple(formats))

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


class Refiner(wiring.Component):
    """A shader's channels with their fractions: in steps, cut to the format's range; free-running.

    Parameters
    ----------
    formats : PlaneFormats

    Members
    -------
    values : In(ArrayLayout(formats.value_shape, 4))
        Integers, of sRGB linear ones.
    fraction : In(COLOUR)
    control : In(control_layout(formats))
        The decoded state, together with ``values``.
    o : Out(ArrayLayout(formats.value_shape, 4))
        :attr:`LATENCY` clocks after ``values``.
    """

    LATENCY = 1

    def __init__(self, formats: PlaneFormats) -> None:
        self._formats = formats
        values = ArrayLayout(formats.value_shape, 4)
        super().__init__(
            {
                "values": In(values),
                "fraction": In(COLOUR),
                "control": In(control_layout(formats)),
                "o": Out(values),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        formats = self._formats
        for channel in range(4):
            value = self.values[channel]
            unit = self.control.widths[channel]
            whole = pick(unit, [value << fraction for _, fraction in formats.units])
            added = pick(unit, [self._added(channel, value, own) for own in formats.units])
            total = named(m, whole + added, f"total_{channel}")
            most = named(m, pick(unit, formats.ones), f"most_{channel}")
            least = Mux(self.control.is_signed, -most, 0) if formats.has_sign else 0
            cut = Mux(total < least, least, Mux(total > most, most, total))
            m.d.sync += self.o[channel].eq(cut)
        return m

    def _added(self, channel, value, unit):
        """What a fraction adds in steps of a unit."""
        formats = self._formats
        if unit == (LINEAR_BITS, 0):
            return self._added_to_light(channel, value)
        forms = [form for form in formats.among(NORMALISED) if formats.unit(form, channel) == unit]
        if not forms:
            return Const(0)
        low, bits = formats.fraction_places(forms[0])[channel]
        return self.fraction[low : low + bits].as_signed()

    def _added_to_light(self, channel, value):
        """The same of sRGB, in linear light; MIN and MAX store a byte as it came."""
        low, bits = EVEN[channel]
        field = self.fraction[low : low + bits].as_signed()
        if channel == ALPHA:
            return field
        group = self.control.groups[COLOUR_GROUP]
        steep = Mux(value >= LINEAR[1 << bits - 1], field << STEEP, field)
        return gated(steep, ~group.least & ~group.greatest)
