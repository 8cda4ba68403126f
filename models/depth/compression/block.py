# SPDX-License-Identifier: BSD-2-Clause
"""Coding of 4 by 4 blocks as the documents have it: by planes, with fields as wide as one likes."""

from dataclasses import dataclass

import numpy as np

from fixfunc.models.raster.edge_evaluator import lane_positions
from fixfunc.spec.errors import InputError

EDGE = 4
MOST = 4
FRACTION = 8  # bits of a slope below D24's unit


@dataclass(frozen=True)
class PlaneForm:
    """Layout of a block of planes.

    Two bits for the number of planes, two a sample for its plane, three fields a plane.

    Parameters
    ----------
    z0 : int
        Bits of the depth at the centre of the block's first pixel: 24, and more for a fraction, up
        to 32.
    slope : int
        Bits of each slope, signed, of which 8 are fraction: up to 32.

    With 32 bits each a block is given back by the planes that made it. The documents' 24 bits leave
    no fraction to the start: a block is taken only if it comes back all the same. Source: [trip 7].
    """

    z0: int = 24
    slope: int = 24

    def __post_init__(self):
        for name, least in (("z0", 24), ("slope", FRACTION + 1)):
            if not least <= getattr(self, name) <= 32:
                raise InputError(name, f"lie in {least}..32", getattr(self, name))

    def bits(self, planes):
        """Of a block of so many planes: 106, 178, 250, 322 with 24 bits a field."""
        return 2 + 2 * EDGE**2 + planes * (self.z0 + 2 * self.slope)

    def rounded(self, planes):
        """Planes as their fields hold them, and which of them fit: shapes as given.

        Parameters
        ----------
        planes : structured ndarray
            As :data:`fixfunc.models.depth.compression.planes.PLANE`; ``z0`` belongs to the block.
        """
        cut = 32 - self.z0
        out = planes.copy()
        half = 1 << self.slope - 1
        out["z0"] = ((planes["z0"].astype(np.int64) + (1 << cut >> 1) >> cut) << cut) & (
            1 << 32
        ) - 1
        return out, np.logical_and.reduce(
            [(-half <= planes[name]) & (planes[name] < half) for name in ("dx", "dy")]
        )

    def encode(self, blocks, planes, counts, masks, samples=0):
        """Code blocks.

        Parameters
        ----------
        blocks : ndarray of int, shape (n, 4, 4)
            D24.
        planes : structured ndarray, shape (n, 4)
            Their first ``counts`` made the block.
        counts : ndarray of int, shape (n,)
        masks : ndarray of int, shape (n, 4, 4)
            Which plane each sample belongs to.
        samples : int
            log2 of the samples of a pixel.

        Returns
        -------
        fits : ndarray of bool, shape (n,)
        bits : ndarray of uint8, shape (n, 4-plane width)
            Lowest first: count - 1, masks, planes. Of those that do not fit, anything.
        """
        stored, exact = self.rounded(planes)
        present = np.arange(MOST) < counts[:, None]
        fits = (
            (counts > 0)
            & (exact | ~present).all(1)
            & (_depths(stored, masks, samples) == blocks).all((1, 2))
        )
        fields = [(counts[:, None] - 1, 2), (masks.reshape(len(blocks), -1), 2)]
        for k in range(MOST):
            cut = 32 - self.z0
            fields += [
                (stored["z0"][:, k, None].astype(np.int64) >> cut, self.z0),
                *((stored[name][:, k, None], self.slope) for name in ("dx", "dy")),
            ]
        bits = [
            (np.asarray(value, np.int64)[..., None] >> np.arange(width) & 1).reshape(
                len(blocks), -1
            )
            for value, width in fields
        ]
        return fits, np.concatenate(bits, 1).astype(np.uint8) * (
            np.arange(self.bits(MOST)) < self.bits(counts)[:, None]
        )

    def decode(self, bits, samples=0):
        """Depths of blocks: uint32, shape (n, 4, 4)."""
        widths = [2, *EDGE**2 * [2], *MOST * [self.z0, self.slope, self.slope]]
        parts = np.split(bits.astype(np.int64), np.cumsum(widths)[:-1], 1)
        values = np.stack([part @ (1 << np.arange(part.shape[1])) for part in parts], 1)
        fields = values[:, 1 + EDGE**2 :].reshape(-1, MOST, 3)
        half = 1 << self.slope - 1
        planes = {"z0": fields[..., 0] << 32 - self.z0}
        planes |= {
            name: (fields[..., n] + half & 2 * half - 1) - half
            for n, name in ((1, "dx"), (2, "dy"))
        }
        return _depths(planes, values[:, 1 : 1 + EDGE**2].reshape(-1, EDGE, EDGE), samples)


def _depths(planes, masks, samples):
    """Depths of blocks, each sample by its plane."""
    x, y = lane_positions(samples, EDGE)
    z0 = np.asarray(planes["z0"], np.int64)[np.arange(len(masks))[:, None, None], masks]
    dx = np.asarray(planes["dx"], np.int64)[np.arange(len(masks))[:, None, None], masks]
    dy = np.asarray(planes["dy"], np.int64)[np.arange(len(masks))[:, None, None], masks]
    return ((z0 << 4) + x * dx + y * dy + (1 << 11) >> 12 & (1 << 24) - 1).astype(np.uint32)
