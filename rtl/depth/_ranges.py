# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of values of a target's tiles, on chip."""

from itertools import pairwise

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._rectangle import RECTANGLE, tile_shift
from fixfunc.rtl.pipeline import NEVER_COLLIDES, delay, held

BANKS = 4  # by the lowest bits of a tile's x and y: the tiles of a triangle lie in all of them
EPOCH = 5  # bits of an entry's epoch


def range_layout(bits):
    """The least and the greatest of values."""
    return StructLayout({"low": bits, "high": bits})


def op_layout(bits):
    """A write to a tile: values from ``low`` to ``high``, to some samples that grow lower, or higher, or to every one of them."""
    return StructLayout({"low": bits, "high": bits, "lower": 1, "higher": 1, "full": 1})


class Touch(wiring.Component):
    """Which tiles a rectangle touches, and of which it holds all that is on the target.

    Parameters
    ----------
    edge : int

    Members
    -------
    samples, width, height : In
        Of the target.
    rectangle : In(RECTANGLE)
        On the target.
    x, y : In
        A tile.
    touched, whole : Out(1)
        A clock later; a rectangle counts two clocks after it has been set.
    """

    def __init__(self, edge):
        self._edge = edge
        position = 16 - edge.bit_length() + 1
        super().__init__({
            "samples": In(2), "width": In(15), "height": In(15), "rectangle": In(RECTANGLE), "x": In(position), "y": In(position),
            "touched": Out(1), "whole": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        touched, whole = [], []
        for n, (axis, place, size) in enumerate((("x", self.x, self.width), ("y", self.y, self.height))):
            begin, end, shift = self.rectangle[f"{axis}0"], self.rectangle[f"{axis}1"], tile_shift(self._edge, self.samples, n)
            last = (1 << shift) - 1
            first, beyond, inner, outer = (Signal(16, name=f"{axis}_{name}") for name in ("first", "beyond", "inner", "outer"))
            m.d.sync += [first.eq(begin >> shift), beyond.eq((end + last) >> shift), inner.eq((begin + last) >> shift),
                         outer.eq(Mux(end == size, (end + last) >> shift, end >> shift))]
            some = begin < end
            touched.append((first <= place) & (place < beyond) & some)
            whole.append((inner <= place) & (place < outer) & some)
        m.d.sync += [self.touched.eq(touched[0] & touched[1]), self.whole.eq(whole[0] & whole[1])]
        return m


class RangeMemory(wiring.Component):
    """The range of values that each tile may hold.

    One tile is read and written per clock, the same one again at once. A clear of the whole target begins a new epoch:
    what belongs to an older one counts as cleared. Clears of rectangles are kept in a short log, of which an entry says
    how much it has seen; what it has not is applied as it is read. Another writer may put a range directly.
    Of ``one`` bound, the other one could be anything: ranges are as wide as that.

    Parameters
    ----------
    bits : int
        Of a value.
    entries : int
        Tiles, in all banks.
    edge : int
        Samples along a tile's edge.
    log : int
        Clears of rectangles between two of the whole target.
    one : bool
        One bound is kept of each tile.

    Members
    -------
    samples, width, height : In
        Of the target.
    least : In(1)
        Of one bound: it is the lower one. It may change before a tile's look-up, if nothing has been written since an
        epoch began.
    begin, first : In
        A new epoch begins with this range for every tile; nothing is under way.
    clear, rectangle, value : In
        A rectangle, which holds, is cleared to a value; nothing is under way. Where the log has no :attr:`room`, its tiles
        must be visited.
    room : Out(1)
    busy : Out(1)
        Old epochs are being swept out: nothing may be read or put.
    valid, x, y, bank, place : In
        A tile.
    touched, whole : Out
        By the last rectangle, a clock before:
    range : Out(range_layout(bits))
        :attr:`LATENCY` clocks later.
    op, keep : In
        In that clock: what is written to the tile, unless ``keep``.
    written : Out
        A clock later: the tile's range from now on.
    put, put_fits, put_bank, put_place, put_range : In
        Another write, if it ``fits``, which lands a clock later; not while :attr:`taken` has the bank's bit set.
    taken : Out(BANKS)
    """

    LATENCY, READ, WRITE = 6, 2, 7  # clocks from a tile to its range, to its memory, and to its write

    def __init__(self, bits, entries, edge, log, one=False):
        self._entries, self._edge, self._log, self._one = entries, edge, log, one
        self._entry = StructLayout({"epoch": EPOCH, "seen": range(log + 2), "stored": bits if one else range_layout(bits)})
        pair, position, place = range_layout(bits), 16 - edge.bit_length() + 1, range(entries // BANKS)
        super().__init__({
            "samples": In(2), "width": In(15), "height": In(15), "least": In(1),
            "begin": In(1), "first": In(pair), "clear": In(1), "rectangle": In(RECTANGLE), "value": In(bits), "room": Out(1), "busy": Out(1, init=1),
            "valid": In(1), "x": In(position), "y": In(position), "bank": In(range(BANKS)), "place": In(place),
            "range": Out(pair), "whole": Out(1), "touched": Out(1), "op": In(op_layout(bits)), "keep": In(1), "written": Out(pair),
            "put": In(1), "put_fits": In(1), "put_bank": In(range(BANKS)), "put_place": In(place), "put_range": In(pair), "taken": Out(BANKS),
        })

    def elaborate(self, platform):
        m = Module()
        pair = self.range.shape()
        epoch, seen, first = Signal(EPOCH), Signal(range(self._log + 1)), Signal(pair)
        sweep = self._epochs(m, epoch, seen, first)
        since = self._log_of_clears(m, seen, first)

        # Read: every bank the same place.
        banks, bank, held_rows = [], delay(m, self.bank, self.READ + 2, "bank"), []
        for n in range(BANKS):
            m.submodules[f"bank_{n}"] = memory = Memory(shape=self._entry, depth=self._entries // BANKS, init=[], attrs=NEVER_COLLIDES)
            banks.append((memory.read_port(), memory.write_port()))
            m.d.comb += [banks[n][0].addr.eq(delay(m, self.place, self.READ, f"read_{n}")), banks[n][0].en.eq(1)]
            held_rows.append(Signal(self._entry.size, name=f"row_{n}"))
            m.d.sync += held_rows[n].eq(banks[n][0].data)  # block RAM is late by itself

        # What an entry has not seen: chosen by its tag, side by side with the tag's age, then applied.
        chosen, held, rows = Signal(since[0].shape()), Signal(pair), [self._entry(row) for row in held_rows]
        seen_before, current = (Array(values)[bank] for values in ([row.seen for row in rows], [row.epoch == epoch for row in rows]))
        unseen = Array(s.as_value() for s in since)  # an entry that was swept has seen nothing of its epoch, nor of any
        m.d.sync += [chosen.eq(Mux(current, unseen[seen_before], since[-1].as_value())),
                     held.eq(self._range(Array(Value.cast(row.stored) for row in rows)[bank]))]
        known = Signal(pair)
        m.d.comb += known.eq(self._kept(Mux(chosen.all | (chosen.range.low < held.low), chosen.range.low, held.low),
                                        Mux(chosen.all | (chosen.range.high > held.high), chosen.range.high, held.high)))

        # The newest: of the tile before, and of those whose write is not yet in the memory.
        key = [delay(m, Cat(self.bank, self.place), self.READ, "key")]
        key += [Signal.like(key[0], name=f"key_{n}") for n in range(self.READ + 1, self.LATENCY + 4)]
        m.d.sync += [later.eq(now) for now, later in pairwise(key)]
        result, results = Signal(pair), [self.written, *(Signal(pair, name=f"result_{n}") for n in range(1, 4))]
        m.d.comb += result.eq(self._result())
        m.d.sync += [later.eq(now) for now, later in pairwise([result, *results])]
        same, valid, at = Signal(5), Signal(self.LATENCY + 3), self.LATENCY - 2
        m.d.sync += [valid.eq(Cat(self.valid, valid)), same.eq(Cat((key[at - self.READ] == key[at - self.READ + n]) & valid[at + n - 1]
                                                                   for n in range(1, 6)))]
        recent = Mux(same[1], results[0], Mux(same[2], results[1], Mux(same[3], results[2], results[3])))
        m.d.sync += self.range.eq(Mux(same[0], result, Mux(same[1:].any(), recent, known)))

        # Writes: of the tiles, of the other writer, of the sweep.
        writes, at, put, put_bank, put_place = Signal(BANKS), self.WRITE - self.READ, Signal(self._entry), Signal(BANKS), Signal.like(self.put_place)
        puts, fits = Signal(), Signal()  # by themselves: they are known last
        m.d.comb += self.taken.eq(Mux(self.op.lower | self.op.higher, 1 << key[at - 1][:2], 0))
        m.d.sync += [writes.eq(self.taken), puts.eq(self.put), fits.eq(self.put_fits), put_bank.eq(1 << self.put_bank), put_place.eq(self.put_place),
                     put.stored.eq(self._stored(self.put_range)), put.epoch.eq(epoch), put.seen.eq(seen)]
        for n, (_, write) in enumerate(banks):
            m.d.comb += [write.data.epoch.eq(epoch), write.data.seen.eq(seen)]
            with m.If(self.busy):
                m.d.comb += [write.en.eq(1), write.addr.eq(sweep), write.data.seen.eq(self._log + 1)]
            with m.Elif(writes[n]):
                m.d.comb += [write.en.eq(1), write.addr.eq(key[at][2:]), write.data.stored.eq(self._stored(results[0]))]
            with m.Else():
                m.d.comb += [write.en.eq(put_bank[n] & puts & fits), write.addr.eq(put_place), write.data.eq(put)]
        return m

    def _result(self):
        """The range after the operation: one comparison and one choice a bound, since every tile of a run waits for it."""
        op, held = self.op, self.range
        below, above = op.low < held.low, op.high > held.high
        both = op.full & op.lower & op.higher
        new_low = ~self.keep & (both | Mux(op.lower, below, op.full & op.higher & ~below))
        new_high = ~self.keep & (both | Mux(op.higher, above, op.full & op.lower & ~above))
        return self._kept(Mux(new_low, op.low, held.low), Mux(new_high, op.high, held.high))

    def _kept(self, low, high):
        """A range of both bounds, or of one."""
        each = self.least.replicate(len(high))
        return Cat(low & each, high | each) if self._one else Cat(low, high)

    def _stored(self, pair):
        """What an entry holds of a range,"""
        return Mux(self.least, pair.low, pair.high) if self._one else pair

    def _range(self, stored):
        """and the range that it stands for."""
        return self._kept(stored, stored) if self._one else stored

    def _epochs(self, m, epoch, seen, first):
        """Begin epochs; sweep the memory before the first, and before a number comes again."""
        sweep = Signal(range(self._entries // BANKS))
        with m.If(self.busy):
            m.d.sync += [sweep.eq(sweep + 1), self.busy.eq(sweep != self._entries // BANKS - 1)]
        with m.If(self.begin):
            m.d.sync += [epoch.eq(epoch + 1), seen.eq(0), first.eq(self.first), self.busy.eq(self.busy | epoch.all())]
        with m.Elif(self.clear & self.room):
            m.d.sync += seen.eq(seen + 1)
        m.d.comb += self.room.eq(seen < self._log)
        return sweep

    def _log_of_clears(self, m, seen, first):
        """What clears have done to a tile, by how many of them its entry has seen; last, all since its epoch ended.

        Four clocks behind the tile.
        """
        pair = self.range.shape()
        done = StructLayout({"all": 1, "range": pair})  # the range that became of the tile's, or was added to it
        slots, flags = [], []
        for n in range(self._log + 1):
            m.submodules[f"touch_{n}"] = touch = Touch(self._edge)
            m.d.comb += [getattr(touch, name).eq(getattr(self, name)) for name in ("samples", "width", "height", "x", "y")]
            flags.append(touch)
            if n == self._log:  # the one that is being applied tile by tile
                m.d.comb += touch.rectangle.eq(self.rectangle)
                break
            rectangle, value = Signal(RECTANGLE, name=f"rectangle_{n}"), Signal(self.value.shape(), name=f"value_{n}")
            m.d.comb += touch.rectangle.eq(rectangle)
            with m.If(self.clear & (seen == n)):
                m.d.sync += [rectangle.eq(self.rectangle), value.eq(self.value)]
            slots.append(value)
        m.d.comb += [self.touched.eq(delay(m, flags[-1].touched, self.LATENCY - 2, "touched")),
                     self.whole.eq(delay(m, flags[-1].whole, self.LATENCY - 2, "whole"))]

        # From the newest back; half of them a clock.
        nothing = Signal(done)
        m.d.comb += [nothing.range.low.eq(-1), nothing.range.high.eq(0)]
        steps = [nothing]
        half, late = -(-self._log // 2), 1
        for n in reversed(range(self._log)):
            if n == self._log - half - 1 or (n == 0 and self._log == 1):
                steps = [held(m, step, step.shape(), f"step_{n}_{k}") for k, step in enumerate(steps)]
                late = 2
            used = seen > n
            touched, whole = (delay(m, getattr(flags[n], name) & used, late - 1, f"{name}_{n}") for name in ("touched", "whole"))
            steps.append(self._before(m, steps[-1], touched, whole, slots[n], f"clear_{n}"))
        steps, first = [held(m, step, step.shape(), f"late_step_{k}") for k, step in enumerate(steps)], held(m, first, first.shape(), "late_first")
        everything = Signal(done)
        m.d.comb += everything.eq(steps[-1])
        with m.If(~steps[-1].all):
            m.d.comb += [everything.all.eq(1),
                         everything.range.low.eq(Mux(steps[-1].range.low < first.low, steps[-1].range.low, first.low)),
                         everything.range.high.eq(Mux(steps[-1].range.high > first.high, steps[-1].range.high, first.high))]
        return [held(m, step, step.shape(), f"unseen_{n}") for n, step in enumerate([*reversed(steps), everything])]

    def _before(self, m, after, touched, whole, value, name):
        """What has been done since a clear, and by it."""
        out = Signal(after.shape(), name=name)
        m.d.comb += out.eq(after)
        with m.If(touched & ~after.all):
            m.d.comb += [out.all.eq(whole), out.range.low.eq(Mux(value < after.range.low, value, after.range.low)),
                         out.range.high.eq(Mux(value > after.range.high, value, after.range.high))]
        return out
