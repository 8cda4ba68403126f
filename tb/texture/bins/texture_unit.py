# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the texture unit: operations by grids, samples, comparisons, layers, offsets, address
modes, status, pixels that read.
"""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import carried, dtype
from fixfunc.models.texture.level_of_detail import levels_of_quads
from fixfunc.models.texture.texture_unit import grids_of
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.level_of_detail import ANISOTROPY, LOD_QUAD, LOD_STATE
from fixfunc.spec.textures.unit import COMPARED, SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, ranges

CONFIG = "tiny"
COUNT = 4000


def layers(bits: np.ndarray, last: np.ndarray) -> dict[str, np.ndarray]:
    """An axis of layers of arrays."""
    value = np.ascontiguousarray(bits, np.uint32).view(np.float32)
    with np.errstate(invalid="ignore"):
        half = np.abs(np.fmod(value, 1)) == 0.5
        return {
            "of no array": last == 0,
            "below 0": (last > 0) & (value < 0),
            "beyond the last": (last > 0) & (value > last),
            "a half": (last > 0) & half & (value > 0) & (value < last),
            "no number": (last > 0) & np.isnan(value),
        }


def bins(seen: Seen, _: TextureUnitParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, SAMPLE_STATE, TEXTURE_QUAD)
    out = codec.unpack(seen.out["o"], TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    lods = levels_of_quads(carried(states, LOD_STATE), carried(quads, LOD_QUAD), state_of)
    number, grids = grids_of(states[state_of], quads, lods)
    samples = np.max([grids.taps[f"count{pixel}"] for pixel in range(4)], 0)
    samples = np.maximum.reduceat(samples, np.flatnonzero(np.diff(number, prepend=-1)))
    state = states[state_of]
    op = of(FilterOp, state["op"])
    second = flag(np.bincount(number) > samples, "one a sample", "two of some")
    some = {"none": (0, 0), "one": (1, 1), "more": (2, 512)}
    live = np.array([int(mask).bit_count() for mask in quads["live"]])
    found = cross("operation", op)
    found |= cross("grids", second, where=state["op"] != FilterOp.GATHER)
    found |= cross("samples", {str(n): samples == n for n in range(1, ANISOTROPY + 1)})
    most = {"none": (0, 1), "some": (2, 15), "16": (16, 16), "beyond": (17, 31)}
    found |= cross("anisotropy", ranges(state["anisotropy"], most))
    found |= cross("status", of(CacheStatus, out["status"]))
    compares = (state["compares"] == 1) & np.isin(state["format"], COMPARED)
    forms = {form.name: state["format"] == form for form in COMPARED}
    found |= cross("comparison", of(Compare, state["function"]), forms, where=compares)
    found |= cross("layer", layers(quads["layer0"], state["last_layer"]))
    for axis in "uv":
        moves = flag(state[f"offset_{axis}"] != 0, "none", "some")
        found |= cross(f"offset of {axis}", moves)
        found |= cross(f"mode of {axis}", of(Address, state[f"mode_{axis}"]))
    borders = np.bincount(number, grids.borders.any(1)) > 0
    found |= cross("border", flag(borders, "inside", "some of the border"))
    found |= cross("misses", ranges(out["misses"], some))
    found |= cross(
        "pixels that read", ranges(live, {"none": (0, 0), "some": (1, 3), "all": (4, 4)})
    )
    again = np.append(False, state_of[1:] == state_of[:-1])
    return found | cross("quad", flag(again, "first of its state", "behind another"))
