# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of depth and stencil on chip, tested and written as if in one clock."""

from itertools import pairwise

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.rule import (
    LANE,
    OPERATION,
    RULE,
    passes,
    stencil_outcomes,
    stencil_signs,
)
from fixfunc.rtl.lib.delay import NO_COLLISION


class TestedTiles(wiring.Component):
    """Read a tile, test new depths against it, write what is left; one tile a clock, the same one
    again at once.

    A tile is read three clocks before its test and written one clock after. Whatever was written
    since it was read is taken from where it is: the test that has just ended, or one of the two
    registers behind it.

    Depths and stencil values have places of their own, and may come and go apart: what is brought
    from elsewhere is written by a rule that lets every sample pass.

    A test's comparisons are made a clock before it, with all that may be stored by then: what was
    read, what the tile before it holds, and what that one brings. Only a choice is left to the test
    itself.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    valid, place, stencil_valid, stencil_place : In
        A tile's depths, and its stencil values, :attr:`EARLY` clocks before its test.
    new : In
        Depths of its samples, a clock before.
    against, read : In
        Of the rule, a clock before.
    rule : In(RULE)
    covered : In(edge**2)
    lanes : In(ArrayLayout(LANE, edge**2))
        What the rule lets pass, and write, of each sample.
    stencil_new : In
        Stencil values brought from elsewhere, by a rule that makes them zero; else zero.
    passed, wrote, changed : Out(edge**2)
        Of the samples covered, a clock later; depths written; stencil values that are others.
    depth, stencil : Out
        What is stored then.
    """

    EARLY = 3

    def __init__(self, params):
        self._params = params
        lanes = params.edge**2
        depths = ArrayLayout(params.depth_bits, lanes)
        stencils = {"stencil": ArrayLayout(8, lanes)} if params.stencil else {}
        self._tile = StructLayout({"depth": depths} | stencils)
        of_stencil = {
            "stencil_valid": In(1),
            "stencil_place": In(range(params.tiles)),
            "stencil_new": In(ArrayLayout(8, lanes)),
            "stencil": Out(ArrayLayout(8, lanes)),
            "changed": Out(lanes),
        }
        super().__init__(
            (of_stencil if stencils else {})
            | {
                "valid": In(1),
                "place": In(range(params.tiles)),
                "against": In(8),
                "read": In(8),
                "rule": In(RULE),
                "covered": In(lanes),
                "lanes": In(ArrayLayout(LANE, lanes)),
                "new": In(depths),
                "passed": Out(lanes),
                "wrote": Out(lanes),
                "depth": Out(depths),
            }
        )

    def elaborate(self, platform):
        m = Module()
        found = Signal(self._tile)
        stored = Signal(self._tile)
        tested = Signal(self._tile)
        written = Signal(self._tile)
        before = Signal(self._tile)
        again = {
            plane: self._plane(m, plane, found, stored, tested, written, before)
            for plane in self._tile.members
        }

        # The test, sample by sample.
        new = Signal(self.new.shape())
        passed = Signal(len(self.passed))
        wrote = Signal(len(self.passed))
        changed = Signal(len(self.passed))
        m.d.sync += new.eq(self.new)
        for n in range(len(self.passed)):
            less = Signal(name=f"less_{n}")
            equal = Signal(name=f"equal_{n}")
            writes = Signal(name=f"writes_{n}")
            depth_passed = passes(self.lanes[n].passes, less, equal)
            written_too = passes(self.lanes[n].writes, less, equal)
            if self._params.stencil:
                stencil_passed = self._stencil(
                    m,
                    n,
                    depth_passed,
                    stored.stencil[n],
                    found.stencil[n],
                    again["stencil"],
                    tested.stencil[n],
                )
                depth_passed = depth_passed & stencil_passed
                written_too = written_too & stencil_passed
                m.d.comb += changed[n].eq(tested.stencil[n] != stored.stencil[n])
            m.d.comb += [
                passed[n].eq(depth_passed),
                writes.eq(written_too),
                wrote[n].eq(writes),
                tested.depth[n].eq(Mux(writes, new[n], stored.depth[n])),
            ]
            coming = self.new[n]
            follows = again["depth"]
            m.d.sync += [
                less.eq(
                    Mux(
                        follows,
                        Mux(writes, coming < new[n], coming < stored.depth[n]),
                        coming < found.depth[n],
                    )
                ),
                equal.eq(
                    Mux(
                        follows,
                        Mux(writes, coming == new[n], coming == stored.depth[n]),
                        coming == found.depth[n],
                    )
                ),
            ]
        m.d.sync += [
            self.passed.eq(passed),
            self.wrote.eq(wrote),
            written.eq(tested),
            before.eq(written),
        ]
        m.d.comb += self.depth.eq(written.depth)
        if self._params.stencil:
            m.d.sync += self.changed.eq(changed)
            m.d.comb += self.stencil.eq(written.stencil)
        return m

    def _plane(self, m, plane, *stages):
        """Read a plane, and write it.

        Returns whether the tile in test is that of the test before.
        """
        behind = self.EARLY + 1
        found, stored, tested, written, before = (stage[plane].as_value() for stage in stages)
        m.submodules[f"{plane}_memory"] = memory = Memory(
            shape=len(found), depth=self._params.tiles, init=[], attrs=NO_COLLISION
        )
        read = memory.read_port()
        write = memory.write_port()
        prefix = "" if plane == "depth" else f"{plane}_"
        here = getattr(self, f"{prefix}valid")
        at = getattr(self, f"{prefix}place")
        valid = [here, *(Signal(name=f"{plane}_valid_{n}") for n in range(1, behind + 1))]
        place = [at, *(Signal.like(at, name=f"{plane}_place_{n}") for n in range(1, behind + 1))]
        m.d.sync += [later.eq(now) for steps in (valid, place) for now, later in pairwise(steps)]
        m.d.comb += [
            read.addr.eq(at),
            read.en.eq(1),
            write.addr.eq(place[behind]),
            write.data.eq(written),
            write.en.eq(valid[behind]),
        ]

        # The newest of what is stored under this place, but for the tile before.
        same = [Signal(name=f"{plane}_same_{n}") for n in range(1, behind + 1)]
        again = Signal(name=f"{plane}_again")
        m.d.sync += [flag.eq(valid[n] & (place[n] == at)) for n, flag in enumerate(same, 1)]
        m.d.sync += [
            again.eq(same[0]),
            found.eq(Mux(same[1], tested, Mux(same[2], written, Mux(same[3], before, read.data)))),
            stored.eq(Mux(again, tested, found)),
        ]
        return again

    def _stencil(self, m, n, depth_passed, stored, found, again, tested):
        """What becomes of a sample's stencil value; returns whether it passes."""
        outcomes = [
            Signal(8, name=f"{which}_{n}") for which in ("stencil_passed", "stencil_failed")
        ]
        signs = Signal(2, name=f"signs_{n}")
        passed = Signal(name=f"passes_{n}")
        passing = Signal(OPERATION, name=f"passing_{n}")
        of_stored = stencil_outcomes(
            self.rule, passing, self.covered[n], stored, self.stencil_new[n]
        )
        m.d.comb += [
            passing.eq(
                Mux(depth_passed, self.rule["pass"].as_value(), self.rule.depth_fail.as_value())
            ),
            passed.eq(passes(self.rule.stencil, *signs)),
            *(out.eq(value) for out, value in zip(outcomes, of_stored, strict=True)),
            tested.eq(Mux(passed, *outcomes)),
        ]
        of_passed, of_failed, of_found = (
            stencil_signs(self.against, self.read, value) for value in (*outcomes, found)
        )
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
        super().__init__(
            {
                "seen": In(lanes),
                "i": In(ArrayLayout(bits, lanes)),
                "low": Out(bits),
                "high": Out(bits),
            }
        )

    @staticmethod
    def latency(lanes):
        """Clocks: which are seen, then one a halving."""
        return 1 + (lanes - 1).bit_length()

    def elaborate(self, platform):
        m = Module()
        bits = len(self.low)
        for name, out, nothing in (("low", self.low, (1 << bits) - 1), ("high", self.high, 0)):
            values = [Signal(bits, name=f"{name}_{n}") for n in range(self._lanes)]
            m.d.sync += [
                value.eq(Mux(self.seen[n], self.i[n], nothing)) for n, value in enumerate(values)
            ]
            while len(values) > 1:
                chosen = [
                    Signal(bits, name=f"{name}_{len(values)}_{n}") for n in range(len(values) // 2)
                ]
                for value, one, other in zip(chosen, values[::2], values[1::2], strict=True):
                    m.d.sync += value.eq(Mux((one < other) == (name == "low"), one, other))
                values = chosen
            m.d.comb += out.eq(values[0])
        return m
