# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the texture unit: operations by grids, samples, comparisons, layers, cubes, offsets,
address modes, status, pixels that read.
"""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.texture_cache import forms_of
from fixfunc.models.texture.texture_unit import grids_of, levels_on_faces
from fixfunc.models.texture.unit.cube_grids import parts_of
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.level_of_detail import ANISOTROPY
from fixfunc.spec.textures.unit import COMPARED, TEXTURED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag, of, ranges

CONFIG = "tiny"
COUNT = 4000
FACES_OF_GRID = {"one": (1, 1), "two": (2, 2), "three": (3, 3)}


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


def _cubes(state, grids, faces):
    """Of grids of cubes: faces, what they reach, corners that are filled."""
    is_cube = state["cube"] == 1
    parts = parts_of(grids.to_cache, grids.outside, faces, grids.extent, is_cube)
    reaches = np.bincount(parts.grid)
    found = cross("faces that a grid reads", ranges(reaches[is_cube], FACES_OF_GRID))
    for pixel in range(4):
        face = {str(n): faces[is_cube, pixel] == n for n in range(6)}
        found |= cross(f"face of pixel {pixel}", face)
        several = flag(grids.taps[f"count{pixel}"] > 1, "one sample", "several")
        lacks = parts.missing[:, pixel]
        corners = {f"lacks {n}": lacks == n for n in range(4)}
        found |= cross(f"corner of pixel {pixel}", corners, several)
    return found


def bins(seen: Seen, params: TextureUnitParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, params.state, params.quad)
    out = codec.unpack(seen.out["o"], TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    quads, lods, faces = levels_on_faces(states, quads, state_of, True)
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
    compares = (state["compares"] == 1) & np.isin(forms_of(state), COMPARED)
    forms = {form.name: forms_of(state) == form for form in COMPARED}
    found |= cross("comparison", of(Compare, state["function"]), forms, where=compares)
    found |= _cubes(state[number], grids, faces[number])
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
