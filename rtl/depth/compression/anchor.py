# SPDX-License-Identifier: BSD-2-Clause
"""Anchor coding of blocks of 4 by 4 depths: a depth, its differences to two neighbours, and the
corrections to a plane through the three.
"""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.tile_modes import ANCHORS, BLOCK, CORRECTION, SLOPE
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

LANES = [(i, j) for j in range(4) for i in range(4)]
CORRECTED = [lane for lane in LANES if lane not in ANCHORS]


def fits(value, bits):
    """A signed number needs no more bits."""
    return value[bits - 1 :].all() | ~value[bits - 1 :].any()


def plane(m, dx, dy, name):
    """What a plane adds at each lane of a block, two clocks later."""
    across = [
        0,
        register(m, dx, DEPTH, f"{name}_dx"),
        register(m, dx << 1, DEPTH, f"{name}_2dx"),
        register(m, (dx << 1) + dx, DEPTH, f"{name}_3dx"),
    ]
    down = [
        0,
        register(m, dy, DEPTH, f"{name}_dy"),
        register(m, dy << 1, DEPTH, f"{name}_2dy"),
        register(m, (dy << 1) + dy, DEPTH, f"{name}_3dy"),
    ]
    return {
        (i, j): register(m, across[i] + down[j], DEPTH, f"{name}_{i}_{j}")
        for i, j in LANES
        if (i, j) != (0, 0)
    }


class AnchorCoder(wiring.Component):
    """Code a block; one a clock.

    Members
    -------
    i : In(ArrayLayout(DEPTH, 16))
        Lane (i, j) at 4 * j + i.
    o : Out(BLOCK)
        Anchor, dx, dy, corrections row by row, :attr:`LATENCY` clocks later.
    fits : Out(1)
        All differences and corrections fit: decoding returns the block.
    """

    LATENCY = 5

    i: In(ArrayLayout(DEPTH, 16))
    o: Out(BLOCK)
    fits: Out(1)

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, anchor=self.i[0])
        differences = {
            (i, j): register(m, self.i[4 * j + i] - self.i[0], DEPTH, f"difference_{i}_{j}")
            for i, j in LANES
            if (i, j) != (0, 0)
        }
        dx = differences[1, 0]
        dy = differences[0, 1]
        t.enter(1, dx=dx[:SLOPE], dy=dy[:SLOPE])
        t.enter(1, **{f"difference_{i}_{j}": differences[i, j] for i, j in CORRECTED})
        slopes_fit = register(m, fits(dx, SLOPE) & fits(dy, SLOPE), 1, "slopes_fit_2")
        t.enter(2, slopes_fit=slopes_fit)
        predicted = plane(m, dx, dy, "plane")
        corrections = [
            register(
                m,
                t.value(f"difference_{i}_{j}", 3) - predicted[i, j],
                DEPTH,
                f"correction_{i}_{j}_4",
            )
            for i, j in CORRECTED
        ]
        t.enter(4, corrections=Cat(value[:CORRECTION] for value in corrections))
        corrections_fit = register(
            m, Cat(fits(value, CORRECTION) for value in corrections).all(), 1, "corrections_fit_5"
        )
        end = t[self.LATENCY]
        m.d.comb += [
            self.fits.eq(corrections_fit & end.slopes_fit),
            self.o.eq(Cat(end.anchor, end.dx, end.dy, end.corrections)),
        ]
        return m


class AnchorDecoder(wiring.Component):
    """Decode a block; one a clock.

    Members
    -------
    i : In(BLOCK)
    o : Out(ArrayLayout(DEPTH, 16))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 4

    i: In(BLOCK)
    o: Out(ArrayLayout(DEPTH, 16))

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, anchor=self.i[:DEPTH], corrections=self.i[DEPTH + 2 * SLOPE :])
        dx, dy = (self.i[DEPTH + n * SLOPE : DEPTH + (n + 1) * SLOPE].as_signed() for n in range(2))
        predicted = plane(m, dx, dy, "plane")
        for i, j in LANES:
            value = register(m, t[2].anchor + predicted.get((i, j), 0), DEPTH, f"value_{i}_{j}_3")
            if (i, j) in CORRECTED:
                n = CORRECTED.index((i, j)) * CORRECTION
                value = value + t[3].corrections[n : n + CORRECTION].as_signed()
            m.d.sync += self.o[4 * j + i].eq(value)
        return m
