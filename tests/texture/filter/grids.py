# SPDX-License-Identifier: BSD-2-Clause
"""Samples of textures as beats of the filter, and back."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.filter import BITS, repeated, units
from fixfunc.models.texture.filtering.filtering import Reader, cell, grid, sample_place
from fixfunc.models.texture.filtering.reduction import weights
from fixfunc.spec.textures.filter import FILTER_STATE, FILTER_TAPS, FILTERED_QUAD
from tests import volume

OPS = {"standard": 0, "comparison": 0, "minimum": 1, "maximum": 2, "gather": 3}
STORED = 24  # bits of texels as the golden sampler keeps them
WIDTH = sum(f.bits for f in FILTER_TAPS)


class Samples:
    """Grids of samples, a quad four of them in order.

    Parameters
    ----------
    texture, sampler
    places : ndarray of float32, shape (n, axes)
        n is a multiple of 4.
    lod : ndarray of int64, shape (n,)
    image : ndarray of int64, optional
    footprints : (ndarray, ndarray), optional
        Numbers of samples, and axes.
    """

    def __init__(self, texture, sampler, places, lod, image=None, footprints=None):
        self._n = len(places)
        self._texture, self._sampler = texture, sampler
        self._form = texture.texel_format
        image = np.zeros(self._n, np.int64) if image is None else image
        self._reader = Reader(texture, sampler, image)
        self._places, self._lod = places, lod
        one = np.ones(self._n, np.int64), np.zeros_like(places)
        self._count, self._along = footprints or one

    def beats(self, **fields):
        """A packed state, with fields that are not as the sampler has them, and packed grids."""
        held = np.clip(self._lod, 0, len(self._texture.levels) - 1 << 8)
        fraction = held & 255
        found = []
        for n in range(self._count.max()):
            active = n < self._count
            place = sample_place(self._places, self._along, n, self._count)
            for step, weight in ((0, 256 - fraction), (1, fraction)):
                level = np.minimum((held >> 8) + step, len(self._texture.levels) - 1)
                texels, fractions, missing = self._grid(place, level)
                missing &= (weights(fractions) * np.where(active, weight, 0)) > 0
                found.append((texels, fractions, missing, np.where(active, weight, 0)))
        return self._state(fields), self._packed(found)

    def _grid(self, place, level):
        """Texels as the filter takes them, shape (4, n, 4), weights, and which are missing."""
        smooth = np.where(
            self._lod > 0, self._sampler.minify == "linear", self._sampler.magnify == "linear"
        )
        texels = np.zeros((4, self._n, 4), np.int64)
        fractions = np.zeros((2, self._n), np.int64)
        missing = np.zeros((4, self._n), bool)
        for n in np.unique(level):
            at = np.flatnonzero(level == n)
            cells, share = cell(self._reader, place[at], int(n), smooth[at])
            own, missing[:, at] = grid(self._reader, int(n), at, cells, weights(share) > 0)
            texels[:, at, : own.shape[2]] = self._stored(own)
            fractions[:, at] = share
        return texels, list(fractions), missing

    def _stored(self, texels):
        if self._texture.srgb:
            return texels >> STORED - 16
        bits = [int(one).bit_length() for one in self._form.unit]
        return repeated(texels >> STORED - np.array(bits), self._form)

    def _state(self, fields):
        state = np.zeros(1, dtype(FILTER_STATE))
        kinds = [] if self._texture.srgb else units(self._form)
        for name, kind in zip("rgba", kinds, strict=False):
            state[f"unit_{name}"] = kind
        state["op"] = OPS[self._sampler.reduction]
        for name, value in fields.items():
            state[name] = value
        return codec.pack(state, FILTER_STATE, WIDTH)

    def _packed(self, found):
        """Beats. A missing texel is each of the others in turn, in a grid of its own."""
        lacks = np.any([missing.any(0) for _, _, missing, _ in found], 0)
        times = 3 if lacks.any() else 1
        beats = np.zeros((self._n // 4, len(found) * times), dtype(FILTER_TAPS))
        for n, (texels, fractions, missing, weight) in enumerate(found):
            others = np.argsort(missing, 0, kind="stable")
            for turn in range(times):
                other = np.take_along_axis(texels, others[turn][None, :, None], 0)
                own = np.where(missing[..., None], other, texels)
                here = np.where(lacks | (turn == 0), weight, 0)
                self._fill(beats[:, n * times + turn], own, fractions, here, lacks)
        beats["kind"] = 1
        beats["end"][:, -1] = 1
        return codec.pack(beats.reshape(-1), FILTER_TAPS)

    def _fill(self, beats, texels, fractions, weight, lacks):
        for pixel in range(4):
            at = slice(pixel, None, 4)
            beats[f"u{pixel}"], beats[f"v{pixel}"] = (share[at] for share in fractions)
            beats[f"weight{pixel}"] = weight[at]
            beats[f"count{pixel}"] = (self._count * np.where(lacks, 3, 1))[at]
            for corner in range(4):
                for channel in range(4):
                    name = f"t{pixel}_{corner}_{channel}"
                    beats[name] = texels[corner, at, channel] & 0xFFFF


def hardware(state, beats, config="default"):
    """What the hardware makes of packed beats: float32, shape (n, 4)."""
    out = volume.check("filter", config, np.concatenate([state, beats]))
    records = codec.unpack(out, FILTERED_QUAD, dtype(FILTERED_QUAD))
    bits = [[records[f"c{pixel}_{n}"] for n in range(4)] for pixel in range(4)]
    return np.array(bits, np.uint32).transpose(2, 0, 1).reshape(-1, 4).view(np.float32)


def single(texels, u, v, unit, **fields):
    """A packed state, and packed quads of one grid.

    Parameters
    ----------
    texels : ndarray of int, shape (n, 4, 4), indexed [grid, corner, channel]
        n is a multiple of 4.
    u, v : ndarray of int, shape (n,)
    unit : Unit
    """
    state = np.zeros(1, dtype(FILTER_STATE))
    for name in "rgba":
        state[f"unit_{name}"] = unit
    for name, value in fields.items():
        state[name] = value
    beats = np.zeros(len(texels) // 4, dtype(FILTER_TAPS))
    beats["kind"], beats["end"] = 1, 1
    for pixel in range(4):
        beats[f"u{pixel}"], beats[f"v{pixel}"] = u[pixel::4], v[pixel::4]
        beats[f"weight{pixel}"], beats[f"count{pixel}"] = 256, 1
        for corner in range(4):
            for channel in range(4):
                own = texels[pixel::4, corner, channel] & 0xFFFF
                beats[f"t{pixel}_{corner}_{channel}"] = own
    return codec.pack(state, FILTER_STATE, WIDTH), codec.pack(beats, FILTER_TAPS)


def one(unit):
    """What is 1.0."""
    return (1 << BITS[unit]) - 1
