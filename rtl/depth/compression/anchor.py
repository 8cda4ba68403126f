# SPDX-License-Identifier: BSD-2-Clause
"""Anchor coding of blocks of 4 by 4 depths: a depth, its differences to two neighbours, and what a
plane through the three leaves.
"""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.tile_modes import ANCHORS, BLOCK, CORRECTION, SLOPE
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.payloads import DEPTH

LANES = [(i, j) for j in range(4) for i in range(4)]
CORRECTED = [lane for lane in LANES if lane not in ANCHORS]


def fits(value: Value, bits: int) -> Value:
    """A signed number needs no more bits."""
    return value[bits - 1 :].all() | ~value[bits - 1 :].any()


def plane(m: Module, dx: Value, dy: Value, name: str) -> dict[tuple[int, int], Value]:
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

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        anchor = self.i[0]
        differences = {
            (i, j): register(m, self.i[4 * j + i] - anchor, DEPTH, f"difference_{i}_{j}")
            for i, j in LANES
            if (i, j) != (0, 0)
        }
        dx = differences[1, 0]
        dy = differences[0, 1]
        t.enter(0, anchor=anchor)
        t.enter(1, dx=dx[:SLOPE], dy=dy[:SLOPE])
        t.enter(1, **{f"difference_{i}_{j}": differences[i, j] for i, j in CORRECTED})

        # What the plane leaves, in clock 4; whether it fits, in clock 5.
        predicted = plane(m, dx, dy, "plane")
        corrections = {}
        for i, j in CORRECTED:
            name = f"correction_{i}_{j}"
            difference = t.value(f"difference_{i}_{j}", 3)
            corrections[i, j] = register(m, difference - predicted[i, j], DEPTH, name)
            t.enter(4, **{name: corrections[i, j][:CORRECTION]})
        slopes_fit = register(m, fits(dx, SLOPE) & fits(dy, SLOPE), 1, "slopes_fit")
        corrections_fit = register(
            m,
            Cat(fits(value, CORRECTION) for value in corrections.values()).all(),
            1,
            "corrections_fit",
        )
        t.enter(2, slopes_fit=slopes_fit)
        end = t[self.LATENCY]
        coded = [t.value(f"correction_{i}_{j}", self.LATENCY) for i, j in CORRECTED]
        m.d.comb += [
            self.fits.eq(corrections_fit & end.slopes_fit),
            self.o.eq(Cat(end.anchor, end.dx, end.dy, *coded)),
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

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        dx, dy = (self.i[DEPTH + n * SLOPE : DEPTH + (n + 1) * SLOPE].as_signed() for n in range(2))
        t.enter(0, anchor=self.i[:DEPTH], corrections=self.i[DEPTH + 2 * SLOPE :])
        predicted = plane(m, dx, dy, "plane")
        anchor = t[2].anchor
        corrections = t[3].corrections
        for i, j in LANES:
            value = register(m, anchor + predicted.get((i, j), 0), DEPTH, f"value_{i}_{j}")
            if (i, j) in CORRECTED:
                n = CORRECTED.index((i, j)) * CORRECTION
                value = value + corrections[n : n + CORRECTION].as_signed()
            m.d.sync += self.o[4 * j + i].eq(value)
        return m
