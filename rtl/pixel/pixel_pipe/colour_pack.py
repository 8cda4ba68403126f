# SPDX-License-Identifier: BSD-2-Clause
"""Colour pack: colours of quads in the format of a plane, with fractions."""

from collections.abc import Iterable, Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout, View
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named, pick
from fixfunc.rtl.lib.delay import NO_COLLISION, delay, register
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import FLOAT_WIDTHS
from fixfunc.rtl.output.merger.floats.small_floats import Narrow
from fixfunc.rtl.output.merger.formats import (
    ALPHA,
    FLOATS,
    INTEGERS,
    NORMALISED,
    RED,
    SINT,
    SNORM,
    SRGB,
    joined,
    places,
    with_shader_alpha,
)
from fixfunc.rtl.output.merger.quantiser import nearest_integer
from fixfunc.rtl.output.merger.srgb import SrgbEncoder
from fixfunc.rtl.output.plane_formats import (
    BESIDE_ALPHA,
    EVEN,
    OF_16_BITS,
    STEEP,
    PlaneFormats,
)
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.linear import LINEAR
from fixfunc.spec.colours import FORMAT
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.pixels.texture_stage import CHANNELS, SHADED_QUAD
from fixfunc.spec.points import QUAD

PLACES = EVEN, BESIDE_ALPHA, OF_16_BITS  # of fractions
BYTE = 8
NUMBERS = ToUnorm.LATENCY  # clocks until there are integers, and floats
LIGHT = SrgbEncoder.LATENCY + 2  # more of sRGB: the byte, its light, what that lacks
PACKED = StructLayout(
    {
        "quad": layout(QUAD),
        "colours": ArrayLayout(COLOUR, 4),
        "fractions": ArrayLayout(COLOUR, 4),
    }
)


def pack_formats(formats: Sequence[Format]) -> PlaneFormats:
    """A set of formats of planes, floats among those whose channels are asked about."""
    return PlaneFormats(tuple(formats), tuple(formats))


def control_layout(formats: PlaneFormats) -> StructLayout:
    """A format of a set, decoded: which of each list it has, one bit, or none."""
    return StructLayout(
        {
            "units": ArrayLayout(len(formats.units), 4),
            "cuts": ArrayLayout(max(len(formats.cuts), 1), 4),
            "floats": ArrayLayout(len(FLOAT_WIDTHS), 4),
            "arrangement": len(formats.layouts),
            "places": len(PLACES),
            "is_signed": 1,
            "is_srgb": 1,
        }
    )


def latency_of(formats: PlaneFormats) -> int:
    """Clocks from channels to a colour."""
    return NUMBERS + (LIGHT if formats.has_srgb else 0) + 1


def is_one(formats: PlaneFormats) -> bool:
    """There is one format, which is not to be told."""
    return len(formats.stored) == 1


def control_of(formats: PlaneFormats, form: Value) -> Value:
    """The same of a format; of one that is not in the set nothing is set."""
    normalised, integers, floats = map(formats.among, (NORMALISED, INTEGERS, FLOATS))

    def among(forms: Iterable[Format]) -> Value:
        return Cat(form == known for known in forms).any()

    def has(channel: int, width: int) -> Value:
        own = {known: with_shader_alpha(places(known))[channel] for known in floats}
        return among(known for known, place in own.items() if place and place[1] == width)

    def flags(has_one, options):
        return [has_one(n, option) for n in range(4) for option in options]

    return Cat(
        flags(
            lambda n, its: among(f for f in normalised if formats.unit(f, n) == its), formats.units
        ),
        flags(
            lambda n, its: among(f for f in integers if formats.magnitude(f, n) == its),
            formats.cuts or (0,),
        ),
        flags(has, FLOAT_WIDTHS),
        formats.layout_of(form),
        (among(f for f in normalised if formats.fraction_places(f) == its) for its in PLACES),
        among(formats.among((*SNORM, *SINT))),
        among(formats.among(SRGB)),
    )


class ColourPack(wiring.Component):
    """Four colours of a quad as they are stored, and what they were rounded by; free-running.

    Parameters
    ----------
    formats : PlaneFormats
        Of :func:`pack_formats`.
    floats : bool
        Planes of floats are blended: their fraction is the shader's alpha.

    Members
    -------
    i : In(StructLayout)
        ``quad``, of :data:`~fixfunc.spec.pixels.texture_stage.SHADED_QUAD`; and ``control``, of the
        plane's format: :func:`control_of`. Where there is one format it is absent.
    o : Out(PACKED)
        :attr:`latency` clocks later.
    """

    def __init__(self, formats: PlaneFormats, floats: bool = False) -> None:
        self._formats = formats
        self._floats = floats and bool(formats.among(FLOATS))
        control = {} if is_one(formats) else {"control": control_layout(formats)}
        beat = StructLayout({"quad": layout(SHADED_QUAD)} | control)
        super().__init__({"i": In(beat), "o": Out(PACKED)})

    @property
    def latency(self) -> int:
        """Clocks: integers, floats or UNORM; sRGB; side by side."""
        return latency_of(self._formats)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for pixel in range(4):
            m.submodules[f"pixel_{pixel}"] = unit = PixelPack(self._formats, self._floats)
            m.d.comb += [
                *(unit.i[n].eq(self.i.quad[f"c{pixel}_{n}"]) for n in range(len(CHANNELS))),
                self.o.colours[pixel].eq(unit.o),
                self.o.fractions[pixel].eq(unit.fraction),
            ]
            if not is_one(self._formats):
                m.d.comb += unit.control.eq(self.i.control)
        owned = Cat(self.i.quad[f.name] for f in QUAD)
        quad = delay(m, owned, self.latency, "quad")
        m.d.comb += Cat(self.o.quad[f.name] for f in QUAD).eq(quad)
        return m


class PixelPack(wiring.Component):
    """The same of one pixel.

    Members
    -------
    i : In(ArrayLayout(32, 4))
    control : In(control_layout(formats))
        Absent where there is one format.
    o, fraction : Out(COLOUR)
        :attr:`latency` clocks later.
    """

    def __init__(self, formats: PlaneFormats, floats: bool = False) -> None:
        self._formats = formats
        self._floats = floats and bool(formats.among(FLOATS))
        control = {} if is_one(formats) else {"control": In(control_layout(formats))}
        super().__init__(
            {"i": In(ArrayLayout(32, 4)), "o": Out(COLOUR), "fraction": Out(COLOUR)} | control
        )

    @property
    def latency(self) -> int:
        """Clocks from channels to a colour."""
        return latency_of(self._formats)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        if not is_one(self._formats):
            t.enter(0, control=self.control.as_value())
        numbers = [self._number(m, t, n) for n in range(4)]
        words = [word for word, _ in numbers]
        fractions = self._placed(self._at(t, NUMBERS), [fraction for _, fraction in numbers])
        if self._floats:  # beside which there is the shader's alpha, as it is
            t.enter(0, alpha=self.i[ALPHA])
            is_float = self._at(t, NUMBERS).floats[RED].any()
            fractions = Mux(is_float, t[NUMBERS].alpha, fractions)
        if self._formats.has_srgb:
            words, fractions = self._encode(m, t, words, fractions)
        control = self._at(t, self.latency - 1)
        own = [with_shader_alpha(arrangement) for arrangement in self._formats.layouts]
        colour = pick(control.arrangement, [joined(its, words) for its in own])
        m.d.comb += [
            self.o.eq(register(m, colour, COLOUR, "colour")),
            self.fraction.eq(register(m, fractions, COLOUR, "packed_fraction")),
        ]
        return m

    def _at(self, t, clock) -> View:
        """The format so many clocks later."""
        formats = self._formats
        if is_one(formats):
            return control_layout(formats)(control_of(formats, Const(formats.stored[0], FORMAT)))
        return control_layout(formats)(t[clock].control)

    def _number(self, m, t, channel):
        """A channel as a number, and its fraction, :data:`NUMBERS` clocks later."""
        formats = self._formats
        control = self._at(t, 0)
        m.submodules[f"unorm_{channel}"] = unorm = ToUnorm(
            *formats.units, with_sign=formats.has_sign
        )
        m.d.comb += unorm.a.eq(self.i[channel])
        if len(formats.units) > 1:
            m.d.comb += unorm.unit.eq(control.units[channel])
        if formats.has_sign:
            m.d.comb += unorm.is_signed.eq(control.is_signed)
        word = Value.cast(unorm.o)
        late = self._at(t, NUMBERS)
        if formats.cuts:
            cut = nearest_integer(
                m,
                self.i[channel],
                control.is_signed,
                control.cuts[channel],
                formats.cuts,
                f"integer_{channel}",
            )
            kept = delay(m, register(m, cut, 32, f"cut_{channel}"), 1, f"kept_{channel}")
            word = Mux(late.cuts[channel].any(), kept, word)
        if formats.among(FLOATS):
            m.submodules[f"narrow_{channel}"] = narrow = Narrow()
            m.d.comb += [
                narrow.i.eq(self.i[channel]),
                narrow.width.eq(self._at(t, 1).floats[channel]),
            ]
            word = Mux(late.floats[channel].any(), narrow.o, word)
        return named(m, word[: formats.word], f"word_{channel}"), getattr(unorm, "fraction", 0)

    def _placed(self, control, fractions):
        """Fractions side by side, each as wide as the format has them."""
        options = [
            Cat(
                Value.cast(fraction)[:bits]
                for fraction, (_, bits) in zip(fractions, its, strict=True)
            )
            for its in PLACES
        ]
        return pick(control.places, options)

    def _encode(self, m, t, linear, fractions):
        """Of sRGB bytes, and what the light of these lacks."""
        m.submodules.encoder = encoder = SrgbEncoder(self._formats)
        begin, end = NUMBERS, NUMBERS + SrgbEncoder.LATENCY
        m.d.comb += [
            *(encoder.words[n].eq(word) for n, word in enumerate(linear)),
            encoder.is_linear.eq(self._at(t, end).is_srgb.replicate(4)),
        ]
        t.enter(begin, fraction=named(m, fractions, "fractions"))
        t.enter(begin, **{f"linear_{n}": word for n, word in enumerate(linear)})
        t.enter(end, **{f"word_{n}": Value.cast(encoder.o[n]) for n in range(4)})
        lost = [self._lacking(m, t, encoder.o[n][:BYTE], end, n) for n in range(4)]
        clock = self.latency - 1
        is_srgb = self._at(t, clock).is_srgb
        words = [t.value(f"word_{n}", clock) for n in range(4)]
        return words, Mux(is_srgb, Cat(lost), t.value("fraction", clock))

    def _lacking(self, m, t, byte, clock, channel):
        """Light less that of a byte, cut to eight bits; two clocks later."""
        if channel == ALPHA:
            light = register(m, Cat(byte, byte), 16, "light_of_alpha")
        else:
            m.submodules[f"table_{channel}"] = table = Memory(
                shape=16, depth=len(LINEAR), init=LINEAR, attrs=NO_COLLISION
            )
            read = table.read_port()
            m.d.comb += read.addr.eq(byte)
            light = read.data
        lost = (t.value(f"linear_{channel}", clock + 1)[:16] - light).as_signed()
        if channel != ALPHA:
            lost = Mux(delay(m, byte, 1, f"byte_{channel}")[-1], lost >> STEEP, lost)
        most = (1 << BYTE - 1) - 1
        cut = Mux(lost > most, most, Mux(lost < ~most, ~most, lost))
        return register(m, cut[:BYTE], BYTE, f"light_lost_{channel}")
