# SPDX-License-Identifier: BSD-2-Clause
"""Fill: a line of memory becomes a block of 16 texels."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import Selection, among, gated, leading_zeros, named
from fixfunc.rtl.lib.delay import delay, later, register
from fixfunc.rtl.texture.block_decode import BlockDecodeParams, Decoder
from fixfunc.rtl.texture.cache.formats import (
    BLOCKS,
    BYTES,
    SHARED_EXPONENT,
    SIGNED,
    SRGB,
    UNBLOCKED,
    UNIT,
)
from fixfunc.rtl.texture.cache.layouts import BLOCK, OFFSET, TextureCacheParams
from fixfunc.rtl.texture.linear import Linear
from fixfunc.spec.state import BlockFormat
from fixfunc.spec.textures.cache import FLOATS, LINE

TEXELS = 16
# Number of texel (x, y) in memory, by 4 y + x: bits of x and y in turn.
MORTON = [x & 1 | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 for y in range(4) for x in range(4)]
ONE, SIGNED_ONE, HALF_ONE = 0xFFFF, 0x7FFF, 0x3C00  # alpha that a format lacks
SIGNED_BLOCKS = (BlockFormat.BC4S, BlockFormat.BC5S)
FLOAT_BLOCKS = (BlockFormat.BC6HU, BlockFormat.BC6HS)
WITHOUT_ALPHA = (BlockFormat.BC4U, BlockFormat.BC5U, *SIGNED_BLOCKS, *FLOAT_BLOCKS)


class Fill(wiring.Component):
    """Texels of a block, all at once; free-running.

    Bits of a channel are repeated until they are those of its unit, or it is a half; colours that
    are sRGB become linear; of two numbers that are -1.0 [fs 3.2.3.3] the greater one stands for
    both; alpha that a format lacks is 1.0, another channel 0. A line that memory could not give is
    zero texels. Of a block of two lines either one gives the texels of its own half, and any in the
    other's place.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(params.filling)
    o : Out(params.filled)
        :attr:`latency` clocks later.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        self._plain = [form for form in params.formats if form in UNBLOCKED]
        self._blocks = [form for form in params.formats if form in BLOCKS]
        self._signed = [form for form in params.formats if form in SIGNED]
        self._srgb = [form for form in params.formats if form in SRGB]
        decoded = tuple(sorted({BLOCKS[form] for form in self._blocks}))
        self._decoder = Decoder(BlockDecodeParams(formats=decoded)) if decoded else None
        super().__init__({"i": In(params.filling), "o": Out(params.filled)})

    @property
    def latency(self) -> int:
        """Clocks from a line to its texels: decoder, selection, sRGB to linear, signs."""
        decoder = self._decoder.latency if self._decoder else 0
        return decoder + 1 + (Linear.LATENCY if self._srgb else 0) + bool(self._signed)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        filling = self.i
        decoded = None
        if self._decoder:
            decoded = self._decode(m)
            clocks = self._decoder.latency
            filling = (later if clocks > 2 else delay)(m, self.i, clocks, "filling")
        form = filling.format
        plain = self._read(m, filling)
        selected = Signal(BLOCK)
        if not self._blocks:
            chosen = plain
        elif not self._plain:
            chosen = decoded
        else:
            is_block = named(m, among(form, self._blocks), "is_block")
            chosen = Mux(is_block, decoded.as_value(), Value.cast(plain))
        # Of nothing what follows makes nothing.
        m.d.sync += Value.cast(selected).eq(gated(Value.cast(chosen), ~filling.error))
        texels = selected
        clocks_behind = 1
        if self._srgb:
            m.submodules.linear = linear = Linear(TEXELS)
            m.d.comb += [
                linear.i.eq(selected),
                linear.enable.eq(among(delay(m, form, 1, "format"), self._srgb)),
            ]
            texels = linear.o
            clocks_behind += Linear.LATENCY
        if self._signed:
            texels = self._with_sign(m, texels, delay(m, form, clocks_behind, "format_of_texels"))
            texels = register(m, texels, BLOCK, "signed_texels")
            clocks_behind += 1
        m.d.comb += [
            Value.cast(self.o.texels).eq(texels),
            self.o.error.eq(delay(m, filling.error, clocks_behind, "error")),
            self.o.fetched.eq(delay(m, filling.fetched, clocks_behind, "fetched")),
            self.o.target.eq(delay(m, filling.target, clocks_behind, "target")),
        ]
        return m

    def _read(self, m, filling):
        """Texels of the plain formats, each as if its own were the format."""
        out = Signal(BLOCK)
        if not self._plain:
            return out
        pieces = {LINE: filling.data}
        offset = filling.offset[-OFFSET:]
        for n in reversed(range(OFFSET)):
            size = LINE >> OFFSET - n
            pieces[size] = named(
                m, pieces[2 * size].word_select(offset[n], 8 * size), f"piece_{size}"
            )
        sizes = sorted({UNBLOCKED[form].size for form in self._plain})
        blocks = {size: pieces[min(TEXELS * size, LINE)] for size in sizes}
        if self._params.linear:
            self._put_rows(m, filling, pieces, blocks)
        selection = Selection(m, filling.format, self._plain, "is_format")
        for n, place in enumerate(MORTON):
            for c in range(4):
                keys = {}
                options = {}
                for form in self._plain:
                    size, channels = UNBLOCKED[form]
                    one = _one(form)
                    keys[form] = key = (size, form in SHARED_EXPONENT, channels[c] or one)
                    # Of two lines the number's highest bit tells which.
                    texels = min(TEXELS, LINE // size)
                    texel = blocks[size].word_select(place % texels, 8 * size)
                    if key in options:
                        continue
                    if form in SHARED_EXPONENT and channels[c]:
                        options[key] = _shared(m, texel, channels[c], f"shared_{n}_{c}")
                    else:
                        options[key] = _channel(texel, channels[c], one if c == 3 else 0)
                m.d.comb += out[n][c].eq(selection.of(keys, options))
        return out

    def _put_rows(self, m, filling, pieces, blocks):
        """Of a row of texels a block all of whose rows are that one, in Morton order."""
        pieces[4] = named(m, pieces[8].word_select(filling.offset[0], 32), "piece_4")
        for size, block in blocks.items():
            row = pieces[4 * size]
            places = range(len(block) // (8 * size))
            # Of a place in that order bits 0 and 2 are the column.
            columns = [row.word_select(n & 1 | n >> 1 & 2, 8 * size) for n in places]
            chosen = Mux(filling.linear, Cat(columns), block)
            blocks[size] = named(m, chosen, f"block_{size}")

    def _with_sign(self, m, texels, form):
        """Texels whose channels have a sign, behind all else: only then are they known.

        Seven bits and a sign are repeated as 129 times the number: its low bits, and it less its
        sign above them.
        """
        out = Signal(BLOCK)
        for c in range(4):
            bits = {of: UNBLOCKED[of].channels[c] for of in self._signed}
            short, long = (
                named(
                    m, among(form, [f for f in bits if bits[f] and bits[f].bits == n]), f"s{n}_{c}"
                )
                for n in (8, 16)
            )
            for n in range(TEXELS):
                value = Value.cast(texels[n][c])
                byte = value[:8].as_signed()
                byte = named(m, byte | (byte == -128), f"byte_{n}_{c}").as_signed()
                repeated = Cat(byte[:7], byte + byte[7:].as_signed())[:16]
                word = value | (long & (value == 1 << 15))
                m.d.comb += out[n][c].eq(Mux(short, repeated, word))
        return out

    def _decode(self, m):
        """Texels of blocks."""
        m.submodules.decoder = decoder = self._decoder
        offset = self.i.offset[-OFFSET:]
        pieces = self.i.data.word_select(offset[1:], 128)
        block = decoder.i.block
        with m.Switch(self.i.format):
            for form in self._blocks:
                with m.Case(form):
                    m.d.comb += block.format.eq(BLOCKS[form])
        # Blocks of 8 bytes begin in either half; those of 16 in the lower one.
        m.d.comb += [
            block.low.eq(pieces.word_select(offset[0], 64)),
            block.high.eq(pieces[64:]),
        ]
        kind = delay(m, block.format, decoder.latency, "kind")
        is_byte = named(m, among(kind, BYTES), "is_byte")
        lacks_alpha = named(m, among(kind, WITHOUT_ALPHA), "lacks_alpha")
        # A decoder that lacks a format makes nothing of its number.
        known = {BLOCKS[form] for form in self._blocks}
        one = Mux(among(kind, sorted(known & {*SIGNED_BLOCKS})), SIGNED_ONE, ONE)
        one = named(m, Mux(among(kind, sorted(known & {*FLOAT_BLOCKS})), HALF_ONE, one), "one")
        out = Signal(BLOCK)
        for n in range(TEXELS):
            for c, name in enumerate(("red", "green", "blue", "alpha")):
                channel = decoder.o[f"{name}{n}"]
                wide = Mux(is_byte, channel[:8].replicate(2), channel)
                m.d.comb += out[n][c].eq(Mux(lacks_alpha, one, wide) if c == 3 else wide)
        return out


def _one(form):
    """1.0 as alpha of a plain format."""
    if form in FLOATS:
        return HALF_ONE
    return SIGNED_ONE if form in SIGNED else ONE


def _shared(m, texel, channel, name):
    """A mantissa with the exponent of its texel as a half: it counts units of 2^(exponent - 24)."""
    exponent = texel[27:32]
    mantissa = texel[channel.first : channel.first + channel.bits]
    zeros = named(m, leading_zeros(mantissa), f"{name}_zeros")
    fraction = (mantissa << zeros)[: channel.bits - 1] << 2
    number = Cat(fraction[:10], (exponent - zeros - 1)[:5])
    # A half's least unit is 2^-24, too.
    denormal = (mantissa << exponent)[:10]
    is_normal = mantissa.any() & (exponent > zeros + 1)
    return named(m, Mux(is_normal, number, denormal), name)


def _channel(texel, channel, lacking):
    """A channel of a plain texel as its unit has it."""
    if channel is None:
        return Const(lacking, 16)
    bits = texel[channel.first : channel.first + channel.bits]
    if channel.raw:
        return Cat(Const(0, channel.zeros), bits)
    return bits.replicate(UNIT[channel.bits] // channel.bits)
