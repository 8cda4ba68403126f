# SPDX-License-Identifier: BSD-2-Clause
"""What is known of the planes of tiles on chip."""

from functools import reduce
from itertools import combinations, pairwise
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.plane_depths import PLANE
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import NO_COLLISION, DelayLine, delay
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.payloads import PLANES, SLOT
from fixfunc.spec.state import SlotOp

MOST = PLANES + 1  # one more than is kept, so that there is always a place for the next
PAIRS = tuple(combinations(range(MOST), 2))


def known(edge):
    """Fields of :func:`fixfunc.spec.payloads.known_planes`."""
    return layout(payloads.known_planes(edge))


class PlaneTable(wiring.Component):
    """Planes of each slot's tile, and which of them each of its samples belongs to: kept up to date
    at every write.

    One thing a clock, the same slot again at once: a plane stays in its place as long as a sample
    belongs to it, and the next comes to a place that is free. Only what leaves is put in order, the
    oldest first.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.

    Members
    -------
    i : In(StructLayout)
        What has been done to a slot, if ``valid``: ``op``, ``slot``, ``done``, as
        :func:`fixfunc.spec.payloads.completion`; ``filled``: planes of what has been put there.
    o : Out(StructLayout)
        The same slot, :attr:`LATENCY` clocks later: ``op``, ``written``: its tile is not as it is
        in memory; its planes, its depths.
    """

    LATENCY = 6

    def __init__(self, edge, slots):
        self._edge = edge
        self._slots = slots
        lanes = edge**2
        depths = ArrayLayout(payloads.DEPTH, lanes)
        self._line = StructLayout(
            {
                "written": 1,
                "known": 1,
                "used": MOST,
                "older": len(PAIRS),
                "planes": ArrayLayout(PLANE, MOST),
                "samples": ArrayLayout(lanes, MOST),
            }
        )
        super().__init__(
            {
                "i": In(
                    StructLayout(
                        {
                            "valid": 1,
                            "op": 2,
                            "slot": SLOT,
                            "done": layout(payloads.completion(edge)),
                            "filled": known(edge),
                        }
                    )
                ),
                "o": Out(
                    StructLayout({"op": 2, "known": known(edge), "written": 1, "depths": depths})
                ),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self._line, depth=self._slots, init=[], attrs=NO_COLLISION
        )
        read = memory.read_port()
        write = memory.write_port()
        done = self.i.done
        found = Signal(self._line)
        line = Signal(self._line)
        following = Signal(self._line)
        left = Signal(self._line)
        before = Signal(self._line)

        # Clock by clock: asked of memory; what comes from there; found; in use; left, and written;
        # before that.
        step = StructLayout(
            {
                "valid": 1,
                "op": 2,
                "slot": SLOT,
                "exact": 1,
                "plane": PLANE,
                "written": self._edge**2,
            }
        )
        steps = [Signal(step, name=f"step_{n}") for n in range(6)]
        m.d.comb += [steps[0][name].eq(self.i[name]) for name in ("valid", "op", "slot")]
        m.d.comb += [
            steps[0].exact.eq(done.exact),
            *(steps[0].plane[name].eq(done[name]) for name in PLANE.members),
            steps[0].written.eq(Mux(self.i.op == SlotOp.USE, done.written, 0)),
        ]
        m.d.sync += [later.eq(now) for now, later in pairwise(steps)]
        one, *same = [Signal(name=f"same_{n}") for n in range(1, 5)]  # slot as so many steps before
        m.d.sync += [
            flag.eq(steps[n].valid & (steps[n].slot == self.i.slot))
            for n, flag in enumerate((one, *same), 1)
        ]
        again = delay(m, one & (steps[1].op != SlotOp.FILL), 1, "again")
        m.d.comb += [
            read.addr.eq(self.i.slot),
            write.addr.eq(steps[4].slot),
            write.en.eq(steps[4].valid),
            write.data.eq(left),
        ]
        newest = Mux(same[0], following, Mux(same[1], left, Mux(same[2], before, read.data)))
        m.d.sync += [
            found.eq(
                Mux(
                    steps[1].op == SlotOp.FILL,
                    self._filled(m, delay(m, self.i.filled, 1, "filled")),
                    newest,
                )
            ),
            line.eq(Mux(again, following, found)),
            left.eq(following),
            before.eq(left),
        ]
        self._write(m, steps, again, found, line, following)
        self._order(m, left, before)
        m.submodules.depths = depths = DelayLine(
            self._edge**2 * payloads.DEPTH, self.LATENCY, near=True
        )
        m.d.comb += [
            depths.i.eq(Cat(done[f"value{n}"] for n in range(self._edge**2))),
            self.o.depths.eq(depths.o),
        ]
        m.d.sync += [
            self.o.op.eq(steps[5].op),
            self.o.written.eq(before.written),
        ]
        return m

    def _filled(self, m, given):
        """What a tile from memory becomes here."""
        out = Signal(self._line, name="comes")
        m.d.comb += [
            out.known.eq(given.planes != 0),
            out.older.eq(~0),
        ]
        for k in range(PLANES):
            low, high = (
                bits if k >> n & 1 else ~bits
                for n, bits in enumerate((given.mask_low, given.mask_high))
            )
            m.d.comb += [
                out.used[k].eq(given.planes > k),
                out.samples[k].eq(low & high),
                *(out.planes[k][name].eq(given[f"{name}_{k}"]) for name in PLANE.members),
            ]
        return out

    def _write(self, m, steps, again, found, line, following):
        """What becomes of a line by what has been done.

        Which planes are equal to a new one is known before it is in use.
        """
        given = steps[3]
        comes = Signal(MOST)
        equal = Signal(MOST)
        some = delay(m, steps[2].written.any(), 1, "some")
        every = delay(m, steps[2].written.all(), 1, "every")
        plane = steps[2].plane.as_value()
        repeats = Signal()
        m.d.comb += repeats.eq(plane == given.plane.as_value())
        for k in range(MOST):
            of_line = Mux(comes[k], repeats, plane == line.planes[k].as_value())
            m.d.sync += equal[k].eq(Mux(again, of_line, plane == found.planes[k].as_value()))

        keeps = Signal()
        matches = Signal(MOST)
        free = Signal(MOST)
        m.d.comb += [
            keeps.eq(line.known & ~line.used.all()),
            matches.eq(equal & line.used & keeps.replicate(MOST)),
            free.eq(~line.used | ~keeps.replicate(MOST)),
            comes.eq(Mux(some & ~matches.any(), _first(free), 0)),
        ]
        takes = named(m, comes | Mux(some, _first(matches), 0), "takes")
        for k in range(MOST):
            kept = Signal(len(given.written), name=f"kept_{k}")
            m.d.comb += [
                kept.eq(line.samples[k] & ~given.written),
                following.used[k].eq(takes[k] | kept.any()),
                following.samples[k].eq(kept | Mux(takes[k], given.written, 0)),
                following.planes[k].eq(
                    Mux(comes[k], given.plane.as_value(), line.planes[k].as_value())
                ),
            ]
        m.d.comb += [
            following.older[n].eq((line.older[n] | comes[j]) & ~comes[i])
            for n, (i, j) in enumerate(PAIRS)
        ]
        m.d.comb += [
            following.known.eq(Mux(some, (keeps | every) & given.exact, keeps)),
            following.written.eq((given.op != SlotOp.FILL) & (line.written | some)),
        ]

    def _order(self, m, left, before):
        """Planes by their age, and numbers of samples by that."""
        places = [Signal(2, name=f"place_{k}") for k in range(MOST)]
        count = Signal(3)
        for k in range(MOST):
            older = [
                left.used[i if j == k else j] & (left.older[n] if j == k else ~left.older[n])
                for n, (i, j) in enumerate(PAIRS)
                if k in (i, j)
            ]
            m.d.sync += places[k].eq(sum(older))
        m.d.sync += count.eq(Mux(left.known, sum(left.used), 0))
        m.d.sync += self.o.known.planes.eq(count)
        for slot in range(PLANES):
            here = [before.used[k] & (places[k] == slot) for k in range(MOST)]
            chosen = PLANE(
                named(
                    m,
                    _any(Mux(flag, before.planes[k].as_value(), 0) for k, flag in enumerate(here)),
                    f"chosen_{slot}",
                )
            )
            m.d.sync += [self.o.known[f"{name}_{slot}"].eq(chosen[name]) for name in PLANE.members]
        for bit, name in enumerate(("mask_low", "mask_high")):
            m.d.sync += self.o.known[name].eq(
                _any(Mux(places[k][bit], before.samples[k], 0) for k in range(MOST))
            )


def _first(flags):
    """The lowest of several flags alone."""
    return Cat(flag & ~flags[:n].any() for n, flag in enumerate(flags))


def _any(values):
    return reduce(or_, values)
