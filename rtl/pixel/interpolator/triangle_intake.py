# SPDX-License-Identifier: BSD-2-Clause
"""Triangle intake: triangles get planes and attributes, and their quads wait for them."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pixel.interpolator.planes import PLANES, Planes
from fixfunc.rtl.pixel.interpolator.values import CORNERS, Align
from fixfunc.spec import interpolation
from fixfunc.spec.interpolation import COMPONENTS, How, InterpolatorKind
from fixfunc.spec.points import QUAD

BEATS = beat(
    corners=interpolation.CORNERS,
    attribute=interpolation.ATTRIBUTE,
    quad=interpolation.QUAD_TO_SHADE,
)
TURN = StructLayout({"quad": layout(QUAD), "attributes": 4})
FOUND = StructLayout(
    {"components": ArrayLayout(CORNERS, len(COMPONENTS)), "where": 2, "sample_mask": 8}
)


class TriangleIntake(wiring.Component):
    """Holds what quads need of their triangles; hands out quads whose triangle is known, in order.

    A triangle's rows are free when a quad of a later one has its turn, or nothing waits.

    Parameters
    ----------
    params : InterpolatorParams

    Members
    -------
    i : In(stream.Signature(BEATS))
    o : Out(stream.Signature(TURN))
        A quad, and how many attributes it has. It stays while these are asked for.
    attribute : In
        One of them.
    found : Out(FOUND)
        It, one clock later.
    planes : Out(PLANES)
        Those that it needs, two clocks later.
    """

    def __init__(self, params: object) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(TURN)),
                "attribute": In(range(params.attributes)),
                "found": Out(FOUND),
                "planes": Out(PLANES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        params = self._params
        taken = Signal(range(2 * params.triangles))  # triangles whose corners were taken
        complete = Signal.like(taken)  # of those the ones whose planes are known
        oldest = Signal.like(taken)  # the first that may have quads left
        counts = Array(Signal(4, name=f"attributes_{n}") for n in range(params.triangles))
        newest = named(m, (taken - 1)[: len(taken)], "newest")
        waiting = StructLayout({"triangle": len(taken), "quad": layout(QUAD)})
        m.submodules.quads = quads = StreamFIFO(waiting, params.quads)
        m.submodules.to_planes = planes = Planes()
        row = newest[:-1]
        count = named(m, counts[row], "count")
        now = self.i.payload
        kind = now.kind
        # A triangle without quads leaves nothing behind but planes that may still come.
        full = [(taken - first)[: len(taken)] == params.triangles for first in (oldest, complete)]
        has_room = named(m, ~(full[0] | full[1]), "has_room")
        is_corners = named(m, kind == InterpolatorKind.CORNERS, "is_corners")
        is_quad = named(m, kind == InterpolatorKind.QUAD, "is_quad")
        ready = Mux(is_corners, has_room & planes.i.ready, Mux(is_quad, quads.i.ready, 1))
        m.d.comb += [
            self.i.ready.eq(ready),
            planes.i.valid.eq(self.i.valid & is_corners & has_room),
            planes.i.payload.eq(now.corners),
            quads.i.valid.eq(self.i.valid & is_quad),
            quads.i.payload.triangle.eq(newest),
            *(quads.i.payload.quad[f.name].eq(now.quad[f.name]) for f in QUAD),
        ]
        takes_corners = named(m, self.i.valid & is_corners & ready, "takes_corners")
        is_attribute = kind == InterpolatorKind.ATTRIBUTE
        takes_attribute = named(m, self.i.valid & is_attribute, "takes_attribute")
        with m.If(takes_corners):
            m.d.sync += [taken.eq(taken + 1), counts[taken[:-1]].eq(0)]
        with m.If(takes_attribute):
            m.d.sync += counts[row].eq(count + 1)
        with m.If(planes.valid & planes.last):
            m.d.sync += complete.eq(complete + 1)
        with m.If(quads.o.valid):
            m.d.sync += oldest.eq(quads.o.payload.triangle)
        with m.Elif(~quads.occupied & (taken != oldest)):
            m.d.sync += oldest.eq(newest)
        turn = quads.o.payload
        ahead = named(m, (complete - turn.triangle)[: len(taken)], "ahead")
        is_known = (ahead != 0) & (ahead <= params.triangles)
        m.d.comb += [
            self.o.valid.eq(quads.o.valid & is_known),
            quads.o.ready.eq(self.o.ready & is_known),
            self.o.payload.quad.eq(turn.quad),
            self.o.payload.attributes.eq(counts[turn.triangle[:-1]]),
        ]
        self._masks(m, takes_corners, taken[:-1], turn.triangle[:-1])
        linear = self._attributes(
            m, takes_attribute, Cat(count[: len(self.attribute)], row), turn.triangle[:-1]
        )
        write, read = self._memory(m, "planes", PLANES, 2 * params.triangles)
        m.d.comb += [
            write.en.eq(planes.valid),
            write.addr.eq(Cat(planes.is_linear, complete[:-1])),
            write.data.eq(planes.o),
            read.addr.eq(Cat(linear, delay(m, turn.triangle[:-1], 1, "triangle"))),
            self.planes.eq(read.data),
        ]
        return m

    def _memory(self, m, name, shape, depth):
        m.submodules[name] = memory = Memory(shape=shape, depth=depth, init=[])
        return memory.write_port(), memory.read_port()

    def _masks(self, m, takes, row, read_row):
        """Sample masks of triangles."""
        write, read = self._memory(m, "masks", 8, self._params.triangles)
        m.d.comb += [
            write.en.eq(takes),
            write.addr.eq(row),
            write.data.eq(self.i.payload.corners.sample_mask),
            read.addr.eq(read_row),
            self.found.sample_mask.eq(read.data),
        ]

    def _attributes(self, m, takes, row, triangle):
        """Attributes of triangles; returns whether the one that is found is without perspective.

        A quad has its turn later than its attributes need to be aligned: it passes a FIFO.
        """
        given = self.i.payload.attribute
        depth = self._params.triangles * self._params.attributes
        ways = StructLayout({"how": 2, "where": 2})
        write, read = self._memory(m, "ways", ways, depth)
        values_write, values_read = self._memory(
            m, "values", ArrayLayout(CORNERS, len(COMPONENTS)), depth
        )
        asked = Cat(self.attribute, triangle)
        m.d.comb += [
            write.en.eq(takes),
            write.addr.eq(row),
            write.data.how.eq(given.how),
            write.data.where.eq(given.where),
            read.addr.eq(asked),
            values_write.en.eq(delay(m, takes, Align.LATENCY, "aligned")),
            values_write.addr.eq(delay(m, row, Align.LATENCY, "row")),
            values_read.addr.eq(asked),
            self.found.components.eq(values_read.data),
            self.found.where.eq(read.data.where),
        ]
        for n, name in enumerate(COMPONENTS):
            m.submodules[f"align_{name}"] = align = Align()
            m.d.comb += [
                *(getattr(align, f"corner{k}").eq(given[f"{name}{k}"]) for k in range(3)),
                align.constant.eq(given.how == How.CONSTANT),
                values_write.data[n].eq(align.o),
            ]
        return read.data.how != How.PERSPECTIVE
