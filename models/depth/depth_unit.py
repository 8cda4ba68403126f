# SPDX-License-Identifier: BSD-2-Clause
"""The depth unit: HiZ before the depth test, and what the test reports back to it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from fixfunc.models.depth.depth_bounds import drawn_bounds
from fixfunc.models.depth.depth_test import DepthBuffer, Tested, new_depths
from fixfunc.models.depth.hiz import HiZ, rounds
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.spec.state import DepthFormat, Outcome

BITS = {
    DepthFormat.D16: 16,
    DepthFormat.D24: 24,
    DepthFormat.D32F: 30,
}  # of a stored depth; 1.0 is 0x3F800000


class Shaded(NamedTuple):
    """What a shader makes of tiles."""

    mask: np.ndarray  # bool, shape (n, edge, edge): samples that it does not discard
    depth: np.ndarray | None = (
        None  # uint32, shape (n, edge, edge): depths that it puts out, in the target's format
    )
    replaces: np.ndarray | None = None  # bool, shape (n,): tiles of which it does; all by default

    def depths(self, tiles: np.ndarray, state: np.void, edge: int) -> np.ndarray | None:
        """Depths of tiles in place of their planes': uint32, shape (n, edge, edge), or None."""
        if self.depth is None or self.replaces is None:
            return self.depth
        plane = new_depths(tiles, state, edge)
        return np.where(self.replaces[:, None, None], self.depth, plane).astype(np.uint32)


class DepthProbe(Protocol):
    """Is told what the depth test finds."""

    def tested(self, numbers: np.ndarray, left: np.ndarray, found: Tested) -> None:
        """Tiles with these numbers, of different places, have been tested.

        ``left`` are samples that were tested: bool, shape (n, edge, edge). Of a late test these
        are what the early one and the shader have left.
        """


class DepthUnit:
    """Depths of a target behind HiZ.

    Parameters
    ----------
    state : numpy.void
        From :func:`fixfunc.models.state.draw_state`; other draws follow by :attr:`state`.
    edge : int
        Samples along a tile's edge.
    **hiz
        Parameters of :class:`~fixfunc.models.depth.hiz.HiZ`; ``bounds=None`` leaves it out.
    """

    def __init__(
        self, state: np.void, edge: int = 8, bounds: str | None = "both", **hiz: int
    ) -> None:
        self.buffer = DepthBuffer(state, edge)
        self._edge = edge
        size = int(state["target_width"]), int(state["target_height"])
        bits = BITS[DepthFormat(state["depth_format"])]
        self.hiz = (
            HiZ(*size, 1 << int(state["samples"]), edge, bounds, bits=bits, **hiz)
            if bounds
            else None
        )
        if self.hiz:
            self.hiz.clear(int(self.buffer.depth.max()))

    @property
    def state(self) -> np.void:
        """The draw state in force."""
        return self.buffer.state

    @state.setter
    def state(self, state: np.void) -> None:
        self.buffer.state = state

    def clear(
        self, rectangle: Sequence[int], depth: int | None = None, stencil: int | None = None
    ) -> None:
        """Clear a rectangle of pixels (x0, y0, x1, y1): depths, stencil values, or both."""
        self.buffer.clear(rectangle, depth, stencil)
        if self.hiz:
            self.hiz.clear(depth, rectangle, stencil)

    def restore(self) -> None:
        """Tell HiZ what the buffer holds, which has been written past it."""
        saved = self.hiz.save()
        low, high = self.buffer.bounds(saved)
        saved["low"], saved["high"] = self.hiz.cut(low), self.hiz.cut(high)
        saved["stencil_low"], saved["stencil_high"] = 0, 255
        self.hiz.restore(saved)

    def test(
        self,
        tiles: np.ndarray,
        shader: Callable[[np.ndarray, np.ndarray], Shaded] | None = None,
        decided: np.ndarray | None = None,
        probe: DepthProbe | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Test and write tiles, as if one by one.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`fixfunc.spec.payloads.tile`.
        shader : callable, optional
            Takes tiles, their masks what an early test left, and their numbers in ``tiles``;
            returns :class:`Shaded`. It is asked where the draw does not let its tiles be written
            early, between an early and a late test.
        decided : ndarray of uint8, shape (n,), optional
            Outcomes of another HiZ, which is not asked here. All tiles are tested then.
        probe : DepthProbe, optional

        Returns
        -------
        passed : ndarray of bool, shape (n, edge, edge)
            Samples that passed.
        outcome : ndarray of uint8, shape (n,)
            What HiZ found.

        Tiles of different places do not meet: the k-th tile of every place is tested at once.
        """
        passed = np.zeros((len(tiles), self._edge, self._edge), bool)
        outcome = np.full(len(tiles), Outcome.TEST, np.uint8)
        drawn = drawn_bounds(tiles, self.state, self._edge)
        for batch in rounds(tiles["y"].astype(np.int64) * self.buffer.depth.shape[1] + tiles["x"]):
            if self.hiz and decided is None:
                outcome[batch] = self.hiz.step(drawn[batch])
            tested = batch[outcome[batch] != Outcome.DROP]
            is_late = shader and not self.state["early_write"]
            passed[tested] = self._test(tiles[tested], tested, shader if is_late else None, probe)
            if self.hiz and decided is None:
                self._report(tiles[tested][drawn["write"][tested]])
        return passed, outcome if decided is None else decided

    def _test(self, tiles, numbers, shader, probe):
        """Test, or early test, shader, late test: samples that passed."""
        depths = None
        if shader:
            tiles = tiles.copy()
            tiles["mask"] = pack(self.buffer.early(tiles))
            shaded = shader(tiles, numbers)
            tiles["mask"] &= pack(shaded.mask)
            depths = shaded.depths(tiles, self.state, self._edge)
        found = self.buffer.test(tiles, depths)
        if probe:
            probe.tested(numbers, unpack(tiles["mask"], self._edge), found)
        return found.passed

    def _report(self, tiles):
        """Tell HiZ what tiles hold now."""
        self.hiz.feedback(tiles["x"], tiles["y"], *self.buffer.bounds(tiles), self.hiz.serial)
