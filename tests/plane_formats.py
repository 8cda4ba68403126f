# SPDX-License-Identifier: BSD-2-Clause
"""Formats of colour planes, as tests know them: channels, what is blended, what is refused."""

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np

from fixfunc.models.state import draw_state
from fixfunc.models.texture.block_decode import linear
from fixfunc.spec.colours import COLOUR_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp
from tests.oracles.naive_frame.formats import byte_of_light, light
from tests.output.test_colour_write import combinations

# Bits of red, green, blue and alpha, lowest first: typed here.
PLACES = {
    "R8G8B8A8": ((0, 8), (8, 8), (16, 8), (24, 8)),
    "B8G8R8A8": ((16, 8), (8, 8), (0, 8), (24, 8)),
    "B8G8R8X8": ((16, 8), (8, 8), (0, 8), None),
    "R10G10B10A2": ((0, 10), (10, 10), (20, 10), (30, 2)),
    "R11G11B10": ((0, 11), (11, 11), (22, 10), None),
    "R16G16": ((0, 16), (16, 16), None, None),
    "R32": ((0, 32), None, None, None),
    "R8G8": ((0, 8), (8, 8), None, None),
    "R16": ((0, 16), None, None, None),
    "R8": ((0, 8), None, None, None),
    "B5G6R5": ((11, 5), (5, 6), (0, 5), None),
    "B5G5R5A1": ((10, 5), (5, 5), (0, 5), (15, 1)),
    "B4G4R4A4": ((8, 4), (4, 4), (0, 4), (12, 4)),
}
# Where a shader's alpha lies that the format does not store.
SHADER_ALPHA = {
    "B8G8R8X8": (24, 8),
    "R8G8": (16, 8),
    "R16": (16, 16),
    "R8": (8, 8),
    "B5G6R5": (16, 6),
}
WITHOUT_ALPHA = {Format.R16G16_UNORM, Format.R16G16_SNORM}
BLENDED = WITHOUT_ALPHA | {
    Format.R8G8B8A8_UNORM,
    Format.B8G8R8A8_UNORM,
    Format.B8G8R8X8_UNORM,
    Format.R8G8B8A8_UNORM_SRGB,
    Format.B8G8R8A8_UNORM_SRGB,
    Format.R10G10B10A2_UNORM,
    Format.R8G8B8A8_SNORM,
    Format.R8G8_UNORM,
    Format.R8G8_SNORM,
    Format.R16_UNORM,
    Format.R16_SNORM,
    Format.R8_UNORM,
    Format.R8_SNORM,
    Format.B5G6R5_UNORM,
    Format.B5G5R5A1_UNORM,
    Format.B4G4R4A4_UNORM,
}
COMBINED = {
    Format.R8G8B8A8_UNORM,
    Format.B8G8R8A8_UNORM,
    Format.B8G8R8X8_UNORM,
    Format.R10G10B10A2_UNORM,
    Format.R16G16_UNORM,
    Format.R8G8B8A8_UINT,
    Format.R10G10B10A2_UINT,
    Format.R16G16_UINT,
    Format.R32_UINT,
    Format.R8G8_UNORM,
    Format.R8G8_UINT,
    Format.R16_UNORM,
    Format.R16_UINT,
    Format.R8_UNORM,
    Format.R8_UINT,
    Format.B5G6R5_UNORM,
    Format.B5G5R5A1_UNORM,
    Format.B4G4R4A4_UNORM,
}
# Formats of 64 bits, and what each of the two planes of such a target is.
HALVES = {
    Format.R16G16B16A16_FLOAT: Format.R16G16_FLOAT,
    Format.R16G16B16A16_UNORM: Format.R16G16_UNORM,
    Format.R16G16B16A16_SNORM: Format.R16G16_SNORM,
    Format.R16G16B16A16_UINT: Format.R16G16_UINT,
    Format.R16G16B16A16_SINT: Format.R16G16_SINT,
    Format.R32G32_FLOAT: Format.R32_FLOAT,
    Format.R32G32_UINT: Format.R32_UINT,
    Format.R32G32_SINT: Format.R32_SINT,
}
SECOND = (
    BlendFactor.SRC1_COLOR,
    BlendFactor.INV_SRC1_COLOR,
    BlendFactor.SRC1_ALPHA,
    BlendFactor.INV_SRC1_ALPHA,
)
FIRST = [factor for factor in BlendFactor if factor not in SECOND]
CONSTANT = BlendFactor.BLEND_FACTOR, BlendFactor.INV_BLEND_FACTOR
OF_SHADER_ALPHA = {
    BlendFactor.SRC_ALPHA,
    BlendFactor.INV_SRC_ALPHA,
    BlendFactor.SRC_ALPHA_SAT,
    BlendFactor.SRC1_ALPHA,
    BlendFactor.INV_SRC1_ALPHA,
}


def places(form):
    """Of each channel its lowest bit and its bits; None of one that the format lacks."""
    return PLACES[form.name.partition("_")[0]]


def given_places(form):
    """The same of what a shader gives, its alpha with them."""
    *others, alpha = places(form)
    return (*others, alpha or SHADER_ALPHA.get(form.name.partition("_")[0]))


def kind(form):
    return form.name.rpartition("_")[2]


def channel(word, place):
    """Bits of a channel of texels, or of one."""
    return word >> place[0] & (1 << place[1]) - 1


def factors_of(form, known=FIRST):
    """Factors of colours that the format has."""
    return [f for f in known if form not in WITHOUT_ALPHA or f not in OF_SHADER_ALPHA]


def of_shader_alpha(fields):
    """Some factor of colours is the shader's alpha."""
    return any(fields[name] in OF_SHADER_ALPHA for name in ("src_blend", "dest_blend"))


def legal(form):
    """Fields of states that the format has: nothing, every pair of factors and every operation."""
    yield {}
    known = {"src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.DEST_COLOR}
    for combination in combinations():
        fields = known | combination if form in WITHOUT_ALPHA else combination
        blends = fields.get("blend_enable", 0)
        logic = fields.get("logic_op_enable", 0)
        blends &= form in BLENDED or not logic  # a logic operation wins anyway
        if blends and form in WITHOUT_ALPHA and of_shader_alpha(fields):
            continue
        if (form in BLENDED or not blends) and (form in COMBINED or not logic):
            yield fields | {"blend_enable": blends}


def mixed_with(chosen, form, known=FIRST):
    """Fields of states of each pair of a format's factors of which one is chosen.

    Alpha's have all pairs in turn, and so have operations.
    """
    of_colours = [
        pair for pair in product(factors_of(form, known), repeat=2) if {*pair} & {*chosen}
    ]
    of_alpha = [pair for pair in product(known, repeat=2) if {*pair} & {*chosen}]
    for n, pair in enumerate(of_colours):
        own = dict(zip(("src_blend", "dest_blend"), pair, strict=True))
        alpha = of_alpha[7 * n % len(of_alpha)]
        own |= dict(zip(("src_blend_alpha", "dest_blend_alpha"), alpha, strict=True))
        yield {"blend_enable": 1, "blend_op": 1 + n % 3, "blend_op_alpha": 1 + n % 5} | own


def words(rng, form, count):
    """What a shader gives: any, and channels at the ends of their range; floats are finite."""
    out = np.zeros(count, np.int64)
    for place in given_places(form):
        if place is None:
            continue
        low, bits = place
        half = 1 << bits - 1
        ends = [0, 1, half - 1, half, half + 1, 2 * half - 2, 2 * half - 1]
        some = rng.integers(0, 2 * half, count)
        some = np.where(rng.random(count) < 0.4, rng.choice(ends, count), some)
        if kind(form) == "FLOAT":
            mantissa, sign = {32: (23, 1), 16: (10, 1), 11: (6, 0), 10: (5, 0)}[bits]
            exponent = (some >> mantissa) & (1 << bits - mantissa - sign) - 1
            finite = exponent != (1 << bits - mantissa - sign) - 1
            some = np.where(finite, some, some & (1 << mantissa) - 1)
        out |= some << low
    return out.astype(np.uint32)


def small_float(bits, width):
    """Floats of 16, 11 or 10 bits, finite, as float32: from their definition."""
    mantissa = {16: 10, 11: 6, 10: 5}[width]
    exponent = bits >> mantissa & 31
    fraction = (bits & (1 << mantissa) - 1) / (1 << mantissa)
    size = np.where(exponent, (1 + fraction) * 2.0 ** (exponent - 15), fraction * 2.0**-14)
    return np.where(bits >> 15, -size, size).astype(np.float32)


def colours(word, form):
    """What a shader gave before it was packed: float32 or integers, shape (n, 4)."""
    whole = kind(form) in ("UINT", "SINT")
    out = np.zeros((len(word), 4), np.uint32 if whole else np.float32)
    out[:, 3] = 1
    for n, place in enumerate(given_places(form)):
        if place is None:
            continue
        bits = channel(word.astype(np.int64), place)
        width = place[1]
        signed = np.where(bits >> width - 1, bits - (1 << width), bits)
        most = (1 << width - 1) - 1
        if kind(form) == "SRGB" and n < 3:
            light = linear(np.repeat(bits.astype(np.uint8)[:, None], 4, 1))[:, 0]
            out[:, n] = light / np.float32(65535)
        elif kind(form) in ("UNORM", "SRGB"):
            out[:, n] = bits / np.float32((1 << width) - 1)
        elif kind(form) == "SNORM":
            out[:, n] = np.maximum(signed, -most) / np.float32(most)
        elif kind(form) == "FLOAT":
            wide = bits.astype(np.uint32).view(np.float32)
            out[:, n] = wide if width == 32 else small_float(bits, width)
        else:
            out[:, n] = (bits if kind(form) == "UINT" else signed).astype(np.uint32)
    return out


def canonical(word, form):
    """The same texels, of two numbers that are -1.0 in SNORM always one."""
    out = word.astype(np.int64)
    for place in places(form):
        if place and kind(form) == "SNORM":
            least = channel(out, place) == 1 << place[1] - 1
            out += least.astype(np.int64) << place[0]
    return out.astype(np.uint32)


def exact_factor(factor, mine, alpha, old_mine, old_alpha, is_alpha):
    """A factor as a rational."""
    name = BlendFactor(factor).name
    if name.startswith("INV_"):
        inner = BlendFactor[name[4:]]
        return 1 - exact_factor(inner, mine, alpha, old_mine, old_alpha, is_alpha)
    return {
        "ZERO": Fraction(0),
        "ONE": Fraction(1),
        "SRC_COLOR": mine,
        "SRC_ALPHA": alpha,
        "DEST_COLOR": old_mine,
        "DEST_ALPHA": old_alpha,
        "BLEND_FACTOR": Fraction(1),  # unless it is set
        "SRC_ALPHA_SAT": Fraction(1) if is_alpha else min(alpha, 1 - old_alpha),
    }[name]


def exact(new, old, form, state):
    """A texel, blended by rationals: the nearest, ties up; of sRGB first of 16 linear bits."""

    def value(word, place):
        if place is None:
            return None
        bits = channel(word, place)
        if kind(form) == "SRGB":
            return Fraction(bits, 255) if place[0] == 24 else Fraction(light()[bits], 65535)
        if kind(form) == "UNORM":
            return Fraction(bits, (1 << place[1]) - 1)
        most = (1 << place[1] - 1) - 1
        signed = bits - (bits >> place[1] - 1 << place[1])
        return Fraction(max(signed, -most), most)

    ours = [value(new, place) for place in given_places(form)]
    theirs = [value(old, place) for place in places(form)]
    alphas = [Fraction(1) if channels[3] is None else channels[3] for channels in (ours, theirs)]
    out = 0
    for n, place in enumerate(places(form)):
        if place is None:
            continue
        low, bits = place
        if not state["colour_write"] >> n & 1:
            out |= channel(old, place) << low
            continue
        suffix = "_alpha" if n == 3 else ""
        op = BlendOp(int(state[f"blend_op{suffix}"]))
        known = ours[n], alphas[0], theirs[n], alphas[1], n == 3
        first = ours[n] * exact_factor(int(state[f"src_blend{suffix}"]), *known)
        second = theirs[n] * exact_factor(int(state[f"dest_blend{suffix}"]), *known)
        mixed = {
            BlendOp.ADD: first + second,
            BlendOp.SUBTRACT: first - second,
            BlendOp.REV_SUBTRACT: second - first,
            BlendOp.MIN: min(ours[n], theirs[n]),
            BlendOp.MAX: max(ours[n], theirs[n]),
        }[op]
        most = (1 << bits - (kind(form) == "SNORM")) - 1
        least = -most if kind(form) == "SNORM" else 0
        if kind(form) == "SRGB":
            most = 65535
        number = min(max(floor(mixed * most + Fraction(1, 2)), least), most)
        if kind(form) == "SRGB":
            number = (number + 128) // 257 if n == 3 else byte_of_light(number)
        out |= (number & (1 << bits) - 1) << low
    return out


def refused():
    """Fields of states that planes of all formats refuse, each for a reason of its own."""
    for number in (0, 24 - 1, 45, 127):
        yield f"no format of colours, {number}", {"colour_format": number}
    yield "of 64 bits", {"colour_format": Format.R16G16B16A16_UNORM}
    yield "of 96 bits", {"colour_format": Format.R32G32B32_FLOAT}
    for form in WITHOUT_ALPHA:
        for name in ("src_blend", "dest_blend"):
            for factor in OF_SHADER_ALPHA:
                fields = {"src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.ONE}
                fields |= {"colour_format": form, "blend_enable": 1, name: factor}
                yield f"{name} {factor.name} of {form.name}", fields
    for form in COLOUR_FORMATS:
        if form not in BLENDED:
            yield f"blending of {form.name}", {"colour_format": form, "blend_enable": 1}
        if form not in COMBINED:
            yield f"logic of {form.name}", {"colour_format": form, "logic_op_enable": 1}
        both = {"colour_format": form, "blend_enable": 1, "logic_op_enable": 1}
        if form in BLENDED ^ COMBINED:
            yield f"both of {form.name}", both
    blended = {"blend_enable": 1, "src_blend": BlendFactor.ONE, "dest_blend": BlendFactor.ZERO}
    names = "src_blend", "dest_blend", "src_blend_alpha", "dest_blend_alpha"
    for name, *pair in zip(names, SECOND, reversed(SECOND), strict=True):
        for factor in pair:
            yield f"{name} {factor.name}", blended | {name: factor}
    for number in (0, 13, 20):
        yield f"no factor, {number}", blended | {"src_blend": number}


REFUSED = dict(refused())


def refused_by(second, floats):
    """The same of planes that have second colours and blend floats, or do not."""
    known = [factor.name for factor in SECOND if second]
    known += [f"blending of {form.name}" for form in COLOUR_FORMATS if floats and is_float(form)]
    return [fields for name, fields in REFUSED.items() if not name.endswith(tuple(known))]


def is_float(form):
    return form.name.endswith("FLOAT")


def unchecked(size, **fields):
    """A draw state that may break rules."""
    state = draw_state(*size)
    for name, value in fields.items():
        state[name] = value
    return state
