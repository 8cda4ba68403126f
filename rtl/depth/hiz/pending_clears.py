# SPDX-License-Identifier: BSD-2-Clause
"""Pending clears: rectangles that have been cleared, and that entries have not seen yet."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.rectangle import PIXELS, RECTANGLE, tile_shift


def bounds_layout(bits: int) -> StructLayout:
    """The least and the greatest of values."""
    return StructLayout({"low": bits, "high": bits})


def change_layout(bits: int) -> StructLayout:
    """What clears have done to bounds: added values to them, or replaced ``all`` of them."""
    return StructLayout({"all": 1, "bounds": bounds_layout(bits)})


class RectangleTouch(wiring.Component):
    """Find whether a rectangle touches a tile, and whether it covers all of it on the target.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel.
    width, height : In(15)
        Of the target.
    rectangle : In(RECTANGLE)
        On the target. It counts two clocks after it has been set.
    x, y : In
        A tile.
    touched, whole : Out(1)
        One clock later.
    """

    def __init__(self, edge: int) -> None:
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "samples": In(2),
                "width": In(15),
                "height": In(15),
                "rectangle": In(RECTANGLE),
                "x": In(position),
                "y": In(position),
                "touched": Out(1),
                "whole": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x_touched, x_whole = self._along(m, 0, "x", self.x, self.width)
        y_touched, y_whole = self._along(m, 1, "y", self.y, self.height)
        m.d.sync += [
            self.touched.eq(x_touched & y_touched),
            self.whole.eq(x_whole & y_whole),
        ]
        return m

    def _along(self, m, n, axis, place, size):
        """Both, along one axis: tiles that the rectangle begins and ends in, and within."""
        begin = self.rectangle[f"{axis}0"]
        end = self.rectangle[f"{axis}1"]
        shift = tile_shift(self._edge, self.samples, n)
        last = (1 << shift) - 1
        first = Signal(PIXELS, name=f"{axis}_first")
        beyond = Signal(PIXELS, name=f"{axis}_beyond")
        inner_first = Signal(PIXELS, name=f"{axis}_inner_first")
        inner_beyond = Signal(PIXELS, name=f"{axis}_inner_beyond")
        m.d.sync += [
            first.eq(begin >> shift),
            beyond.eq((end + last) >> shift),
            inner_first.eq((begin + last) >> shift),
            inner_beyond.eq(Mux(end == size, (end + last) >> shift, end >> shift)),
        ]
        not_empty = begin < end
        touched = (first <= place) & (place < beyond) & not_empty
        whole = (inner_first <= place) & (place < inner_beyond) & not_empty
        return touched, whole


class PendingClears(wiring.Component):
    """Keep clears of rectangles in a short log; find what they have done to a tile.

    An entry remembers how many clears of the log it has seen. For each such number the changes
    since then are put out side by side. One tile a clock.

    Parameters
    ----------
    bits : int
        Of a value.
    edge : int
        Samples along a tile's edge.
    log : int
        Clears between two epochs.

    Members
    -------
    samples, width, height : In
        Of the target, as :class:`RectangleTouch` has them.
    new_epoch : In(1)
        An epoch begins with these bounds for every tile, and an empty log:
    epoch_bounds : In(bounds_layout(bits))
    clear : In(1)
        ``rectangle`` is cleared to ``value``. It enters the log if there is ``room``.
    rectangle : In(RECTANGLE)
    value : In(bits)
    room : Out(1)
    count : Out(range(log + 1))
        Clears in the log.
    x, y : In
        A tile.
    touched, whole : Out(1)
        By ``rectangle`` itself, one clock later.
    unseen : Out(ArrayLayout(change_layout(bits), log + 2))
        By the number of clears that an entry has seen: what it has not, :attr:`LATENCY` clocks
        later. The last is for an entry of an older epoch.
    """

    LATENCY = 4

    def __init__(self, bits: int, edge: int, log: int) -> None:
        self._bits = bits
        self._edge = edge
        self._log = log
        self._change = change_layout(bits)
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "samples": In(2),
                "width": In(15),
                "height": In(15),
                "new_epoch": In(1),
                "epoch_bounds": In(bounds_layout(bits)),
                "clear": In(1),
                "rectangle": In(RECTANGLE),
                "value": In(bits),
                "room": Out(1),
                "count": Out(range(log + 1)),
                "x": In(position),
                "y": In(position),
                "touched": Out(1),
                "whole": Out(1),
                "unseen": Out(ArrayLayout(self._change, log + 2)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.room.eq(self.count < self._log)
        with m.If(self.new_epoch):
            m.d.sync += self.count.eq(0)
        with m.Elif(self.clear & self.room):
            m.d.sync += self.count.eq(self.count + 1)
        current = self._touch(m, "current", self.rectangle)
        m.d.comb += [
            self.touched.eq(current.touched),
            self.whole.eq(current.whole),
        ]
        timeline = Timeline(m)
        values = []
        for n in range(self._log):
            rectangle = Signal(RECTANGLE, name=f"rectangle_{n}")
            value = Signal(self._bits, name=f"value_{n}")
            with m.If(self.clear & (self.count == n)):
                m.d.sync += [
                    rectangle.eq(self.rectangle),
                    value.eq(self.value),
                ]
            touch = self._touch(m, f"touch_{n}", rectangle)
            pending = self.count > n
            timeline.enter(1, **{f"touched_{n}": touch.touched & pending})
            timeline.enter(1, **{f"whole_{n}": touch.whole & pending})
            values.append(value)
        self._accumulate(m, timeline, values)
        return m

    def _touch(self, m, name, rectangle):
        """Whether a rectangle touches the tile."""
        m.submodules[name] = touch = RectangleTouch(self._edge)
        m.d.comb += touch.rectangle.eq(rectangle)
        for member in ("samples", "width", "height", "x", "y"):
            m.d.comb += getattr(touch, member).eq(getattr(self, member))
        return touch

    def _accumulate(self, m, timeline, values):
        """Changes from the newest clear back, half of the log in each of two clocks."""
        nothing = Signal(self._change)
        m.d.comb += nothing.bounds.low.eq(-1)
        candidates = [nothing]
        half = -(-self._log // 2)
        clock = 1
        for n in reversed(range(self._log)):
            if n == self._log - half - 1 or (n == 0 and self._log == 1):
                candidates = self._next_clock(m, candidates, "half")
                clock = 2
            now = timeline[clock]
            touched = getattr(now, f"touched_{n}")
            whole = getattr(now, f"whole_{n}")
            candidates.append(self._before(m, candidates[-1], touched, whole, values[n], n))
        candidates = self._next_clock(m, candidates, "all")

        # An entry of an older epoch has seen nothing of this one: its bounds are replaced.
        first = Signal.like(self.epoch_bounds)
        older = Signal(self._change)
        with m.If(self.new_epoch):
            m.d.sync += first.eq(self.epoch_bounds)
        oldest = candidates[-1]
        low = oldest.bounds.low
        high = oldest.bounds.high
        first = register(m, first, first.shape(), "first")
        m.d.comb += older.eq(oldest)
        with m.If(~oldest.all):
            m.d.comb += [
                older.all.eq(1),
                older.bounds.low.eq(Mux(low < first.low, low, first.low)),
                older.bounds.high.eq(Mux(high > first.high, high, first.high)),
            ]
        for unseen, change in zip(self.unseen, [*reversed(candidates), older], strict=True):
            m.d.sync += unseen.eq(change)

    def _next_clock(self, m, candidates, name):
        return [register(m, c, self._change, f"{name}_{n}") for n, c in enumerate(candidates)]

    def _before(self, m, after, touched, whole, value, n):
        """What a clear and all after it have done."""
        change = Signal(self._change, name=f"change_{n}")
        low = after.bounds.low
        high = after.bounds.high
        m.d.comb += change.eq(after)
        with m.If(touched & ~after.all):
            m.d.comb += [
                change.all.eq(whole),
                change.bounds.low.eq(Mux(value < low, value, low)),
                change.bounds.high.eq(Mux(value > high, value, high)),
            ]
        return change
