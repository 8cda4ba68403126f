# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the filter: grids of texels of quads become filtered texels."""

import numpy as np

from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.lib import float32
from fixfunc.models.payload import dtype
from fixfunc.models.texture.filtering.reduction import ONE, Blend, Extreme, Mean, mean_of_three
from fixfunc.models.texture.texels import TexelFormat
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.filter import (
    CHANNELS,
    CORNERS,
    FILTERED_QUAD,
    GATHERED,
    FilterOp,
    Unit,
)

BITS = {  # of a unit, without its sign
    Unit.UNORM16: 16,
    Unit.UNORM12: 12,
    Unit.UNORM10: 10,
    Unit.SNORM15: 15,
    Unit.SNORM14: 14,
    Unit.HALF: 1,  # a half is what it is
    Unit.WORD: 1,  # and so is a word
}
SIGNED = Unit.SNORM15, Unit.SNORM14
REPEATED = {  # bits of a format -> the unit that repeats them
    "UNORM": {
        **dict.fromkeys((1, 2, 4, 8, 16), Unit.UNORM16),
        **dict.fromkeys((3, 6, 12), Unit.UNORM12),
        **dict.fromkeys((5, 10), Unit.UNORM10),
    },
    "SNORM": {7: Unit.SNORM14, 15: Unit.SNORM15},
}


def units(form: TexelFormat) -> list[Unit]:
    """How channels of a normalised format are stored.

    Floats, integers and channels of more than 16 bits raise ``InputError``.
    """
    if form.kind not in REPEATED:
        raise InputError("format to filter", "be UNORM or SNORM", form.kind)
    known = REPEATED[form.kind]
    bits = [int(one).bit_length() for one in form.unit]
    for n in bits:
        if n not in known:
            raise InputError("bits of a channel to filter", f"be one of {sorted(known)}", n)
    return [known[n] for n in bits]


def repeated(texels: np.ndarray, form: TexelFormat) -> np.ndarray:
    """Texels of a format as the filter takes them: int64, of the texels' shape."""
    ones = np.array([(1 << BITS[unit]) - 1 for unit in units(form)], np.int64)
    return texels.astype(np.int64) * (ones // form.unit.astype(np.int64))


def filter_quads(states: np.ndarray, beats: np.ndarray, state_of: np.ndarray) -> np.ndarray:
    """Filtered texels of quads.

    Parameters
    ----------
    states : structured ndarray, shape (s,)
        As :data:`fixfunc.spec.textures.filter.FILTER_STATE`.
    beats : structured ndarray, shape (n,)
        Grids of quads, as :data:`fixfunc.spec.textures.filter.FILTER_TAPS`: of each pixel one at
        least, and the first of them has weight.
    state_of : ndarray of intp, shape (n,)
        The state of each: one for all beats of a quad.

    Returns
    -------
    structured ndarray, shape (q,)
        As :data:`fixfunc.spec.textures.filter.FILTERED_QUAD`, one a quad whose end has come.
    """
    out = np.zeros(int(beats["end"].sum()), dtype(FILTERED_QUAD))
    if not len(out):
        return out
    ends = np.flatnonzero(beats["end"])
    beats = beats[: ends[-1] + 1]
    state = states[state_of[: len(beats)]]
    first = np.concatenate([[0], ends[:-1] + 1])
    unit = _units(state)
    ones = np.array([(1 << BITS[kind]) - 1 for kind in Unit])[unit].astype(np.float64)
    is_half = (state["unit_r"] == Unit.HALF) & (state["compares"] == 0)
    is_word = (state["unit_r"] == Unit.WORD) & (state["compares"] == 0)
    for pixel in range(4):
        missing = np.zeros((CORNERS, len(beats)), bool)
        texels = _texels(state, beats, unit, pixel)
        fractions = [beats[f"{axis}{pixel}"].astype(np.int64) for axis in "uv"]
        weight = beats[f"weight{pixel}"].astype(np.int64)
        count = beats[f"count{pixel}"][ends].astype(np.int64)
        found = _mean(texels, fractions, weight, first, ones[ends], count)
        if is_half.any():
            missing = (beats[f"missing{pixel}"] >> np.arange(CORNERS)[:, None] & 1) == 1
            missing &= is_half
            halves = _halves(state, beats, pixel, missing)
            # The texel of a gather is all of its grid.
            gathers = state["op"] == FilterOp.GATHER
            shares = [np.where(gathers, 0, share) for share in fractions]
            blend = _blended(halves, shares, weight, first, missing & ~gathers)
            found = np.where(is_half[ends, None], blend, found)
            texels = np.where(is_half[:, None], halves, texels)
        for op, function in ((FilterOp.MINIMUM, np.fmin), (FilterOp.MAXIMUM, np.fmax)):
            extreme = Extreme(function, ones[ends])
            chosen = (state["op"][ends] == op)[:, None]
            found = np.where(
                chosen,
                _extreme(extreme, function, texels, fractions, weight, first, missing),
                found,
            )
        bits = np.where(
            is_word[ends, None], _words(state, beats, pixel)[ends], found.view(np.uint32)
        )
        for n in range(len(CHANNELS)):
            out[f"c{pixel}_{n}"] = bits[:, n]
    return out


def _units(state):
    """Units of the channels that come out, shape (n, 4)."""
    unit = np.stack([state[f"unit_{name}"] for name in CHANNELS], 1).astype(np.intp)
    component = np.take_along_axis(unit, state["component"][:, None].astype(np.intp), 1)
    unit = np.where((state["op"] == FilterOp.GATHER)[:, None], component, unit)
    return np.where((state["compares"] == 1)[:, None], Unit.UNORM16, unit)


def _texels(state, beats, unit, pixel):
    """Texels of a pixel's grids, shape (corners, n, channels)."""
    raw = np.array(
        [
            [beats[f"t{pixel}_{corner}_{n}"] for n in range(len(CHANNELS))]
            for corner in range(CORNERS)
        ]
    ).transpose(0, 2, 1)
    stored = raw.astype(np.int64)
    gathers = state["op"] == FilterOp.GATHER
    component = state["component"].astype(np.intp)[None, :, None]
    gathered = np.take_along_axis(stored, component, 2)[list(GATHERED), :, 0].T[None]
    texels = np.where(gathers[None, :, None], gathered, stored)
    texels = np.where(np.isin(unit, SIGNED), (texels ^ 1 << 15) - (1 << 15), texels)
    passed = _passed(state, beats[f"reference{pixel}"].astype(np.int64), stored)
    true = np.where(
        gathers[None, :, None], passed[list(GATHERED)].T[None], passed[:, :, None]
    ) * np.int64((1 << 16) - 1)
    return np.where((state["compares"] == 1)[None, :, None], true, texels)


def _halves(state, beats, pixel, missing):
    """Texels of a pixel's grids that are halves: float32, shape (corners, n, channels).

    Those that a gather lacks are the mean of the others.
    """
    channels = range(len(CHANNELS))
    raw = [[beats[f"t{pixel}_{corner}_{n}"] for n in channels] for corner in range(CORNERS)]
    found = np.ascontiguousarray(np.array(raw, np.uint16).transpose(0, 2, 1)).view(np.float16)
    with np.errstate(invalid="ignore"):
        found = float32.flush(found.astype(np.float32))
    filled = np.where(missing[..., None], mean_of_three(found, missing), found)
    own = np.take_along_axis(filled, state["component"].astype(np.intp)[None, :, None], 2)
    gathers = (state["op"] == FilterOp.GATHER)[None, :, None]
    return np.where(gathers, own[list(GATHERED), :, 0].T[None], found)


def _words(state, beats, pixel):
    """Texels that are float32: bits, shape (n, channels). A gather's are as they lie.

    A point is its first texel [fs 7.18.16.3], of which a denormal may be flushed [fs 22.4.15].
    """
    halves = np.array(
        [
            [beats[f"t{pixel}_{corner}_{n}"] for n in range(len(CHANNELS))]
            for corner in range(CORNERS)
        ],
        np.uint32,
    )
    words = np.zeros((CORNERS, len(beats), len(CHANNELS)), np.uint32)
    words[..., 0] = halves[:, 0] | halves[:, 1] << 16
    words[..., 1] = np.where(state["unit_g"] == Unit.WORD, halves[:, 2] | halves[:, 3] << 16, 0)
    words[..., 3] = np.float32(1).view(np.uint32)
    component = state["component"].astype(np.intp)[None, :, None]
    gathered = np.take_along_axis(words, component, 2)[list(GATHERED), :, 0].T
    point = float32.flush(words[0].view(np.float32)).view(np.uint32)
    return np.where((state["op"] == FilterOp.GATHER)[:, None], gathered, point)


def _passed(state, reference, stored):
    """Whether references compare true with red of texels: bool, shape (corners, n)."""
    red = stored[..., 0] | stored[..., 1] << 16
    signed = np.isin(state["unit_r"], SIGNED)
    whole = [np.where(signed, (word ^ 1 << 31) - (1 << 31), word) for word in (reference, red)]
    floats = [float32.flush(word.astype(np.uint32).view(np.float32)) for word in (reference, red)]
    is_float = state["floats"] == 1
    found = np.zeros(red.shape, bool)
    for function in Compare:
        compare = COMPARE[function]
        chosen = state["function"] == function
        found |= chosen & np.where(is_float, compare(*floats), compare(*whole))
    return found


def _mean(texels, fractions, weight, first, ones, count):
    """The mean of a pixel's samples: float32, shape (q, channels)."""
    mean = Mean(ones, 2, lacks=False)
    grids = mean.grid(texels, fractions, np.zeros(texels.shape[:2], bool))
    return mean.finish(np.add.reduceat(grids * weight[:, None], first), count)


def _blended(texels, fractions, weight, first, missing):
    """Floats of a pixel from one to the next, sample by sample: float32, shape (q, channels).

    A grid of weight 256 is a sample. Two others are one, of two levels, the smaller level first.
    """
    blend = Blend()
    grids = blend.grid(texels, fractions, missing)
    coarse, total = (np.zeros((len(first), grids.shape[1]), np.float32) for _ in range(2))
    number = np.zeros(len(first), np.int64)
    begun = np.zeros(len(first), bool)
    end = np.append(first[1:], len(weight))
    for step in range(int((end - first).max())):
        quad = np.flatnonzero(first + step < end)
        beat = first[quad] + step
        own = weight[beat]
        whole = own == ONE
        second = (own > 0) & ~whole & begun[quad]
        fraction = np.where(second, ONE - own, 0)
        value = blend.levels(grids[beat], coarse[quad], fraction)
        for n in np.unique(number[quad]):
            chosen = (whole | second) & (number[quad] == n)
            total[quad[chosen]] = blend.samples(total[quad[chosen]], value[chosen], int(n))
        number[quad] += whole | second
        coarse[quad] = np.where((begun[quad] | whole)[:, None], coarse[quad], grids[beat])
        begun[quad] ^= (own > 0) & ~whole
    return total


def _extreme(extreme, function, texels, fractions, weight, first, missing):
    """The least or greatest of a pixel's texels that have weight: float32, shape (q, channels)."""
    grids = extreme.grid(texels, fractions, missing)
    counts = weight > 0
    counts[first] = True
    grids = np.where(counts[:, None], grids, np.nan)
    return extreme.finish(function.reduceat(grids, first), None)
