# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the interpolator: ways, places, corners, and how far from a triangle its quads lie."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.pixel.interpolator.interpolator import InterpolatorParams
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, Where, attribute_quad
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag, of, samples_of
from fixfunc.tb.pixel.interpolator import beats_of

CONFIG = "tiny"
COUNT = 12_000


def bins(seen: Seen, params: InterpolatorParams) -> dict[str, int]:
    """Counts of one batch."""
    beats = beats_of(seen.rows)
    table = attribute_quad(params.components)
    out = codec.unpack(seen.out["o"], table, dtype(table))
    counts = np.bincount(beats.attribute_of, minlength=len(beats.corners))
    found = cross(
        "triangle",
        flag(beats.corners["cut"], "whole", "cut"),
        equal(
            beats.corners["linear"] + 2 * beats.corners["perspective"],
            {"linear": 1, "perspective": 2, "both": 3},
        ),
        equal(counts, {f"{n} attributes": n for n in range(params.attributes + 1)}),
    )
    quads = np.bincount(beats.quad_of, minlength=len(beats.corners))
    found |= cross("quads of a triangle", {"none": quads == 0, "some": quads > 0})
    found |= cross(
        "inner coverage",
        {
            "of no pixel": out["inner"] == 0,
            "of some": out["inner"] % 15 > 0,
            "of all": out["inner"] == 15,
        },
    )
    found |= _pairs(beats)
    found |= _corners(beats)
    return found | _values(out)


def _pairs(beats):
    """Every attribute with the first quad of its triangle."""
    first = np.searchsorted(beats.quad_of, beats.attribute_of)
    here = np.minimum(first, len(beats.quads) - 1)
    has_quad = beats.quad_of[here] == beats.attribute_of
    quad = beats.quads[here][has_quad]
    attribute = beats.attributes[has_quad]
    full = beats.corners["sample_mask"][beats.attribute_of[has_quad]] == 255
    return cross(
        "attribute x place x samples",
        of(How, attribute["how"]),
        of(Where, attribute["where"]),
        samples_of(quad["samples"]),
    ) | cross(
        "centroids",
        flag(full, "mask in part", "mask full"),
        _pixel(quad),
        where=attribute["where"] == Where.CENTROID,
    )


def _pixel(quad):
    """What the first pixel has of its samples."""
    covered = quad["covered"] & 255
    whole = (1 << (1 << quad["samples"].astype(np.int64))) - 1
    return {
        "nothing covered": covered == 0,
        "a part": (covered != 0) & (covered != whole),
        "all": covered == whole,
    }


def _corners(beats):
    """Exponents of an attribute's corners."""
    axes = {}
    for k in range(3):
        bits = np.concatenate([beats.attributes[f"{name}{k}"] for name in COMPONENTS])
        exponent = bits >> 23 & 255
        axes[k] = equal(exponent, {"zero": 0, "not finite": 255}) | {
            "normal": (exponent > 0) & (exponent < 255)
        }
    return cross("corners of an attribute", *axes.values())


def _values(out):
    """Results."""
    bits = out["p0_0"].astype(np.int64)
    exponent = bits >> 23 & 255
    fraction = bits & (1 << 23) - 1
    return cross(
        "result",
        {
            "zero": exponent == 0,
            "normal": (exponent > 0) & (exponent < 255),
            "infinite": (exponent == 255) & (fraction == 0),
            "no number": (exponent == 255) & (fraction > 0),
        },
    )
