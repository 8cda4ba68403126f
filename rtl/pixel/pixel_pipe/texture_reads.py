# SPDX-License-Identifier: BSD-2-Clause
"""Texture reads: quads get the texels that their pixel states ask for."""

from dataclasses import replace

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout, View
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import STATE
from fixfunc.rtl.pixel.texture_stage import BEATS, BITS, TEXELS
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import TextureUnit
from fixfunc.spec.pixels.interpolation import COMPONENTS, attribute_quad
from fixfunc.spec.pixels.texture_stage import STAGE_STATE, StageKind, TextureOp
from fixfunc.spec.points import QUAD_SAMPLES
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.unit import TEXTURED_QUAD, TextureKind

# Quads on their way through the texture unit beside those in its cache; those whose footprints are
# found.
AROUND = 64
FOUND = 96
QUAD = layout((STAGE_STATE[0], *attribute_quad(4)))
WAITING = StructLayout(
    {
        "textured": 1,
        "beat": UnionLayout({"kind": 1, "state": layout(STAGE_STATE), "quad": QUAD}),
    }
)
COUNTED = StructLayout({"lookups": 10, "misses": 10, "lines": 10})
VALUES = [f"p{pixel}_{n}" for pixel in range(4) for n in range(len(COMPONENTS))]


class TextureReads(wiring.Component):
    """Texels for the quads whose pixel state has an operation; others pass, in order.

    Of a quad's attributes one leaves, which is its colour.

    Parameters
    ----------
    params : TextureUnitParams
    states : int
        Pixel states that are held.

    Members
    -------
    i, o : In, Out(stream.Signature(BEATS))
        As the texture stage takes them; a beat a quad leaves.
    renewed, texture : In(StructLayout), In(layout(params.sampled))
        A pixel state gets this number, and samples this texture.
    number : In(range(states))
        Of the pixel state of ``i``, a clock before.
    state : In(STATE)
        That pixel state.
    forget : In(1)
        Memory may have changed. While no quad is under way.
    memory : Out(Axi(...))
        As of the texture unit.
    counted : Out(COUNTED)
        Blocks and lines of a quad that has been sampled in this clock.
    failed : Out(1)
        Memory could not give a line of it.
    """

    def __init__(self, params: TextureUnitParams, states: int) -> None:
        self._unit = TextureUnit(replace(params, comparisons=False, layers=False, cubes=False))
        self._states = states
        self._depth = params.cache.queue + AROUND + (FOUND if params.footprints else 0)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(BEATS)),
                "renewed": In(StructLayout({"valid": 1, "number": range(states)})),
                "texture": In(layout(params.sampled)),
                "number": In(range(states)),
                "state": In(STATE),
                "forget": In(1),
                "memory": self._unit.signature.members["memory"],
                "counted": Out(COUNTED),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = self._unit
        m.submodules.waiting = waiting = StreamFIFO(WAITING, self._depth)
        m.submodules.texels = texels = StallablePipeline(ToTexels(), ToTexels.LATENCY)
        wiring.connect(m, unit.o, texels.i)
        wiring.connect(m, unit.memory, wiring.flipped(self.memory))
        m.d.comb += unit.forget.eq(self.forget)
        state = self._enter(m, unit.i, waiting.i)
        m.d.comb += waiting.i.payload.textured.eq(state.op != TextureOp.NONE)
        self._leave(m, waiting.o, texels.o)
        m.d.comb += count_texels(m, unit.o, self.counted, self.failed)
        return m

    def _enter(self, m, unit, waiting):
        """Quads wait, and ask for texels; returns the pixel state that they have."""
        m.submodules.textures = rows = Memory(
            shape=self.texture.shape(), depth=self._states, init=[], attrs=NO_COLLISION
        )
        write, read = rows.write_port(), rows.read_port()
        m.d.comb += [
            write.en.eq(self.renewed.valid),
            write.addr.eq(self.renewed.number),
            write.data.eq(self.texture),
            read.addr.eq(self.number),
        ]
        beat = self.i.payload
        held = Signal(STATE)
        is_quad = named(m, beat.kind == StageKind.QUAD, "is_quad")
        state = Mux(is_quad, held.as_value(), self.state.as_value())
        state = STATE(named(m, state, "state_in_force"))
        textured = named(m, state.op != TextureOp.NONE, "textured")
        colour = self._attribute(m, held.attribute, "colour")
        place = self._attribute(m, held.coordinates, "place")
        out = waiting.payload.beat
        with m.If(is_quad):
            self._ask(m, beat.quad, place, unit.payload.quad)
            m.d.comb += [
                *carried(out.quad, beat.quad, ()),
                *(out.quad[name].eq(colour[n]) for n, name in enumerate(VALUES)),
                out.quad.attribute.eq(held.attribute),
            ]
        with m.Else():
            m.d.comb += [
                *carried(out.state, beat.state, ()),
                *carried(unit.payload.state, read.data),
                unit.payload.state.kind.eq(TextureKind.STATE),
            ]
        is_whole = named(m, ~is_quad | beat.quad.end, "is_whole")
        with m.If(~is_whole):
            m.d.comb += self.i.ready.eq(1)
        with m.Elif(textured):
            move_together(m, (self.i,), (unit, waiting))
        with m.Else():
            move_together(m, (self.i,), (waiting,))
        with m.If(self.i.valid & self.i.ready & ~is_quad):
            m.d.sync += held.eq(self.state)
        return state

    def _attribute(self, m, number, name):
        """Values of one of the attributes of a quad: of a lower number if there is no such."""
        quad = self.i.payload.quad
        own = Cat(quad[value] for value in VALUES)
        kept = Signal(len(own), name=f"{name}_kept")
        is_before = named(m, quad.attribute <= number, f"{name}_is_before")
        with m.If(self.i.valid & self.i.ready & is_before):
            m.d.sync += kept.eq(own)
        found = named(m, Mux(is_before, own, kept), f"{name}_found")
        return [found.word_select(n, 32) for n in range(len(VALUES))]

    def _ask(self, m, quad, place, request):
        """Where the pixels that are seen are sampled."""
        m.d.comb += request.kind.eq(TextureKind.QUAD)
        for pixel in range(4):
            is_live = quad.mask.word_select(pixel, QUAD_SAMPLES).any()
            m.d.comb += [
                request[f"u{pixel}"].eq(place[len(COMPONENTS) * pixel]),
                request[f"v{pixel}"].eq(place[len(COMPONENTS) * pixel + 1]),
                request.live[pixel].eq(is_live),
            ]

    def _leave(self, m, waiting, texels):
        """Quads go on with their texels."""
        beat = waiting.payload.beat
        is_quad = named(m, beat.kind == StageKind.QUAD, "leaves_quad")
        out = self.o.payload
        with m.If(is_quad):
            m.d.comb += [
                *carried(out.quad, beat.quad, ()),
                *(
                    out.quad[f"t{pixel}_{n}"].eq(texels.payload[pixel][n])
                    for pixel in range(4)
                    for n in range(len(COMPONENTS))
                ),
            ]
        with m.Else():
            m.d.comb += carried(out.state, beat.state, ())
        with m.If(is_quad & waiting.payload.textured):
            move_together(m, (waiting, texels), (self.o,))
        with m.Else():
            move_together(m, (waiting,), (self.o,))


def count_texels(m: Module, quads: wiring.PureInterface, counted: View, failed: Value) -> list:
    """Assignments of what is counted of quads with texels: see :class:`TextureReads`."""
    moves = named(m, quads.valid & quads.ready, "sampled")
    return [
        *(counted[name].eq(gated(quads.payload[name], moves)) for name in COUNTED.members),
        failed.eq(moves & (quads.payload.status == CacheStatus.MEMORY)),
    ]


class ToTexels(wiring.Component):
    """Filtered texels as UNORM of 16 bits; free-running.

    Members
    -------
    i : In(layout(TEXTURED_QUAD))
    o : Out(TEXELS)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = ToUnorm.LATENCY

    def __init__(self) -> None:
        super().__init__({"i": In(layout(TEXTURED_QUAD)), "o": Out(TEXELS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for pixel in range(4):
            for n in range(len(COMPONENTS)):
                m.submodules[f"unorm_{pixel}_{n}"] = unorm = ToUnorm((BITS, 0))
                m.d.comb += [
                    unorm.a.eq(self.i[f"c{pixel}_{n}"]),
                    self.o[pixel][n].eq(unorm.o),
                ]
        return m
