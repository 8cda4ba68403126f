# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture import addresses as golden
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.filtering.filtering import Reader
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, sample
from fixfunc.rtl.texture.addresses.addresses import CONFIGS, AddressesParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.addresses import ADDRESS_QUAD, ADDRESS_STATE, ADDRESSED_QUAD
from fixfunc.tb.texture import addresses as bench
from tests import volume
from tests.bench import check_bench
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = STEM = "addresses"


def beats(count, seed=0):
    """States, quads, and the state of each."""
    rows = bench.requests(np.random.default_rng(seed), count, CONFIGS["tiny"])
    is_quad = (rows[:, 0] & np.uint64(1)) == 1
    states = codec.unpack(rows[~is_quad], ADDRESS_STATE, dtype(ADDRESS_STATE))
    quads = codec.unpack(rows[is_quad], ADDRESS_QUAD, dtype(ADDRESS_QUAD))
    return states, quads, (np.cumsum(~is_quad) - 1)[is_quad]


def texel(place, size, mode):
    """Step by step to the texel that an address mode means, and whether it is the border."""
    outside = not 0 <= place < size
    if mode in (0, 1):
        turns = 0
        while not 0 <= place < size:
            place += size if place < 0 else -size
            turns += 1
        return (size - 1 - place if mode == 1 and turns % 2 else place), False
    if mode == 4 and place < 0:
        place = -1 - place
    return min(max(place, 0), size - 1), mode == 3 and outside


def naive(state, quad, pixel):
    """Fields of a pixel by name."""
    out = {"borders": 0, "reads": 0}
    smooth = bool(quad[f"smooth{pixel}"])
    sides = []
    for axis, place, size, names in (
        ("u", "x", "width", ("left", "right")),
        ("v", "y", "height", ("upper", "lower")),
    ):
        extent = max(int(state[size]) >> int(quad[f"level{pixel}"]), 1)
        at = int(quad[f"{place}{pixel}"]) - 128 * smooth
        first = at // 256 + int(state[f"offset_{axis}"])
        found = [texel(first + n, extent, int(state[f"mode_{axis}"])) for n in range(2)]
        out |= {name: number for name, (number, _) in zip(names, found, strict=True)}
        out[axis] = at % 256 if smooth else 0
        sides.append([is_border for _, is_border in found])
    for corner in range(4):
        right, lower = corner & 1, corner >> 1
        border = sides[0][right] or sides[1][lower]
        has_weight = (out["u"] or not right) and (out["v"] or not lower)
        out["borders"] |= border << corner
        out["reads"] |= bool((has_weight or state["gathers"]) and not border) << corner
    return out


@pytest.mark.plan("addresses-1")
def test_texels_are_those_found_step_by_step():
    states, quads, state_of = beats(2000)
    found = golden.address_quads(states, quads, state_of)
    for row, quad, which in zip(found, quads, state_of, strict=True):
        for pixel in range(4):
            wanted = naive(states[which], quad, pixel)
            assert {name: row[f"{name}{pixel}"] for name in wanted} == wanted


@pytest.mark.plan("addresses-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS, also=("default",)))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.qualify
@pytest.mark.plan("addresses-2")
def test_a_million_quads():
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 55_000, CONFIGS["default"])
        found += len(volume.check(STEM, "default", rows))
    assert found > 1_000_000


@pytest.mark.plan("addresses-4")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


def quads_of(reader, places, level, smooth):
    """Packed quads of coordinates, four pixels in order."""
    quads = np.zeros(len(places) // 4, dtype(ADDRESS_QUAD))
    quads["kind"] = 1
    for pixel in range(4):
        for axis, name in enumerate("xy"):
            quads[f"{name}{pixel}"] = reader.scaled(places[pixel::4, axis], axis, level)
        quads[f"level{pixel}"] = level
        quads[f"smooth{pixel}"] = smooth
    return codec.pack(quads, ADDRESS_QUAD)


@pytest.mark.plan("addresses-5")
@pytest.mark.parametrize("mode", range(5))
@pytest.mark.parametrize("size", [(1, 1), (3, 7), (13, 64), (100, 5)], ids=str)
@pytest.mark.parametrize("smooth", [False, True])
def test_texels_that_are_read_are_those_of_the_sampler(mode, size, smooth):
    """On two levels, with an offset."""
    rng = np.random.default_rng(mode)
    texture = noise(*size, levels=min(2, max(size).bit_length()))
    kind = "linear" if smooth else "point"
    sampler = Sampler(kind, kind, "point", address=(ADDRESSES[mode],) * 2)
    places = rng.uniform(-3, 4, (400, 2)).astype(np.float32)
    offset = (-8, 7)
    for level in range(len(texture.levels)):
        taps = Taps()
        sample(texture, sampler, places, lod=level, offset=offset, taps=taps)
        state = np.zeros(1, dtype(ADDRESS_STATE))
        state["width"], state["height"] = size
        state["mode_u"] = state["mode_v"] = mode
        state["offset_u"], state["offset_v"] = offset
        reader = Reader(texture, sampler, np.zeros(len(places), np.int64))
        rows = [codec.pack(state, ADDRESS_STATE, bench.BITS)]
        rows.append(quads_of(reader, places, level, smooth))
        out = codec.unpack(
            volume.check(STEM, "default", np.concatenate(rows)),
            ADDRESSED_QUAD,
            dtype(ADDRESSED_QUAD),
        )
        assert read(out) == wanted(taps)


def wanted(taps):
    """Numbers of samples with the texels that the sampler has read."""
    found = taps.arrays()
    return {*zip(*(found[name].tolist() for name in ("sample", "x", "y")), strict=True)}


def read(out):
    """Numbers of samples with the texels that they read."""
    found = set()
    for pixel in range(4):
        for corner in range(4):
            at = np.flatnonzero(out[f"reads{pixel}"] >> corner & 1)
            x = out[f"{('left', 'right')[corner & 1]}{pixel}"][at]
            y = out[f"{('upper', 'lower')[corner >> 1]}{pixel}"][at]
            found |= {*zip((4 * at + pixel).tolist(), x.tolist(), y.tolist(), strict=True)}
    return found


@pytest.mark.plan("addresses-6")
def test_parameters_and_modes_that_are_refused():
    with pytest.raises(InputError, match="extent must be 5 to 14, not 15"):
        AddressesParams(extent=15)
    states, quads, state_of = beats(100)
    states["mode_u"] = 6
    with pytest.raises(InputError, match="mode must be one of WRAP, MIRROR"):
        golden.address_quads(states, quads, state_of)
