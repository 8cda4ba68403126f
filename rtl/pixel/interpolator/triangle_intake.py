# SPDX-License-Identifier: BSD-2-Clause
"""Triangle intake: triangles get planes and attributes, and their quads wait for them."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pixel.interpolator.inner_coverage import EDGE, InnerEdges
from fixfunc.rtl.pixel.interpolator.planes import PLANES, Planes
from fixfunc.rtl.pixel.interpolator.values import CORNERS, Align
from fixfunc.spec.pixels import interpolation
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, InterpolatorKind
from fixfunc.spec.points import QUAD

BEATS = beat(corners=interpolation.CORNERS, attribute=interpolation.ATTRIBUTE)
TURN = StructLayout({"quad": layout(QUAD), "attributes": 4})
ATTRIBUTE = ArrayLayout(CORNERS, len(COMPONENTS))


def numbered_quad(most: int) -> StructLayout:
    """A quad, and the number of its triangle among those that came, modulo twice ``most``."""
    return StructLayout({"triangle": range(2 * most), "quad": layout(QUAD)})


class TriangleIntake(wiring.Component):
    """Holds what quads need of their triangles; hands out quads whose triangle is known, in order.

    A triangle's rows are free when a quad of a later one has its turn, or nothing waits and
    ``current`` is a later one.

    Parameters
    ----------
    params : InterpolatorParams

    Members
    -------
    triangles : In(stream.Signature(BEATS))
        CORNERS of a triangle, then its ATTRIBUTEs. A beat a clock, a triangle in three.
    quads : In(stream.Signature(numbered_quad(params.triangles)))
        A quad comes when its triangle's last beat has come, or later. A quad a clock.
    current : In(range(2 * params.triangles))
        The first triangle of which quads may come.
    o : Out(stream.Signature(TURN))
        A quad, and how many attributes it has. It stays while these are asked for.
    attribute : In
        One of them.
    where, sample_mask : Out
        Its place, and the triangle's mask, at once.
    found : Out(ATTRIBUTE)
    planes : Out(PLANES)
        It, and the functions that it needs, two clocks later.
    conservative : Out(1)
        Inner coverage is asked for; at once. Absent without ``params.inner``, as is ``edges``.
    edges : Out(ArrayLayout(EDGE, 3))
        Edges for it, two clocks later.
    """

    def __init__(self, params: object) -> None:
        self._params = params
        inner = {"conservative": Out(1), "edges": Out(ArrayLayout(EDGE, 3))}
        super().__init__(
            (inner if params.inner else {})
            | {
                "triangles": In(stream.Signature(BEATS)),
                "quads": In(stream.Signature(numbered_quad(params.triangles))),
                "current": In(range(2 * params.triangles)),
                "o": Out(stream.Signature(TURN)),
                "attribute": In(range(params.attributes)),
                "where": Out(2),
                "sample_mask": Out(8),
                "found": Out(ATTRIBUTE),
                "planes": Out(PLANES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        most = self._params.triangles
        taken = Signal(range(2 * most))  # triangles whose corners were taken
        complete = Signal.like(taken)  # those whose planes are known
        oldest = Signal.like(taken)  # the first that may have quads left
        newest = named(m, (taken - 1)[: len(taken)], "newest")
        m.submodules.waiting = quads = StreamFIFO(self.quads.payload.shape(), self._params.quads)
        wiring.connect(m, wiring.flipped(self.quads), quads.i)
        m.submodules.to_planes = planes = Planes()
        # A triangle without quads leaves nothing behind but planes that may still come.
        full = [(taken - first)[: len(taken)] == most for first in (oldest, complete)]
        has_room = named(m, ~(full[0] | full[1]), "has_room")
        takes_corners, takes_attribute = self._take(m, has_room, planes)
        turn = quads.o.payload
        ahead = named(m, (complete - turn.triangle)[: len(taken)], "ahead")
        is_known = (ahead != 0) & (ahead <= most)
        m.d.comb += [
            self.o.valid.eq(quads.o.valid & is_known),
            quads.o.ready.eq(self.o.ready & is_known),
            self.o.payload.quad.eq(turn.quad),
        ]
        with m.If(takes_corners):
            m.d.sync += taken.eq(taken + 1)
        with m.If(planes.valid & planes.last):
            m.d.sync += complete.eq(complete + 1)
        with m.If(quads.o.valid):
            m.d.sync += oldest.eq(turn.triangle)
        with m.Elif(~quads.occupied & (taken != oldest)):
            m.d.sync += oldest.eq(self.current)
        triangle = turn.triangle[:-1]
        self._masks(m, takes_corners, taken[:-1], triangle)
        if self._params.inner:
            self._inner(m, planes.edge, triangle)
        count = self._counts(m, takes_corners, takes_attribute, taken[:-1], newest[:-1], triangle)
        own = Cat(count[: len(self.attribute)], newest[:-1])
        is_linear = self._ways(m, takes_attribute, own, triangle)
        self._values(m, takes_attribute, own, triangle)
        write, read = self._memory(m, "planes", PLANES, 2 * most)
        m.d.comb += [
            write.en.eq(planes.valid),
            write.addr.eq(Cat(planes.is_linear, complete[:-1])),
            write.data.eq(planes.o),
            read.addr.eq(delay(m, named(m, Cat(is_linear, triangle), "asked"), 1, "planes_row")),
            self.planes.eq(read.data),
        ]
        return m

    def _take(self, m, has_room, planes):
        """Whether corners were taken, or an attribute."""
        now = self.triangles.payload
        is_corners = named(m, now.kind == InterpolatorKind.CORNERS, "is_corners")
        m.d.comb += [
            self.triangles.ready.eq(~is_corners | (has_room & planes.i.ready)),
            planes.i.valid.eq(self.triangles.valid & is_corners & has_room),
            planes.i.payload.eq(now.corners),
        ]
        return (
            named(m, planes.i.valid & planes.i.ready, "takes_corners"),
            named(m, self.triangles.valid & ~is_corners, "takes_attribute"),
        )

    def _counts(self, m, clears, counts, coming, row, triangle):
        """How many attributes a triangle has; those of the newest."""
        many = range(self._params.triangles)
        known = Array(Signal(4, name=f"attributes_{n}") for n in many)
        count = named(m, known[row], "count")
        with m.If(clears):
            m.d.sync += known[coming].eq(0)
        with m.If(counts):
            m.d.sync += known[row].eq(count + 1)
        m.d.comb += self.o.payload.attributes.eq(known[triangle])
        return count

    def _memory(self, m, name, shape, depth, domain="sync"):
        m.submodules[name] = memory = Memory(shape=shape, depth=depth, init=[])
        return memory.write_port(), memory.read_port(domain=domain)

    def _masks(self, m, takes, row, triangle):
        """Sample masks of triangles, and whether they ask for inner coverage."""
        names = "sample_mask", *(("conservative",) if self._params.inner else ())
        corners = self.triangles.payload.corners
        shape = StructLayout({name: len(corners[name]) for name in names})
        write, read = self._memory(m, "masks", shape, self._params.triangles, "comb")
        m.d.comb += [
            write.en.eq(takes),
            write.addr.eq(row),
            *(write.data[name].eq(corners[name]) for name in names),
            read.addr.eq(triangle),
            *(getattr(self, name).eq(read.data[name]) for name in names),
        ]

    def _inner(self, m, edge, triangle):
        """Edges for inner coverage. They are held long before the planes of their triangle."""
        m.submodules.inner_edges = inner = InnerEdges(self._params.triangles)
        m.d.comb += [
            inner.edge.eq(edge),
            inner.triangle.eq(delay(m, triangle, 1, "inner_row")),
            self.edges.eq(inner.o),
        ]

    def _ways(self, m, takes, row, triangle):
        """How and where attributes are evaluated; whether the one that is asked for is linear."""
        ways = StructLayout({"how": 2, "where": 2})
        depth = self._params.triangles * self._params.attributes
        write, read = self._memory(m, "ways", ways, depth, "comb")
        attribute = self.triangles.payload.attribute
        m.d.comb += [
            write.en.eq(takes),
            write.addr.eq(row),
            write.data.how.eq(attribute.how),
            write.data.where.eq(attribute.where),
            read.addr.eq(Cat(self.attribute, triangle)),
            self.where.eq(read.data.where),
        ]
        return read.data.how != How.PERSPECTIVE

    def _values(self, m, takes, row, triangle):
        """Attributes of triangles.

        A quad has its turn when its attributes are aligned: it passes a FIFO, and waits a clock.
        """
        attribute = self.triangles.payload.attribute
        depth = self._params.triangles * self._params.attributes
        write, read = self._memory(m, "values", ATTRIBUTE, depth)
        asked = named(m, Cat(self.attribute, triangle), "asked_value")
        m.d.comb += [
            write.en.eq(delay(m, takes, Align.LATENCY, "aligned")),
            write.addr.eq(delay(m, row, Align.LATENCY, "row")),
            read.addr.eq(delay(m, asked, 1, "values_row")),
            self.found.eq(read.data),
        ]
        for n, name in enumerate(COMPONENTS):
            m.submodules[f"align_{name}"] = align = Align()
            m.d.comb += [
                *(getattr(align, f"corner{k}").eq(attribute[f"{name}{k}"]) for k in range(3)),
                align.constant.eq(attribute.how == How.CONSTANT),
                write.data[n].eq(align.o),
            ]
