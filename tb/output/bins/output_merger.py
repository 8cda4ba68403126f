# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the output merger: factors, operations, masks, formats, what is refused, ends."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.output.formats import colour_format
from fixfunc.models.output.output_merger import INTEGERS
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.merger.output_merger import OutputMergerParams
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import SECOND_SOURCES, BlendFactor, BlendOp, LogicOp
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag, of
from fixfunc.tb.output.output_merger import COLOURS, beats_of, every_state

SUM = {  # of products
    "blend_enable": 1,
    "write_mask": 15,
    "blend_op": BlendOp.ADD,
    "blend_op_alpha": BlendOp.ADD,
}
# Factors of colours, and of alpha.
ZERO = BlendFactor.ZERO, BlendFactor.ZERO
ONE = BlendFactor.ONE, BlendFactor.ONE
SECOND = BlendFactor.SRC1_COLOR, BlendFactor.SRC1_ALPHA
ONE_LESS_SOURCE = BlendFactor.INV_SRC_COLOR, BlendFactor.INV_SRC_ALPHA


def directed(params: OutputMergerParams) -> list[Batch]:
    """Every pair of factors of every format, and what is refused; ends of numbers."""
    rng = np.random.default_rng(1)
    ends = [
        *_least_values(params),
        *_widest_rest(),
        *_one_less_powers_of_two(),
        *_below_the_least_normal_number(),
        *_nearly_cancelled(),
    ]
    return [
        Batch(beats_of(rng, every_state(params), params)),
        Batch(_beats(ends, params)),
    ]


def _beats(ends, params):
    """Beats of states, colours, second colours and texels, the same of every sample.

    Beats of zeros lie between them, so that every bit that is set is cleared, too.
    """
    states = [state for state, *_ in ends]
    rows = beats_of(np.random.default_rng(2), np.repeat(states, 2).tolist(), params)
    beats = codec.unpack(rows, params.merging, dtype(params.merging))
    for n in range(params.lanes):
        for k, prefix in enumerate(("", "second_"), 1):
            for name in COLOURS:
                beats[f"{prefix}{name}{n}"] = 0
                beats[f"{prefix}{name}{n}"][::2] = [end[k] for end in ends]
        beats[f"texel{n}"] = 0
        beats[f"texel{n}"][::2] = [end[3] for end in ends]
    return codec.pack(beats, params.merging)


def _least_values(params):
    """The least floats that a quantiser does not take for zero, all bits of their mantissas set."""
    least = 110 << 23 | (1 << 23) - 1
    return [({"format": form, "write_mask": 15}, least, least, 0) for form in params.formats]


def _widest_rest():
    """A sum of sRGB of which two divisions by 65535 leave 65536."""
    state = SUM | _factors(SECOND, ONE) | {"format": Format.B8G8R8A8_UNORM_SRGB}
    return [(state, _bits(65534 / 65535), _bits(32766 / 65535), (1 << 32) - 1)]


def _one_less_powers_of_two():
    """One less a power of two from 2^-32 to 2^48, as a factor of source and target."""
    state = SUM | _factors(ONE_LESS_SOURCE, ONE_LESS_SOURCE) | {"format": Format.R32_FLOAT}
    return [(state, _bits(2.0**n), 0, 0) for n in range(-32, 49)]


def _below_the_least_normal_number():
    """Half of a number that is nearly twice the least: of the target, and of the shader."""
    half, twice = _bits(0.5), 0x00FFFFFF
    texel = 14 << 6 | 14 << 17 | 14 << 27
    state = SUM | {"format": Format.R11G11B10_FLOAT}
    return [
        (state | factors, half, twice, texel)
        for factors in (_factors(ZERO, SECOND), _factors(SECOND, ZERO))
    ]


def _nearly_cancelled():
    """(1 + n) (1 - n) less one, n being 40 of 2^-23: of 48 bits of a product 12 are left."""
    ops = {"blend_op": BlendOp.SUBTRACT, "blend_op_alpha": BlendOp.SUBTRACT}
    state = SUM | _factors(SECOND, ONE) | ops | {"format": Format.R11G11B10_FLOAT}
    one = 15 << 6 | 15 << 17 | 15 << 27
    return [(state, _bits(1 + 40 / 2**23), _bits(1 - 40 / 2**23), one)]


def _factors(source, target):
    """Fields of a state."""
    names = "src_blend", "src_blend_alpha", "dest_blend", "dest_blend_alpha"
    return dict(zip(names, (*source, *target), strict=True))


def _bits(value):
    """Of a float32."""
    return int(np.float32(value).view(np.uint32))


def bins(seen: Seen, params: OutputMergerParams) -> dict[str, int]:
    """Counts of one batch."""
    beats = codec.unpack(seen.rows, params.merging, dtype(params.merging))
    out = codec.unpack(seen.out["o"], params.merged, dtype(params.merged))
    right = ~out["error"].astype(bool)
    logic = beats["logic_op_enable"].astype(bool)
    blends = beats["blend_enable"].astype(bool) & ~logic & right
    forms = equal(beats["format"], {form.name: int(form) for form in params.formats})
    kinds = {form.name: colour_format(form).kind for form in params.formats}
    normalised = {name: rows for name, rows in forms.items() if kinds[name] not in INTEGERS}
    sums = {
        name: ~np.isin(beats[name], (BlendOp.MIN, BlendOp.MAX))
        for name in ("blend_op", "blend_op_alpha")
    }
    factors = [factor for factor in BlendFactor if params.second or factor not in SECOND_SOURCES]
    red = beats["red0"]
    counts = (
        cross("format x beats", forms, flag(out["error"], "merged", "refused"))
        | cross(
            "blended: format x operation",
            normalised,
            of(BlendOp, beats["blend_op"]),
            where=blends,
        )
        | cross(
            "blended: factors of colours",
            _named("source", factors, beats["src_blend"]),
            _named("target", factors, beats["dest_blend"]),
            where=blends & sums["blend_op"],
        )
        | cross(
            "blended: factors of alpha",
            _named("source", factors, beats["src_blend_alpha"]),
            _named("target", factors, beats["dest_blend_alpha"]),
            where=blends & sums["blend_op_alpha"],
        )
        | cross(
            "blended: operations",
            of(BlendOp, beats["blend_op"]),
            of(BlendOp, beats["blend_op_alpha"]),
            where=blends,
        )
        | cross(
            "write mask",
            equal(beats["write_mask"], {f"{n:04b}": n for n in range(16)}),
            where=right,
        )
        | cross("red of the shader", _float_kinds(red), where=right)
    )
    if params.logic:
        counts |= cross("logic operation", of(LogicOp, beats["logic_op"]), where=right & logic)
    if params.dithers:
        counts |= cross(
            "dithers: threshold",
            equal(beats["threshold0"], {f"{n}": n for n in range(1, 32, 2)}),
            where=right & beats["dither"].astype(bool),
        )
    return counts


def _named(side, factors, values):
    return {f"{side} {factor.name}": values == factor for factor in factors}


def _float_kinds(bits):
    """Kinds of float32."""
    value = np.ascontiguousarray(bits, np.uint32).view(np.float32)
    size = np.abs(value)
    with np.errstate(invalid="ignore"):
        return {
            "no number": np.isnan(value),
            "infinite": np.isinf(value),
            "zero": value == 0,
            "denormal": (size > 0) & (size < 2.0**-126),
            "below zero": value < 0,
            "in the range": (value >= 2.0**-126) & (value < 1),
            "one": value == 1,
            "above one": value > 1,
        }
