# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the output merger: factors, operations, masks, formats, what is refused, ends."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.output.formats import colour_format
from fixfunc.models.output.output_merger import INTEGERS
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.merger.output_merger import OutputMergerParams
from fixfunc.spec.state import SECOND_SOURCES, BlendFactor, BlendOp, LogicOp
from fixfunc.tb.coverage.bins import Batch, Seen, cross, equal, flag, of
from fixfunc.tb.output.output_merger import beats_of, every_state


def directed(params: OutputMergerParams) -> list[Batch]:
    """Every pair of factors of every format, and what is refused."""
    rng = np.random.default_rng(1)
    return [Batch(beats_of(rng, every_state(params), params))]


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
