# SPDX-License-Identifier: BSD-2-Clause
"""Colours of quads in the format of a plane: the golden rule, and hardware held to it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog.generate import generate
from fixfunc.models.output.formats import colour_format, encode
from fixfunc.models.output.output_merger import fraction_places, parted
from fixfunc.models.texture import block_decode
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.output.merger.formats import UNORM_AND_SRGB
from fixfunc.rtl.pixel.pixel_pipe import colour_pack
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS
from fixfunc.spec.dxgi import Format

SPECIAL = 0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 1, 0x007FFFFF, 0x80000001
SPECIAL += 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x477FE000, 0x477FFFFF, 0x38800000, 0x387FFFFF
NORMALISED = [form for form in COLOUR_FORMATS if fraction_places(colour_format(form))]


def name(form):
    return form.name


def operands(rng, count):
    """Channels: near halves of every width, within the range, integers near powers, any."""
    most = (1 << rng.choice([1, 2, 4, 5, 6, 7, 8, 10, 15, 16], (count, 4))) - 1
    halves = (np.floor(rng.random((count, 4)) * most) + rng.choice([0, 0.5], (count, 4))) / most
    halves = halves.astype(np.float32).view(np.uint32).astype(np.int64)
    halves += rng.integers(-1, 2, halves.shape)
    within = rng.integers(0, 0x3F800010, (count, 4))
    small = rng.integers(0x36000000, 0x3A000000, (count, 4))
    powers = (1 << rng.integers(0, 33, (count, 4))) + rng.integers(-2, 3, (count, 4))
    anything = rng.integers(0, 1 << 32, (count, 4))
    special = rng.choice(SPECIAL, (count, 4))
    kinds = np.stack([halves, within, small, powers, anything, special])
    kind = rng.choice(6, count, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    out = kinds[kind, np.arange(count)] & (1 << 32) - 1
    sign = rng.random((count, 4)) < 0.3
    return np.where(sign & (kind[:, None] < 3), out ^ 1 << 31, out)


@pytest.mark.plan("pixel-pipe-14")
@pytest.mark.parametrize("form", COLOUR_FORMATS, ids=name)
def test_colours_are_those_that_a_target_stores(form):
    """By float64; integers have no fractions, and floats the shader's alpha in their place."""
    bits = operands(np.random.default_rng(form), 3000).astype(np.uint32)
    packed, fractions = parted(bits, form)
    kind = colour_format(form)
    stored = np.zeros((len(bits), 4), np.uint8)
    made = encode(bits if kind.kind in ("UINT", "SINT") else bits.view(np.float32), form)
    stored[:, : made.shape[1]] = made
    own = sum((1 << c.bits) - 1 << c.low for c in kind.layout.channels)
    assert (packed & own == stored.view("<u4")[:, 0]).all()
    assert (len(np.unique(fractions)) > 1000) == (form in NORMALISED or kind.kind == "FLOAT")
    assert kind.kind != "FLOAT" or (fractions == bits[:, 3]).all()


@pytest.mark.plan("pixel-pipe-14")
@pytest.mark.parametrize("form", [f for f in NORMALISED if "SRGB" in f.name], ids=name)
def test_fractions_of_srgb_are_linear_light(form):
    """By rationals: the light of a byte and its fraction are those of the float, of 16 bits."""
    bits = operands(np.random.default_rng(form), 3000).astype(np.uint32)
    packed, fractions = parted(bits, form)
    values = np.nan_to_num(bits.view(np.float32), nan=0.0).clip(0, 1)
    cut = 0
    for channel in colour_format(form).layout.channels:
        n = channel.register
        for value, word, kept in zip(
            values[:, n].tolist(), packed.tolist(), _field(fractions, 8 * n, 8, True), strict=True
        ):
            byte = word >> channel.low & 255
            steep = 4 if n < 3 and byte >= 128 else 1
            light = (
                block_decode.linear(np.full((1, 4), byte, np.uint8))[0, n] if n < 3 else 257 * byte
            )
            exact = int(Fraction(value) * 65535 + Fraction(1, 2))
            lost = exact - int(light) - steep * int(kept)
            if kept in (-128, 127):
                cut += lost != 0
                assert abs(lost) < 16
            else:
                assert 0 <= lost < steep
    assert cut


@pytest.mark.plan("pixel-pipe-14")
@pytest.mark.parametrize("form", [f for f in NORMALISED if "SRGB" not in f.name], ids=name)
def test_fractions_are_what_is_missing(form):
    """By rationals: integer and fraction are at most a step from the float, towards zero."""
    bits = operands(np.random.default_rng(form), 300).astype(np.uint32)
    packed, fractions = parted(bits, form)
    kind = colour_format(form)
    low = 0 if kind.kind == "UNORM" else -1
    values = np.nan_to_num(bits.astype(np.uint32).view(np.float32), nan=0).clip(low, 1)
    for channel in kind.layout.channels:
        n = channel.register
        start, places = fraction_places(kind)[n]
        whole = _field(packed, channel.low, channel.bits, low < 0)
        fraction = _field(fractions, start, places, True)
        for value, integer, rest in zip(values[:, n].tolist(), whole, fraction, strict=True):
            exact = Fraction(value) * int(kind.most[n])
            found = int(integer) + Fraction(int(rest), 1 << places)
            # Towards zero, but where a half below a negative integer is more than n bits hold.
            assert abs(found) <= abs(exact) or (rest == (1 << places - 1) - 1 and exact < 0)
            assert abs(exact - found) <= Fraction(1, 1 << places)


def _field(words, low, bits, signed):
    field = words.astype(np.int64) >> low & (1 << bits) - 1
    return field - (field >> bits - 1 << bits) * signed


class OfFormats(wiring.Component):
    """A pixel's pack, which is told the number of a format."""

    def __init__(self, formats):
        self._formats = colour_pack.pack_formats(formats)
        self._pack = colour_pack.PixelPack(self._formats, floats=True)
        self.latency = self._pack.latency
        super().__init__({"i": In(128 + 7), "o": Out(64)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.pack = pack = self._pack
        m.d.comb += [pack.i.eq(self.i[:128]), self.o.eq(Cat(pack.o, pack.fraction))]
        if hasattr(pack, "control"):
            control = colour_pack.control_of(self._formats, self.i[128:])
            m.d.comb += pack.control.eq(control)
        return m


@pytest.mark.plan("pixel-pipe-14")
@pytest.mark.parametrize(
    "formats",
    [BASE_FORMATS, UNORM_AND_SRGB, COLOUR_FORMATS, (BASE_FORMATS[0], Format.R11G11B10_FLOAT)],
    ids=len,
)
def test_the_hardware_packs_as_the_golden_rule(formats):
    """Formats follow one another."""
    rng = np.random.default_rng(len(formats))
    count = 1500 * len(formats) + 3000
    bits = operands(rng, count)
    form = rng.integers(0, len(formats), count)
    wanted = np.zeros((count, 2), np.uint32)
    for n, its in enumerate(formats):
        wanted[form == n] = np.stack(parted(bits[form == n].astype(np.uint32), its), 1)
    rows = np.zeros((count, 3), np.uint64)
    for n, k in product(range(2), range(2)):
        rows[:, n] |= bits[:, 2 * n + k].astype(np.uint64) << np.uint64(32 * k)
    rows[:, 2] = np.array(formats)[form]
    unit = OfFormats(formats)
    pipeline = StallablePipeline(unit, unit.latency)
    stem = f"colour_pack_{len(formats)}_{int(formats[-1])}"
    run = Volume(pipeline, stem, generate(pipeline, stem)).run({"i": rows}, count)
    found = run.outputs["o"].view(np.uint32).reshape(count, 2)
    differ = np.flatnonzero((found != wanted).any(1))
    assert not len(differ), _first(differ, bits, formats, form, found, wanted)


def _first(differ, bits, formats, form, found, wanted):
    n = differ[0]
    its = formats[form[n]].name
    return f"{len(differ)}: {its} {bits[n]} is {found[n]}, not {wanted[n]}"
