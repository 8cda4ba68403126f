# SPDX-License-Identifier: BSD-2-Clause
"""Hierarchical depth: bounds of a tile's depths, and what they decide about a triangle's tile."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.depth.decision import GREATER, LESS, UNORDERED, outcome
from fixfunc.models.memory.surface import check_places
from fixfunc.models.payload import check, dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, Bound, Compare, Outcome

BANKS = 4  # of the memory


class HiZ:
    """Bounds of the depths of a target's tiles.

    Parameters
    ----------
    width, height : int
        Pixels of the target.
    samples : int
        Samples of a pixel.
    edge : int
        Samples along a tile's edge.
    bounds : str
        ``"both"``: zmin and zmax of each tile. ``"max"``: one bound, the one that the first draw
        after a clear of the whole target can use; a draw that writes the other way disables HiZ
        until the next such clear. Where a rectangle is cleared first, it chooses by its value: zmax
        if that is of the far half.
    entries : int
        Tiles of on-chip memory, in four banks by the lowest bits of x and y; tiles of a larger
        target beyond them are always tested.
    bits, stored : int
        Width of a depth, and of a stored bound.
    counter_pitch : int, optional
        Tiles that lie so many rows and columns apart share a count of writes in flight: 8 in
        hardware. By default each tile has its own.

    Raises
    ------
    InputError
        A parameter that breaks its rule.
    """

    def __init__(
        self,
        width: int,
        height: int,
        samples: int = 1,
        edge: int = 8,
        bounds: str = "both",
        entries: int = 1 << 16,
        bits: int = 24,
        stored: int = 14,
        counter_pitch: int | None = None,
    ) -> None:
        for name, value in (("width", width), ("height", height)):
            if value < 1:
                raise InputError(name, "be above 0", value)
        if entries < BANKS or entries & entries - 1:
            raise InputError("entries", f"be a power of two above {BANKS - 1}", entries)
        if samples not in SAMPLE_COUNTS:
            raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
        if bounds not in ("both", "max"):
            raise InputError("bounds", "be 'both' or 'max'", repr(bounds))
        if not 1 <= stored <= bits <= 32:
            raise InputError("stored", f"lie in 1..{bits} bits", stored)
        lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
        self._tile = edge >> lx, edge >> ly  # pixels
        self._size = width, height
        self._columns = -(-width // self._tile[0])
        self._rows = -(-height // self._tile[1])
        y, x = np.divmod(np.arange(self._columns * self._rows), self._columns)
        self._covered = (y >> 1) * -(-self._columns // 2) + (x >> 1) < entries // BANKS
        self._cut = bits - stored
        self._most = (1 << bits) - 1
        self._bounds = bounds
        self._low = np.zeros(len(x), np.int64)
        self._high = np.full(len(x), self._most >> self._cut)
        self._stencil_low = np.zeros(len(x), np.int64)
        self._stencil_high = np.full(len(x), 255)
        self._in_flight = np.zeros(
            (counter_pitch or self._rows, counter_pitch or self._columns), np.int64
        )
        self.bound = Bound.OPEN
        self.serial = 0  # clears of depths so far

    def clear(
        self,
        depth: int | None = None,
        rectangle: Sequence[int] | None = None,
        stencil: int | None = None,
    ) -> None:
        """Clear depths, or stencil values, or both.

        Parameters
        ----------
        depth, stencil : int, optional
        rectangle : (x0, y0, x1, y1) of int, optional
            Pixels, ``x1`` and ``y1`` exclusive: the whole target by default.
        """
        x0, y0, x1, y1 = rectangle or (0, 0, *self._size)
        width, height = self._tile
        place = np.arange(len(self._low))
        left = place % self._columns * width
        top = place // self._columns * height
        right = np.minimum(left + width, self._size[0])
        bottom = np.minimum(top + height, self._size[1])
        touched = (x0 < x1) & (y0 < y1) & (left < x1) & (right > x0) & (top < y1) & (bottom > y0)
        whole = touched & (x0 <= left) & (right <= x1) & (y0 <= top) & (bottom <= y1)

        def cleared(low, high, value):
            ends = (low, np.minimum), (high, np.maximum)
            return (
                np.where(whole, value, np.where(touched, choose(bound, value), bound))
                for bound, choose in ends
            )

        if depth is not None:
            self._low, self._high = cleared(self._low, self._high, depth >> self._cut)
            self.serial += 1
            if whole.all():
                self.bound = Bound.OPEN
            elif self._bounds == "max" and self.bound == Bound.OPEN:
                self.bound = Bound.MAX if depth > self._most >> 1 else Bound.MIN
        if stencil is not None:
            self._stencil_low, self._stencil_high = cleared(
                self._stencil_low, self._stencil_high, stencil
            )

    def step(self, drawn: np.ndarray) -> np.ndarray:
        """Decide about tiles of different places, and take note of what they may write.

        Parameters
        ----------
        drawn : structured ndarray, shape (n,)
            :data:`~fixfunc.models.depth.depth_bounds.DRAWN_BOUNDS`. ``x``, ``y``: place in tiles.
            ``low``, ``high``: bounds of the triangle's depths in the tile. ``full``: the triangle
            covers every sample of the target in this tile, and none can be discarded or fail the
            stencil test. ``compare``, ``write``: of the draw. ``drop``, ``accept``: the draw
            permits HiZ to drop the tile, to accept it.

        Returns
        -------
        ndarray of uint8, shape (n,)
            :class:`~fixfunc.spec.state.Outcome`. Of each that is not dropped and writes,
            :meth:`feedback` must follow.

        Raises
        ------
        InputError
            A tile outside the target.
        """
        check_places(drawn, self._columns, self._rows)
        place = drawn["y"].astype(np.int64) * self._columns + drawn["x"]
        outcomes = np.full(len(drawn), Outcome.TEST, np.uint8)
        for compare in np.unique(drawn["compare"]):
            selected = np.flatnonzero((drawn["compare"] == compare) & self._covered[place])
            if len(selected):
                outcomes[selected] = self._step(Compare(compare), drawn[selected], place[selected])
        fails = self._stencil_fails(drawn, place) & self._covered[place]
        outcomes[fails] = Outcome.DROP
        self._note_writes(drawn[outcomes != Outcome.DROP], place[outcomes != Outcome.DROP])
        self._note_stencil(drawn[~fails], place[~fails])
        return outcomes

    def _step(self, compare, drawn, place):
        if self._bounds == "max":
            self._choose_bound(compare, bool(drawn["write"].any()))
        if not self._has_bounds:
            return np.full(len(drawn), Outcome.TEST)
        low = drawn["low"].astype(np.int64)
        high = drawn["high"].astype(np.int64)
        zmin, zmax = self._stored_bounds(place)
        zmin = zmin << self._cut
        zmax = (zmax << self._cut) | ((1 << self._cut) - 1)
        drop, accept = outcome(compare, low, high, zmin, zmax)
        drop = drop & drawn["drop"].astype(bool)
        accept = accept & drawn["accept"].astype(bool)
        return np.where(drop, Outcome.DROP, np.where(accept, Outcome.ACCEPT, Outcome.TEST))

    def _stencil_fails(self, drawn, place):
        """No sample can pass the stencil test, and that changes nothing."""
        low = self._stencil_low[place]
        high = self._stencil_high[place]
        read = drawn["stencil_read"].astype(np.int64)
        fails = np.zeros(len(drawn), bool)
        for func in np.unique(drawn["stencil_func"]):
            selected = drawn["stencil_func"] == func
            ref = (drawn["stencil_ref"] & read)[selected]
            fails[selected] = outcome(
                Compare(func), ref, ref, (low & read)[selected], (high & read)[selected]
            )[0]
        return fails & drawn["stencil_drop"] & ((read == 255) | (low == high))

    def _note_writes(self, drawn, place):
        """Widen bounds for what may be written; tighten them where every sample is written."""
        writes = drawn["write"].astype(bool)
        compare = drawn["compare"]
        less = np.isin(compare, LESS)
        greater = np.isin(compare, GREATER)
        unordered = np.isin(compare, UNORDERED)
        full = drawn["full"].astype(bool)
        low = drawn["low"].astype(np.int64) >> self._cut
        high = drawn["high"].astype(np.int64) >> self._cut
        old_low = self._low[place]
        old_high = self._high[place]
        new_low = np.where(less | unordered, np.minimum(old_low, low), old_low)
        new_high = np.where(greater | unordered, np.maximum(old_high, high), old_high)
        new_high = np.where(
            full & less, np.minimum(old_high, high), np.where(full & unordered, high, new_high)
        )
        new_low = np.where(
            full & greater, np.maximum(old_low, low), np.where(full & unordered, low, new_low)
        )
        self._low[place] = np.where(writes, new_low, old_low)
        self._high[place] = np.where(writes, new_high, old_high)
        np.add.at(self._in_flight, self._count(drawn["x"], drawn["y"]), writes)

    def _note_stencil(self, drawn, place):
        """Widen ranges of stencil values for what may be written.

        They do not depend on the depth test, so that neither waits for the other.
        """
        s_writes = drawn["stencil_write"].astype(bool)
        for bound, choose, name in (
            (self._stencil_low, np.minimum, "stencil_low"),
            (self._stencil_high, np.maximum, "stencil_high"),
        ):
            bound[place] = np.where(s_writes, choose(bound[place], drawn[name]), bound[place])

    def _count(self, x, y):
        """Where writes in flight to tiles are counted."""
        rows, columns = self._in_flight.shape
        return np.asarray(y, np.int64) % rows, np.asarray(x, np.int64) % columns

    def _choose_bound(self, compare, write):
        """Choose which bound is stored, if there is one alone.

        A draw that may write on either side counts as one of less.
        """
        required = (
            Bound.MIN
            if compare in GREATER
            else Bound.MAX
            if compare in LESS or (compare in UNORDERED and write)
            else Bound.OPEN
        )
        if self.bound == Bound.OPEN:
            self.bound = required
        elif required not in (Bound.OPEN, self.bound) and write and compare not in UNORDERED:
            self.bound = Bound.NONE

    @property
    def _has_bounds(self):
        """Whether stored bounds hold: of one bound, only after it has been chosen."""
        return self._bounds == "both" or self.bound in (Bound.MAX, Bound.MIN)

    def _stored_bounds(self, place):
        """Bounds of tiles; one that is not stored is the widest."""
        low = self._low[place]
        high = self._high[place]
        if self._bounds == "max":
            low, high = (
                (low, 0 * high + (self._most >> self._cut))
                if self.bound == Bound.MIN
                else (0 * low, high)
            )
        return low, high

    def save(self) -> np.ndarray:
        """Save what is known of the target's tiles, before another target takes the memory.

        Returns
        -------
        structured ndarray, shape (tiles,)
            Row by row, as :func:`fixfunc.spec.payloads.context`; where nothing is known, the widest
            ranges.
        """
        place = np.arange(len(self._low))
        out = np.zeros(len(place), dtype(payloads.context(4)))
        out["y"], out["x"] = np.divmod(place, self._columns)
        out["restore"] = 1
        out["bound"] = self.bound
        most = self._most >> self._cut
        out["low"], out["high"] = self._stored_bounds(place) if self._has_bounds else (0, most)
        out["stencil_low"] = self._stencil_low
        out["stencil_high"] = self._stencil_high
        for name, widest in (("low", 0), ("high", most), ("stencil_low", 0), ("stencil_high", 255)):
            out[name][~self._covered] = widest
        return out

    def cut(self, depth: np.ndarray) -> np.ndarray:
        """Highest bits of depths, as bounds are stored."""
        return depth >> self._cut

    def restore(self, saved: np.ndarray) -> None:
        """Restore what :meth:`save` returned of tiles of different places.

        No write may be in flight.

        Of one bound: where none has been chosen, it is chosen too; where it is not that which has
        been, depths stay as they are.

        Raises
        ------
        InputError
            A tile outside the target, a range that is reversed, a field beyond its bits.
        """
        check(saved, payloads.context(4))
        check_places(saved, self._columns, self._rows)
        for low, high in (("low", "high"), ("stencil_low", "stencil_high")):
            if (reversed_ := saved[low] > saved[high]).any():
                raise InputError(
                    low, f"be at most {high} {saved[high][reversed_][0]}", saved[low][reversed_][0]
                )
        if self._bounds == "max" and self.bound == Bound.OPEN:
            self.bound = Bound(next(filter(None, saved["bound"]), Bound.OPEN))
        place = saved["y"].astype(np.int64) * self._columns + saved["x"]
        if self._has_bounds:
            fits = saved["bound"] == self.bound if self._bounds == "max" else slice(None)
            self._low[place[fits]] = saved["low"][fits]
            self._high[place[fits]] = saved["high"][fits]
        self._stencil_low[place] = saved["stencil_low"]
        self._stencil_high[place] = saved["stencil_high"]

    def feedback(
        self,
        x: np.ndarray,
        y: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        serial: int | np.ndarray,
    ) -> None:
        """Tiles have been tested and written: the depths that they hold now.

        Parameters
        ----------
        x, y : ndarray of int, shape (n,)
            Tiles of different places.
        low, high : ndarray of int, shape (n,)
            The least and the greatest depth of the tile's samples on the target.
        serial : int, or ndarray, shape (n,)
            :attr:`serial` when :meth:`step` decided about the tile.

        Bounds tighten only if no other write to the tile is under way, which may have been counted
        in already, and no clear has come since.
        """
        current = np.broadcast_to(serial, np.shape(x)) == self.serial
        place = np.where(
            current, np.asarray(y, np.int64) * self._columns + x, 0
        )  # another target may have had other places
        for batch in rounds(np.ravel_multi_index(self._count(x, y), self._in_flight.shape)):
            count = self._count(np.asarray(x)[batch], np.asarray(y)[batch])
            alone = (
                (self._in_flight[count] == 1)
                & current[batch]
                & self._covered[place[batch]]
                & self._has_bounds
            )
            self._low[place[batch][alone]] = np.asarray(low, np.int64)[batch][alone] >> self._cut
            self._high[place[batch][alone]] = np.asarray(high, np.int64)[batch][alone] >> self._cut
            self._in_flight[count] -= 1


def rounds(place: np.ndarray) -> list[np.ndarray]:
    """Split indices so that no place comes twice in a part, and each place's come in order."""
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    starts = (
        np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        if len(place)
        else np.zeros(0, int)
    )
    batch = np.arange(len(place)) - np.repeat(starts, np.diff(np.append(starts, len(place))))
    by_batch = np.argsort(batch, kind="stable")
    return (
        [order[part] for part in np.split(by_batch, np.cumsum(np.bincount(batch))[:-1])]
        if len(place)
        else []
    )
