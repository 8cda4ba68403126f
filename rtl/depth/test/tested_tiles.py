# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of depth and stencil on chip, tested and written as if in one clock."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.rule import (
    LANE,
    OPERATION,
    RULE,
    passes,
    stencil_outcomes,
    stencil_signs,
)
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory


class TestedTiles(wiring.Component):
    """Read a tile, test new depths against it, write what is left; one tile a clock, the same one
    again at once.

    A tile is read three clocks before its test and written one clock after. Depths and stencil
    values have memories of their own. What is brought from elsewhere, of either or of both, takes
    the place of what is stored, and is tested at once.

    A test's comparisons are made a clock before it, with all that may be stored by then: what was
    read, what the tile before it holds, and what that one brings. Only a choice is left to the test
    itself.

    Parameters
    ----------
    params : DepthTestParams
    fills : bool
        Tiles are brought from elsewhere.

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
    fill, filled, stencil_fill, stencil_filled : In
        What is stored is taken for ``filled``, two clocks before its test. Only with ``fills``.
    passed, wrote, changed : Out(edge**2)
        Of the samples covered, a clock later; depths written; stencil values that are others.
    depth, stencil : Out
        What is stored then.
    replaced, stencil_replaced : Out
        What is stored before it is filled, in the clock of the test. Only with ``fills``.
    """

    EARLY = 3

    def __init__(self, params, fills):
        self._params = params
        self._fills = fills
        lanes = params.edge**2
        depths = ArrayLayout(params.depth_bits, lanes)
        stencils = {"stencil": ArrayLayout(8, lanes)} if params.stencil else {}
        self._planes = {"depth": depths} | stencils
        of_stencil = {
            "stencil_valid": In(1),
            "stencil_place": In(range(params.tiles)),
            "stencil": Out(ArrayLayout(8, lanes)),
            "changed": Out(lanes),
        }
        of_fills = {}
        for plane, shape in self._planes.items() if fills else ():
            prefix = "" if plane == "depth" else "stencil_"
            of_fills |= {
                f"{prefix}fill": In(1),
                f"{prefix}filled": In(shape),
                f"{prefix}replaced": Out(shape),
            }
        super().__init__(
            (of_stencil if stencils else {})
            | of_fills
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
        depth = self._memory(m, "depth", "")
        stencil = self._memory(m, "stencil", "stencil_") if self._params.stencil else None
        new = Signal(self.new.shape())
        m.d.sync += new.eq(self.new)
        for n in range(len(self.passed)):
            self._test(m, n, depth, stencil, new[n])
        return m

    def _memory(self, m, plane, prefix):
        """The memory of a plane: a test finds its ``value``, and leaves its ``result``."""
        m.submodules[f"{plane}_memory"] = memory = ForwardedMemory(
            self._planes[plane],
            self._params.tiles,
            latency=self.EARLY,
            write_delay=1,
            replaced=self._fills,
        )
        m.d.comb += [
            memory.valid.eq(getattr(self, f"{prefix}valid")),
            memory.address.eq(getattr(self, f"{prefix}place")),
            getattr(self, plane).eq(memory.written),
        ]
        if self._fills:
            m.d.comb += [
                memory.fill.eq(getattr(self, f"{prefix}fill")),
                memory.filled.eq(getattr(self, f"{prefix}filled")),
                getattr(self, f"{prefix}replaced").eq(memory.replaced),
            ]
        return memory

    def _test(self, m, n, depth, stencil, new):
        """The test of a sample, and the comparisons of the next one."""
        less = Signal(name=f"less_{n}")
        equal = Signal(name=f"equal_{n}")
        writes = Signal(name=f"writes_{n}")
        depth_passed = passes(self.lanes[n].passes, less, equal)
        written = passes(self.lanes[n].writes, less, equal)
        if stencil is not None:
            stencil_passed = self._stencil(m, n, depth_passed, stencil)
            depth_passed = depth_passed & stencil_passed
            written = written & stencil_passed
            m.d.sync += self.changed[n].eq(stencil.result[n] != stencil.value[n])
        stored = depth.value[n]
        m.d.comb += [
            writes.eq(written),
            depth.result[n].eq(Mux(writes, new, stored)),
        ]
        m.d.sync += [
            self.passed[n].eq(depth_passed),
            self.wrote[n].eq(writes),
        ]
        next_new = self.new[n]
        early = depth.early[n]
        of_result = [
            Mux(writes, next_new < new, next_new < stored),
            Mux(writes, next_new == new, next_new == stored),
        ]
        m.d.sync += [
            less.eq(Mux(depth.repeat, of_result[0], next_new < early)),
            equal.eq(Mux(depth.repeat, of_result[1], next_new == early)),
        ]

    def _stencil(self, m, n, depth_passed, stencil):
        """What becomes of a sample's stencil value; returns whether it passes."""
        outcomes = [Signal(8, name=f"{name}_{n}") for name in ("stencil_passed", "stencil_failed")]
        signs = Signal(2, name=f"signs_{n}")
        passed = Signal(name=f"passes_{n}")
        passing = Signal(OPERATION, name=f"passing_{n}")
        of_stored = stencil_outcomes(self.rule, passing, self.covered[n], stencil.value[n])
        m.d.comb += [
            passing.eq(
                Mux(depth_passed, self.rule["pass"].as_value(), self.rule.depth_fail.as_value())
            ),
            passed.eq(passes(self.rule.stencil, *signs)),
            *(out.eq(value) for out, value in zip(outcomes, of_stored, strict=True)),
            stencil.result[n].eq(Mux(passed, *outcomes)),
        ]
        of_passed, of_failed, of_early = (
            stencil_signs(self.against, self.read, value) for value in (*outcomes, stencil.early[n])
        )
        m.d.sync += signs.eq(Mux(stencil.repeat, Mux(passed, of_passed, of_failed), of_early))
        return passed


class DepthRange(wiring.Component):
    """The least and the greatest of depths, of those included; one tile a clock.

    Parameters
    ----------
    bits, lanes : int
        Width and number of the depths.

    Members
    -------
    included : In(lanes)
        Depths that count.
    i : In
    low, high : Out(bits)
        :meth:`latency` clocks later; of nothing, all ones and zero.
    """

    def __init__(self, bits, lanes):
        self._lanes = lanes
        super().__init__(
            {
                "included": In(lanes),
                "i": In(ArrayLayout(bits, lanes)),
                "low": Out(bits),
                "high": Out(bits),
            }
        )

    @staticmethod
    def latency(lanes):
        """Clocks: which are included, then one a halving."""
        return 1 + (lanes - 1).bit_length()

    def elaborate(self, platform):
        m = Module()
        bits = len(self.low)
        for name, out, nothing in (("low", self.low, (1 << bits) - 1), ("high", self.high, 0)):
            values = [Signal(bits, name=f"{name}_{n}") for n in range(self._lanes)]
            m.d.sync += [
                value.eq(Mux(self.included[n], self.i[n], nothing))
                for n, value in enumerate(values)
            ]
            while len(values) > 1:
                chosen = [
                    Signal(bits, name=f"{name}_{len(values)}_{n}") for n in range(len(values) // 2)
                ]
                for value, left, right in zip(chosen, values[::2], values[1::2], strict=True):
                    m.d.sync += value.eq(Mux((left < right) == (name == "low"), left, right))
                values = chosen
            m.d.comb += out.eq(values[0])
        return m
