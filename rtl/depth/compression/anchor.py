# SPDX-License-Identifier: BSD-2-Clause
"""Anchor coding of blocks of 4 by 4 depths: a depth, its differences to two neighbours, and what a
plane through the three leaves.
"""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.tile_modes import ANCHORS, BLOCK, CORRECTION, SLOPE
from fixfunc.rtl.lib.delay import delay, register
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
        It gives the block back.
    """

    LATENCY = 5

    i: In(ArrayLayout(DEPTH, 16))
    o: Out(BLOCK)
    fits: Out(1)

    def elaborate(self, platform):
        m = Module()
        anchor = self.i[0]
        beyond = {
            (i, j): register(m, self.i[4 * j + i] - anchor, DEPTH, f"beyond_{i}_{j}")
            for i, j in LANES
            if (i, j) != (0, 0)
        }
        dx = beyond[1, 0]
        dy = beyond[0, 1]
        predicted = plane(m, dx, dy, "plane")
        slopes = register(m, fits(dx, SLOPE) & fits(dy, SLOPE), 1, "slopes")
        rest = {
            lane: register(
                m,
                delay(m, beyond[lane], 2, f"late_{lane[0]}_{lane[1]}") - predicted[lane],
                DEPTH,
                f"rest_{lane[0]}_{lane[1]}",
            )
            for lane in CORRECTED
        }
        close = register(
            m, Cat(fits(value, CORRECTION) for value in rest.values()).all(), 1, "close"
        )
        m.d.comb += self.fits.eq(close & delay(m, slopes, 3, "late_slopes"))
        early = Cat(delay(m, anchor, 1, "anchor"), dx[:SLOPE], dy[:SLOPE])
        m.d.comb += self.o.eq(
            Cat(
                delay(m, early, 4, "early"),
                *(
                    delay(m, rest[lane][:CORRECTION], 1, f"correction_{lane[0]}_{lane[1]}")
                    for lane in CORRECTED
                ),
            )
        )
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
        anchor = self.i[:DEPTH]
        dx, dy = (self.i[DEPTH + n * SLOPE : DEPTH + (n + 1) * SLOPE].as_signed() for n in range(2))
        predicted = plane(m, dx, dy, "plane")
        late = delay(m, anchor, 2, "anchor")
        corrections = delay(m, self.i[DEPTH + 2 * SLOPE :], 3, "corrections")
        for i, j in LANES:
            value = register(m, late + predicted.get((i, j), 0), DEPTH, f"value_{i}_{j}")
            if (i, j) in CORRECTED:
                n = CORRECTED.index((i, j)) * CORRECTION
                value = value + corrections[n : n + CORRECTION].as_signed()
            m.d.sync += self.o[4 * j + i].eq(value)
        return m
