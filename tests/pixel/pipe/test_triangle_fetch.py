# SPDX-License-Identifier: BSD-2-Clause
from functools import cache

import numpy as np
import pytest
from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.cosim.simulation.volume import Volume
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.pixel.pixel_pipe.triangle_fetch import TriangleFetch
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels.interpolation import COMPONENTS, InterpolatorKind
from fixfunc.tb.bench.pace import PACES
from tests.volume import LIMIT

RING = VertexRingParams(slots=64, attributes=8)
TOLD = StructLayout({"is_corners": 1, "last": 1, "how": 2, "x0": 9, "x1": 9, "x2": 9})
FULL = "full", "full"


class Fetch(wiring.Component):
    """A table in which triangle n has n % 16 attributes, eight at most, and corners of its own; a
    ring whose attributes are their slots and numbers.
    """

    i: In(stream.Signature(SLOT_BITS))
    o: Out(stream.Signature(TOLD))

    def elaborate(self, _platform):
        m = Module()
        m.submodules.fetch = fetch = TriangleFetch(RING)
        wiring.connect(m, wiring.flipped(self.i), fetch.i)
        row = fetch.row
        low = self.i.payload[:4]
        with m.If(fetch.looks_up):
            m.d.sync += [
                row.attributes.eq(Mux(low > RING.attributes, 1, low)),
                *(row[f"slot{k}"].eq(self.i.payload + 21 * k) for k in range(3)),
                *(fetch.state[f"how{n}"].eq(self.i.payload + n) for n in range(RING.attributes)),
            ]
        m.d.sync += fetch.found[COMPONENTS[0]].eq(fetch.slot | fetch.attribute << 6)
        beat = fetch.o.payload.beat
        out = self.o.payload
        is_corners = beat.kind == InterpolatorKind.CORNERS
        m.d.comb += [
            self.o.valid.eq(fetch.o.valid),
            fetch.o.ready.eq(self.o.ready),
            out.is_corners.eq(is_corners),
            out.last.eq(fetch.o.payload.last),
        ]
        with m.If(~is_corners):
            m.d.comb += [
                out.how.eq(beat.attribute.how),
                *(out[f"x{k}"].eq(beat.attribute[f"{COMPONENTS[0]}{k}"]) for k in range(3)),
            ]
        return m


@cache
def built():
    return Volume(Fetch(), "triangle_fetch")


def count_of(triangle):
    return triangle % 16 if triangle % 16 <= RING.attributes else 1


def expected(triangles):
    """Words of the beats, triangle by triangle, as integers do it."""
    words = []
    for triangle in triangles:
        count = count_of(triangle)
        words.append(1 | (count == 0) << 1)
        for n in range(count):
            word = (n + 1 == count) << 1 | (triangle + n) % 4 << 2
            for k in range(3):
                word |= ((triangle + 21 * k) % 64 | n << 6) << (4 + 9 * k)
            words.append(word)
    return words


@pytest.mark.plan("pixel-pipe-9")
@pytest.mark.parametrize("source", PACES)
@pytest.mark.parametrize("sink", PACES)
def test_corners_and_attributes_of_each_triangle_in_order(source, sink):
    triangles = np.random.default_rng(1).integers(0, 1 << SLOT_BITS, 400)
    words = expected(triangles.tolist())
    run = built().run(
        {"i": triangles[:, None].astype(np.uint64)}, len(words) + 1, (source, sink), limit=LIMIT
    )
    assert run.outputs["o"][:, 0].tolist() == words


@pytest.mark.plan("pixel-pipe-9")
@pytest.mark.parametrize("attributes", range(RING.attributes + 1))
def test_a_corner_a_clock(attributes):
    """Rows are looked up meanwhile."""
    clocks = []
    for count in (100, 1100):
        triangles = np.full((count, 1), attributes, np.uint64)
        clocks.append(
            built().run({"i": triangles}, 1100 * (attributes + 1) + 1, FULL, limit=LIMIT).clocks
        )
    assert clocks[1] - clocks[0] == 1000 * max(3 * attributes, 1)
