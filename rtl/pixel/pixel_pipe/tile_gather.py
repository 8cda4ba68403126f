# SPDX-License-Identifier: BSD-2-Clause
"""Tile gather: colours of quads become those of a tile."""

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatchParams
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.colours import colour_name, colours, fraction_name
from fixfunc.spec.pixels.texture_stage import CHANNELS, SHADED_QUAD
from fixfunc.spec.points import QUAD, QUAD_SAMPLES

BITS = 8  # of a channel
WORD = BITS * len(CHANNELS)
PACKED = StructLayout(
    {"quad": layout(QUAD), "colours": ArrayLayout(WORD, 4), "fractions": ArrayLayout(WORD, 4)}
)


class TileGather(wiring.Component):
    """Packs colours as R8G8B8A8_UNORM, with fractions, and puts quads where they lie in their tile.
    A quad a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    depths : bool
        Shaders may put out depths: this one does not.

    Members
    -------
    i : In(stream.Signature(layout(SHADED_QUAD)))
        Their masks hold what survives.
    o : Out(stream.Signature(layout(colours(edge, depths))))
    """

    def __init__(self, edge: int, depths: bool) -> None:
        self._edge = edge
        super().__init__(
            {
                "i": In(stream.Signature(layout(SHADED_QUAD))),
                "o": Out(stream.Signature(layout(colours(edge, depths)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pack = pack = StallablePipeline(Pack(), Pack.LATENCY)
        wiring.connect(m, wiring.flipped(self.i), pack.i)
        has_room = named(m, ~self.o.valid | self.o.ready, "has_room")
        accepted = named(m, pack.o.valid & has_room, "accepted")
        quad = pack.o.payload.quad
        first_quad = Signal(init=1)
        m.d.comb += pack.o.ready.eq(has_room)
        with m.If(has_room):
            m.d.sync += self.o.valid.eq(accepted & quad.last)
        with m.If(accepted):
            m.d.sync += first_quad.eq(quad.last)
        survivors = self.o.payload.survivors
        for lane in range(self._edge**2):
            is_own, pixel, surviving = self._lane(m, quad, lane)
            with m.If(accepted & is_own):
                m.d.sync += [
                    self.o.payload[colour_name(0, lane)].eq(pack.o.payload.colours[pixel]),
                    self.o.payload[fraction_name(0, lane)].eq(pack.o.payload.fractions[pixel]),
                ]
            with m.If(accepted & (is_own | first_quad)):
                m.d.sync += survivors[lane].eq(is_own & surviving)
        return m

    def _lane(self, m, quad, lane):
        """Whether a lane is one of the quad's, of which of its pixels, and whether it survives."""
        y, x = divmod(lane, self._edge)
        owned, pixels, surviving = [], [], []
        for samples in QuadDispatchParams(self._edge).modes:
            x_bits, y_bits = SHAPES[samples]
            column, row = x >> x_bits, y >> y_bits
            sample = x % (1 << x_bits) + (y % (1 << y_bits) << x_bits)
            columns, rows = (self._edge.bit_length() - 1 - bits for bits in (x_bits, y_bits))
            is_here = (quad.x[1:columns] == column >> 1) & (quad.y[1:rows] == row >> 1)
            owned.append(is_here & (~quad.by_sample | (quad.sample == sample)))
            pixel = column % 2 + 2 * (row % 2)
            pixels.append(Const(pixel, 2))
            surviving.append(quad.mask[QUAD_SAMPLES * pixel + sample])
        mode = quad.samples
        is_own = named(m, Array(owned)[mode], f"is_own_{lane}")
        return is_own, named(m, Array(pixels)[mode], f"pixel_{lane}"), Array(surviving)[mode]


class Pack(wiring.Component):
    """Colours of a quad as UNORM of eight bits, red the lowest, and their fractions; free-running.

    Members
    -------
    i : In(layout(SHADED_QUAD))
    o : Out(PACKED)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = ToUnorm.LATENCY

    i: In(layout(SHADED_QUAD))
    o: Out(PACKED)

    def elaborate(self, platform):
        m = Module()
        owned = Signal(layout(QUAD))
        m.d.comb += [owned[f.name].eq(self.i[f.name]) for f in QUAD]
        m.d.comb += self.o.quad.eq(delay(m, owned, self.LATENCY, "quad"))
        for pixel in range(4):
            units = [ToUnorm(BITS, BITS) for _ in CHANNELS]
            for n, unorm in enumerate(units):
                m.submodules[f"unorm_{pixel}_{n}"] = unorm
                m.d.comb += unorm.a.eq(self.i[f"c{pixel}_{n}"])
            m.d.comb += [
                self.o.colours[pixel].eq(Cat(unorm.o for unorm in units)),
                self.o.fractions[pixel].eq(Cat(unorm.rest for unorm in units)),
            ]
        return m
