"""Tiles of depth and stencil on chip, tested and written as if in one clock."""

from itertools import pairwise

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.depth._rule import LANE, RULE, passes, stencil_outcomes, stencil_signs
from rtl.pipeline import NEVER_COLLIDES


class TestedTiles(wiring.Component):
    """Read a tile, test new depths against it, write what is left; one tile a clock, the same one again at once.

    A tile is read three clocks before its test and written one clock after. Whatever was written since it was read is
    taken from where it is: the test that has just ended, or one of the two registers behind it.

    A test's comparisons are made a clock before it, with all that may be stored by then: what was read, what the tile
    before it holds, and what that one brings. Only a choice is left to the test itself.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    valid, place : In
        A tile, :attr:`EARLY` clocks before its test.
    new : In
        Depths of its samples, a clock before.
    against, read : In
        Of the rule, a clock before.
    rule : In(RULE)
    covered : In(edge**2)
    lanes : In(ArrayLayout(LANE, edge**2))
        What the rule lets pass, and write, of each sample.
    passed : Out(edge**2)
        Of the samples covered, a clock later.
    depth : Out
        What is stored then.
    """

    EARLY = 3

    def __init__(self, params):
        self._params, lanes = params, params.edge**2
        depths = ArrayLayout(params.depth_bits, lanes)
        self._tile = StructLayout({"depth": depths, "stencil": ArrayLayout(8 if params.stencil else 0, lanes)})
        super().__init__({
            "valid": In(1), "place": In(range(params.tiles)), "against": In(8), "read": In(8), "rule": In(RULE), "covered": In(lanes),
            "lanes": In(ArrayLayout(LANE, lanes)), "new": In(depths),
            "passed": Out(lanes), "depth": Out(depths),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._tile, depth=self._params.tiles, init=[], attrs=NEVER_COLLIDES)
        read, write, behind = memory.read_port(), memory.write_port(), self.EARLY + 1
        valid = [self.valid, *(Signal(name=f"valid_{n}") for n in range(1, behind + 1))]
        place = [self.place, *(Signal.like(self.place, name=f"place_{n}") for n in range(1, behind + 1))]
        m.d.sync += [later.eq(now) for stages in (valid, place) for now, later in pairwise(stages)]
        m.d.comb += [read.addr.eq(self.place), read.en.eq(1)]

        # The newest of what is stored under this place, but for the tile before.
        found, stored, tested, written, before = (Signal(self._tile, name=name) for name in ("found", "stored", "tested", "written", "before"))
        same, again = [Signal(name=f"same_{n}") for n in range(1, behind + 1)], Signal()
        m.d.sync += [flag.eq(valid[n] & (place[n] == self.place)) for n, flag in enumerate(same, 1)]
        m.d.sync += [again.eq(same[0]), found.eq(Mux(same[1], tested, Mux(same[2], written, Mux(same[3], before, read.data)))),
                     stored.eq(Mux(again, tested, found))]

        # The test, sample by sample.
        new = Signal(self.new.shape())
        m.d.sync += new.eq(self.new)
        passed = Signal(len(self.passed))
        for n in range(len(self.passed)):
            less, equal, writes = (Signal(name=f"{name}_{n}") for name in ("less", "equal", "writes"))
            depth_passed, written_too = passes(self.lanes[n].passes, less, equal), passes(self.lanes[n].writes, less, equal)
            if self._params.stencil:
                stencil_passed = self._stencil(m, n, depth_passed, stored.stencil[n], found.stencil[n], again, tested.stencil[n])
                depth_passed, written_too = depth_passed & stencil_passed, written_too & stencil_passed
            m.d.comb += [passed[n].eq(depth_passed), writes.eq(written_too), tested.depth[n].eq(Mux(writes, new[n], stored.depth[n]))]
            coming = self.new[n]
            m.d.sync += [less.eq(Mux(again, Mux(writes, coming < new[n], coming < stored.depth[n]), coming < found.depth[n])),
                         equal.eq(Mux(again, Mux(writes, coming == new[n], coming == stored.depth[n]), coming == found.depth[n]))]
        m.d.sync += [self.passed.eq(passed), written.eq(tested), before.eq(written)]
        m.d.comb += [self.depth.eq(written.depth), write.addr.eq(place[behind]), write.data.eq(written), write.en.eq(valid[behind])]
        return m

    def _stencil(self, m, n, depth_passed, stored, found, again, tested):
        """What becomes of a sample's stencil value; returns whether it passes."""
        outcomes = [Signal(8, name=f"{which}_{n}") for which in ("stencil_passed", "stencil_failed")]
        signs, passed, reached = Signal(2, name=f"signs_{n}"), Signal(name=f"passes_{n}"), Signal(name=f"reaches_{n}")
        m.d.comb += [reached.eq(depth_passed), passed.eq(passes(self.rule.stencil, *signs)),
                     *(out.eq(value) for out, value in zip(outcomes, stencil_outcomes(self.rule, self.covered[n], reached, stored), strict=True)),
                     tested.eq(Mux(passed, *outcomes))]
        of_passed, of_failed, of_found = (stencil_signs(self.against, self.read, value) for value in (*outcomes, found))
        m.d.sync += signs.eq(Mux(again, Mux(passed, of_passed, of_failed), of_found))
        return passed


class DepthRange(wiring.Component):
    """The least and the greatest of depths, of those that are seen; one tile a clock.

    Parameters
    ----------
    bits, lanes : int
        Width and number of the depths.

    Members
    -------
    seen : In(lanes)
    i : In
    low, high : Out(bits)
        :meth:`latency` clocks later; of nothing, all ones and zero.
    """

    def __init__(self, bits, lanes):
        self._lanes = lanes
        super().__init__({"seen": In(lanes), "i": In(ArrayLayout(bits, lanes)), "low": Out(bits), "high": Out(bits)})

    @staticmethod
    def latency(lanes):
        """Clocks: which are seen, then one a halving."""
        return 1 + (lanes - 1).bit_length()

    def elaborate(self, platform):
        m = Module()
        bits = len(self.low)
        for name, out, nothing in (("low", self.low, (1 << bits) - 1), ("high", self.high, 0)):
            values = [Signal(bits, name=f"{name}_{n}") for n in range(self._lanes)]
            m.d.sync += [value.eq(Mux(self.seen[n], self.i[n], nothing)) for n, value in enumerate(values)]
            while len(values) > 1:
                chosen = [Signal(bits, name=f"{name}_{len(values)}_{n}") for n in range(len(values) // 2)]
                for value, one, other in zip(chosen, values[::2], values[1::2], strict=True):
                    m.d.sync += value.eq(Mux((one < other) == (name == "low"), one, other))
                values = chosen
            m.d.comb += out.eq(values[0])
        return m
