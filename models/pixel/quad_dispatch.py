# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of quad dispatch: tiles become the quads of :mod:`fixfunc.models.pixel.quads`."""

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.pixel import quads
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.points import QUAD, QUAD_SAMPLES


def dispatch(tiles: np.ndarray, edge: int = 8) -> np.ndarray:
    """Quads of tiles that have a sample to shade.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As :func:`fixfunc.spec.points.quad_tile` has them.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    structured ndarray, shape (q,)
        As :data:`fixfunc.spec.points.QUAD`: tile by tile, row by row, and sample by sample.
    """
    found = [np.zeros(0, dtype(QUAD))]
    owner = [np.zeros(0, np.intp)]
    for samples in np.unique(tiles["samples"]):
        for by_sample in (False, True):
            own = np.flatnonzero((tiles["samples"] == samples) & (tiles["by_sample"] == by_sample))
            split, records = _of_mode(tiles[own], int(samples), by_sample, edge)
            found.append(records)
            owner.append(own[split.tile])
    tile = np.concatenate(owner)
    order = np.argsort(tile, kind="stable")
    out = np.concatenate(found)[order]
    out["last"] = np.append(tile[order][1:] != tile[order][:-1], True)[: len(out)]
    return out


def helpers(records: np.ndarray) -> np.ndarray:
    """How many pixels of each quad are helpers: int64."""
    pixels = records["mask"][:, None] >> QUAD_SAMPLES * np.arange(4, dtype=np.uint32) & 255
    return (pixels == 0).sum(1)


def _of_mode(tiles, samples, by_sample, edge):
    """Quads of tiles with as many samples a pixel, and their records."""
    mask = unpack(tiles["mask"], edge)
    split = quads.split(tiles["x"], tiles["y"], mask, samples, by_sample)
    covered = quads.samples_of(unpack(tiles["covered"], edge)[split.tile], _alone(split), samples)
    out = np.zeros(len(split.tile), dtype(QUAD))
    for name in ("slot", "samples", "by_sample", "back"):
        out[name] = tiles[name][split.tile]
    out["x"], out["y"] = split.x, split.y
    out["sample"] = np.maximum(split.sample, 0)
    out["mask"] = _packed(split.covered)
    out["covered"] = _packed(covered)
    return split, out


def _alone(split):
    """Quads of tiles of which each is taken by itself."""
    return split._replace(tile=np.arange(len(split.tile)))


def _packed(samples):
    """Bits of the samples of quads' pixels: shape (q, 2, 2, samples) to (q,)."""
    pixels = samples.reshape(len(samples), 4, samples.shape[-1])
    weights = 1 << QUAD_SAMPLES * np.arange(4)[:, None] + np.arange(pixels.shape[2])
    return (pixels * weights).sum((1, 2), dtype=np.int64)
