# SPDX-License-Identifier: BSD-2-Clause
"""Planes of the tiles on chip, and which samples belong to them."""

from functools import reduce
from itertools import combinations
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.planes.plane_depths import PLANE
from fixfunc.rtl.lib.bits import lowest, named
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching, depth_tiles
from fixfunc.spec.payloads import PLANES
from fixfunc.spec.state import SlotOp

MOST = PLANES + 1  # one more than is kept, so that there is always a place for the next
PAIRS = tuple(combinations(range(MOST), 2))


def known_planes(edge):
    """Fields of :func:`fixfunc.spec.memory.depth_tiles.known_planes`."""
    return layout(depth_tiles.known_planes(edge))


def row_layout(edge):
    """What is kept of a slot's tile: planes in any order, and the samples that belong to each."""
    return StructLayout(
        {
            "written": 1,  # the tile is not as it is in memory
            "known": 1,  # every sample belongs to a plane
            "used": MOST,  # planes that a sample belongs to
            "older": len(PAIRS),  # of each pair of planes, the first is the older one
            "planes": ArrayLayout(PLANE, MOST),
            "samples": ArrayLayout(edge**2, MOST),
        }
    )


class PlaneTable(wiring.Component):
    """Planes of each slot's tile, and which of them each of its samples belongs to: kept up to date
    at every write.

    One command a clock, the same slot again at once. A plane stays in its place as long as a sample
    belongs to it, and a new plane goes to a place that is free. Only what leaves is put in order,
    the oldest first.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.

    Members
    -------
    i : In(StructLayout)
        What has been done to a slot, if ``valid``: ``done`` as
        :func:`fixfunc.spec.memory.caching.completion`; ``filled``: planes of the tile of a FILL.
    o : Out(StructLayout)
        The same slot as it was before, :attr:`LATENCY` clocks later: ``op``, its planes, its
        depths; ``written``: its tile is not as it is in memory.
    """

    UPDATE = 3  # clock in which a row changes
    LATENCY = 6

    def __init__(self, edge, slots):
        self._edge = edge
        self._slots = slots
        self._row = row_layout(edge)
        lanes = edge**2
        depths = ArrayLayout(payloads.DEPTH, lanes)
        super().__init__(
            {
                "i": In(
                    StructLayout(
                        {
                            "valid": 1,
                            "done": layout(caching.completion(edge)),
                            "filled": known_planes(edge),
                        }
                    )
                ),
                "o": Out(
                    StructLayout(
                        {"op": 3, "known": known_planes(edge), "written": 1, "depths": depths}
                    )
                ),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        done = self.i.done
        plane = Signal(PLANE)
        m.d.comb += [plane[name].eq(done[name]) for name in PLANE.members]
        t.enter(
            0,
            op=done.op,
            exact=done.exact,
            plane=plane,
            written=Mux(has(done.op, SlotOp.USE), done.written, 0),
            filled=self.i.filled,
        )
        m.submodules.rows = rows = ForwardedMemory(
            self._row, self._slots, latency=self.UPDATE, write_delay=1, replaced=True
        )
        m.d.comb += [
            rows.valid.eq(self.i.valid),
            rows.address.eq(done.slot),
            rows.fill.eq(has(t[rows.fill_latency].op, SlotOp.FILL)),
            rows.filled.eq(self._filled(m, t[rows.fill_latency].filled)),
        ]
        self._update(m, t, rows)
        t.enter(self.UPDATE, row=rows.replaced)
        self._order(m, t)
        m.submodules.depths = depths = DelayLine(
            self._edge**2 * payloads.DEPTH, self.LATENCY, near=True
        )
        m.d.comb += [
            depths.i.eq(Cat(done[f"value{n}"] for n in range(self._edge**2))),
            self.o.depths.eq(depths.o),
            self.o.op.eq(t[self.LATENCY].op),
        ]
        return m

    def _filled(self, m, planes):
        """The row of a tile that came from memory."""
        row = Signal(self._row, name="filled")
        m.d.comb += [
            row.known.eq(planes.planes != 0),
            row.older.eq(~0),
        ]
        for k in range(PLANES):
            low, high = (
                bits if k >> n & 1 else ~bits
                for n, bits in enumerate((planes.mask_low, planes.mask_high))
            )
            m.d.comb += [
                row.used[k].eq(planes.planes > k),
                row.samples[k].eq(low & high),
                *(row.planes[k][name].eq(planes[f"{name}_{k}"]) for name in PLANE.members),
            ]
        return row

    def _update(self, m, t, rows):
        """The row after a command: samples that were written belong to the command's plane.

        A plane is kept where there is an equal one, or goes to the first free place.
        """
        command = t[self.UPDATE]
        row = rows.value
        following = rows.result
        t.enter(2, any_written=t[2].written.any(), all_written=t[2].written.all())
        allocated = Signal(MOST)
        equal = self._equal_planes(m, t, rows, allocated)
        valid = Signal()
        matches = Signal(MOST)
        free = Signal(MOST)
        m.d.comb += [
            valid.eq(row.known & ~row.used.all()),
            matches.eq(equal & row.used & valid.replicate(MOST)),
            free.eq(~row.used | ~valid.replicate(MOST)),
            allocated.eq(Mux(command.any_written & ~matches.any(), lowest(free), 0)),
        ]
        gains = named(m, allocated | Mux(command.any_written, lowest(matches), 0), "gains")
        for k in range(MOST):
            remaining = Signal(len(command.written), name=f"remaining_{k}")
            m.d.comb += [
                remaining.eq(row.samples[k] & ~command.written),
                following.used[k].eq(gains[k] | remaining.any()),
                following.samples[k].eq(remaining | Mux(gains[k], command.written, 0)),
                following.planes[k].eq(
                    Mux(allocated[k], command.plane.as_value(), row.planes[k].as_value())
                ),
            ]
        m.d.comb += [
            following.older[n].eq((row.older[n] | allocated[j]) & ~allocated[i])
            for n, (i, j) in enumerate(PAIRS)
        ]
        m.d.comb += [
            following.known.eq(
                Mux(command.any_written, (valid | command.all_written) & command.exact, valid)
            ),
            following.written.eq(row.written | command.any_written),
        ]

    def _equal_planes(self, m, t, rows, allocated):
        """Which planes of the row equal the command's.

        They are compared a clock ahead. If the command before is of the same slot, a plane that it
        allocates is its own.
        """
        before = t[self.UPDATE].plane.as_value()
        plane = t[self.UPDATE - 1].plane.as_value()
        equal = Signal(MOST)
        repeats = Signal()
        m.d.comb += repeats.eq(plane == before)
        for k in range(MOST):
            of_result = Mux(allocated[k], repeats, plane == rows.value.planes[k].as_value())
            of_stored = plane == rows.early.planes[k].as_value()
            m.d.sync += equal[k].eq(Mux(rows.repeat, of_result, of_stored))
        return equal

    def _order(self, m, t):
        """Planes by their age, and numbers of samples by that."""
        row = t[self.UPDATE + 1].row
        ages = []
        for k in range(MOST):
            older = [
                row.used[i if j == k else j] & (row.older[n] if j == k else ~row.older[n])
                for n, (i, j) in enumerate(PAIRS)
                if k in (i, j)
            ]
            age = Signal(2, name=f"age_{k}")
            m.d.sync += age.eq(sum(older))
            ages.append(age)
        count = Signal(3)
        m.d.sync += count.eq(Mux(row.known, sum(row.used), 0))

        row = t[self.UPDATE + 2].row
        m.d.sync += [
            self.o.known.planes.eq(count),
            self.o.written.eq(row.written),
        ]
        for place in range(PLANES):
            chosen = named(
                m,
                _any(
                    Mux(row.used[k] & (ages[k] == place), row.planes[k].as_value(), 0)
                    for k in range(MOST)
                ),
                f"chosen_{place}",
            )
            m.d.sync += [
                self.o.known[f"{name}_{place}"].eq(PLANE(chosen)[name]) for name in PLANE.members
            ]
        for bit, name in enumerate(("mask_low", "mask_high")):
            m.d.sync += self.o.known[name].eq(
                _any(Mux(ages[k][bit], row.samples[k], 0) for k in range(MOST))
            )


def _any(values):
    return reduce(or_, values)
