# SPDX-License-Identifier: BSD-2-Clause
"""Formats of targets: where channels lie in a texel, and how many bits each has."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Shape, Value, signed, unsigned

from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR

RED, GREEN, BLUE, ALPHA = range(4)
CHANNELS = "RGBA"
SRGB = Format.R8G8B8A8_UNORM_SRGB, Format.B8G8R8A8_UNORM_SRGB
UNORM = (
    Format.R16G16B16A16_UNORM,
    Format.R10G10B10A2_UNORM,
    Format.R8G8B8A8_UNORM,
    Format.R16G16_UNORM,
    Format.R8G8_UNORM,
    Format.R16_UNORM,
    Format.R8_UNORM,
    Format.B5G6R5_UNORM,
    Format.B5G5R5A1_UNORM,
    Format.B8G8R8A8_UNORM,
    Format.B8G8R8X8_UNORM,
    Format.B4G4R4A4_UNORM,
)
SNORM = (
    Format.R16G16B16A16_SNORM,
    Format.R8G8B8A8_SNORM,
    Format.R16G16_SNORM,
    Format.R8G8_SNORM,
    Format.R16_SNORM,
    Format.R8_SNORM,
)
UINT = (
    Format.R32G32B32A32_UINT,
    Format.R16G16B16A16_UINT,
    Format.R32G32_UINT,
    Format.R10G10B10A2_UINT,
    Format.R8G8B8A8_UINT,
    Format.R16G16_UINT,
    Format.R32_UINT,
    Format.R8G8_UINT,
    Format.R16_UINT,
    Format.R8_UINT,
)
SINT = (
    Format.R32G32B32A32_SINT,
    Format.R16G16B16A16_SINT,
    Format.R32G32_SINT,
    Format.R8G8B8A8_SINT,
    Format.R16G16_SINT,
    Format.R32_SINT,
    Format.R8G8_SINT,
    Format.R16_SINT,
    Format.R8_SINT,
)
FLOATS = (
    Format.R32G32B32A32_FLOAT,
    Format.R16G16B16A16_FLOAT,
    Format.R32G32_FLOAT,
    Format.R11G11B10_FLOAT,
    Format.R16G16_FLOAT,
    Format.R32_FLOAT,
    Format.R16_FLOAT,
)
NORMALISED = (*UNORM, *SNORM, *SRGB)
INTEGERS = (*UINT, *SINT)
LINEAR_BITS = 16  # of a channel of sRGB, while it is blended
UNORM_AND_SRGB = Format.R8G8B8A8_UNORM, Format.R8G8B8A8_UNORM_SRGB

Place = tuple[int, int]  # a channel's lowest bit in a texel, and its bits


def places(form: Format) -> tuple[Place | None, ...]:
    """Where red, green, blue and alpha lie in a texel; None where a format has no such channel."""
    found = dict.fromkeys(CHANNELS)
    low = 0
    for letter, digits in re.findall(r"([A-Z])(\d+)", form.name.partition("_")[0]):
        if letter in found:
            found[letter] = (low, int(digits))
        low += int(digits)
    return tuple(found.values())


def with_shader_alpha(arrangement: Sequence[Place | None]) -> tuple[Place | None, ...]:
    """Where a shader's channels lie in packed colours, by where those of the texel do.

    Where the texel has no alpha it lies behind the other channels, if they leave it room in 32
    bits, and has as many bits as the widest of them.
    """
    *others, alpha = arrangement
    own = [place for place in others if place]
    low = max((sum(place) for place in own), default=0)
    widest = max((place[1] for place in own), default=0)
    if alpha is None and 0 < low <= COLOUR - widest:
        alpha = (low, widest)
    return (*others, alpha)


def texel_bits(form: Format) -> int:
    """Bits of a texel."""
    return sum(map(int, re.findall(r"\d+", form.name.partition("_")[0])))


def joined(own: Sequence[Place | None], words: Sequence[Value]) -> Value:
    """A texel of channels side by side."""
    bits = []
    for low, width, word in sorted((*place, channel) for channel, place in enumerate(own) if place):
        bits.append(words[word][:width])
        assert sum(map(len, bits)) == low + width, own
    return Cat(bits)


@dataclass(frozen=True)
class FormatSet:
    """What a set of formats asks of the hardware.

    Parameters
    ----------
    formats : tuple of Format
        At least one is normalised.
    """

    formats: tuple[Format, ...]

    def __post_init__(self):
        for form in self.formats:
            if form not in (*NORMALISED, *INTEGERS, *FLOATS):
                raise InputError("formats", "be drawn to, and of no 96 bits", form.name)
        if not self.among(NORMALISED) or len(set(self.formats)) < len(self.formats):
            raise InputError(
                "formats", "be some, each once, of which one is normalised", self.formats
            )

    def among(self, kinds: Iterable[Format]) -> tuple[Format, ...]:
        """Formats of the set that are of some kinds."""
        kinds = set(kinds)
        return tuple(form for form in self.formats if form in kinds)

    @property
    def layouts(self) -> tuple[tuple[Place | None, ...], ...]:
        """Every arrangement of channels, once, but those of floats."""
        forms = self.among((*NORMALISED, *INTEGERS))
        return tuple(dict.fromkeys(places(form) for form in forms))

    @property
    def float_layouts(self) -> tuple[tuple[Place | None, ...], ...]:
        """Every arrangement of channels of floats, once."""
        return tuple(dict.fromkeys(places(form) for form in self.among(FLOATS)))

    @property
    def texel(self) -> int:
        """Bits of the widest texel."""
        return max(texel_bits(form) for form in self.formats)

    def magnitude(self, form: Format, channel: int) -> int:
        """Bits of what 1.0 is in a channel, 2^n - 1; of integers, of their greatest number.

        A channel that a format lacks has as many as its widest one.
        """
        if form in SRGB:
            return LINEAR_BITS
        own = places(form)
        place = own[channel] or max((p for p in own if p), key=lambda p: p[1])
        return place[1] - (form in SNORM or form in SINT)

    def fraction(self, form: Format, channel: int) -> int:
        """Bits of a shader's channel that lie below the format's unit."""
        return 0

    def unit(self, form: Format, channel: int) -> tuple[int, int]:
        """:meth:`magnitude` and :meth:`fraction` of a channel."""
        return self.magnitude(form, channel), self.fraction(form, channel)

    @property
    def constant_in_steps(self) -> bool:
        """The blend constant has the steps of a shader's channel; else it is one of 2^-24."""
        return False

    @property
    def units(self) -> tuple[tuple[int, int], ...]:
        """Every :meth:`unit` of normalised formats."""
        forms = self.among(NORMALISED)
        return tuple(sorted({self.unit(f, c) for f in forms for c in range(4)}))

    @property
    def widths(self) -> tuple[int, ...]:
        """Magnitudes of :attr:`units`."""
        return tuple(magnitude for magnitude, _ in self.units)

    @property
    def ones(self) -> tuple[int, ...]:
        """What 1.0 is of each of :attr:`units`, in steps."""
        return tuple(((1 << magnitude) - 1) << fraction for magnitude, fraction in self.units)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Every :meth:`magnitude` of formats of integers."""
        forms = self.among(INTEGERS)
        return tuple(sorted({self.magnitude(f, c) for f in forms for c in range(4)}))

    @property
    def value(self) -> int:
        """Bits of the greatest magnitude that is blended, in steps."""
        return max(map(sum, self.units))

    @property
    def word(self) -> int:
        """Bits of the widest channel, of any kind."""
        forms = self.among(INTEGERS)
        own = max((place[1] for f in forms for place in places(f) if place), default=0)
        return max(self.value + self.has_sign, own)

    @property
    def value_shape(self) -> Shape:
        """A channel that is blended."""
        return signed(self.value + 1) if self.has_sign else unsigned(self.value)

    @property
    def has_sign(self) -> bool:
        """Some format is SNORM."""
        return bool(self.among(SNORM))

    @property
    def has_srgb(self) -> bool:
        """Some format is sRGB."""
        return bool(self.among(SRGB))

    @property
    def fraction_565(self) -> int:
        """:meth:`fraction` of every channel of 5:6:5."""
        return self.fraction(Format.B5G6R5_UNORM, RED)

    @property
    def has_units_apart(self) -> bool:
        """Alpha's 1.0 is no multiple of red's: of 5:6:5 alone."""
        return Format.B5G6R5_UNORM in self.formats
