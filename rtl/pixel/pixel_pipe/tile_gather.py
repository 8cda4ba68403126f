# SPDX-License-Identifier: BSD-2-Clause
"""Tile gather: colours of quads become those of a tile."""

from collections.abc import Sequence

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.output.plane_formats import PlaneFormats
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.pixel_pipe.colour_pack import (
    PACKED,
    ColourPack,
    control_of,
    is_one,
    pack_formats,
)
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatchParams
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.colours import FORMAT, colour_name, colours, fraction_name
from fixfunc.spec.dxgi import Format
from fixfunc.spec.pixels.texture_stage import shaded_quad
from fixfunc.spec.points import QUAD_SAMPLES


class TileGather(wiring.Component):
    """Packs colours in the formats of planes, and puts quads where they lie in their tile.

    A quad and an output a clock, up to the last that is asked for.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    depths : bool
        Shaders may put out depths: this one does not.
    outputs : int
        Colours of a sample.
    formats : sequence of Format
        What planes may be.
    most : int
        Tiles that can be on their way.
    quad_colours : int
        Most colours of a quad that the shader puts out: one for all outputs, or ``outputs``.
    floats : bool
        Planes of floats are blended.

    Members
    -------
    tiles : In(stream.Signature(ArrayLayout(FORMAT, outputs)))
        Formats of the outputs of a tile, before its quads; 0 of one that is not asked for.
    i : In(stream.Signature(layout(shaded_quad(quad_colours))))
        Their masks hold what survives. Colours that are not asked for take a clock each.
    o : Out(stream.Signature(layout(colours(edge, depths, outputs))))
        Of outputs that are not asked for, any.
    """

    def __init__(
        self,
        edge: int,
        depths: bool,
        outputs: int,
        formats: Sequence[Format],
        most: int,
        quad_colours: int = 1,
        floats: bool = False,
    ) -> None:
        self._floats = floats
        self._edge = edge
        self._outputs = outputs
        self._several = quad_colours > 1
        self._formats = pack_formats(formats)
        self._most = most
        super().__init__(
            {
                "tiles": In(stream.Signature(ArrayLayout(FORMAT, outputs))),
                "i": In(stream.Signature(layout(shaded_quad(quad_colours)))),
                "o": Out(stream.Signature(layout(colours(edge, depths, outputs)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit = OutputPack(self._formats, self._outputs, self._floats)
        m.submodules.pack = pack = StallablePipeline(unit, unit.latency)
        self._take_turns(m, pack.i)
        has_room = named(m, ~self.o.valid | self.o.ready, "has_room")
        accepted = named(m, pack.o.valid & has_room, "accepted")
        packed = pack.o.payload
        quad = packed.packed.quad
        is_end = named(m, quad.last & packed.end, "is_end") if self._outputs > 1 else quad.last
        first_quad = Signal(init=1)
        m.d.comb += pack.o.ready.eq(has_room)
        with m.If(has_room):
            m.d.sync += self.o.valid.eq(accepted & is_end)
        with m.If(accepted):
            m.d.sync += first_quad.eq(is_end)
        survivors = self.o.payload.survivors
        for lane in range(self._edge**2):
            is_own, pixel, surviving = self._lane(m, quad, lane)
            for output in range(self._outputs):
                is_its = (packed.output == output) if self._outputs > 1 else 1
                colour, fraction = (
                    self.o.payload[name(output, lane)] for name in (colour_name, fraction_name)
                )
                with m.If(accepted & is_own & is_its):
                    m.d.sync += [
                        colour.eq(packed.packed.colours[pixel]),
                        fraction.eq(packed.packed.fractions[pixel]),
                    ]
            with m.If(accepted & (is_own | first_quad)):
                m.d.sync += survivors[lane].eq(is_own & surviving)
        return m

    def _take_turns(self, m, pack):
        """A quad enters once for each output up to the last that is asked for."""
        out = pack.payload
        quad = out.shaded.quad.as_value()
        m.d.comb += quad.eq(self.i.payload.as_value()[: len(quad)])
        if is_one(self._formats) and self._outputs == 1:
            m.d.comb += [
                self.tiles.ready.eq(1),
                pack.valid.eq(self.i.valid),
                self.i.ready.eq(pack.ready),
            ]
            return
        m.submodules.heads = heads = StreamFIFO(self.tiles.payload.shape(), self._most)
        wiring.connect(m, wiring.flipped(self.tiles), heads.i)
        own, is_end = heads.o.payload[0], Const(1)
        moves = named(m, pack.valid & pack.ready, "moves")
        if self._outputs > 1:
            own, is_end = self._count(m, heads.o.payload, moves, out)
        enters, taken = heads.o.valid, pack.ready & heads.o.valid & is_end
        if self._several:
            enters, taken = self._take_several(m, enters, pack.ready, is_end)
        m.d.comb += [
            pack.valid.eq(self.i.valid & enters),
            self.i.ready.eq(taken),
            heads.o.ready.eq(moves & is_end & self.i.payload.last),
        ]
        if not is_one(self._formats):
            m.d.comb += out.shaded.control.eq(control_of(self._formats, own))

    def _take_several(self, m, has_tile, ready, is_end):
        """Whether a colour may enter, and is taken: the last of a quad stays for all outputs
        behind it, and what nothing asks for is dropped."""
        drops = Signal()  # the last output of the quad has its colour
        more = self.i.payload.more
        enters = named(m, has_tile & ~drops, "enters")
        taken = named(m, drops | (enters & ready & (is_end | more)), "taken")
        with m.If(self.i.valid & taken):
            m.d.sync += drops.eq(more & (drops | is_end))
        return enters, taken

    def _count(self, m, forms, moves, out):
        """The format of the output whose turn it is, and whether none behind it is asked for."""
        output = Signal(range(self._outputs))
        last = Const(0, output.shape())
        for n in range(1, self._outputs):
            last = Mux(forms[n].any(), n, last)
        is_end = named(m, output == last, "is_last_output")
        m.d.comb += [out.output.eq(output), out.end.eq(is_end)]
        with m.If(moves):
            m.d.sync += output.eq(Mux(is_end, 0, output + 1))
        return Array(forms[n] for n in range(self._outputs))[output], is_end

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


class OutputPack(wiring.Component):
    """A quad's colours of an output; free-running.

    Parameters
    ----------
    formats : PlaneFormats
        Of :func:`~fixfunc.rtl.pixel.pixel_pipe.colour_pack.pack_formats`.
    outputs : int
    floats : bool

    Members
    -------
    i, o : In, Out(StructLayout)
        ``shaded`` and ``packed``: ``i`` and ``o`` of
        :class:`~fixfunc.rtl.pixel.pixel_pipe.colour_pack.ColourPack`, :attr:`latency` clocks apart;
        with several outputs the number of this one, and whether it is the last one of its quad.
    """

    def __init__(self, formats: PlaneFormats, outputs: int, floats: bool) -> None:
        self._pack = ColourPack(formats, floats)
        own = {"output": range(outputs), "end": 1} if outputs > 1 else {}
        self._own = tuple(own)
        super().__init__(
            {
                "i": In(StructLayout({"shaded": self._pack.i.shape()} | own)),
                "o": Out(StructLayout({"packed": PACKED} | own)),
            }
        )

    @property
    def latency(self) -> int:
        """That of the pack."""
        return self._pack.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pack = pack = self._pack
        m.d.comb += [
            pack.i.eq(self.i.shaded),
            self.o.packed.eq(pack.o),
            *(self.o[name].eq(delay(m, self.i[name], self.latency, name)) for name in self._own),
        ]
        return m
