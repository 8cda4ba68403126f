"""Hierarchical depth: bounds of each tile's depths, and what they decide about a triangle's tile."""

import numpy as np

from models.depth._format import FRACTION, store
from models.depth.depth_test import D24_MAX, depth_bias
from models.raster.edge_evaluator import LANE_SHAPE, unpack
from spec.errors import InputError
from spec.state import SAMPLE_COUNTS, Compare, DepthFormat, Outcome, StencilOp

LESS = (Compare.LESS, Compare.LESS_EQUAL)
GREATER = (Compare.GREATER, Compare.GREATER_EQUAL)
FREE = (Compare.NOT_EQUAL, Compare.ALWAYS)  # may write depths on either side of the old ones


def outcome(compare, low, high, zmin, zmax):
    """What the bounds of a triangle and of a tile's depths decide, were nothing else in the way.

    Parameters
    ----------
    compare : Compare
    low, high : ndarray of int, shape (n,)
        Bounds of the triangle's depths in the tile.
    zmin, zmax : ndarray of int, shape (n,)
        Bounds of the depths stored.

    Returns
    -------
    drop, accept : ndarray of bool, shape (n,)
        No sample passes; every sample passes.

    Source: [trip 7], numerics: HiZ.
    """
    never = np.zeros(np.shape(low), bool)
    apart = (high < zmin) | (low > zmax)
    return {
        Compare.NEVER: lambda: (~never, never),
        Compare.LESS: lambda: (low >= zmax, high < zmin),
        Compare.EQUAL: lambda: (apart, never),
        Compare.LESS_EQUAL: lambda: (low > zmax, high <= zmin),
        Compare.GREATER: lambda: (high <= zmin, low > zmax),
        Compare.NOT_EQUAL: lambda: ((low == high) & (zmin == zmax) & (low == zmin), apart),
        Compare.GREATER_EQUAL: lambda: (high < zmin, low >= zmax),
        Compare.ALWAYS: lambda: (never, ~never),
    }[Compare(compare)]()


QUERY = np.dtype([("x", "u2"), ("y", "u2"), ("low", "u4"), ("high", "u4"), ("full", "?"), ("compare", "u1"), ("write", "?"),
                  ("drop", "?"), ("accept", "?")])
SLACK = 1 << FRACTION - 3  # a plane's samples lie within a tenth of a unit of its vertices


def queries(tiles, state, edge=8):
    """What HiZ has to know of tiles.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As in :func:`spec.payloads.tile`.
    state : numpy.void
        From :func:`models.state.draw_state`.
    edge : int
        Samples along a tile's edge.

    Returns
    -------
    ndarray of :data:`QUERY`, shape (n,)
        As :meth:`HiZ.step` takes them. A draw that permits no drop may get its depths from the shader: its plane says nothing.
    """
    stencil, tests = bool(state["stencil_test"]), bool(state["depth_test"])
    keeps = {side: all(state[f"stencil_{side}_{name}"] == StencilOp.KEEP for name in ("fail", "depth_fail")) for side in ("front", "back")}
    out = np.zeros(len(tiles), QUERY)
    out["x"], out["y"] = tiles["x"], tiles["y"]
    out["low"], out["high"] = plane_bounds(tiles, state, edge) if state["hiz_drop"] else (state["depth_min"], state["depth_max"])
    out["compare"] = state["depth_compare"] if tests else Compare.ALWAYS
    out["write"] = tests and state["depth_write"]
    out["full"] = (unpack(tiles["mask"], edge) | ~on_target(tiles, state, edge)).all((1, 2)) & bool(state["early_write"] and not stencil)
    out["drop"] = bool(state["hiz_drop"]) & (np.where(tiles["back"], keeps["back"], keeps["front"]) | (not stencil))
    out["accept"] = bool(state["hiz_accept"]) and not stencil
    return out


def on_target(tiles, state, edge=8):
    """Which samples of tiles lie on the target: bool, shape (n, edge, edge), indexed [tile, j, i]."""
    lx, ly = LANE_SHAPE[state["samples"]]
    column = (tiles["x"].astype(np.int64)[:, None] * edge + np.arange(edge)) >> lx
    row = (tiles["y"].astype(np.int64)[:, None] * edge + np.arange(edge)) >> ly
    return (row < state["target_height"])[:, :, None] & (column < state["target_width"])[:, None, :]


def plane_bounds(tiles, state, edge=8):
    """Bounds of a triangle's depths in its tiles, by its vertices and by its plane at the tile's outer corners.

    Parameters
    ----------
    tiles, state, edge
        As in :func:`queries`.

    Returns
    -------
    low, high : ndarray of uint32, shape (n,)
        In the state's format, no less and no more than the depth of any covered sample.

    A plane is known modulo 2^24. Where none of its corners leaves 0..2^24 - 1, it is the true one, since some sample of
    it is covered and lies there; where one does, only the vertices count.
    """
    z0, dx, dy = (tiles[name].astype(np.int64) for name in ("z0", "dx", "dy"))
    ends = [z0 << FRACTION - 8] * 2
    for slope, shift in zip((dx, dy), LANE_SHAPE[state["samples"]], strict=True):
        reached = -8 * slope, (16 * (edge >> shift) - 8) * slope  # 1/16 pixel from the first pixel's centre
        ends = [ends[0] + np.minimum(*reached), ends[1] + np.maximum(*reached)]
    known = (ends[0] >= -SLACK) & (ends[1] <= (D24_MAX << FRACTION) + SLACK)
    low, high = ((tiles[name].astype(np.int64) << FRACTION) + slack for name, slack in (("zmin", -SLACK), ("zmax", SLACK)))
    bounds = np.where(known, np.maximum(ends[0], low), low), np.where(known, np.minimum(ends[1], high), high)
    bias, form = depth_bias(tiles, state) << FRACTION - 8, DepthFormat(state["depth_format"])
    codes = (store(np.clip(bound + bias, 0, D24_MAX << FRACTION), form) for bound in bounds)
    return tuple(np.clip(code, state["depth_min"], state["depth_max"]).astype(np.uint32) for code in codes)


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
        ``"both"``: zmin and zmax of each tile. ``"max"``: one bound, the one that the first draw after a clear of
        the whole target can use; a draw that writes the other way disables HiZ until the next such clear.
    entries : int
        Tiles of on-chip memory; tiles of a larger target beyond them are always tested.
    bits, stored : int
        Width of a depth, and of a stored bound.

    Raises
    ------
    InputError
        A parameter that breaks its rule.
    """

    def __init__(self, width, height, samples=1, edge=8, bounds="both", entries=1 << 16, bits=24, stored=14):
        for name, value in (("width", width), ("height", height), ("entries", entries)):
            if value < 1:
                raise InputError(name, "be above 0", value)
        if samples not in SAMPLE_COUNTS:
            raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
        if bounds not in ("both", "max"):
            raise InputError("bounds", "be 'both' or 'max'", repr(bounds))
        if not 1 <= stored <= bits <= 32:
            raise InputError("stored", f"lie in 1..{bits} bits", stored)
        lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
        self._tile = edge >> lx, edge >> ly  # pixels
        self._size = width, height
        self._columns, self._rows = -(-width // self._tile[0]), -(-height // self._tile[1])
        self._covered = min(entries, self._columns * self._rows)
        self._cut, self._most, self._bounds = bits - stored, (1 << bits) - 1, bounds
        self._low, self._high = np.zeros(self._covered, np.int64), np.full(self._covered, self._most >> self._cut)
        self._in_flight, self._stale = np.zeros(self._covered, np.int64), np.zeros(self._covered, bool)
        self._way = None  # for one bound: LESS or GREATER once a draw has chosen, () while disabled

    def clear(self, depth, rectangle=None):
        """Clear depths.

        Parameters
        ----------
        depth : int
        rectangle : (x0, y0, x1, y1) of int, optional
            Pixels, ``x1`` and ``y1`` exclusive: the whole target by default.
        """
        x0, y0, x1, y1 = rectangle or (0, 0, *self._size)
        stored, (width, height) = depth >> self._cut, self._tile
        place = np.arange(self._covered)
        left, top = place % self._columns * width, place // self._columns * height
        right, bottom = np.minimum(left + width, self._size[0]), np.minimum(top + height, self._size[1])
        touched = (left < x1) & (right > x0) & (top < y1) & (bottom > y0)
        whole = touched & (x0 <= left) & (right <= x1) & (y0 <= top) & (bottom <= y1)
        self._low = np.where(whole, stored, np.where(touched, np.minimum(self._low, stored), self._low))
        self._high = np.where(whole, stored, np.where(touched, np.maximum(self._high, stored), self._high))
        self._stale |= touched & (self._in_flight > 0)  # what those writes report will be older than the clear
        if whole.all():
            self._way = None

    def step(self, query):
        """Decide about tiles of different places, and take note of what they may write.

        Parameters
        ----------
        query : structured ndarray, shape (n,)
            :data:`QUERY`. ``x``, ``y``: place in tiles. ``low``, ``high``: bounds of the triangle's depths there. ``full``:
            covers every sample of the target in this tile, and none can be discarded or fail the stencil test.
            ``compare``, ``write``: of the draw. ``drop``, ``accept``: it permits them.

        Returns
        -------
        ndarray of uint8, shape (n,)
            :class:`~spec.state.Outcome`. Of each that is not dropped and writes, :meth:`feedback` must follow.
        """
        place = query["y"].astype(np.int64) * self._columns + query["x"]
        found = np.full(len(query), Outcome.TEST, np.uint8)
        for compare in np.unique(query["compare"]):
            those = np.flatnonzero((query["compare"] == compare) & (place < self._covered))
            if len(those):
                found[those] = self._step(Compare(compare), query[those], place[those])
        return found

    def _step(self, compare, query, place):
        low, high = query["low"].astype(np.int64), query["high"].astype(np.int64)
        zmin, zmax = self._low[place] << self._cut, (self._high[place] << self._cut) | ((1 << self._cut) - 1)
        if self._bounds == "max":
            self._turn(compare, bool(query["write"].any()))
            zmin, zmax = zmin if self._way is GREATER else 0 * zmin, zmax if self._way is LESS else 0 * zmax + self._most
        drop, accept = outcome(compare, low, high, zmin, zmax)
        found = np.where(drop & query["drop"].astype(bool), Outcome.DROP,
                         np.where(accept & query["accept"].astype(bool), Outcome.ACCEPT, Outcome.TEST))

        # Bounds hold for whatever may be written, and tighten where a write of every sample is certain.
        writes = (found != Outcome.DROP) & query["write"].astype(bool)
        full, low, high = query["full"].astype(bool), low >> self._cut, high >> self._cut
        down, up = compare in LESS + FREE, compare in GREATER + FREE
        old_low, old_high = self._low[place], self._high[place]
        new_low = np.minimum(old_low, low) if down else old_low
        new_high = np.maximum(old_high, high) if up else old_high
        if compare in LESS:
            new_high = np.where(full, np.minimum(old_high, high), old_high)
        if compare in GREATER:
            new_low = np.where(full, np.maximum(old_low, low), old_low)
        if compare in FREE:
            new_low, new_high = np.where(full, low, new_low), np.where(full, high, new_high)
        self._low[place], self._high[place] = np.where(writes, new_low, old_low), np.where(writes, new_high, old_high)
        self._in_flight[place] += writes
        return found

    def _turn(self, compare, write):
        """One bound: which one it is."""
        if compare in LESS + GREATER:
            wanted = LESS if compare in LESS else GREATER
            if self._way is None:
                self._way = wanted
            elif self._way is not wanted and write:
                self._way = ()

    def feedback(self, x, y, low, high):
        """A tile has been tested and written: the depths that it holds now.

        Parameters
        ----------
        x, y : ndarray of int, shape (n,)
            Tiles of different places.
        low, high : ndarray of int, shape (n,)
            The least and the greatest depth of the tile's samples on the target.

        Bounds tighten only if no other write to the tile is under way: that one may have been counted in already.
        """
        place = np.asarray(y, np.int64) * self._columns + x
        known = place < self._covered
        place, low, high = place[known], np.asarray(low, np.int64)[known] >> self._cut, np.asarray(high, np.int64)[known] >> self._cut
        alone = (self._in_flight[place] == 1) & ~self._stale[place]
        self._low[place], self._high[place] = np.where(alone, low, self._low[place]), np.where(alone, high, self._high[place])
        self._in_flight[place] -= 1
        self._stale &= self._in_flight > 0
