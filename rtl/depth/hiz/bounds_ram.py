# SPDX-License-Identifier: BSD-2-Clause
"""Bounds RAM: bounds of the values of each tile, on chip."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.pending_clears import PendingClears, bounds_layout
from fixfunc.rtl.lib.bits import gated
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.lib.forwarded_memory import Forwarding
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE

BANKS = 4  # by the lowest bits of a tile's x and y: the tiles of a triangle lie in all of them
EPOCH = 5  # bits of an entry's epoch


def update_layout(bits: int) -> StructLayout:
    """A write to a tile: values from ``low`` to ``high``.

    They are written to some samples that grow lower, or higher; or to every one of them.
    """
    return StructLayout({"low": bits, "high": bits, "lower": 1, "higher": 1, "full": 1})


def updated_bounds(update, discard, bounds):
    """Low and high bound after an update, unless it is discarded.

    One comparison and one choice for each: every tile of a run waits for it.
    """
    below = update.low < bounds.low
    above = update.high > bounds.high
    both = update.full & update.lower & update.higher
    low = both | Mux(update.lower, below, update.full & update.higher & ~below)
    high = both | Mux(update.higher, above, update.full & update.lower & ~above)
    return (
        Mux(low & ~discard, update.low, bounds.low),
        Mux(high & ~discard, update.high, bounds.high),
    )


class Epochs(wiring.Component):
    """Number the clears of a whole target, and sweep the memory of what has an older number.

    A row that has not been written since it was swept needs no sweep: what is there counts as older
    in the first epoch, too. So the sweep ends at the bitwise OR of the rows that have been written,
    below which all of them lie.

    Parameters
    ----------
    rows : int
        Rows of the memory.

    Members
    -------
    new_epoch : In(1)
        A new epoch begins.
    epoch : Out(EPOCH)
        The number of this one.
    written : In(range(rows))
        Bitwise OR of the rows that are written in this clock, by tiles and by reports.
    initialising, sweep : Out(1), Out(range(rows))
        A row is to be swept: before the first epoch, and before a number comes again.
    """

    def __init__(self, rows):
        self._rows = rows
        super().__init__(
            {
                "new_epoch": In(1),
                "epoch": Out(EPOCH),
                "written": In(range(rows)),
                "initialising": Out(1, init=1),
                "sweep": Out(range(rows)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        last = Signal(range(self._rows), init=self._rows - 1)
        m.d.sync += last.eq(last | self.written)
        with m.If(self.initialising):
            m.d.sync += self.sweep.eq(self.sweep + 1)
            with m.If(self.sweep == last):
                m.d.sync += [
                    self.sweep.eq(0),
                    self.initialising.eq(0),
                    last.eq(0),
                ]
        with m.If(self.new_epoch):
            m.d.sync += [
                self.epoch.eq(self.epoch + 1),
                self.initialising.eq(self.initialising | self.epoch.all()),
            ]
        return m


class BoundsRam(wiring.Component):
    """Read, compare and update the bounds of a tile every clock, the same one again at once.

    A clear of the whole target begins a new epoch: entries of an older one count as cleared. Clears
    of rectangles are pending until an entry is read. Another writer reports bounds directly.

    Of a ``single`` bound the other one could be anything: bounds are as wide as that.

    Parameters
    ----------
    bits : int
        Of a value.
    entries : int
        Tiles, in all banks.
    edge : int
        Samples along a tile's edge.
    clears : int
        Clears of rectangles that may be pending.
    single : bool
        One bound of each tile is kept.

    Members
    -------
    samples, width, height, new_epoch, epoch_bounds, clear, rectangle, value
        Those of :class:`~fixfunc.rtl.depth.hiz.pending_clears.PendingClears`. Nothing is in flight
        when an epoch begins, or a rectangle is cleared.
    clear_room : Out(1)
        A clear of a rectangle can be pending. If not, its tiles must be visited.
    keeps_low : In(1)
        The single bound is the lower one. It may change before a tile is read, if nothing has been
        written since the epoch began.
    initialising : Out(1)
        Old epochs are swept out: no tile may be read, and nothing may be reported.
    tile_valid, x, y, bank, address : In
        A tile, and its entry.
    touched, whole : Out(1)
        Whether ``rectangle`` touches and covers it, :attr:`LATENCY` - 1 clocks later.
    bounds : Out(bounds_layout(bits))
        :attr:`LATENCY` clocks later.
    update : In(update_layout(bits))
        What is written to the tile, in the clock of ``bounds``.
    discard : In(1)
        The update is not written. In the same clock.
    updated : Out(bounds_layout(bits))
        The tile's bounds after the update, one clock later.
    report, report_fits, report_bank, report_address, report_bounds : In
        Bounds from the other writer, written if they fit. Not while ``bank_busy`` has the bit of
        the bank set.
    bank_busy : Out(BANKS)
        A tile is written there.
    """

    READ = 2  # clocks from a tile to its memory
    LATENCY = READ + PendingClears.LATENCY
    WRITE = LATENCY + 1

    def __init__(self, bits: int, entries: int, edge: int, clears: int, single: bool) -> None:
        self._bits = bits
        self._rows = entries // BANKS
        self._edge = edge
        self._clears = clears
        self._single = single
        bounds = bounds_layout(bits)
        self._entry = StructLayout(
            {"epoch": EPOCH, "clear_count": range(clears + 2), "stored": bits if single else bounds}
        )
        position = 16 - edge.bit_length() + 1
        super().__init__(
            {
                "samples": In(2),
                "width": In(15),
                "height": In(15),
                "keeps_low": In(1),
                "new_epoch": In(1),
                "epoch_bounds": In(bounds),
                "clear": In(1),
                "rectangle": In(RECTANGLE),
                "value": In(bits),
                "clear_room": Out(1),
                "initialising": Out(1),
                "tile_valid": In(1),
                "x": In(position),
                "y": In(position),
                "bank": In(range(BANKS)),
                "address": In(range(self._rows)),
                "touched": Out(1),
                "whole": Out(1),
                "bounds": Out(bounds),
                "update": In(update_layout(bits)),
                "discard": In(1),
                "updated": Out(bounds),
                "report": In(1),
                "report_fits": In(1),
                "report_bank": In(range(BANKS)),
                "report_address": In(range(self._rows)),
                "report_bounds": In(bounds),
                "bank_busy": Out(BANKS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.clears = clears = PendingClears(self._bits, self._edge, self._clears)
        for name in (
            *("samples", "width", "height", "new_epoch", "epoch_bounds"),
            *("clear", "rectangle", "value", "x", "y"),
        ):
            m.d.comb += getattr(clears, name).eq(getattr(self, name))
        timeline = Timeline(m)
        timeline.enter(0, valid=self.tile_valid, bank=self.bank, address=self.address)
        timeline.enter(1, touched=clears.touched, whole=clears.whole)
        timeline.enter(clears.LATENCY, unseen=clears.unseen)
        m.d.comb += [
            self.clear_room.eq(clears.room),
            self.touched.eq(timeline[self.LATENCY - 1].touched),
            self.whole.eq(timeline[self.LATENCY - 1].whole),
        ]
        banks = [
            Memory(shape=self._entry, depth=self._rows, init=[], attrs=NO_COLLISION)
            for _ in range(BANKS)
        ]
        for n, bank in enumerate(banks):
            m.submodules[f"bank_{n}"] = bank
        m.submodules.epochs = epochs = Epochs(self._rows)
        m.d.comb += [
            epochs.new_epoch.eq(self.new_epoch),
            self.initialising.eq(epochs.initialising),
        ]
        stored = self._read(m, timeline, banks, epochs.epoch)
        self._forward(m, timeline, stored)
        self._write(m, timeline, banks, epochs, clears.count)
        return m

    def _read(self, m, timeline, banks, epoch):
        """The bounds of an entry, and what it has not seen; one clock before the newest are known.

        Every bank is read, at the same address. Block RAM is slow: a register follows it.
        """
        rows = []
        for n, bank in enumerate(banks):
            read = bank.read_port()
            row = Signal(self._entry, name=f"row_{n}")
            m.d.comb += read.addr.eq(timeline[self.READ].address)
            m.d.sync += row.eq(read.data)
            rows.append(row)
        now = timeline[self.READ + 2]
        clear_count = Array([row.clear_count for row in rows])[now.bank]
        current = Array([row.epoch == epoch for row in rows])[now.bank]
        unseen = Array(now.unseen[n].as_value() for n in range(self._clears + 2))
        change = Signal(now.unseen[0].shape())
        entry = Signal(self.bounds.shape())
        raw = Array(self._stored_of(row) for row in rows)[now.bank]
        m.d.sync += [
            change.eq(Mux(current, unseen[clear_count], now.unseen[self._clears + 1].as_value())),
            entry.eq(self._unpacked(raw)),
        ]
        stored = Signal(self.bounds.shape())
        low = change.bounds.low
        high = change.bounds.high
        m.d.comb += stored.eq(
            self._single_of(
                Mux(change.all | (low < entry.low), low, entry.low),
                Mux(change.all | (high > entry.high), high, entry.high),
            )
        )
        return stored

    def _forward(self, m, timeline, stored):
        """The newest bounds: stored, or those of a tile whose write is not in memory yet."""
        m.submodules.forwarding = forwarding = Forwarding(
            self.bounds.shape(),
            unsigned(len(self.address) + len(self.bank)),
            reach=self.WRITE - self.READ,
        )
        operation = timeline[self.LATENCY - forwarding.latency]
        low_and_high = updated_bounds(self.update, self.discard, self.bounds)
        m.d.comb += [
            forwarding.valid.eq(operation.valid),
            forwarding.address.eq(Cat(operation.address, operation.bank)),
            forwarding.stored.eq(stored),
            forwarding.result.eq(self._single_of(*low_and_high)),
            self.bounds.eq(forwarding.value),
            self.updated.eq(forwarding.written),
        ]

    def _write(self, m, timeline, banks, epochs, count):
        """Writes of tiles, of the other writer, of the sweep."""
        busy = Signal(BANKS)
        report = Signal()
        report_bank = Signal(BANKS)
        report_address = Signal.like(self.report_address)
        report_entry = Signal(self._entry)
        writes = self.update.lower | self.update.higher
        bank = timeline[self.LATENCY].bank
        address = timeline[self.WRITE].address
        m.d.comb += self.bank_busy.eq(Mux(writes, 1 << bank, 0))
        m.d.sync += [
            busy.eq(self.bank_busy),
            report.eq(self.report & self.report_fits),
            report_bank.eq(1 << self.report_bank),
            report_address.eq(self.report_address),
            report_entry.epoch.eq(epochs.epoch),
            report_entry.clear_count.eq(count),
            self._stored_of(report_entry).eq(self._packed(self.report_bounds)),
        ]
        m.d.comb += epochs.written.eq(gated(address, busy.any()) | gated(report_address, report))
        for n, memory in enumerate(banks):
            write = memory.write_port()
            stored = self._stored_of(write.data)
            m.d.comb += [
                write.data.epoch.eq(epochs.epoch),
                write.data.clear_count.eq(count),
            ]
            with m.If(self.initialising):
                m.d.comb += [
                    write.en.eq(1),
                    write.addr.eq(epochs.sweep),
                    write.data.clear_count.eq(self._clears + 1),
                ]
            with m.Elif(busy[n]):
                m.d.comb += [
                    write.en.eq(1),
                    write.addr.eq(address),
                    stored.eq(self._packed(self.updated)),
                ]
            with m.Else():
                m.d.comb += [
                    write.en.eq(report_bank[n] & report),
                    write.addr.eq(report_address),
                    write.data.eq(report_entry),
                ]

    def _stored_of(self, entry):
        """The bounds of an entry, which are its highest bits."""
        return entry.as_value()[-(self._bits if self._single else 2 * self._bits) :]

    def _single_of(self, low, high):
        """Both bounds; or one, and as the other one what it could be."""
        each = self.keeps_low.replicate(len(high))
        return Cat(low & each, high | each) if self._single else Cat(low, high)

    def _packed(self, bounds):
        """Bounds as an entry stores them."""
        return Mux(self.keeps_low, bounds.low, bounds.high) if self._single else bounds.as_value()

    def _unpacked(self, stored):
        """The bounds that an entry stands for."""
        return self._single_of(stored, stored) if self._single else stored
