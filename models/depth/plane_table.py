# SPDX-License-Identifier: BSD-2-Clause
"""Which planes give the depths of tiles, followed by many writes at a time."""

import numpy as np

from fixfunc.models.depth.compression.planes import MOST, PLANE
from fixfunc.models.depth.hiz import rounds


class PlaneTable:
    """Planes of tiles, and which of them each sample belongs to.

    A plane stays while a sample belongs to it, up to four of a tile. A fifth, and a depth that no
    plane gives, make all of a tile unknown until one plane covers it.

    Parameters
    ----------
    planes : structured ndarray of :data:`PLANE`, shape (n, 4)
        These arrays are written in place.
    counts : ndarray of int, shape (n,)
        Of each tile; 0: none are known.
    masks : ndarray of int, shape (n, 8, 8)
    """

    def __init__(self, planes: np.ndarray, counts: np.ndarray, masks: np.ndarray) -> None:
        self.planes = planes
        self.counts = counts
        self.masks = masks

    def write(
        self, place: np.ndarray, written: np.ndarray, planes: np.ndarray, exact: np.ndarray
    ) -> None:
        """Write tiles, as if one after the other.

        Parameters
        ----------
        place : ndarray of int, shape (m,)
            Which tile each is.
        written : ndarray of bool, shape (m, 8, 8)
        planes : structured ndarray of :data:`PLANE`, shape (m,)
        exact : ndarray of bool, shape (m,)
            Whether the plane gives all depths that are written.
        """
        for batch in rounds(place):
            at = place[batch]
            covers = written[batch].all((1, 2))
            known = exact[batch] & (covers | (self.counts[at] > 0))
            self.counts[at[~known]] = 0
            if known.any():
                self._join(at[known], written[batch[known]], planes[batch[known]])

    def _join(self, at, written, plane):
        """One more plane for tiles, each of another place."""
        many = np.arange(MOST + 1)
        rows = np.arange(len(at))
        planes = np.zeros((len(at), MOST + 1), PLANE)
        planes[:, :MOST] = self.planes[at]
        counts = self.counts[at]
        is_there = (planes == plane[:, None]) & (many < counts[:, None])
        index = np.where(is_there.any(1), is_there.argmax(1), counts)
        planes[rows, index] = plane
        masks = np.where(written, index[:, None, None], self.masks[at]).reshape(len(at), -1)
        used = (masks[:, :, None] == many).any(1)
        order = np.argsort(~used, 1, kind="stable")
        counts = used.sum(1)
        rank = np.cumsum(used, 1) - 1
        self.planes[at] = np.take_along_axis(planes, order, 1)[:, :MOST]
        self.masks[at] = np.take_along_axis(rank, masks, 1).reshape(written.shape)
        self.counts[at] = np.where(counts > MOST, 0, counts)
